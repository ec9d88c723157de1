import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { CompactionEntry, SessionEntry as PiEntry } from "@mariozechner/pi-coding-agent";
import { CHARS_PER_TOKEN } from "../output/tokens.ts";
import { isInjected } from "./history.ts";
import { entryTokens } from "./message-size.ts";

/** What a compaction would replace and what it would keep. */
export interface CompactionPlan {
  readonly previous: CompactionEntry | undefined;
  /** Whole turns before the cut. */
  readonly older: readonly AgentMessage[];
  /** The beginning of the turn in whose middle the cut lies; empty when it lies between two turns. */
  readonly turnPrefix: readonly AgentMessage[];
  readonly firstKeptId: string;
  readonly tokensBefore: number;
  readonly tokensKept: number;
}

const SHORT_PREFIX_SHARE = 0.5;

/**
 * Keeps about `keepTokens` from the end: the cut goes before a user, assistant or custom message, never before a tool
 * result, and into a turn only where its beginning is long. undefined when nothing lies before the cut.
 * Source: spec agent-pipeline §5.6.
 */
export function planCompaction(branch: PiEntry[], keepTokens: number): CompactionPlan | undefined {
  const previous = branch.findLast((entry) => entry.type === "compaction");
  const entries = contextEntries(branch, previous);
  const wanted = findCut(entries, keepTokens);
  const turnStart = Math.max(0, entries.findLastIndex((entry, index) => index <= wanted && startsTurn(entry)));
  // The beginning of a turn is kept with it when it is short.
  const cut = turnStart > 0 && sumTokens(entries.slice(turnStart, wanted)) <= keepTokens * SHORT_PREFIX_SHARE ? turnStart : wanted;
  const firstKept = entries[cut];
  if (cut <= 0 || !firstKept) return undefined;
  const older = messagesOf(entries.slice(0, turnStart));
  const turnPrefix = messagesOf(entries.slice(turnStart, cut));
  if (older.length === 0 && turnPrefix.length === 0) return undefined;
  return { previous, older, turnPrefix, firstKeptId: firstKept.id, tokensBefore: contextTokens(branch), tokensKept: sumTokens(entries.slice(cut)) };
}

/** Estimated tokens of the conversation as the model would get it, the system prompt excluded. */
export function contextTokens(branch: PiEntry[]): number {
  const previous = branch.findLast((entry) => entry.type === "compaction");
  return sumTokens(contextEntries(branch, previous)) + Math.ceil((previous?.summary.length ?? 0) / CHARS_PER_TOKEN);
}

/** Entries that the model sees, summary excluded. */
function contextEntries(branch: PiEntry[], compaction: CompactionEntry | undefined): PiEntry[] {
  if (!compaction) return branch.filter(isContext);
  const at = branch.indexOf(compaction);
  const from = branch.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
  return [...(from >= 0 && from < at ? branch.slice(from, at) : []), ...branch.slice(at + 1)].filter(isContext);
}

function isContext(entry: PiEntry): boolean {
  if (entry.type === "message") return !isInjected(entry.message);
  return entry.type === "custom_message" || entry.type === "branch_summary";
}

function findCut(entries: readonly PiEntry[], keepTokens: number): number {
  let tokens = 0;
  let cut = entries.length;
  while (cut > 0 && tokens < keepTokens) tokens += entryTokens(entries[--cut] as PiEntry);
  if (cut === 0) return 0;
  for (let at = cut; at < entries.length; at++) if (mayBeFirst(entries[at] as PiEntry)) return at;
  for (let at = cut - 1; at > 0; at--) if (mayBeFirst(entries[at] as PiEntry)) return at;
  return 0;
}

function mayBeFirst(entry: PiEntry): boolean {
  return entry.type !== "message" || entry.message.role !== "toolResult";
}

function startsTurn(entry: PiEntry): boolean {
  return entry.type === "custom_message" || (entry.type === "message" && entry.message.role === "user");
}

function messagesOf(entries: readonly PiEntry[]): AgentMessage[] {
  return entries.flatMap((entry): AgentMessage[] => {
    if (entry.type === "message") return [entry.message];
    if (entry.type === "custom_message") return [{ role: "user", content: entry.content, timestamp: Date.parse(entry.timestamp) }];
    if (entry.type === "branch_summary") return [{ role: "user", content: entry.summary, timestamp: Date.parse(entry.timestamp) }];
    return [];
  });
}

function sumTokens(entries: readonly PiEntry[]): number {
  return entries.reduce((sum, entry) => sum + entryTokens(entry), 0);
}
