import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { Context } from "@mariozechner/pi-ai";
import { Type } from "typebox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import { createImageWorker, toModelImage } from "../../media/index.ts";
import type { AgentTool } from "../tools/contract.ts";
import { answer, toolResult, user } from "./conversation-fixture.ts";
import { createRunWorld } from "./run-fixture.ts";
import { countDroppedImages, findImageRefs } from "./run/image-refs.ts";
import { createImageStore, hydrateImages, type ImageHydrationOptions } from "./run/images.ts";

/** A PNG of one colour, made without the code under test. */
async function png(width: number, height: number): Promise<Buffer> {
  const photon = await import("@silvia-odwyer/photon-node");
  const image = new photon.PhotonImage(new Uint8Array(width * height * 4).fill(200), width, height);
  return Buffer.from(image.get_bytes());
}

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "images-"));
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

const hydrate = (messages: AgentMessage[], more: Partial<ImageHydrationOptions> = {}): Promise<AgentMessage[]> =>
  hydrateImages(messages, { store: createImageStore(), workspaceDir: dir, allowedRoots: [], maxSidePx: 1200, cacheTtlMs: 300_000, log: silentLogger, ...more });
const kinds = (message: AgentMessage | undefined): string[] =>
  message && "content" in message && Array.isArray(message.content) ? message.content.map((block) => (block.type === "text" && block.text.startsWith("[image") ? block.text : block.type)) : ["text"];

describe("images that a message names", () => {
  it.each<[string, string[]]>([
    ["[media attached: /m/a.png (image/png)]\n\nlook", ["/m/a.png"]],
    ["[media attached: 2 files]\n[media attached 1/2: /m/a.png (image/png)]\n[media attached 2/2: /m/b.pdf (application/pdf)]", ["/m/a.png"]],
    ["[media attached: /m/a (image/jpeg) | https://x/y.png]", ["/m/a"]],
    ["[Image: source: ./shot.jpg] what is it", ["./shot.jpg"]],
    ["[Image: source: https://evil.example/x.png]", []],
    ["compare ~/a.PNG with /tmp/b.jpeg, and ./c.webp.", ["~/a.PNG", "/tmp/b.jpeg", "./c.webp"]],
    ["open file:///tmp/a%20b.png please", ["/tmp/a b.png"]],
    ["see https://example.com/pic.png and pic.png", []],
    ["![x](./in/markdown.gif)", ["./in/markdown.gif"]],
    ["no image here: /etc/passwd ./a.txt", []],
  ])("%j", (text, paths) => {
    expect(findImageRefs(text, true).map((ref) => ref.path)).toEqual(paths);
  });

  it.each([" (", "(/", "[media attached: ", "[Image: source: ", "[media attached: x (", "[media attached: a] ", "[Image: source: b] ", "file://", "/a.png(", "./"])("a text that repeats %j is read in no time", (part) => {
    const text = part.repeat(400_000 / part.length);
    const before = process.cpuUsage().user;
    for (const isFromPerson of [true, false]) findImageRefs(`[media attached: ${text}`, isFromPerson);
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(1500);
  });

  it("a tool's output names images by media notes only", () => {
    expect(findImageRefs("saw ./a.png\n[media attached: /m/b.png (image/png)]", false).map((ref) => ref.path)).toEqual(["/m/b.png"]);
  });
});

