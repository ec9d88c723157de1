import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { json, startTestServer, startTestService } from "../models/service-fixture.ts";
import { createProviderUsage, formatUsageWindows } from "./index.ts";

const AT = Date.UTC(2026, 1, 26);
const inMs = (ms: number): string => new Date(AT + ms).toISOString();
const HOUR = 3_600_000;
const jwt = `h.${Buffer.from(JSON.stringify({ "https://api.openai.com/auth": { chatgpt_account_id: "acc-1" } })).toString("base64url")}.s`;
const codexProvider = (apiKey: string) => ({ models: { providers: { "openai-codex": { baseUrl: "https://chatgpt.com/backend-api", auth: "oauth" as const, apiKey, models: [] } } } });

/** The providers' hosts, all on one loopback server: paths begin with the host. */
async function ask(provider: string, env: Record<string, string>, answer: unknown, { config = {}, status = 200 }: { readonly config?: object; readonly status?: number } = {}) {
  await using server = await startTestServer((_path, _body, response) => json(response, answer, status));
  await using service = await startTestService(config, { env });
  const usage = createProviderUsage({ models: service.models, clock: { now: () => service.clock.nowMs }, fetch: (input, init) => fetch(`${server.url}/${String(input).replace("https://", "")}`, init) });
  return { result: await usage.of(provider, "main"), again: await usage.of(provider, "main"), requests: server.requests, all: await usage.all("main") };
}

it("Claude's login tells its windows, asked once a minute, and /status shows those nearest to their end", async () => {
  const { result, again, requests, all } = await ask("anthropic", { ANTHROPIC_OAUTH_TOKEN: "sk-ant-oat-1" }, { five_hour: { utilization: 12, resets_at: inMs(90 * 60_000) }, seven_day: { utilization: 71.4, resets_at: inMs(60 * HOUR) }, seven_day_opus: null, seven_day_sonnet: { utilization: 3 } });
  expect(result).toEqual({ provider: "anthropic", displayName: "Claude", windows: [{ label: "5h", usedPercent: 12, resetAt: AT + 90 * 60_000 }, { label: "Week", usedPercent: 71.4, resetAt: AT + 60 * HOUR }, { label: "Sonnet", usedPercent: 3, resetAt: undefined }] });
  expect(again).toBe(result);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({ path: "/api.anthropic.com/api/oauth/usage", headers: { authorization: "Bearer sk-ant-oat-1", "anthropic-beta": "oauth-2025-04-20" } });
  expect(all).toEqual({ updatedAt: AT, providers: [result] });
  expect(result && formatUsageWindows(result, AT)).toBe("Claude: Week 29% left (new in 2d) · 5h 88% left (new in 1h 30m)");
});

it.each<[string, Record<string, string>, unknown, object, object]>([
  ["github-copilot", { GH_TOKEN: "gho" }, { copilot_plan: "business", quota_reset_date: "2026-03-01", quota_snapshots: { premium_interactions: { percent_remaining: 40 }, chat: { percent_remaining: 100, unlimited: true } } }, { plan: "business", windows: [{ label: "Premium", usedPercent: 60, resetAt: Date.UTC(2026, 2, 1) }] }, { path: "/api.github.com/copilot_internal/user", headers: { authorization: "token gho" } }],
  ["zai", { ZAI_API_KEY: "z" }, { success: true, code: 200, data: { planName: "Pro", limits: [{ type: "TOKENS_LIMIT", percentage: 25, unit: 3, number: 5, nextResetTime: AT + 1 }, { type: "TIME_LIMIT", percentage: 130 }] } }, { plan: "Pro", windows: [{ label: "Tokens (5h)", usedPercent: 25, resetAt: AT + 1 }, { label: "Month", usedPercent: 100, resetAt: undefined }] }, { path: "/api.z.ai/api/monitor/usage/quota/limit" }],
])("%s is asked in its own way", async (provider, env, answer, expected, request) => {
  const { result, requests } = await ask(provider, env, answer);
  expect(result).toMatchObject(expected);
  expect(requests[0]).toMatchObject(request);
});

it("Codex is asked for the account that its login names", async () => {
  const { result, requests } = await ask("openai-codex", {}, { plan_type: "plus", rate_limit: { primary_window: { used_percent: 5, limit_window_seconds: 18_000, reset_at: AT / 1000 }, secondary_window: { used_percent: 50, limit_window_seconds: 604_800 } } }, { config: codexProvider(jwt) });
  expect(result).toMatchObject({ plan: "plus", windows: [{ label: "5h", usedPercent: 5, resetAt: AT }, { label: "Week", usedPercent: 50 }] });
  expect(requests[0]?.headers).toMatchObject({ "chatgpt-account-id": "acc-1" });
});

