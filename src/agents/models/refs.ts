import { BUILT_IN_MODEL_ALIASES, type OpenClawConfig } from "../../config/index.ts";
import { normalizeProvider } from "./provider-table.ts";
import type { ModelRef } from "./types.ts";

/** Short Claude names people write. Source: spec providers §2.3. */
const CLAUDE_SHORT: Readonly<Record<string, string>> = {
  "opus-4.6": "claude-opus-4-6",
  "opus-4.5": "claude-opus-4-5",
  "sonnet-4.6": "claude-sonnet-4-6",
  "sonnet-4.5": "claude-sonnet-4-5",
};

/** Splits at the first slash and applies the spellings of spec providers §2; undefined when a half is empty. */
export function splitRef(text: string): ModelRef | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const provider = text.slice(0, slash).trim();
  const modelId = text.slice(slash + 1).trim();
  return provider === "" || modelId === "" ? undefined : normalizeRef({ provider, modelId });
}

export function normalizeRef(ref: ModelRef): ModelRef {
  const provider = normalizeProvider(ref.provider);
  const { modelId } = ref;
  switch (provider) {
    case "anthropic":
      return { provider, modelId: CLAUDE_SHORT[modelId.toLowerCase()] ?? modelId };
    case "openai":
      return /^gpt-5\.3-codex(-|$)/.test(modelId) ? { provider: "openai-codex", modelId } : { provider, modelId };
    case "google":
      return { provider, modelId: /^gemini-3-(pro|flash)$/.test(modelId) ? `${modelId}-preview` : modelId };
    case "openrouter":
      return { provider, modelId: modelId.includes("/") ? modelId : `openrouter/${modelId}` };
    case "vercel-ai-gateway":
      return { provider, modelId: /^claude-/.test(modelId) ? `anthropic/${modelId}` : modelId };
    default:
      return { provider, modelId };
  }
}

export const sameRef = (a: ModelRef, b: ModelRef): boolean => a.provider === b.provider && a.modelId === b.modelId;

/** Aliases that `agents.defaults.models` names, in lower case. */
export function configuredAliases(cfg: OpenClawConfig): Map<string, ModelRef> {
  const aliases = new Map<string, ModelRef>();
  for (const [key, entry] of Object.entries(cfg.agents?.defaults?.models ?? {})) {
    const ref = splitRef(key);
    const alias = entry.alias?.trim().toLowerCase();
    if (ref && alias && !aliases.has(alias)) aliases.set(alias, ref);
  }
  return aliases;
}

/** The configured aliases, then the built-in ones not switched off by `alias: ""`. */
export function resolveAliases(cfg: OpenClawConfig): Map<string, ModelRef> {
  const aliases = configuredAliases(cfg);
  const models = Object.entries(cfg.agents?.defaults?.models ?? {});
  for (const [alias, target] of Object.entries(BUILT_IN_MODEL_ALIASES)) {
    const ref = splitRef(target);
    const isOff = models.some(([key, entry]) => key === target && entry.alias?.trim() === "");
    if (ref && !isOff && !aliases.has(alias)) aliases.set(alias, ref);
  }
  return aliases;
}

/** The places where `…@profile` may be cut, first one first; a date such as `@20250101` is part of the id. */
export function profileCuts(text: string): { readonly model: string; readonly profileId: string }[] {
  const cuts: { model: string; profileId: string }[] = [];
  for (let at = text.indexOf("@", text.lastIndexOf("/") + 2); at >= 0; at = text.indexOf("@", at + 1)) {
    const profileId = text.slice(at + 1).trim();
    if (profileId !== "" && !/^\d{8}$/.test(profileId)) cuts.push({ model: text.slice(0, at).trim(), profileId });
  }
  return cuts;
}

/** Up to `limit` candidates that look most like `text`. */
export function suggest(text: string, candidates: Iterable<string>, limit = 3): string[] {
  const wanted = text.toLowerCase();
  const tail = wanted.slice(wanted.indexOf("/") + 1);
  const scored: { candidate: string; score: number }[] = [];
  for (const candidate of candidates) {
    const name = candidate.toLowerCase();
    const nameTail = name.slice(name.indexOf("/") + 1);
    const distance = Math.min(editDistance(wanted, name), wanted === tail ? editDistance(tail, nameTail) : Infinity);
    const contains = tail.length >= 3 && name.includes(tail) ? name.length / 1000 : Infinity;
    const score = Math.min(distance, contains);
    if (score <= Math.max(2, Math.floor(wanted.length / 3))) scored.push({ candidate, score });
  }
  return scored
    .toSorted((a, b) => a.score - b.score || a.candidate.localeCompare(b.candidate, "en"))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Levenshtein distance in UTF-16 code units. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
