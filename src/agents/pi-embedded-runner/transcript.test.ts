import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import { createMessageWriter } from "../models/message-stream.ts";
import type { PreparedModel } from "../models/types.ts";
import { loadPi, type PiModules } from "../pi.ts";
import { compactEmbeddedPiSessionDirect, resolveCompactionSettings, type CompactionInput } from "./compact.ts";
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
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const user = (text: string) => ({ role: "user" as const, content: text, timestamp: 1 });
const answer = (text: string, more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant", api: "openai-completions", provider: "test", model: "m", usage, stopReason: "stop", timestamp: 1, content: [{ type: "text", text }], ...more,
});
const callTool = (id: string): AssistantMessage => answer("", { stopReason: "toolUse", content: [{ type: "toolCall", id, name: "read", arguments: { path: "a.txt" } }] });
const toolResult = (id: string) => ({ role: "toolResult" as const, toolCallId: id, toolName: "read", content: [{ type: "text" as const, text: "r" }], isError: false, timestamp: 1 });
const texts = (transcript: OpenTranscript): string[] =>
  transcript.manager.buildSessionContext().messages.map((m) => ("content" in m ? (typeof m.content === "string" ? m.content : m.content.map((b) => (b.type === "text" ? b.text : "")).join("")) : "summary" in m ? `summary: ${m.summary}` : m.role));
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

