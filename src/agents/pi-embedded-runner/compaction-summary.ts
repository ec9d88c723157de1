import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { AssistantMessage, Message } from "@mariozechner/pi-ai";
import { sleep } from "../../infra/backoff.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import type { PreparedModel } from "../models/types.ts";
import { CHARS_PER_TOKEN } from "../output/tokens.ts";
import type { PiModules } from "../pi.ts";
import { messageTokens } from "./message-size.ts";
import { requestOptions } from "./pi-session.ts";

export interface SummaryRequest {
  readonly pi: PiModules;
  readonly prepared: PreparedModel;
  /** Output limit is 0.8 of it. */
  readonly reserveTokens: number;
  /** Share of the window that the conversation may take of one request (`compaction.maxHistoryShare`). */
  readonly maxHistoryShare: number;
  /** What the person wants the summary to dwell on. */
  readonly focus: string | undefined;
  readonly retryDelaysMs: readonly number[];
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly log: Logger;
}

export interface Summary {
  readonly text: string;
  /** A part had to be halved or left out. */
  readonly degraded: boolean;
}

const CHUNK_SHARE = 0.4;
const MIN_CHUNK_SHARE = 0.15;
/** A mean message above this share of the window makes the parts smaller. */
const LARGE_MESSAGE_SHARE = 0.1;
const ESTIMATE_MARGIN = 1.2;
const OVERHEAD_TOKENS = 4096;
const MIN_CHUNK_CHARS = 4000;

/**
 * Condenses `messages`, going on from `previous`, part by part so that no request exceeds the window. A part that is too
 * long after all is halved; one that fails is named in the summary. @throws when no part at all could be summarised
 * Source: spec agent-pipeline §5.6, pains #17.
 */
export async function summariseConversation(request: SummaryRequest, messages: readonly AgentMessage[], previous: string | undefined): Promise<Summary> {
  const { pi, signal, log } = request;
  const text = pi.codingAgent.serializeConversation(pi.codingAgent.convertToLlm([...messages]));
  const queue = splitAtLines(text, chunkChars(request, messages));
  let summary = previous;
  let degraded = false;
  let done = 0;
  let lost = 0;
  let failure: unknown;
  while (queue.length > 0) {
    const chunk = queue.shift() as string;
    try {
      summary = await requestSummary(request, chunk, summary);
      done++;
    } catch (err) {
      if (signal.aborted || isHopeless(err)) throw err;
      failure = err;
      degraded = true;
      log.warn("summary of a part failed", { chars: chunk.length, err });
      if (chunk.length > MIN_CHUNK_CHARS && isTooLong(err)) queue.unshift(...splitAtLines(chunk, Math.ceil(chunk.length / 2)));
      else lost += chunk.length;
    }
  }
  if (done === 0 && failure !== undefined) throw failure;
  const note = lost > 0 ? `\n\n(${lost} characters of the older conversation could not be summarised and are no longer in context.)` : "";
  return { text: `${summary ?? ""}${note}`.trim(), degraded };
}

function chunkChars({ prepared, maxHistoryShare }: SummaryRequest, messages: readonly AgentMessage[]): number {
  const window = prepared.contextTokens;
  const mean = messages.reduce((sum, message) => sum + messageTokens(message), 0) / Math.max(1, messages.length);
  const shrink = (mean * ESTIMATE_MARGIN) / window;
  const share = shrink > LARGE_MESSAGE_SHARE ? Math.max(MIN_CHUNK_SHARE, CHUNK_SHARE - Math.min(shrink * 2, CHUNK_SHARE - MIN_CHUNK_SHARE)) : CHUNK_SHARE;
  const tokens = Math.min(share, maxHistoryShare) * window / ESTIMATE_MARGIN - Math.min(OVERHEAD_TOKENS, window / 10);
  return Math.max(MIN_CHUNK_CHARS, Math.floor(tokens * CHARS_PER_TOKEN));
}

/** Parts of at most `maxChars`, cut at a line end where one is in the second half. */
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

async function requestSummary(request: SummaryRequest, chunk: string, previous: string | undefined): Promise<string> {
  const prompt = [
    `<conversation>\n${chunk}\n</conversation>`,
    previous && `<previous-summary>\n${previous}\n</previous-summary>\nBring the previous summary up to date with the conversation; keep what still holds.`,
    "Write the summary under these headings: Goal; Constraints & Preferences; Progress (Done, In Progress, Blocked); Key Decisions; Next Steps; Critical Context. Keep names, paths, numbers, ids and open promises exactly.",
    request.focus && `Dwell on: ${request.focus}`,
  ]
    .filter(Boolean)
    .join("\n\n");
  let failure: Error | undefined;
  for (const delayMs of [0, ...request.retryDelaysMs]) {
    if (delayMs > 0) await sleep(delayMs, request.signal);
    const answer = await ask(request, prompt);
    const text = answer.content.map((block) => (block.type === "text" ? block.text : "")).join("").trim();
    const isFailed = answer.stopReason === "error" || answer.stopReason === "aborted";
    if (!isFailed && text !== "") return text;
    failure = new Error(isFailed ? (answer.errorMessage ?? "summary failed") : "the model gave an empty summary");
    if (request.signal.aborted || isTooLong(failure) || isHopeless(failure)) break;
  }
  throw failure ?? new Error("summary failed");
}

function ask({ pi, prepared, reserveTokens, signal, now }: SummaryRequest, prompt: string): Promise<AssistantMessage> {
  const messages: Message[] = [{ role: "user", content: prompt, timestamp: now() }];
  const maxTokens = Math.min(prepared.model.maxTokens || 8192, Math.max(1024, Math.floor(reserveTokens * 0.8)));
  return (prepared.stream ?? pi.ai.streamSimple)(prepared.model, { systemPrompt: SUMMARY_SYSTEM, messages }, { ...requestOptions(prepared), maxTokens, signal }).result();
}

function isTooLong(err: unknown): boolean {
  return /context|too (?:long|large)|token limit|max(?:imum)? tokens/i.test(errorText(err));
}

/** A refused key or an unknown model is refused the third time too. */
function isHopeless(err: unknown): boolean {
  return /\b40[0134]\b|unauthori[sz]ed|invalid.{0,12}key|not found/i.test(errorText(err));
}
