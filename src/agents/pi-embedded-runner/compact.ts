import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { AssistantMessage, Message } from "@mariozechner/pi-ai";
import type { SessionEntry as PiEntry, SessionManager } from "@mariozechner/pi-coding-agent";
import type { OpenClawConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import type { PreparedModel } from "../models/types.ts";
import { CHARS_PER_TOKEN, IMAGE_CHARS } from "../output/tokens.ts";
import type { PiModules } from "../pi.ts";
import { requestOptions } from "./pi-session.ts";

export interface CompactionSettings {
  /** Tokens below the window at which a finished turn triggers compaction; undefined switches that off. */
  readonly thresholdTokens: number | undefined;
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
}

const RESERVE_FLOOR = 20_000;
const KEEP_RECENT = 20_000;

/** `aggressive` compacts at half of the window, `off` only on overflow or /compact (spec decisions §1.4). */
export function resolveCompactionSettings(cfg: OpenClawConfig, contextTokens: number): CompactionSettings {
  const settings = cfg.agents?.defaults?.compaction;
  const floor = settings?.reserveTokensFloor ?? RESERVE_FLOOR;
  // A small window must not be reserved away whole.
  const reserveTokens = Math.min(Math.max(settings?.reserveTokens ?? 0, floor), Math.floor(contextTokens / 2));
  const keepRecentTokens = Math.min(settings?.keepRecentTokens ?? KEEP_RECENT, Math.floor(contextTokens / 4));
  const mode = settings?.mode ?? "safeguard";
  const thresholdTokens = mode === "off" ? undefined : mode === "aggressive" ? Math.floor(contextTokens / 2) : contextTokens - reserveTokens;
  return { thresholdTokens, reserveTokens, keepRecentTokens };
}

export type CompactionOutcome =
  | { readonly kind: "compacted"; readonly tokensBefore: number; readonly tokensAfter: number; readonly summaryChars: number; readonly degraded: boolean }
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

export interface CompactionInput {
  readonly pi: PiModules;
  readonly manager: SessionManager;
  readonly prepared: PreparedModel;
  readonly settings: CompactionSettings;
  /** What the person wants the summary to dwell on. */
  readonly focus?: string | undefined;
  /** Keep even less: the request overflowed. */
  readonly forced: boolean;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Replaces the older part of the conversation by a summary entry. Ends in every case: a chunk that is too long is
 * halved, and what cannot be summarised is named and dropped. Source: spec agent-pipeline §5.6, pains #17–18.
 */
export async function compactEmbeddedPiSessionDirect(input: CompactionInput): Promise<CompactionOutcome> {
  const branch = input.manager.getBranch();
  const previous = branch.findLast((entry) => entry.type === "compaction");
  const visible = visibleEntries(branch);
  const tokensBefore = visible.reduce((sum, entry) => sum + entryTokens(entry), 0) + Math.ceil((previous?.type === "compaction" ? previous.summary.length : 0) / CHARS_PER_TOKEN);
  const keep = input.forced ? Math.floor(input.settings.keepRecentTokens / 2) : input.settings.keepRecentTokens;
  const cut = findCut(visible, keep);
  const firstKept = visible[cut];
  if (cut <= 0 || !firstKept) return { kind: "skipped", reason: "there is nothing older to summarise" };
  const older = visible.slice(0, cut);
  const messages = older.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  if (messages.length === 0) return { kind: "skipped", reason: "there is nothing older to summarise" };
  try {
    const { summary, degraded } = await summarise(input, messages, previous?.type === "compaction" ? previous.summary : undefined);
    input.manager.appendCompaction(summary, firstKept.id, tokensBefore, fileDetails(messages));
    const kept = visible.slice(cut).reduce((sum, entry) => sum + entryTokens(entry), 0);
    return { kind: "compacted", tokensBefore, tokensAfter: kept + Math.ceil(summary.length / CHARS_PER_TOKEN), summaryChars: summary.length, degraded };
  } catch (err) {
    if (input.signal.aborted) return { kind: "failed", reason: "stopped" };
    return { kind: "failed", reason: errorText(err) };
  }
}

/** Entries that the model sees, summary excluded. */
function visibleEntries(branch: PiEntry[]): PiEntry[] {
  const at = branch.findLastIndex((entry) => entry.type === "compaction");
  const compaction = branch[at];
  if (compaction?.type !== "compaction") return branch.filter(isContext);
  const from = branch.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
  return [...(from >= 0 && from < at ? branch.slice(from, at) : []), ...branch.slice(at + 1)].filter(isContext);
}

function isContext(entry: PiEntry): boolean {
  return entry.type === "message" || entry.type === "custom_message" || entry.type === "branch_summary";
}

/** Index of the first entry to keep: about `keepTokens` from the end, never at a tool result, preferably at a user message. */
function findCut(entries: PiEntry[], keepTokens: number): number {
  let tokens = 0;
  let cut = entries.length;
  while (cut > 0 && tokens < keepTokens) tokens += entryTokens(entries[--cut] as PiEntry);
  if (cut === 0) return 0;
  const role = (index: number): string | undefined => {
    const entry = entries[index];
    return entry?.type === "message" ? entry.message.role : undefined;
  };
  for (let at = cut; at > 0; at--) if (role(at) === "user") return at;
  for (let at = cut; at < entries.length; at++) if (role(at) === "user" || role(at) === "assistant") return at;
  return 0;
}

function entryTokens(entry: PiEntry): number {
  return entry.type === "message" ? messageTokens(entry.message) : Math.ceil(JSON.stringify(entry).length / CHARS_PER_TOKEN);
}

export function messageTokens(message: AgentMessage): number {
  return Math.ceil(messageChars(message) / CHARS_PER_TOKEN);
}

function messageChars(message: AgentMessage): number {
  if (!("content" in message)) return JSON.stringify(message).length;
  const { content } = message;
  if (typeof content === "string") return content.length;
  return content.reduce((sum, block) => {
    switch (block.type) {
      case "text":
        return sum + block.text.length;
      case "image":
        return sum + IMAGE_CHARS;
      case "thinking":
        return sum + block.thinking.length;
      case "toolCall":
        return sum + block.name.length + JSON.stringify(block.arguments).length;
    }
  }, 0);
}

const SUMMARY_SHARE = 0.4;
const MIN_CHUNK_CHARS = 4000;
const ATTEMPTS = 2;

async function summarise(input: CompactionInput, messages: AgentMessage[], previous: string | undefined): Promise<{ summary: string; degraded: boolean }> {
  const { pi, prepared } = input;
  const text = pi.codingAgent.serializeConversation(pi.codingAgent.convertToLlm(messages));
  const chunkChars = Math.max(MIN_CHUNK_CHARS, Math.floor(prepared.contextTokens * SUMMARY_SHARE * CHARS_PER_TOKEN));
  let summary = previous;
  let degraded = false;
  let lost = 0;
  const queue = splitAtLines(text, chunkChars);
  while (queue.length > 0) {
    const chunk = queue.shift() as string;
    try {
      summary = await requestSummary(input, chunk, summary);
    } catch (err) {
      if (input.signal.aborted) throw err;
      degraded = true;
      input.log.warn("summary of a part failed", { chars: chunk.length, err });
      if (chunk.length > MIN_CHUNK_CHARS * 2 && /context|too long|tokens/i.test(errorText(err))) {
        const half = Math.ceil(chunk.length / 2);
        queue.unshift(...splitAtLines(chunk, half));
        continue;
      }
      if (summary === undefined && queue.length === 0 && lost === 0) throw err;
      lost += chunk.length;
    }
  }
  const note = lost > 0 ? `\n\n(${lost} characters of the older conversation could not be summarised and are no longer in context.)` : "";
  return { summary: `${summary ?? ""}${note}`.trim(), degraded };
}

function splitAtLines(text: string, maxChars: number): string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    let end = Math.min(text.length, from + maxChars);
    if (end < text.length) {
      const line = text.lastIndexOf("\n", end);
      if (line > from + maxChars / 2) end = line + 1;
    }
    parts.push(text.slice(from, end));
    from = end;
  }
  return parts;
}

