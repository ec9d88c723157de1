import { formatModelRef, type AgentRuntime, type EmbeddedPiRunResult, type ModelRef } from "../agents/index.ts";
import type { SessionEntry, SessionPatch, SessionService } from "../sessions/index.ts";
import { fallbackChange } from "./fallback-notice.ts";

/** Which stored login a run may use; at most one is set. */
export interface ProfileChoice {
  readonly pinnedProfileId?: string | undefined;
  readonly preferredProfileId?: string | undefined;
  readonly afterProfileId?: string | undefined;
}

/**
 * What the person chose is kept; else the session keeps the login it has used, until a new conversation or a compaction
 * gives the next one its turn. Source: spec agent-pipeline §5.7.
 */
export function profileChoice(entry: Readonly<SessionEntry>): ProfileChoice {
  const id = entry.authProfileOverride;
  if (id === undefined) return {};
  if (entry.authProfileOverrideSource === "user") return { pinnedProfileId: id };
  const begun = entry.systemSent === true && (entry.authProfileOverrideCompactionCount ?? 0) === (entry.compactionCount ?? 0);
  return begun ? { preferredProfileId: id } : { afterProfileId: id };
}

/** Writes what a run used into the session's entry. `entry` and `chosen` are those the run began with. */
export async function recordRun(
  deps: { readonly sessions: SessionService; readonly agents: AgentRuntime }, sessionKey: string, entry: Readonly<SessionEntry>, chosen: ModelRef, result: EmbeddedPiRunResult,
): Promise<void> {
  const { agentMeta, systemPromptReport, compactionCount, aborted, error, fallback } = result.meta;
  const current = await deps.sessions.get(sessionKey);
  // Reset meanwhile, or left out: these numbers belong to no conversation that goes on.
  if (current?.sessionId !== entry.sessionId || result.meta.discarded) return;
  const compactions = (current.compactionCount ?? 0) + compactionCount;
  const patch: SessionPatch = {
    systemSent: true, abortedLastRun: aborted, modelProvider: agentMeta.provider, model: agentMeta.model,
    ...(agentMeta.contextTokens > 0 ? { contextTokens: agentMeta.contextTokens } : {}),
    ...(compactionCount > 0 ? { compactionCount: compactions } : {}),
    ...(systemPromptReport ? { systemPromptReport } : {}),
    ...(agentMeta.profileId && agentMeta.provider === chosen.provider && entry.authProfileOverrideSource !== "user"
      ? { authProfileOverride: agentMeta.profileId, authProfileOverrideSource: "auto" as const, authProfileOverrideCompactionCount: entry.compactionCount ?? 0 }
      : {}),
    ...(aborted || error ? {} : fallbackChange(entry, formatModelRef(chosen), fallback)?.patch),
  };
  if (agentMeta.usage.total > 0) {
    Object.assign(patch, {
      inputTokens: agentMeta.usage.input, outputTokens: agentMeta.usage.output, cacheRead: agentMeta.usage.cacheRead, cacheWrite: agentMeta.usage.cacheWrite,
      totalTokens: agentMeta.lastCallUsage?.total ?? agentMeta.usage.total, totalTokensFresh: compactionCount === 0,
    });
  }
  const skills = deps.agents.skillsSnapshot(entry.sessionId);
  if (skills && current.skillsSnapshot === undefined) patch.skillsSnapshot = skills;
  await deps.sessions.update(sessionKey, patch);
}