it("a plain key has no windows; a refusal, an unknown form and a dead line are told, not thrown", async () => {
  expect((await ask("anthropic", { ANTHROPIC_API_KEY: "sk-ant-api-1" }, {})).result).toBeUndefined();
  expect((await ask("openai", { OPENAI_API_KEY: "k" }, {})).result).toBeUndefined();
  expect((await ask("anthropic", {}, {})).result).toBeUndefined();
  expect((await ask("anthropic", { ANTHROPIC_OAUTH_TOKEN: "sk-ant-oat-1" }, {}, { status: 403 })).result?.error).toContain("may not read usage");
  expect((await ask("zai", { ZAI_API_KEY: "z" }, { success: false, msg: "no" })).result?.error).toContain("unknown form");
  await using service = await startTestService({}, { env: { ZAI_API_KEY: "z" } });
  const broken = createProviderUsage({ models: service.models, clock: { now: () => 0 }, fetch: () => Promise.reject(new TypeError("fetch failed")) });
  expect((await broken.of("zai", "main"))?.error).toContain("fetch failed");
});

const claude = { ANTHROPIC_OAUTH_TOKEN: "sk-ant-oat-1" };

it.each<[string, Record<string, string>, unknown, string]>([
  ["anthropic", claude, [], "unknown form"], ["anthropic", claude, { five_hour: { utilization: "12" } }, "unknown form"], ["anthropic", claude, null, "unknown form"],
  ["github-copilot", { GH_TOKEN: "gho" }, { quota_snapshots: { chat: {} } }, "unknown form"], ["zai", { ZAI_API_KEY: "z" }, { success: true, data: { limits: {} } }, "unknown form"],
])("%s %j answering %j is told as an %s", async (provider, env, answer, error) => {
  const { result } = await ask(provider, env, answer);
  expect(result).toMatchObject({ windows: [], error: expect.stringContaining(error) });
  expect(result && formatUsageWindows(result, AT)).toBeUndefined();
});

it("odd numbers and dates stay within bounds, and nothing to tell is no error", async () => {
  const { result } = await ask("anthropic", claude, { five_hour: { utilization: -3, resets_at: "soon" }, seven_day: { utilization: 1e9, resets_at: inMs(-HOUR) }, something_new: 1 });
  expect(result?.windows).toEqual([{ label: "5h", usedPercent: 0, resetAt: undefined }, { label: "Week", usedPercent: 100, resetAt: AT - HOUR }]);
  expect(result && formatUsageWindows(result, AT)).toBe("Claude: Week 0% left · 5h 100% left");
  expect((await ask("anthropic", claude, {})).result).toEqual({ provider: "anthropic", displayName: "Claude", windows: [] });
});

it("a page instead of an answer, an answer that breaks off and a limit are told in words, and nobody asks again within the minute", async () => {
  const answers: Record<string, (response: ServerResponse) => void> = {
    "an answer that is none": (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html><title>Sign in</title>"),
    "breaks off": (response) => response.writeHead(200, { "content-length": "1000" }).write("{", () => response.destroy()),
    "HTTP 429": (response) => void response.writeHead(429, { "retry-after": "3600" }).end("{}"),
    "HTTP 503": (response) => void response.writeHead(503).end(),
  };
  for (const [name, answer] of Object.entries(answers)) {
    await using server = await startTestServer((_path, _body, response) => answer(response));
    await using service = await startTestService({}, { env: claude });
    const usage = createProviderUsage({ models: service.models, clock: { now: () => service.clock.nowMs }, fetch: (_input, init) => fetch(server.url, init) });
    const told = await usage.of("anthropic", "main");
    expect(told, name).toMatchObject({ windows: [], error: expect.any(String) });
    expect(told?.error, name).not.toMatch(/<html|Sign in/);
    if (name.startsWith("HTTP")) expect(told?.error).toBe(name);
    expect(await usage.of("anthropic", "main")).toBe(told);
    expect(server.requests).toHaveLength(1);
    service.clock.nowMs += 60_001;
    await usage.of("anthropic", "main");
    expect(server.requests).toHaveLength(2);
  }
});

it("a provider that is silent is given up, and does not keep the others from answering", async () => {
  await using service = await startTestService({}, { env: { ...claude, ZAI_API_KEY: "z" } });
  const silent = (signal: AbortSignal | null | undefined): Promise<never> => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  const usage = createProviderUsage({
    models: service.models, clock: { now: () => AT }, timeoutMs: 50,
    fetch: (input, init) => (String(input).includes("anthropic") ? silent(init?.signal) : Promise.resolve(Response.json({ success: true, data: { limits: [{ type: "TOKENS_LIMIT", percentage: 5 }] } }))),
  });
  const { providers } = await usage.all("main");
  expect(providers.map(({ provider, windows, error }) => [provider, windows.length, error])).toEqual([["anthropic", 0, expect.stringMatching(/time/i)], ["zai", 1, undefined]]);
});
