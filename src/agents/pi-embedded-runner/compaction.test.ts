import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import { loadPi, type PiModules } from "../pi.ts";
import { compactEmbeddedPiSessionDirect, cutHistory, resolveCompactionSettings, type CompactionInput } from "./compact.ts";
import { postCompactionEvent } from "./compaction-appendix.ts";
import { planCompaction } from "./compaction-plan.ts";
import { answer, callTool, scriptedModel, textsOf, toolResult, user, type ScriptedReply } from "./conversation-fixture.ts";
import { openTranscript, type OpenTranscript } from "./session-manager-init.ts";

let pi: PiModules;
let dir: string;
beforeAll(async () => {
  pi = await loadPi();
}, 60_000);
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "compaction-"));
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

const open = (): Promise<OpenTranscript> => openTranscript(pi, { path: join(dir, "s.jsonl"), sessionId: "s", cwd: dir, budgetChars: 1_000_000, nowMs: 1, log: silentLogger });

function input(transcript: OpenTranscript, reply: ScriptedReply, more: Partial<CompactionInput> = {}): CompactionInput & { prompts: string[] } {
  const prompts: string[] = [];
  return {
    pi, manager: transcript.manager, prepared: scriptedModel(pi, reply, prompts),
    settings: { thresholdTokens: 10_000, reserveTokens: 4000, keepRecentTokens: 500, maxHistoryShare: 0.5 },
    workspaceDir: dir, now: () => 1, retryDelaysMs: [], signal: new AbortController().signal, log: silentLogger, prompts, ...more,
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

const summaryOf = (transcript: OpenTranscript): string => {
  const entry = transcript.manager.getBranch().findLast((e) => e.type === "compaction");
  return entry?.type === "compaction" ? entry.summary : "";
};

describe("compaction", () => {
  it("puts a summary in place of the older turns and keeps the recent ones whole", async () => {
    const transcript = await conversation(20);
    const request = input(transcript, () => "GOAL: test", { focus: "the names" });
    const outcome = await compactEmbeddedPiSessionDirect(request);
    expect(outcome).toMatchObject({ kind: "compacted", degraded: false });
    if (outcome.kind === "compacted") expect(outcome.tokensAfter).toBeLessThan(outcome.tokensBefore);
    expect(request.prompts.join()).toContain("question 0");
    expect(request.prompts.join()).toContain("Dwell on: the names");
    await transcript.flush();
    const loaded = textsOf(await open());
    expect(loaded[0]).toContain("GOAL: test");
    expect(loaded[1]).toMatch(/^question 1\d/);
    expect(loaded.at(-1)).toBe("answer 19");
    expect(JSON.parse((await readFile(join(dir, "s.jsonl"), "utf8")).trimEnd().split("\n").at(-1) as string)).toMatchObject({
      type: "compaction", details: { readFiles: ["a.txt"], modifiedFiles: [] },
    });
  });

  it("hands the previous summary on, without what was added to it", async () => {
    const transcript = await conversation(12);
    await compactEmbeddedPiSessionDirect(input(transcript, () => "FIRST"));
    for (let i = 0; i < 10; i++) transcript.manager.appendMessage(user(`later ${i} ${"y".repeat(400)}`));
    const request = input(transcript, () => "SECOND");
    expect(await compactEmbeddedPiSessionDirect(request)).toMatchObject({ kind: "compacted" });
    expect(request.prompts[0]).toContain("<previous-summary>\nFIRST\n</previous-summary>");
    expect(request.prompts.join()).not.toContain("question 0 ");
    expect(summaryOf(transcript).match(/<read-files>/g)).toHaveLength(1);
  });

  it("writes nothing on a tiny conversation", async () => {
    const transcript = await conversation(1, 10);
    const before = await readFile(join(dir, "s.jsonl"), "utf8");
    const request = input(transcript, () => "x", { settings: resolveCompactionSettings({}, 200_000) });
    expect(await compactEmbeddedPiSessionDirect(request)).toMatchObject({ kind: "skipped" });
    await transcript.flush();
    expect(await readFile(join(dir, "s.jsonl"), "utf8")).toBe(before);
    expect(request.prompts).toEqual([]);
    expect(await compactEmbeddedPiSessionDirect(input(await openTranscript(pi, { path: join(dir, "new.jsonl"), sessionId: "n", cwd: dir, budgetChars: 1000, nowMs: 1, log: silentLogger }), () => "x"))).toMatchObject({ kind: "skipped" });
  });

  it("cuts into a turn that is longer than what is kept, and summarises its beginning by itself", async () => {
    const transcript = await conversation(2);
    transcript.manager.appendMessage(user("build the whole thing"));
    for (let i = 0; i < 12; i++) {
      transcript.manager.appendMessage(callTool(`long${i}`));
      transcript.manager.appendMessage(toolResult(`long${i}`, `output ${i} ${"z".repeat(400)}`));
    }
    const request = input(transcript, (prompt) => (prompt.includes("build the whole thing") ? "PREFIX" : "HISTORY"));
    expect(await compactEmbeddedPiSessionDirect(request)).toMatchObject({ kind: "compacted" });
    expect(request.prompts).toHaveLength(2);
    expect(summaryOf(transcript)).toMatch(/^HISTORY\n\n## Beginning of the current turn .*\nPREFIX/);
    const kept = transcript.manager.buildSessionContext().messages.slice(1);
    expect(kept[0]).toMatchObject({ role: "assistant" });
    expect(kept.filter((m) => m.role === "toolResult").length).toBe(kept.filter((m) => m.role === "assistant").length);
  });

  it("cuts into the very first turn too, when it is all there is", async () => {
    const transcript = await open();
    transcript.manager.appendMessage(user("go"));
    for (let i = 0; i < 12; i++) {
      transcript.manager.appendMessage(callTool(`t${i}`));
      transcript.manager.appendMessage(toolResult(`t${i}`, `output ${i} ${"z".repeat(400)}`));
    }
    expect(await compactEmbeddedPiSessionDirect(input(transcript, () => "PREFIX"))).toMatchObject({ kind: "compacted" });
    expect(summaryOf(transcript)).toMatch(/^## Beginning of the current turn .*\nPREFIX/);
  });

  it("leaves out of estimate and summary what commands and mirrored sends put into the transcript", async () => {
    const transcript = await conversation(4);
    const tokens = planCompaction(transcript.manager.getBranch(), 100)?.tokensBefore;
    for (let i = 0; i < 5; i++) transcript.manager.appendMessage(answer(`STATUS ${"s".repeat(5000)}`, { provider: "openclaw", model: i % 2 ? "delivery-mirror" : "gateway-injected" }));
    const plan = planCompaction(transcript.manager.getBranch(), 100);
    expect(plan?.tokensBefore).toBe(tokens);
    expect(JSON.stringify(plan?.older)).not.toContain("STATUS");
  });

  it("keeps the whole history when the model fails", async () => {
    const transcript = await conversation(20);
    const before = textsOf(transcript);
    expect(await compactEmbeddedPiSessionDirect(input(transcript, () => new Error("HTTP 500")))).toEqual({ kind: "failed", reason: "HTTP 500" });
    expect(textsOf(transcript)).toEqual(before);
    expect(await compactEmbeddedPiSessionDirect(input(transcript, () => "  "))).toMatchObject({ kind: "failed", reason: expect.stringContaining("empty summary") });
    expect(textsOf(transcript)).toEqual(before);
  });

  it("tries a part three times before it is given up, a refused key once", async () => {
    const transcript = await conversation(8);
    let n = 0;
    expect(await compactEmbeddedPiSessionDirect(input(transcript, () => (++n < 3 ? new Error("HTTP 503 overloaded") : "OK"), { retryDelaysMs: [1, 1] }))).toMatchObject({ kind: "compacted", degraded: false });
    expect(n).toBe(3);
    const refused = input(await conversation(8), () => new Error("401 invalid api key"), { retryDelaysMs: [1, 1] });
    expect(await compactEmbeddedPiSessionDirect(refused)).toMatchObject({ kind: "failed" });
    expect(refused.prompts).toHaveLength(1);
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
    expect(summaryOf(transcript)).toMatch(/^SUMMARY\n/);
  });

  it("names what could not be summarised instead of failing for ever", async () => {
    const transcript = await conversation(120, 600);
    let n = 0;
    const outcome = await compactEmbeddedPiSessionDirect(input(transcript, () => (++n <= 2 ? new Error("HTTP 500") : "REST")));
    expect(outcome).toMatchObject({ kind: "compacted", degraded: true });
    expect(summaryOf(transcript)).toContain("could not be summarised");
  });

  it("takes smaller parts when compaction.maxHistoryShare is smaller", async () => {
    const parts = async (maxHistoryShare: number): Promise<number> => {
      const request = input(await conversation(30, 1500), () => "S", { settings: { thresholdTokens: 1, reserveTokens: 4000, keepRecentTokens: 500, maxHistoryShare } });
      await compactEmbeddedPiSessionDirect(request);
      return request.prompts.length;
    };
    expect(await parts(0.1)).toBeGreaterThan(await parts(0.9));
  });

  it("adds failed tools, files and the critical rules of AGENTS.md to the summary", async () => {
    await writeFile(join(dir, "AGENTS.md"), "# Home\n## Session Startup\nread SOUL.md\n## Other\nnot this\n## Red Lines\nnever lie\n");
    const transcript = await conversation(3);
    transcript.manager.appendMessage(user("do it"));
    transcript.manager.appendMessage(callTool("w", "write", { path: "b.txt", content: "" }));
    transcript.manager.appendMessage(toolResult("w", `EACCES\n${"e".repeat(500)}`, { toolName: "write", isError: true }));
    for (let i = 0; i < 10; i++) transcript.manager.appendMessage(user(`later ${i} ${"y".repeat(400)}`));
    await compactEmbeddedPiSessionDirect(input(transcript, () => "SUMMARY"));
    const summary = summaryOf(transcript);
    expect(summary).toMatch(/## Tool Failures\n- write: EACCES e{200,}…/);
    expect(summary).toContain("<read-files>\na.txt\n</read-files>");
    expect(summary).toContain("<modified-files>\nb.txt\n</modified-files>");
    expect(summary).toContain("<workspace-critical-rules>\n## Session Startup\nread SOUL.md\n\n## Red Lines\nnever lie\n</workspace-critical-rules>");
    expect(postCompactionEvent("# A\n## Red Lines\nnever lie")).toContain("never lie");
    expect(postCompactionEvent("# A\nnothing of that kind")).toBeUndefined();
  });

  it("without any model the older part can be dropped, with a note", async () => {
    const transcript = await conversation(20);
    expect(cutHistory(transcript.manager, 500, "too long")).toMatchObject({ kind: "compacted", degraded: true });
    const texts = textsOf(transcript);
    expect(texts[0]).toMatch(/older messages, about \d+ tokens, were removed from context without a summary: too long/);
    expect(texts.at(-1)).toBe("answer 19");
    expect(texts.length).toBeLessThan(30);
  });

  it("leaves room in small windows and follows the settings", () => {
    const cfg = (mode?: "aggressive" | "off") => ({ agents: { defaults: { compaction: mode ? { mode } : {} } } });
    expect(resolveCompactionSettings(cfg(), 200_000)).toEqual({ thresholdTokens: 180_000, reserveTokens: 20_000, keepRecentTokens: 20_000, maxHistoryShare: 0.5 });
    expect(resolveCompactionSettings(cfg(), 16_000)).toEqual({ thresholdTokens: 8000, reserveTokens: 8000, keepRecentTokens: 4000, maxHistoryShare: 0.5 });
    expect(resolveCompactionSettings(cfg("aggressive"), 200_000).thresholdTokens).toBe(100_000);
    expect(resolveCompactionSettings(cfg("off"), 200_000).thresholdTokens).toBeUndefined();
    expect(resolveCompactionSettings({ agents: { defaults: { compaction: { reserveTokens: 30_000, reserveTokensFloor: 10_000, maxHistoryShare: 0.3 } } } }, 200_000)).toMatchObject({ reserveTokens: 30_000, maxHistoryShare: 0.3 });
    expect(resolveCompactionSettings({ agents: { defaults: { compaction: { reserveTokens: 1000 } } } }, 200_000).reserveTokens).toBe(20_000);
  });
});
