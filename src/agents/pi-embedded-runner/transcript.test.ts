import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
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
afterEach(() => rm(dir, { recursive: true, force: true }));

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
