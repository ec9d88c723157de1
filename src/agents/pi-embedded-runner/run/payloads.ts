import type { AssistantText } from "../../pi-embedded-subscribe.ts";
import type { ReplyPayload } from "../../output/payload.ts";
import { readReply, toReplyPayload } from "../../output/reply-text.ts";
import { withoutSent, type ReplyPlace } from "../../output/sent-already.ts";
import { toolSummary } from "../../output/tool-summary.ts";
import type { MessagingSend } from "./types.ts";

export interface BuildPayloadsInput {
  readonly texts: readonly AssistantText[];
  readonly errorText: string | undefined;
  readonly reasoning: "off" | "on" | "stream";
  readonly messagingSends: readonly MessagingSend[];
  readonly current: ReplyPlace | undefined;
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
    payloads.push({ text: formatReasoning(thinking), isReasoning: true });
  }
  let answered = false;
  for (const { text } of input.texts) {
    const payload = toPayload(text);
    if (!payload) continue;
    answered = true;
    const unsent = withoutSent(payload, input.messagingSends, input.current);
    if (unsent) payloads.push(unsent);
  }
  for (const { name, meta, error } of input.toolErrors.values()) {
    if (name === "sessions_send" || ((name === "exec" || name === "process") && input.verbose === "off")) continue;
    const minor = /\b(required|missing|invalid)\b/i.test(error);
    if (!MUTATING.has(name) && (answered || minor || input.suppressToolErrors)) continue;
    payloads.push({ text: `⚠️ ${toolSummary(name, meta)} failed${error ? `: ${error.split("\n")[0]}` : ""}`, isError: true });
  }
  return payloads;
}

/** Thoughts as people read them. Source: spec agent-pipeline-output §6.1. */
export function formatReasoning(thinking: string): string {
  return `Reasoning:\n${thinking.trim().split("\n").map((line) => (line.trim() === "" ? "" : `_${line.trim()}_`)).join("\n")}`;
}

function toPayload(raw: string): ReplyPayload | undefined {
  const reply = readReply(raw);
  return toReplyPayload({ ...reply, text: collapseRepeats(reply.text).replace(/^\n+/, "").trimEnd() });
}

/** A paragraph said twice in a row is said once; code is left alone. */
function collapseRepeats(text: string): string {
  if (text.includes("```")) return text;
  const paragraphs = text.split("\n\n");
  return paragraphs.filter((paragraph, i) => i === 0 || paragraph.trim() === "" || paragraph !== paragraphs[i - 1]).join("\n\n");
}
