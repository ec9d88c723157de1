import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { SessionEntry } from "../../../sessions/index.ts";
import { SILENT_REPLY_TOKEN } from "../../output/silent.ts";
import { resolveCompactionSettings } from "../compact.ts";
import { resolveSandboxInfo } from "../sandbox-info.ts";
import type { RunEmbeddedPiAgentParams } from "./params.ts";

const SOFT_THRESHOLD_TOKENS = 4000;
/** Marks in the transcript where the conversation goes on after a flush. */
export const FLUSH_MARKER = "openclaw:memory-flush";

const DEFAULT_SYSTEM_PROMPT = "Before the conversation is shortened: save what should last. Nobody reads the answer to this message.";
const DEFAULT_PROMPT =
  "Write what is worth keeping from this conversation (decisions, facts about people, open promises, results) into memory/YYYY-MM-DD.md of the workspace: append, never overwrite, create the folder when it is missing. Touch no other file.";
const SILENT_HINT = `If there is nothing to save, and when you are done, answer exactly ${SILENT_REPLY_TOKEN}.`;

export interface MemoryFlushQuestion {
  readonly config: OpenClawConfig;
  readonly params: Pick<RunEmbeddedPiAgentParams, "heartbeat" | "tools" | "agent">;
  readonly entry: Pick<SessionEntry, "compactionCount" | "memoryFlushCompactionCount"> | undefined;
  readonly windowTokens: number;
  /** Tokens of the conversation as of now. */
  readonly totalTokens: number;
}

/**
 * Whether the agent should be asked to save its memories now: the next turns may bring a compaction, none was asked for
 * since the last one, and there is a file tool to do it with. Source: spec agent-pipeline §5.6.
 */
export function needsMemoryFlush({ config, params, entry, windowTokens, totalTokens }: MemoryFlushQuestion): boolean {
  const settings = config.agents?.defaults?.compaction?.memoryFlush;
  if (settings?.enabled === false || params.heartbeat !== undefined) return false;
  if (!params.tools.some((tool) => tool.name === "write" || tool.name === "edit")) return false;
  if (entry === undefined || entry.memoryFlushCompactionCount === (entry.compactionCount ?? 0)) return false;
  const { thresholdTokens, reserveTokens } = resolveCompactionSettings(config, windowTokens);
  const soft = Math.min(settings?.softThresholdTokens ?? SOFT_THRESHOLD_TOKENS, Math.floor(windowTokens / 4));
  return totalTokens >= (thresholdTokens ?? windowTokens - reserveTokens) - soft;
}

/** In a sandbox only the workspace itself counts: a memory in a private copy is never read again. */
export async function isWorkspaceWritable(config: OpenClawConfig, { agent, sessionKey }: Pick<RunEmbeddedPiAgentParams, "agent" | "sessionKey">): Promise<boolean> {
  const sandbox = resolveSandboxInfo(config, agent, sessionKey);
  if (sandbox.enabled && sandbox.workspaceAccess !== "rw") return false;
  return access(agent.workspaceDir, constants.W_OK).then(() => true, () => false);
}

/**
 * The one message of the flush. What it says besides the request stands in it too, not in the system prompt: that would
 * change the first bytes of the request and cost the whole prompt cache.
 */
export function memoryFlushPrompt(config: OpenClawConfig, nowMs: number): string {
  const settings = config.agents?.defaults?.compaction?.memoryFlush;
  const timeZone = config.agents?.defaults?.userTimezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const now = new Date(nowMs);
  const day = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(now);
  const time = new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "full", timeStyle: "short" }).format(now);
  const text = `${settings?.systemPrompt ?? DEFAULT_SYSTEM_PROMPT}\n\n${settings?.prompt ?? DEFAULT_PROMPT}`.replaceAll("YYYY-MM-DD", day);
  const hint = text.includes(SILENT_REPLY_TOKEN) ? "" : `\n${SILENT_HINT}`;
  return `${text}${hint}\nCurrent time: ${time} (${timeZone})`;
}
