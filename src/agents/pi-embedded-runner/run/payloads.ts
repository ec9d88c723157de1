import type { AssistantText } from "../../pi-embedded-subscribe.ts";
import { parseReplyDirectives } from "../../output/directives.ts";
import type { ReplyPayload } from "../../output/payload.ts";
import { gateVisibleText } from "../../output/silent.ts";
import type { MessagingSend } from "./types.ts";

export interface BuildPayloadsInput {
  readonly texts: readonly AssistantText[];
  readonly errorText: string | undefined;
  readonly reasoning: "off" | "on" | "stream";
  readonly messagingSends: readonly MessagingSend[];
  readonly current: { readonly channel: string; readonly to: string | undefined; readonly accountId: string | undefined } | undefined;
  readonly toolErrors: ReadonlyMap<string, { readonly name: string; readonly meta: string; readonly error: string }>;
  readonly verbose: "off" | "on" | "full";
  readonly suppressToolErrors: boolean;
}

const MUTATING = new Set(["write", "edit", "apply_patch", "message", "cron", "gateway", "nodes"]);

/** The final answer of a run, in the order of spec agent-pipeline-output §6.6: error, reasoning, texts, tool warnings. */
export function buildEmbeddedRunPayloads(input: BuildPayloadsInput): ReplyPayload[] {
  const payloads: ReplyPayload[] = [];
  if (input.errorText) payloads.push({ text: input.errorText, isError: true });
  const thinking = input.texts.map((text) => text.thinking).filter(Boolean).join("\n\n").trim();
  if (input.reasoning === "on" && thinking !== "") {
    payloads.push({ text: `Reasoning:\n${thinking.split("\n").map((line) => (line.trim() === "" ? line : `_${line}_`)).join("\n")}`, isReasoning: true });
  }
  let answered = false;
  for (const { text } of input.texts) {
    const payload = toPayload(text);
    if (!payload) continue;
    if (isAlreadySent(payload, input)) {
      answered = true;
      continue;
    }
    payloads.push(payload);
    answered = true;
  }
  for (const { name, meta, error } of input.toolErrors.values()) {
    if (name === "sessions_send" || ((name === "exec" || name === "process") && input.verbose === "off")) continue;
    const minor = /\b(required|missing|invalid)\b/i.test(error);
    if (!MUTATING.has(name) && (answered || minor || input.suppressToolErrors)) continue;
    payloads.push({ text: `⚠️ ${name}${meta ? `: ${meta}` : ""} failed${error ? `: ${error.split("\n")[0]}` : ""}`, isError: true });
  }
  return payloads;
}

function toPayload(raw: string): ReplyPayload | undefined {
  const directives = parseReplyDirectives(raw);
  const gated = gateVisibleText(directives.text);
  const text = gated.silent ? undefined : collapseRepeats(gated.text).replace(/^\n+/, "").trimEnd();
  if (text === undefined && directives.mediaUrls.length === 0) return undefined;
  return {
    text,
    ...(directives.mediaUrls.length > 0 ? { mediaUrls: directives.mediaUrls } : {}),
    ...(directives.replyToId ? { replyToId: directives.replyToId, replyToTag: true } : {}),
    ...(directives.replyToCurrent ? { replyToCurrent: true, replyToTag: true } : {}),
    ...(directives.audioAsVoice ? { audioAsVoice: true } : {}),
  };
}

/** A paragraph said twice in a row is said once; code is left alone. */
function collapseRepeats(text: string): string {
  if (text.includes("```")) return text;
  const paragraphs = text.split("\n\n");
  return paragraphs.filter((paragraph, i) => i === 0 || paragraph.trim() === "" || paragraph !== paragraphs[i - 1]).join("\n\n");
}

const MIN_DUPLICATE_CHARS = 10;

/** The message tool already said it: to this very chat everything counts, elsewhere equal text does. */
function isAlreadySent(payload: ReplyPayload, { messagingSends, current }: BuildPayloadsInput): boolean {
  if (messagingSends.length === 0) return false;
  const sameTarget = messagingSends.filter(
    (send) => current !== undefined && send.channel === current.channel && send.to === current.to && (send.accountId ?? "default") === (current.accountId ?? "default"),
  );
  if (sameTarget.length > 0) return true;
  const text = normalise(payload.text ?? "");
  if (text.length < MIN_DUPLICATE_CHARS) return false;
  return messagingSends.some((send) => {
    const sent = normalise(send.text ?? "");
    return sent.length >= MIN_DUPLICATE_CHARS && (sent.includes(text) || text.includes(sent));
  });
}

function normalise(text: string): string {
  return text.toLowerCase().replace(/\p{Extended_Pictographic}/gu, "").replace(/\s+/g, " ").trim();
}
