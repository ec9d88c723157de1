import type { PiModules } from "../../pi.ts";
import { repairPairingOnDisk } from "../branch-rewrite.ts";
import type { RunnerDeps } from "../deps.ts";
import { RUN_MARKER } from "../replay.ts";
import { openTranscript, type OpenTranscript } from "../session-manager-init.ts";
import type { RunEmbeddedPiAgentParams } from "./params.ts";

const DEFAULT_WINDOW_TOKENS = 200_000;
/** Characters of history loaded per token of the window: more than any model can see. */
const LOADED_CHARS_PER_TOKEN = 6;

/** The conversation as the run before left it in memory, or read from the file; out of the cache until it is put back. */
export async function openRunTranscript(deps: RunnerDeps, pi: PiModules, run: { readonly sessionFile: string; readonly sessionId: string; readonly workspaceDir: string }): Promise<OpenTranscript> {
  const cached = await deps.transcripts.take(run.sessionFile);
  if (cached) return cached;
  const window = deps.config().agents?.defaults?.contextTokens ?? DEFAULT_WINDOW_TOKENS;
  return openTranscript(pi, {
    path: run.sessionFile, sessionId: run.sessionId, cwd: run.workspaceDir, budgetChars: window * LOADED_CHARS_PER_TOKEN, nowMs: deps.clock.now(), log: deps.log,
  });
}

/** Puts the conversation in order for a new message of a person, and marks where the run begins. */
export function beginRun(deps: Pick<RunnerDeps, "log">, { manager }: OpenTranscript, params: Pick<RunEmbeddedPiAgentParams, "runId" | "sessionKey">): void {
  branchAwayDeadPrompt(manager);
  if (repairPairingOnDisk(manager)) deps.log.warn("tool calls and results of the transcript did not match; put in order", { sessionKey: params.sessionKey });
  manager.appendCustomEntry(RUN_MARKER, { runId: params.runId });
}

/** A user message at the leaf was never answered (the run before died): the new one takes its place in the branch. */
function branchAwayDeadPrompt(manager: OpenTranscript["manager"]): void {
  const leaf = manager.getLeafEntry();
  if (leaf?.type !== "message" || leaf.message.role !== "user") return;
  if (leaf.parentId === null || !manager.getEntry(leaf.parentId)) manager.resetLeaf();
  else manager.branch(leaf.parentId);
}