describe("compaction", () => {
  const model: Model<Api> = {
    id: "m", name: "m", api: "openai-completions", provider: "test", baseUrl: "http://127.0.0.1:9", reasoning: false, input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 20_000, maxTokens: 1000,
  };
  type Reply = (prompt: string) => string | Error;

  function input(transcript: OpenTranscript, reply: Reply, more: Partial<CompactionInput> = {}): CompactionInput & { prompts: string[] } {
    const prompts: string[] = [];
    const prepared: PreparedModel = {
      ref: { provider: "test", modelId: "m" }, model, contextTokens: 20_000, authMode: "none", profileId: undefined, apiKey: undefined, headers: undefined, params: {}, priced: false,
      stream: (_model, context) => {
        const prompt = context.messages.map((m) => (typeof m.content === "string" ? m.content : "")).join("\n");
        prompts.push(prompt);
        const writer = createMessageWriter(pi.ai, model, 1);
        const said = reply(prompt);
        if (said instanceof Error) writer.fail(said.message, false);
        else {
          writer.text(said);
          writer.done("stop");
        }
        return writer.stream;
      },
    };
    return {
      pi, manager: transcript.manager, prepared, settings: { thresholdTokens: 10_000, reserveTokens: 4000, keepRecentTokens: 500 },
      forced: false, signal: new AbortController().signal, log: silentLogger, prompts, ...more,
    };
  }

  async function conversation(turns: number, chars = 400): Promise<OpenTranscript> {
    const transcript = await open();
    for (let i = 0; i < turns; i++) {
      transcript.manager.appendMessage(user(`question ${i} ${"x".repeat(chars)}`));
      transcript.manager.appendMessage(callTool(`t${i}`));
      transcript.manager.appendMessage(toolResult(`t${i}`));
      transcript.manager.appendMessage(answer(`answer ${i}`));
    }
    await transcript.flush();
    return transcript;
  }

  it("puts a summary in place of the older turns and keeps the recent ones whole", async () => {
    const transcript = await conversation(20);
    const request = input(transcript, () => "GOAL: test", { focus: "the names" });
    const outcome = await compactEmbeddedPiSessionDirect(request);
    expect(outcome).toMatchObject({ kind: "compacted", degraded: false, summaryChars: 10 });
    if (outcome.kind === "compacted") expect(outcome.tokensAfter).toBeLessThan(outcome.tokensBefore);
    expect(request.prompts.join()).toContain("question 0");
    expect(request.prompts.join()).toContain("Dwell on: the names");
    await transcript.flush();
    const loaded = texts(await open());
    expect(loaded[0]).toContain("GOAL: test");
    expect(loaded[1]).toMatch(/^question 1\d/);
    expect(loaded.at(-1)).toBe("answer 19");
    expect((await lines()).at(-1)).toMatchObject({ type: "compaction", details: { readFiles: ["a.txt"], modifiedFiles: [] } });
  });

  it("hands the previous summary on", async () => {
    const transcript = await conversation(12);
    await compactEmbeddedPiSessionDirect(input(transcript, () => "FIRST"));
    for (let i = 0; i < 10; i++) transcript.manager.appendMessage(user(`later ${i} ${"y".repeat(400)}`));
    const request = input(transcript, () => "SECOND");
    expect(await compactEmbeddedPiSessionDirect(request)).toMatchObject({ kind: "compacted" });
    expect(request.prompts[0]).toContain("<previous-summary>\nFIRST");
    expect(request.prompts.join()).not.toContain("question 0 ");
  });

  it("does nothing when there is nothing older", async () => {
    const transcript = await conversation(1, 10);
    expect(await compactEmbeddedPiSessionDirect(input(transcript, () => "x"))).toMatchObject({ kind: "skipped" });
  });

  it("keeps the whole history when the model fails", async () => {
    const transcript = await conversation(20);
    const before = texts(transcript);
    expect(await compactEmbeddedPiSessionDirect(input(transcript, () => new Error("HTTP 500")))).toEqual({ kind: "failed", reason: "HTTP 500" });
    expect(texts(transcript)).toEqual(before);
    expect(await compactEmbeddedPiSessionDirect(input(transcript, () => "  "))).toMatchObject({ kind: "failed", reason: expect.stringContaining("empty summary") });
    expect(texts(transcript)).toEqual(before);
  });

  it("says that it was stopped", async () => {
    const transcript = await conversation(20);
    const stop = new AbortController();
    stop.abort();
    expect(await compactEmbeddedPiSessionDirect(input(transcript, () => new Error("aborted"), { signal: stop.signal }))).toEqual({ kind: "failed", reason: "stopped" });
  });

  it("halves a part that is too long for the model until it fits", async () => {
    const transcript = await conversation(60, 600);
    const request = input(transcript, (prompt) => (prompt.length > 12_000 ? new Error("prompt is too long: context window exceeded") : "SUMMARY"));
    expect(await compactEmbeddedPiSessionDirect(request)).toMatchObject({ kind: "compacted", degraded: true });
    expect(request.prompts.some((prompt) => prompt.length > 12_000)).toBe(true);
    expect(transcript.manager.getBranch().findLast((entry) => entry.type === "compaction")).toMatchObject({ summary: "SUMMARY" });
  });

  it("names what could not be summarised instead of failing for ever", async () => {
    const transcript = await conversation(120, 600);
    let n = 0;
    const request = input(transcript, () => (++n <= 2 ? new Error("HTTP 500") : "REST"));
    const outcome = await compactEmbeddedPiSessionDirect(request);
    expect(outcome).toMatchObject({ kind: "compacted", degraded: true });
    expect(JSON.stringify(transcript.manager.getBranch().at(-1))).toContain("could not be summarised");
  });

  it("leaves room in small windows and follows the mode", () => {
    const cfg = (mode?: "aggressive" | "off") => ({ agents: { defaults: { compaction: mode ? { mode } : {} } } });
    expect(resolveCompactionSettings(cfg(), 200_000)).toEqual({ thresholdTokens: 180_000, reserveTokens: 20_000, keepRecentTokens: 20_000 });
    expect(resolveCompactionSettings(cfg(), 16_000)).toEqual({ thresholdTokens: 8000, reserveTokens: 8000, keepRecentTokens: 4000 });
    expect(resolveCompactionSettings(cfg("aggressive"), 200_000).thresholdTokens).toBe(100_000);
    expect(resolveCompactionSettings(cfg("off"), 200_000).thresholdTokens).toBeUndefined();
  });
});
