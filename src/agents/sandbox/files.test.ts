import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandboxFiles } from "./files.ts";

let root: string;
let box: string;
let agent: string;
let outside: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "openclaw-sandbox-files-"));
  [box, agent, outside] = [join(root, "box"), join(root, "agent"), join(root, "outside")];
  for (const dir of [box, agent, outside]) await mkdir(dir);
  await writeFile(join(outside, "secret"), "canary");
  await writeFile(join(agent, "NOTES.md"), "of the agent");
  await mkdir(join(box, "sub"));
  await writeFile(join(box, "sub", "a.txt"), "hello");
  await symlink("sub", join(box, "inner-link"));
  await symlink("/workspace/sub/a.txt", join(box, "absolute-inner"));
  await symlink(outside, join(box, "door"));
  await symlink(join(outside, "secret"), join(box, "window"));
  await symlink("../outside/secret", join(box, "relative-window"));
  await symlink("loop-b", join(box, "loop-a"));
  await symlink("loop-a", join(box, "loop-b"));
});
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

const files = (): ReturnType<typeof createSandboxFiles> =>
  createSandboxFiles({
    workdir: "/workspace", readRoots: [],
    mounts: () => Promise.resolve([{ target: "/workspace", source: box, writable: true }, { target: "/agent", source: agent, writable: false }]),
  });
const read = async (path: string): Promise<string> => (await (await files().forRead(path)).read()).toString("utf8");
const write = async (path: string, text: string): Promise<void> => (await files().forWrite(path)).write(text);

describe("files in a sandbox", () => {
  it.each([
    ["sub/a.txt"], ["/workspace/sub/a.txt"], ["inner-link/a.txt"], ["absolute-inner"], ["sub/../sub/./a.txt"], ["inner-link/../sub/a.txt"],
  ])("%s is read, links included that stay inside", async (path) => {
    expect(await read(path)).toBe("hello");
  });

  it("a path of the host that is mounted means where it is seen inside", async () => {
    expect(await read(join(box, "sub/a.txt"))).toBe("hello");
    expect(await read("/agent/NOTES.md")).toBe("of the agent");
    expect(await read(join(agent, "NOTES.md"))).toBe("of the agent");
  });

  it.each([
    ["door/secret"], ["window"], ["relative-window"], ["../outside/secret"], ["/workspace/../../etc/passwd"], ["/etc/passwd"], ["/workspace/sub/../../../../etc/passwd"],
    ["~/../etc/passwd"], ["loop-a"], ["/"], ["/proc/self/environ"],
  ])("%s is neither read nor written", async (path) => {
    await expect(read(path)).rejects.toThrow(/outside|ENOENT|ELOOP|directory/);
    await expect(write(path, "changed")).rejects.toThrow(/outside|ENOENT|ELOOP|directory/);
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("canary");
  });

  it("a file is made with its folders and replaced in one step", async () => {
    await write("new/deep/file.txt", "one");
    await write("new/deep/file.txt", "two");
    expect(await readFile(join(box, "new/deep/file.txt"), "utf8")).toBe("two");
    await (await files().forWrite("new/deep/file.txt")).remove();
    await expect(read("new/deep/file.txt")).rejects.toThrow("ENOENT");
  });

  it("a second name of a foreign file keeps its content when the name is written", async () => {
    await link(join(outside, "secret"), join(box, "hardlink"));
    await write("hardlink", "mine");
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("canary");
    expect(await read("hardlink")).toBe("mine");
  });

  it("what is mounted read-only is not written, folders included", async () => {
    await expect(write("/agent/NOTES.md", "x")).rejects.toThrow("read-only");
    await expect(write("/agent/new/file", "x")).rejects.toThrow("read-only");
    await symlink("/agent", join(box, "to-agent"));
    await expect(write("to-agent/new/file", "x")).rejects.toThrow("read-only");
  });

  it("a folder swapped for a link again and again lets nothing out", async () => {
    const [dir, real, trap] = [join(box, "swap"), join(box, "swap-real"), join(box, "swap-trap")];
    await mkdir(dir);
    await writeFile(join(dir, "secret"), "inside");
    let running = true;
    let n = 0;
    const swapping = (async () => {
      while (running) {
        await rename(dir, real);
        await symlink(outside, dir).catch(() => undefined); // a write has just made the folder anew
        await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 1 });
        await rename(real, dir).catch(() => rename(dir, `${trap}-${++n}`).then(() => rename(real, dir)));
      }
    })();
    const seen = new Set<string>();
    for (let round = 0; round < 400; round++) {
      seen.add(await read("swap/secret").catch(() => "refused"));
      await write("swap/secret", "inside").catch(() => undefined);
      await write(`swap/new-${round}`, "inside").catch(() => undefined);
    }
    running = false;
    await swapping;
    expect([...seen].filter((text) => text !== "inside" && text !== "refused")).toEqual([]);
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("canary");
    expect(await readdir(outside)).toEqual(["secret"]);
  });
});
