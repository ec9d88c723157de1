import { mkdtemp, open as openFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import { loadPi, type PiModules } from "../pi.ts";
import { answer, callTool, textsOf as texts, toolResult, user } from "./conversation-fixture.ts";
import { inspectRunProgress, RUN_MARKER } from "./replay.ts";
import { openTranscript, type OpenTranscript } from "./session-manager-init.ts";

let pi: PiModules;
let dir: string;
let path: string;
beforeAll(async () => {
  pi = await loadPi();
}, 60_000);
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "transcript-"));
  path = join(dir, "s.jsonl");
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

const open = (budgetChars = 1_000_000): Promise<OpenTranscript> => openTranscript(pi, { path, sessionId: "s", cwd: dir, budgetChars, nowMs: 1, log: silentLogger });
const lines = async (): Promise<Record<string, unknown>[]> => (await readFile(path, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);

describe("transcript on disk", () => {
  it("has one header and every message before the next run, and reads back the same", async () => {
    const first = await open();
    first.manager.appendMessage(user("hello"));
    await first.flush();
    expect((await lines()).map((line) => line["type"])).toEqual(["session", "message"]);
    first.manager.appendMessage(answer("hi"));
    await first.flush();
    const again = await open();
    expect(texts(again)).toEqual(["hello", "hi"]);
    again.manager.appendMessage(user("more"));
    await again.flush();
    expect((await lines()).filter((line) => line["type"] === "session")).toHaveLength(1);
    expect(texts(await open())).toEqual(["hello", "hi", "more"]);
  });

  it("tells when a given message is on disk", async () => {
    const transcript = await open();
    const message = user("hello");
    const saved = transcript.persisted(message);
    transcript.manager.appendMessage(message);
    await saved;
    expect(await readFile(path, "utf8")).toContain("hello");
  });

  it("is rebuilt from what can be read when its header is torn, with a copy of the old file", async () => {
    const first = await open();
    for (const text of ["one", "two"]) first.manager.appendMessage(user(text));
    await first.flush();
    const whole = await readFile(path, "utf8");
    const torn = whole.slice(20);
    await writeFile(path, torn);
    expect(texts(await open())).toEqual(["one", "two"]);
    const copy = (await readdir(dir)).find((name) => name.includes(".bak-"));
    expect(await readFile(join(dir, copy as string), "utf8")).toBe(torn);
    expect((await lines())[0]).toMatchObject({ type: "session", id: "s" });
  });

  it("goes on behind a last line that a killed process left half-written", async () => {
    const first = await open();
    first.manager.appendMessage(user("one"));
    await first.flush();
    await writeFile(path, `${await readFile(path, "utf8")}{"type":"message","id":"dead`);
    const again = await open();
    expect(texts(again)).toEqual(["one"]);
    again.manager.appendMessage(user("two"));
    await again.flush();
    expect(texts(await open())).toEqual(["one", "two"]);
  });

  it("keeps what comes before a damaged line in the middle", async () => {
    const first = await open();
    for (const text of ["one", "two", "three"]) first.manager.appendMessage(user(text));
    await first.flush();
    const all = (await readFile(path, "utf8")).split("\n");
    all[2] = (all[2] as string).slice(0, 30);
    await writeFile(path, all.join("\n"));
    expect(texts(await open())).toEqual(["one", "three"]);
  });

  it("reads back only to the first entry that the last compaction kept", async () => {
    const first = await open();
    first.manager.appendMessage(user("old"));
    const kept = first.manager.appendMessage(user("kept"));
    first.manager.appendCompaction("what was", kept, 100);
    first.manager.appendMessage(user("new"));
    await first.flush();
    const again = await open();
    expect(texts(again).join("|")).toMatch(/^.*what was.*\|kept\|new$/s);
    expect(JSON.stringify(again.manager.getBranch())).not.toContain('"old"');
  });

  it("loads no more than the budget, from a user message on", async () => {
    const first = await open();
    for (let i = 0; i < 20; i++) {
      first.manager.appendMessage(user(`question ${i} ${"x".repeat(500)}`));
      first.manager.appendMessage(answer(`answer ${i}`));
    }
    await first.flush();
    const loaded = texts(await open(3000));
    expect(loaded.length).toBeLessThan(12);
    expect(loaded[0]).toContain("question");
    expect(loaded.at(-1)).toBe("answer 19");
  });

  it("follows the branch that is in use", async () => {
    const first = await open();
    const root = first.manager.appendMessage(user("root"));
    first.manager.appendMessage(answer("left"));
    first.manager.branch(root);
    first.manager.appendMessage(answer("right"));
    await first.flush();
    expect(texts(await open())).toEqual(["root", "right"]);
  });
});

describe("a damaged or huge transcript", () => {
  const header = (): string => JSON.stringify({ type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: dir });
  const line = (id: string, parentId: string | null, message: object): string => JSON.stringify({ type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z", message });
  const backups = async (): Promise<string[]> => (await readdir(dir)).filter((name) => name.includes(".bak-"));

  it.each<[string, (lines: string[]) => string | Buffer, string[]]>([
    ["the first line is torn", ([h, ...rest]) => [h?.slice(0, 25), ...rest].join("\n"), ["one", "two", "three"]],
    ["the first line is missing", (lines) => lines.slice(1).join("\n"), ["one", "two", "three"]],
    ["several lines in the middle are damaged", ([h, a, , c]) => [h, a, "{", "\u0000\u0000", "not json", '{"type":"message"}', c].join("\n"), ["one", "three"]],
    ["blank lines stand between", (lines) => lines.join("\n\n\r\n"), ["one", "two", "three"]],
    ["the last line is a row of zero bytes", (lines) => `${lines.join("\n")}\n${"\u0000".repeat(5000)}`, ["one", "two", "three"]],
    ["it is binary", () => Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 37) % 256)), []],
    ["it is one endless line", () => "x".repeat(300_000), []],
    ["two entries have the same id", ([h, a, b]) => [h, a, b, line("00000001", "00000002", user("three"))].join("\n"), ["two", "three"]],
    ["an entry is its own parent", ([h, a]) => [h, a, line("00000009", "00000009", user("own"))].join("\n"), ["own"]],
  ])("when %s: what can be read stays, new messages are kept", async (_name, damage, expected) => {
    const whole = [header(), line("00000001", null, user("one")), line("00000002", "00000001", user("two")), line("00000003", "00000002", user("three"))];
    await writeFile(path, damage(whole));
    const before = await readFile(path);
    const opened = await open();
    expect(texts(opened)).toEqual(expected);
    opened.manager.appendMessage(user("new"));
    await opened.flush();
    expect(texts(await open()).at(-1)).toBe("new");
    for (const name of await backups()) expect(await readFile(join(dir, name))).toEqual(before);
    if (expected.length === 3 && (await backups()).length > 0) expect((await lines()).length).toBe(5);
  });

  it("is read from its end only, and stays out of memory", async () => {
    const file = await openFile(path, "w");
    await file.write(`${header()}\n`);
    const filler = "z".repeat(20_000);
    const count = 4000; // 80 MB
    for (let i = 0; i < count; i += 50) {
      const part = Array.from({ length: 50 }, (_, k) => line(String(i + k).padStart(8, "0"), i + k === 0 ? null : String(i + k - 1).padStart(8, "0"), user(`${i + k} ${filler}`)));
      await file.write(`${part.join("\n")}\n`);
    }
    const { size } = await file.stat();
    await file.close();
    expect(size).toBeGreaterThan(80_000_000);
    const readBefore = await bytesRead();
    const memoryBefore = process.memoryUsage().rss;
    const opened = await open(1_200_000);
    expect(texts(opened).at(-1)).toMatch(/^3999 /);
    expect(opened.chars()).toBeLessThan(1_300_000);
    expect((await bytesRead()) - readBefore).toBeLessThan(3_000_000);
    expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(60_000_000);

    // Its header torn: it is rebuilt line by line.
    const torn = await openFile(path, "r+");
    await torn.write("????", 0);
    await torn.close();
    const heap = { peak: 0 };
    const timer = setInterval(() => {
      heap.peak = Math.max(heap.peak, process.memoryUsage().rss);
    }, 5);
    expect(texts(await open(1_200_000)).at(-1)).toMatch(/^3999 /);
    clearInterval(timer);
    expect(heap.peak - memoryBefore).toBeLessThan(200_000_000);
  });

  it("a turn without end is cut at a message of the model", async () => {
    const list = [header(), line("00000000", null, user("go"))];
    for (let i = 1; i <= 200; i += 2) {
      const id = (n: number): string => String(n).padStart(8, "0");
      list.push(line(id(i), id(i - 1), callTool(`t${i}`)), line(id(i + 1), id(i), toolResult(`t${i}`, "r".repeat(1000))));
    }
    await writeFile(path, list.join("\n"));
    const messages = (await open(10_000)).manager.buildSessionContext().messages;
    expect(messages.length).toBeLessThan(60);
    expect(messages[0]).toMatchObject({ role: "assistant" });
  });

  it("old images of another program's transcript are counted as images and not all loaded", async () => {
    const image = (id: number): string => line(String(id).padStart(8, "0"), id === 0 ? null : String(id - 1).padStart(8, "0"), user([{ type: "text", text: `shot ${id}` }, { type: "image", data: "A".repeat(3_000_000), mimeType: "image/png" }]));
    await writeFile(path, [header(), ...Array.from({ length: 8 }, (_, i) => image(i))].join("\n"));
    const opened = await open(1_200_000);
    expect(texts(opened)).toHaveLength(8);
    expect(opened.chars()).toBeLessThan(17_000_000);
    expect(texts(opened)[0]).toContain("[image no longer in context]");
  });
});

