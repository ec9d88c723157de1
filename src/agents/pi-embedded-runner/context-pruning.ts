import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { ToolResultMessage } from "@mariozechner/pi-ai";
import type { OpenClawConfig } from "../../config/index.ts";
import { parseDurationMs } from "../../infra/duration.ts";
import type { ModelRef } from "../models/types.ts";
import { CHARS_PER_TOKEN, IMAGE_CHARS } from "../output/tokens.ts";
import { matchesAnyEntry } from "../tool-policy.ts";
import { findImageRefs } from "./run/image-refs.ts";
import { resultText } from "./tool-result-guard.ts";

export interface PruningSettings {
  readonly ttlMs: number;
  readonly keepLastAssistants: number;
  readonly softTrimRatio: number;
  readonly hardClearRatio: number;
  readonly minPrunableToolChars: number;
  readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly softTrim: { readonly maxChars: number; readonly headChars: number; readonly tailChars: number };
  readonly hardClear: { readonly enabled: boolean; readonly placeholder: string };
}

/** Providers that keep a prompt for a while and charge for writing it anew; elsewhere nothing is gained. */
function cachesPrompts({ provider, modelId }: ModelRef): boolean {
  switch (provider) {
    case "anthropic":
    case "moonshot":
    case "zai":
      return true;
    case "openrouter":
      return /^(anthropic|moonshot(ai)?|zai|z-ai)\//.test(modelId);
    case "kilocode":
      return modelId.startsWith("anthropic/");
    default:
      return false;
  }
}

/** undefined: nothing is pruned. Source: spec agent-pipeline §5.5. */
export function resolvePruning(cfg: OpenClawConfig, ref: ModelRef): PruningSettings | undefined {
  const settings = cfg.agents?.defaults?.contextPruning;
  if (settings?.mode !== "cache-ttl" || !cachesPrompts(ref)) return undefined;
  return {
    ttlMs: (settings.ttl === undefined ? undefined : parseDurationMs(settings.ttl)) ?? 300_000,
    keepLastAssistants: settings.keepLastAssistants ?? 3,
    softTrimRatio: settings.softTrimRatio ?? 0.3,
    hardClearRatio: settings.hardClearRatio ?? 0.5,
    minPrunableToolChars: settings.minPrunableToolChars ?? 50_000,
    tools: { allow: settings.tools?.allow ?? [], deny: settings.tools?.deny ?? [] },
    softTrim: { maxChars: settings.softTrim?.maxChars ?? 4000, headChars: settings.softTrim?.headChars ?? 1500, tailChars: settings.softTrim?.tailChars ?? 1500 },
    hardClear: { enabled: settings.hardClear?.enabled ?? true, placeholder: settings.hardClear?.placeholder ?? "[Old tool result content cleared]" },
  };
}

/**
 * Shortens old tool results where the conversation had rested for longer than the provider's cache lives: its prefix is
 * written anew there anyway. Only the messages' times decide, so that every later request begins with the same bytes
 * until the next such rest, also after a restart. In memory only; the transcript keeps everything.
 */
export function pruneHistory(messages: AgentMessage[], settings: PruningSettings, contextTokens: number): AgentMessage[] {
  let out = messages;
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    if (before && message.timestamp - before.timestamp > settings.ttlMs) out = pruneUpTo(out, index, settings, contextTokens * CHARS_PER_TOKEN);
  }
  return out;
}

/** The conversation as it stood before message `end`. */
function pruneUpTo(messages: AgentMessage[], end: number, settings: PruningSettings, windowChars: number): AgentMessage[] {
  let total = messages.slice(0, end + 1).reduce((sum, message) => sum + charsOf(message), 0);
  if (total / windowChars < settings.softTrimRatio) return messages;
  const out = messages.slice();
  const candidates = candidateIndexes(messages, end, settings);
  const put = (index: number, text: string): void => {
    const message = out[index] as ToolResultMessage;
    total += text.length - resultText(message).length;
    out[index] = { ...message, content: [{ type: "text", text }] };
  };
  for (const index of candidates) {
    const trimmed = softTrim(resultText(out[index] as ToolResultMessage), settings.softTrim);
    if (trimmed !== undefined) put(index, trimmed);
  }
  const prunable = candidates.reduce((sum, index) => sum + resultText(out[index] as ToolResultMessage).length, 0);
  if (!settings.hardClear.enabled || prunable < settings.minPrunableToolChars) return out;
  for (const index of candidates) {
    if (total / windowChars < settings.hardClearRatio) break;
    put(index, settings.hardClear.placeholder);
  }
  return out;
}

/** Tool results after the first user message and before the last few assistant messages, without images. */
function candidateIndexes(messages: readonly AgentMessage[], end: number, { keepLastAssistants, tools }: PruningSettings): number[] {
  const first = messages.findIndex((message) => message.role === "user");
  const assistants = messages.slice(0, end).flatMap((message, index) => (message.role === "assistant" ? [index] : []));
  const limit = keepLastAssistants === 0 ? end : assistants.at(-keepLastAssistants);
  if (first < 0 || limit === undefined) return [];
  const indexes: number[] = [];
  for (let index = first + 1; index < limit; index++) {
    const message = messages[index];
    if (message?.role !== "toolResult" || hasImage(message)) continue;
    const tool = { name: message.toolName };
    if (!matchesAnyEntry(tools.deny, tool) && (tools.allow.length === 0 || matchesAnyEntry(tools.allow, tool))) indexes.push(index);
  }
  return indexes;
}

function hasImage(message: ToolResultMessage): boolean {
  return message.content.some((block) => block.type === "image" || findImageRefs(block.text, false).length > 0);
}

function softTrim(text: string, { maxChars, headChars, tailChars }: PruningSettings["softTrim"]): string | undefined {
  if (text.length <= maxChars || headChars + tailChars >= text.length) return undefined;
  const head = text.slice(0, headChars).replace(/[\uD800-\uDBFF]$/, "");
  const tail = tailChars === 0 ? "" : text.slice(-tailChars).replace(/^[\uDC00-\uDFFF]/, "");
  return `${head}\n...\n${tail}\n\n[Tool result trimmed: kept first ${headChars} chars and last ${tailChars} chars of ${text.length} chars.]`;
}

function charsOf(message: AgentMessage): number {
  if (!("content" in message)) return "summary" in message ? message.summary.length : 0;
  if (typeof message.content === "string") return message.content.length;
  return message.content.reduce((sum, block) => {
    if (block.type === "text") return sum + block.text.length;
    if (block.type === "image") return sum + IMAGE_CHARS;
    return sum + JSON.stringify(block).length;
  }, 0);
}
