import { describe, expect, it } from "vitest";
import { classifyFailoverReason, errorKindOf, friendlyErrorText, isTransientReason, nextThinkLevel, retryAfterMs } from "./pi-embedded-helpers.ts";

describe("why a model call failed", () => {
  it.each([
    ["prompt is too long: 210000 tokens > 200000 maximum", "context_overflow"],
    ["This model's maximum context length is 8192 tokens", "context_overflow"],
    ["404 model `gpt-9` not found", "model_not_found"],
    ["429 Too Many Requests", "rate_limit"],
    ["ThrottlingException: Too many tokens, please wait before trying again.", "rate_limit"],
    ["too many tokens in the request", "context_overflow"],
    ["overloaded_error: Overloaded", "rate_limit"],
    ["500 Internal Server Error", "timeout"],
    ["529 overloaded", "timeout"],
    ["fetch failed: ECONNREFUSED 127.0.0.1:1", "timeout"],
    ["Your credit balance is too low", "billing"],
    ["402 Payment Required", "billing"],
    ["401 Incorrect API key provided", "auth"],
    ["This API key has been revoked", "auth_permanent"],
    ["400 invalid_request_error: tools.0 malformed", "format"],
    ["408 status code (no body)", "timeout"],
    ["400 max_tokens must be at most 500", "format"],
    ["401 the project 429 has no such key: invalid api key", "auth"],
    ["402 Insufficient balance (code 503)", "billing"],
    ["something odd", "unknown"],
  ])("%s: %s", (text, reason) => {
    expect(classifyFailoverReason(text)).toBe(reason);
  });

  it("is worth another try only when it may pass", () => {
    expect((["rate_limit", "timeout", "auth", "billing", "context_overflow"] as const).map(isTransientReason)).toEqual([true, true, false, false, false]);
  });

  it.each([["Retry-After: 7", 7000], ['{"retry_after":"1.5"}', 1500], ["try again in 250ms", 250], ["Please try again in 20s", 20_000], ["later", undefined],
    ["Please try again in 6m0s.", 360_000], ["Please try again in 1h2m3.5s", 3_723_500], ["try again in 20 minutes", 1_200_000], ["try again in 1m30s", 90_000], ["Please retry in 36.5s.", 36_500],
    ['"retryDelay": "36s"', 36_000], ["retry-after-ms: 250", 250], ["retry after 1 message", 1000]])("waits after %j", (text, ms) => {
    expect(retryAfterMs(text)).toBe(ms);
  });

  it("is told in a sentence with a way out, and a long text of the provider is cut", () => {
    expect(friendlyErrorText("auth", "401", "openai/x")).toContain("openclaw models status");
    expect(friendlyErrorText("context_overflow", "", "m")).toContain("/compact");
    expect(friendlyErrorText("unknown", "x".repeat(5000), "m").length).toBeLessThan(700);
    expect(friendlyErrorText("unknown", "", "m")).toContain("no further details");
    expect([errorKindOf("auth_permanent"), errorKindOf("model_not_found"), errorKindOf("unknown")]).toEqual(["auth", "no_model", "internal"]);
  });
});

describe("after a refused thinking level", () => {
  it.each<[string, "off" | "low" | "high" | "xhigh", string | undefined]>([
    ["Unsupported value: 'high' is not supported with this model. Supported values are: 'low' and 'medium'. (reasoning.effort)", "high", "medium"],
    ["Unsupported value: 'low' is not supported. Supported values for reasoning are: 'medium'.", "low", "medium"],
    ["reasoning_effort is not supported by this model", "high", "medium"],
    ["thinking: invalid type. Allowed values: none, high", "low", "off"],
    ["Budget 0 is invalid. This model only works in thinking mode.", "off", "low"],
    ["invalid api key", "high", undefined],
    ["I was thinking of rate limits", "high", undefined],
  ])("%s: from %s to %s", (text, refused, next) => {
    expect(nextThinkLevel(text, refused, new Set([refused]))).toBe(next);
  });

  it("never asks for one twice, so the search ends", () => {
    const text = "thinking is not supported. Supported values: low, high";
    expect(nextThinkLevel(text, "low", new Set(["high", "low"]))).toBe("minimal");
    expect(nextThinkLevel(text, "off", new Set(["high", "low", "off"]))).toBeUndefined();
  });
});
