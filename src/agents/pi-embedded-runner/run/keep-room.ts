import type { PreparedModel } from "../../models/types.ts";
import { estimateTokensFromChars } from "../../output/tokens.ts";
import { contextTokens } from "../compaction-plan.ts";
import type { RunnerDeps } from "../deps.ts";
import type { OpenTranscript } from "../session-manager-init.ts";
import type { AttemptResult } from "./attempt.ts";
import type { RunCompaction } from "./compaction.ts";
import { FLUSH_MARKER, isWorkspaceWritable, memoryFlushPrompt, needsMemoryFlush } from "./memory-flush.ts";
import type { RunEmbeddedPiAgentParams } from "./params.ts";

export interface KeepRoomInput {
  readonly deps: RunnerDeps;
  readonly params: RunEmbeddedPiAgentParams;
  readonly transcript: OpenTranscript;
  readonly prepared: PreparedModel;
  readonly compaction: RunCompaction;
  /** Tokens of the run's last call; undefined when the provider does not count. */
  readonly lastTotal: number | undefined;
  readonly systemPrompt: string;
  /** One more turn of the agent, which nobody sees. */
  ask(prompt: string): Promise<AttemptResult>;
}

/** After an answer: saves memories while they are still in context, then compacts. Source: spec agent-pipeline §5.6. */
export async function keepRoom(input: KeepRoomInput): Promise<void> {
  const { deps, params, transcript, prepared, compaction } = input;
  const total = input.lastTotal ?? contextTokens(transcript.manager.getBranch()) + estimateTokensFromChars(input.systemPrompt.length);
  const config = deps.config();
  if (isSoon(total, prepared) && compaction.isPossible(prepared)) {
    const entry = await deps.sessions.get(params.sessionKey);
    const isDue = needsMemoryFlush({ config, params, entry, windowTokens: prepared.contextTokens, totalTokens: total });
    if (isDue && (await isWorkspaceWritable(config, params))) await flushMemory(input, entry?.compactionCount ?? 0);
  }
  const outcome = await compaction.ifFull(prepared, total);
  if (outcome?.kind !== "compacted") return;
  const entry = await deps.sessions.get(params.sessionKey);
  if (entry?.sessionId !== params.sessionId) return; // reset meanwhile
  await deps.sessions.update(params.sessionKey, { compactionCount: (entry.compactionCount ?? 0) + 1, totalTokens: outcome.tokensAfter, totalTokensFresh: false });
}

/** Far from full: the session store need not be asked. */
function isSoon(total: number, prepared: PreparedModel): boolean {
  return total > prepared.contextTokens / 4;
}

/** The turn stays in the file as a side branch: the conversation goes on as if it had not been. */
async function flushMemory({ deps, params, transcript, ask }: KeepRoomInput, compactionCount: number): Promise<void> {
  const { manager } = transcript;
  const leaf = manager.getLeafId();
  const at = deps.clock.now();
  const result = await ask(memoryFlushPrompt(deps.config(), at));
  if (leaf === null) manager.resetLeaf();
  else manager.branch(leaf);
  manager.appendCustomEntry(FLUSH_MARKER, { timestamp: at });
  if (result.messages.at(-1)?.stopReason === "aborted") return; // stopped by the person or the gateway's end: asked again after the next turn
  if (result.error !== undefined) deps.log.warn("memories could not be saved before compaction", { sessionKey: params.sessionKey, error: result.error });
  await deps.sessions.update(params.sessionKey, { memoryFlushAt: at, memoryFlushCompactionCount: compactionCount });
}

/** The same run for the model, with nobody listening. */
export function silentParams(params: RunEmbeddedPiAgentParams): RunEmbeddedPiAgentParams {
  const { onBlockReply: _block, onToolSummary: _tools, onPartialReply: _partial, onReasoningStream: _reasoning, onToolStart: _tool, blockReply: _config, ...rest } = params;
  return { ...rest, verbose: "off", onAgentEvent: () => undefined };
}
