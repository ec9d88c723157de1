import { mkdir, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inboundMediaDir, resolveOutboundMedia, saveMedia, sniffImageType } from "./index.ts";

let home: string;
let workspaceDir: string;
let stateDir: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "media-"));
  [workspaceDir, stateDir] = [join(home, "ws"), join(home, "state")];
  await mkdir(workspaceDir);
});
afterEach(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
const resolve = (source: string) =>
  resolveOutboundMedia(source, { workspaceDir, stateDir, fetchUrl: (url) => (url.includes("bad") ? Promise.reject(new Error("refused")) : Promise.resolve({ bytes: new Uint8Array(3), mimeType: "image/png" })) });

describe("saving received media", () => {
  it("never lets the sender's file name choose the place", async () => {
    const path = await saveMedia(stateDir, "inbound", Buffer.from("x"), "image/png", "../../etc/pass wd.exe");
    expect(dirname(path)).toBe(inboundMediaDir(stateDir));
    expect(basename(path)).toMatch(/^[\p{L}\p{N}._-]+---[0-9a-f-]{36}\.png$/u);
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect(await readFile(path, "utf8")).toBe("x");
  });

  it("keeps readable names and knows unknown types", async () => {
    expect(basename(await saveMedia(stateDir, "inbound", Buffer.from("x"), "audio/ogg; codecs=opus", "Größe 图.oga"))).toMatch(/^Größe_图---.*\.ogg$/u);
    expect(await saveMedia(stateDir, "inbound", Buffer.from("x"), "x/unknown")).toMatch(/\/[0-9a-f-]{36}\.bin$/);
  });
});

describe("files that a reply names", () => {
  it("are found in the workspace, by relative path, absolute path or URL", async () => {
    await writeFile(join(workspaceDir, "a b.png"), "x");
    for (const source of ["a b.png", "./a b.png", join(workspaceDir, "a b.png"), pathToFileURL(join(workspaceDir, "a b.png")).href, "MEDIA:./a b.png"]) {
      expect(await resolve(source)).toMatchObject({ mimeType: "image/png", fileName: "a b.png" });
    }
  });

  it("are refused outside of it, through links and dots too", async () => {
    await writeFile(join(home, "secret.txt"), "s");
    await symlink(join(home, "secret.txt"), join(workspaceDir, "link.txt"));
    for (const source of ["../secret.txt", join(home, "secret.txt"), "link.txt"]) expect(await resolve(source)).toEqual({ error: "only files of the workspace may be sent" });
    expect(await resolve("none.txt")).toEqual({ error: "not found" });
    await mkdir(join(workspaceDir, "dir"));
    expect(await resolve("dir")).toEqual({ error: "not a file" });
  });

  it("from a sandbox come copies of files of the sandbox, and received media, and nothing else", async () => {
    await writeFile(join(workspaceDir, "MEMORY.md"), "private");
    const asked: string[] = [];
    const fromSandbox = (source: string): ReturnType<typeof resolveOutboundMedia> =>
      resolveOutboundMedia(source, {
        stateDir, fetchUrl: () => Promise.reject(new Error("refused")),
        readInside: (path) => {
          asked.push(path);
          return path.endsWith("chart.png") ? Promise.resolve(Buffer.from("inside")) : Promise.reject(new Error(`${path} is outside`));
        },
      });
    const sent = await fromSandbox("MEDIA:./chart.png");
    expect(sent).toMatchObject({ mimeType: "image/png", fileName: "chart.png" });
    expect("path" in sent && sent.path.startsWith(join(stateDir, "media", "outbound")) && (await readFile(sent.path, "utf8"))).toBe("inside");
    expect(await fromSandbox(join(workspaceDir, "MEMORY.md"))).toEqual({ error: `${join(workspaceDir, "MEMORY.md")} is outside` });
    expect("path" in sent && (await fromSandbox(sent.path))).toMatchObject({ mimeType: "image/png" });
    expect(asked).toEqual(["./chart.png", join(workspaceDir, "MEMORY.md")]);
  });

  it("may be received media, and have a size limit", async () => {
    expect(await resolve(await saveMedia(stateDir, "inbound", Buffer.from("x"), "image/png"))).toMatchObject({ mimeType: "image/png" });
    await writeFile(join(workspaceDir, "big.png"), "");
    await truncate(join(workspaceDir, "big.png"), 7 * 1024 * 1024);
    expect(await resolve("big.png")).toEqual({ error: "larger than 6 MB" });
  });

  it("are fetched from the web, or the reason is told", async () => {
    expect(await resolve("https://x.test/p/pic.png?x=1")).toMatchObject({ fileName: "pic.png", mimeType: "image/png" });
    expect(await resolve("https://bad.test/x")).toEqual({ error: "refused" });
  });
});

it("recognises images by their first bytes", () => {
  expect(sniffImageType(Buffer.from("GIF89a....."))).toBe("image/gif");
  expect(sniffImageType(Buffer.from("RIFF1234WEBPxx"))).toBe("image/webp");
  expect(sniffImageType(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).toBe("image/jpeg");
  expect(sniffImageType(Buffer.from("<svg/>"))).toBeUndefined();
  expect(sniffImageType(new Uint8Array())).toBeUndefined();
});