async function bytesRead(): Promise<number> {
  return Number(/rchar: (\d+)/.exec(await readFile("/proc/self/io", "utf8").catch(() => "rchar: 0"))?.[1]);
}

describe("how far a run had come", () => {
  async function after(build: (manager: OpenTranscript["manager"]) => void) {
    const transcript = await open();
    transcript.manager.appendMessage(user("earlier"));
    transcript.manager.appendMessage(answer("earlier answer"));
    build(transcript.manager);
    await transcript.flush();
    return inspectRunProgress(path, "r");
  }
  const mark = (manager: OpenTranscript["manager"], runId = "r"): void => void manager.appendCustomEntry(RUN_MARKER, { runId });

  it("absent: no file, no marker, or nothing behind it", async () => {
    expect(await inspectRunProgress(join(dir, "none.jsonl"), "r")).toEqual({ kind: "absent" });
    expect(await after(() => undefined)).toEqual({ kind: "absent" });
    expect(await after((m) => mark(m))).toEqual({ kind: "absent" });
  });

  it.each<[string, (m: OpenTranscript["manager"]) => void]>([
    ["only the message of the person is there", (m) => m.appendMessage(user("q"))],
    ["a tool was called", (m) => [user("q"), callTool("t")].forEach((x) => m.appendMessage(x))],
    ["a tool has answered", (m) => [user("q"), callTool("t"), toolResult("t")].forEach((x) => m.appendMessage(x))],
    ["the answer broke off", (m) => [user("q"), answer("half", { stopReason: "error" })].forEach((x) => m.appendMessage(x))],
    ["the answer broke off after a finished message", (m) => [user("q"), answer("first"), user("steer"), answer("half", { stopReason: "aborted" })].forEach((x) => m.appendMessage(x))],
  ])("open: %s", async (_name, build) => {
    expect(await after((m) => {
      mark(m);
      build(m);
    })).toEqual({ kind: "open" });
  });

  it("answered: with all texts of the run in order, and of no other run", async () => {
    expect(await after((m) => {
      mark(m, "before");
      m.appendMessage(user("x"));
      m.appendMessage(answer("not mine"));
      mark(m);
      m.appendMessage(user("q"));
      m.appendMessage(answer("let me look", { stopReason: "toolUse", content: [{ type: "text", text: "let me look" }, { type: "toolCall", id: "t", name: "read", arguments: {} }] }));
      m.appendMessage(toolResult("t"));
      m.appendMessage(answer("done"));
    })).toEqual({ kind: "answered", texts: ["let me look", "done"] });
  });
});