const SUMMARY_SYSTEM =
  "You condense conversations between a person and an assistant so that the assistant can go on without the full text. Do not answer the conversation; only summarise it.";

async function requestSummary(input: CompactionInput, chunk: string, previous: string | undefined): Promise<string> {
  const { prepared, pi } = input;
  const prompt = [
    `<conversation>\n${chunk}\n</conversation>`,
    previous && `<previous-summary>\n${previous}\n</previous-summary>\nBring the previous summary up to date with the conversation; keep what still holds.`,
    "Write the summary under these headings: Goal; Constraints & Preferences; Progress (Done, In Progress, Blocked); Key Decisions; Next Steps; Critical Context. Keep names, paths, numbers, ids and open promises exactly.",
    input.focus && `Dwell on: ${input.focus}`,
  ]
    .filter(Boolean)
    .join("\n\n");
  const messages: Message[] = [{ role: "user", content: prompt, timestamp: Date.now() }];
  const maxTokens = Math.min(prepared.model.maxTokens || 8192, Math.max(1024, Math.floor(input.settings.reserveTokens * 0.8)));
  let failure: unknown;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stream = (prepared.stream ?? pi.ai.streamSimple)(
      prepared.model,
      { systemPrompt: SUMMARY_SYSTEM, messages },
      { ...requestOptions(prepared), maxTokens, signal: input.signal },
    );
    const answer: AssistantMessage = await stream.result();
    if (answer.stopReason !== "error" && answer.stopReason !== "aborted") {
      const text = answer.content.map((block) => (block.type === "text" ? block.text : "")).join("").trim();
      if (text !== "") return text;
      failure = new Error("the model gave an empty summary");
      continue;
    }
    failure = new Error(answer.errorMessage ?? "summary failed");
    if (input.signal.aborted || /context|too long/i.test(errorText(failure))) break;
  }
  throw failure;
}

function fileDetails(messages: AgentMessage[]): { readFiles: string[]; modifiedFiles: string[] } {
  const readFiles = new Set<string>();
  const modifiedFiles = new Set<string>();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall" || typeof block.arguments["path"] !== "string") continue;
      if (block.name === "read") readFiles.add(block.arguments["path"]);
      if (block.name === "write" || block.name === "edit") modifiedFiles.add(block.arguments["path"]);
    }
  }
  return { readFiles: [...readFiles], modifiedFiles: [...modifiedFiles] };
}