describe("images in a request", () => {
  it("stand behind the message that first names them, as they are when they are small", async () => {
    const bytes = await png(10, 10);
    await writeFile(join(dir, "a.png"), bytes);
    const out = await hydrate([user("look at ./a.png"), answer("nice"), user("again ./a.png")]);
    expect(kinds(out[0])).toEqual(["text", "image"]);
    expect(out[0]).toMatchObject({ content: [{}, { data: bytes.toString("base64"), mimeType: "image/png" }] });
    expect(kinds(out[2])).toEqual(["text"]);
  });

  it.skipIf(process.platform === "win32")("are not waited for when the name is that of a pipe or a device", async () => {
    execFileSync("mkfifo", [join(dir, "pipe.png")]);
    await symlink("/dev/zero", join(dir, "zero.png"));
    const out = await hydrate([user("look at ./pipe.png and ./zero.png")], { allowedRoots: "anywhere" });
    expect(kinds(out[0])).toEqual(["text"]);
  });

  it("are made smaller than the limit, and a BMP becomes a JPEG", async () => {
    expect(await toModelImage(createImageWorker(), await png(3000, 20), 1200)).toMatchObject({ kind: "image", mimeType: "image/jpeg" });
    const bmp = Buffer.alloc(54 + 4);
    bmp.write("BM");
    bmp.writeUInt32LE(58, 2);
    bmp.writeUInt32LE(54, 10);
    bmp.writeUInt32LE(40, 14);
    bmp.writeInt32LE(1, 18);
    bmp.writeInt32LE(1, 22);
    bmp.writeUInt16LE(1, 26);
    bmp.writeUInt16LE(24, 28);
    expect(await toModelImage(createImageWorker(), bmp, 1200)).toMatchObject({ kind: "image", mimeType: "image/jpeg" });
  });

  it("of a phone's size do not hold up the gateway while they are made smaller", async () => {
    const bytes = await png(3000, 2500);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const result = await toModelImage(createImageWorker(), bytes, 1200);
    clearInterval(timer);
    expect(result).toMatchObject({ kind: "image", mimeType: "image/jpeg" });
    expect(ticks).toBeGreaterThan(5);
  });

  it("that cannot be read are replaced by words; a bomb is not even decoded", async () => {
    await writeFile(join(dir, "broken.png"), Buffer.concat([(await png(10, 10)).subarray(0, 40), Buffer.alloc(50, 7)]));
    const bomb = Buffer.from(await png(10, 10));
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    await writeFile(join(dir, "bomb.png"), bomb);
    await writeFile(join(dir, "phone.heic"), "ftypheic");
    const note = (name: string): string => `[media attached: ${join(dir, name)} (image/png)]`;
    const out = await hydrate([user([note("broken.png"), note("bomb.png"), note("phone.heic"), note("gone.png"), "./never-there.png"].join("\n"))]);
    expect(kinds(out[0])).toEqual([
      "text", "[image not shown: it cannot be decoded]", "[image not shown: 60000×60000 pixels are too many]", "[image not shown: it cannot be decoded]", "[image not available: ENOENT: no such file or directory]",
    ]);
  });

  it("outside of the workspace are shown to the owner in person only", async () => {
    const inner = join(dir, "workspace");
    await mkdir(inner);
    await writeFile(join(dir, "private.png"), await png(4, 4));
    await symlink(join(dir, "private.png"), join(inner, "link.png"));
    const messages = [user(`${join(dir, "private.png")} and ./link.png`)];
    expect(kinds((await hydrate(messages, { workspaceDir: inner }))[0])).toEqual(["text"]);
    expect(kinds((await hydrate(messages, { workspaceDir: inner, allowedRoots: "anywhere" }))[0])).toEqual(["text", "image", "image"]);
  });

  it("go in batches: when there are too many, or when the provider's cache has expired meanwhile", async () => {
    const moments = (n: number, gapMs = 1000): { timestamp: number; images: number }[] => Array.from({ length: n }, (_, i) => ({ timestamp: i * gapMs, images: 1 }));
    const drops = Array.from({ length: 45 }, (_, n) => countDroppedImages(moments(n), 300_000));
    expect(drops.filter((value, i) => i > 0 && value !== drops[i - 1]).length).toBe(3);
    expect(Math.max(...drops.map((dropped, n) => n - dropped))).toBe(20);
    expect(countDroppedImages([...moments(10), { timestamp: 10_000 + 299_000, images: 0 }], 300_000)).toBe(0);
    expect(countDroppedImages([...moments(10), { timestamp: 10_000 + 400_000, images: 0 }], 300_000)).toBe(4);
    expect(countDroppedImages([...moments(10), { timestamp: 10_000 + 400_000, images: 0 }], 3_600_000)).toBe(0);
  });

  it("that older transcripts hold as base64 are dropped like others", async () => {
    const inline = user([{ type: "text", text: "old" }, { type: "image", data: "AAAA", mimeType: "image/png" }], { timestamp: 0 });
    const later = Array.from({ length: 6 }, (_, i) => user([{ type: "image", data: `B${i}`, mimeType: "image/png" }], { timestamp: 1000 }));
    const out = await hydrate([inline, ...later, user("next", { timestamp: 999_999 })]);
    expect(kinds(out[0])).toEqual(["text", "[image no longer in context]"]);
    expect(kinds(out[1])).toEqual(["image"]);
  });
});

describe("a run with images", () => {
  const shot: AgentTool = {
    name: "screenshot", label: "s", summary: "s", description: "s", parameters: Type.Object({}),
    execute: async () => ({ content: [{ type: "image", data: (await png(8, 8)).toString("base64"), mimeType: "image/png" }, { type: "text", text: "x".repeat(500_000) }] }),
  };
  const reply = (context: Context) => (context.messages.at(-1)?.role === "user" ? { calls: [{ id: "c", name: "screenshot", arguments: {} }] } : { text: "seen" });

  it("keeps no base64 in the transcript and at most 400,000 characters of a result, and shows the image to the model", async () => {
    await using world = await createRunWorld({ tools: [shot], reply, contextTokens: 2_000_000 });
    await writeFile(join(world.dir, "a.png"), await png(9, 9));
    await world.say("look at ./a.png");
    const blocks = world.requests.at(-1)?.messages.flatMap((m) => (typeof m.content === "string" ? [] : m.content.map((block) => `${m.role}:${block.type}`)));
    expect(blocks).toEqual(["user:text", "user:image", "assistant:toolCall", "toolResult:text", "toolResult:text", "toolResult:image"]);
    const file = await readFile(world.path, "utf8");
    expect(file).not.toMatch(/"type":"image"/);
    expect(file).toContain("[media attached: ");
    expect(file.length).toBeLessThan(410_000);
    world.restart();
    await world.say("and now?");
    expect(JSON.stringify(world.requests[2]?.messages.slice(0, 3))).toBe(JSON.stringify(world.requests[1]?.messages));
  });

  it("gives words only to a model that takes no images", async () => {
    await using world = await createRunWorld({ reply: () => ({ text: "ok" }), model: { input: ["text"] } });
    await writeFile(join(world.dir, "a.png"), await png(9, 9));
    await world.say("look at ./a.png");
    expect(JSON.stringify(world.requests[0]?.messages)).not.toContain('"image"');
  });
});

it("tool output of another program's transcript is left as it is", async () => {
  const message = toolResult("t", "plain");
  expect((await hydrate([message]))[0]).toBe(message);
});
