import type { PiModules } from "../../pi.ts";
import { repairPairingOnDisk, rewriteBranch } from "../branch-rewrite.ts";
import type { RunnerDeps } from "../deps.ts";
import { RUN_MARKER } from "../replay.ts";
import { openTranscript, type OpenTranscript } from "../session-manager-init.ts";
import type { RunEmbeddedPiAgentParams } from "./params.ts";

/** Custom entry that tells why a message has no answer. */
export const PROMPT_ERROR = "openclaw:prompt-error";
const DEFAULT_WINDOW_TOKENS = 200_000;
/** Characters of history loaded per token of the window: more than any model can see. */
const LOADED_CHARS_PER_TOKEN = 6;

/** The conversation as the run before left it in memory, or read from the file; out of the cache until it is put back. */
export async function openRunTranscript(deps: RunnerDeps, pi: PiModules, run: { readonly agentId: string; readonly sessionKey: string; readonly sessionFile: string; readonly sessionId: string; readonly workspaceDir: string }): Promise<OpenTranscript> {
  const cached = deps.transcripts.take(run.sessionFile);
  if (cached) return cached;
  const entry = await deps.sessions.get(run.sessionKey);
  const window = Math.max(deps.config().agents?.defaults?.contextTokens ?? DEFAULT_WINDOW_TOKENS, entry?.contextTokens ?? 0);
  return openTranscript(pi, {
    path: run.sessionFile, sessionId: run.sessionId, cwd: run.workspaceDir, budgetChars: window * LOADED_CHARS_PER_TOKEN, nowMs: deps.clock.now(), log: deps.log,
    ...(deps.hooks.has("tool_result_persist", "before_message_write") && { beforeWrite: (message) => deps.hooks.beforeWrite(message, { agentId: run.agentId, sessionKey: run.sessionKey }) }),
  });
}

/** Puts the conversation in order for a new message, and marks where the run begins. Returns the leaf before it. */
export function beginRun(deps: Pick<RunnerDeps, "log">, { manager }: OpenTranscript, params: Pick<RunEmbeddedPiAgentParams, "runId" | "sessionKey">): string | null {
  branchAwayDeadPrompt(manager);
  if (repairPairingOnDisk(manager)) deps.log.warn("tool calls and results of the transcript did not match; put in order", { sessionKey: params.sessionKey });
  const leaf = manager.getLeafId();
  manager.appendCustomEntry(RUN_MARKER, { runId: params.runId });
  return leaf;
}

/** A user message at the leaf was never answered, nor was a person told why (the run before died): the new one takes its place. */
function branchAwayDeadPrompt(manager: OpenTranscript["manager"]): void {
  const leaf = manager.getLeafEntry();
  if (leaf?.type !== "message" || leaf.message.role !== "user") return;
  if (manager.getChildren(leaf.id).length === 0) dropUnanswered(manager);
}

/** Takes the newest message out of the conversation when it is a person's that has no answer; it stays in the file. */
export function dropUnanswered(manager: OpenTranscript["manager"]): void {
  rewriteBranch(manager, (messages) => (messages.at(-1)?.role === "user" ? messages.slice(0, -1) : messages));
}
