import fc from "fast-check";
import { expect, it } from "vitest";
import { editDistance, normalizeRef, profileCuts, resolveAliases, splitRef, suggest } from "./refs.ts";
import { formatModelRef } from "./types.ts";

it.each([
  ["anthropic/claude-opus-4-6", { provider: "anthropic", modelId: "claude-opus-4-6" }],
  ["Z.AI/glm-5", { provider: "zai", modelId: "glm-5" }],
  ["doubao/x", { provider: "volcengine", modelId: "x" }],
  ["anthropic/opus-4.6", { provider: "anthropic", modelId: "claude-opus-4-6" }],
  ["openrouter/auto", { provider: "openrouter", modelId: "openrouter/auto" }],
  ["openrouter/anthropic/claude-opus-4.6", { provider: "openrouter", modelId: "anthropic/claude-opus-4.6" }],
  ["openai/gpt-5.3-codex", { provider: "openai-codex", modelId: "gpt-5.3-codex" }],
  ["google/gemini-3-pro", { provider: "google", modelId: "gemini-3-pro-preview" }],
  ["together/moonshotai/Kimi-K2.5", { provider: "together", modelId: "moonshotai/Kimi-K2.5" }],
  ["/x", undefined],
  ["x/", undefined],
  ["opus", undefined],
])("reads %j", (text, expected) => {
  expect(splitRef(text)).toEqual(expected);
});

it("reads back every reference it writes", () => {
  const half = fc.stringMatching(/^[a-zA-Z0-9.:_-]{1,20}$/);
  fc.assert(
    fc.property(half, fc.array(half, { minLength: 1, maxLength: 3 }), (provider, parts) => {
      const ref = normalizeRef({ provider, modelId: parts.join("/") });
      expect(splitRef(formatModelRef(ref))).toEqual(ref);
    }),
  );
});

it("measures edits like a metric", () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, word, (a, b, c) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
      expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
    }),
  );
});

it("proposes what looks like the misspelt name", () => {
  expect(suggest("openai/gpt-5.22", ["openai/gpt-5.2", "google/gemini-3-pro-preview"])).toEqual(["openai/gpt-5.2"]);
  expect(suggest("zzzzzz", ["openai/gpt-5.2"])).toEqual([]);
});

it("cuts a profile off the end, but not a date or a provider's @", () => {
  expect(profileCuts("anthropic/claude@anthropic:me@mail.com")).toEqual([
    { model: "anthropic/claude", profileId: "anthropic:me@mail.com" },
    { model: "anthropic/claude@anthropic:me", profileId: "mail.com" },
  ]);
  expect(profileCuts("google-vertex/claude@20250101")).toEqual([]);
  expect(profileCuts("cloudflare-workers-ai/@cf/meta/llama")).toEqual([]);
});

it("knows the built-in aliases, lets the person take one over, and switches one off", () => {
  const aliases = resolveAliases({ agents: { defaults: { models: { "groq/llama": { alias: "Opus" }, "openai/gpt-5.2": { alias: "" } } } } });
  expect(aliases.get("opus")).toEqual({ provider: "groq", modelId: "llama" });
  expect(aliases.get("sonnet")).toEqual({ provider: "anthropic", modelId: "claude-sonnet-4-6" });
  expect(aliases.has("gpt")).toBe(false);
});
