import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import type { ToolsWebSearchConfig } from "../../../config/index.ts";
import { createGuardedFetch } from "../../../infra/guarded-fetch.ts";
import { createTtlCache } from "./cache.ts";
import type { SearchProviderId } from "./search-providers.ts";
import { createWebSearchTool } from "./search-tool.ts";

interface Hit { readonly url: string; readonly headers: Record<string, unknown>; readonly body: string }

async function engine(id: SearchProviderId, answers: readonly (object | string | number)[], settings: ToolsWebSearchConfig = {}, env: Record<string, string> = {}) {
  const hits: Hit[] = [];
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => (body += chunk.toString()));
    req.on("end", () => {
      const answer = answers[Math.min(hits.length, answers.length - 1)];
      hits.push({ url: req.url ?? "", headers: req.headers, body });
      if (typeof answer === "number") res.writeHead(answer).end("no");
      else res.writeHead(200).end(typeof answer === "string" ? answer : JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = { nowMs: 1_000_000 };
  const tool = createWebSearchTool({
    fetch: createGuardedFetch({ allowOrigins: [origin] }), settings, env: (name) => env[name], cache: createTtlCache(100, () => clock.nowMs), now: () => clock.nowMs, baseUrls: { [id]: origin },
  });
  return {
    hits, clock,
    run: async (args: Record<string, unknown>) => (await tool.execute(args, { toolCallId: "c", signal: new AbortController().signal, onUpdate: () => undefined })).details as Record<string, unknown>,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const BRAVE = { web: { results: [{ title: "A <strong>b</strong>", url: "https://example.com/a", description: "about a", age: "2 days ago" }, { title: "B", url: "https://example.org/b", description: "about b" }] } };

it("Brave gives a list, wrapped as foreign, and is asked what was meant", async () => {
  await using e = await engine("brave", [BRAVE], {}, { BRAVE_API_KEY: "bk" });
  const answer = await e.run({ query: "cats & dogs", count: 1, country: "de", search_lang: "de-DE", freshness: "pw" });
  expect(answer).toMatchObject({ query: "cats & dogs", provider: "brave", count: 1, externalContent: { untrusted: true, wrapped: true }, results: [{ url: "https://example.com/a", published: "2 days ago", siteName: "example.com" }] });
  expect((answer["results"] as { title: string }[])[0]?.title).toMatch(/^<<<EXTERNAL_UNTRUSTED_CONTENT[\s\S]*\nA b\n/);
  expect(e.hits[0]?.headers["x-subscription-token"]).toBe("bk");
  expect(Object.fromEntries(new URL(e.hits[0]?.url ?? "", "http://x").searchParams)).toEqual({ q: "cats & dogs", count: "1", country: "DE", search_lang: "de", ui_lang: "de-DE", freshness: "pw" });
  await e.run({ query: "cats & dogs", count: 1, country: "de", search_lang: "de-DE", freshness: "pw" });
  expect(e.hits).toHaveLength(1);
  e.clock.nowMs += 15 * 60_000;
  await e.run({ query: "cats & dogs", count: 1, country: "de", search_lang: "de-DE", freshness: "pw" });
  expect(e.hits).toHaveLength(2);
});

it.each<[SearchProviderId, ToolsWebSearchConfig, Record<string, string>, object[], object, RegExp]>([
  ["gemini", {}, { GEMINI_API_KEY: "gk" }, [{ candidates: [{ content: { parts: [{ text: "It is " }, { text: "so." }] }, groundingMetadata: { groundingChunks: [{ web: { uri: "https://a.example" } }] } }] }], { model: "gemini-2.5-flash", citations: ["https://a.example"] }, /generateContent/],
  ["perplexity", {}, { PERPLEXITY_API_KEY: "pplx-k" }, [{ choices: [{ message: { content: "It is so." } }], citations: ["https://a.example", "https://a.example", "javascript:x"] }], { model: "perplexity/sonar-pro", citations: ["https://a.example"] }, /\/chat\/completions/],
  ["grok", {}, { XAI_API_KEY: "xk" }, [{ output: [{ type: "reasoning" }, { type: "message", content: [{ text: "It is so.", annotations: [{ url: "https://a.example" }] }] }] }], { model: "grok-4-1-fast", citations: ["https://a.example"] }, /\/v1\/responses/],
])("%s answers in words with its sources", async (id, settings, env, answers, expected, path) => {
  await using e = await engine(id, answers, settings, env);
  const answer = await e.run({ query: "is it so?" });
  expect(answer).toMatchObject({ provider: id, ...expected });
  expect(answer["content"]).toMatch(/^<<<EXTERNAL[\s\S]*It is so\./);
  expect(e.hits[0]?.url).toMatch(path);
  expect(JSON.stringify(e.hits[0]?.headers)).toContain(Object.values(env)[0]);
});

it("Kimi gets the arguments of its own search back, then answers", async () => {
  const call = { choices: [{ message: { role: "assistant", tool_calls: [{ id: "t1", type: "function", function: { name: "$web_search", arguments: '{"q":1}' } }] } }] };
  await using e = await engine("kimi", [call, { choices: [{ message: { content: "found" } }] }], { provider: "kimi", kimi: { apiKey: "kk" } });
  expect((await e.run({ query: "x" }))["content"]).toContain("found");
  expect(JSON.parse(e.hits[1]?.body ?? "{}")).toMatchObject({ messages: [{ role: "user" }, { role: "assistant" }, { role: "tool", tool_call_id: "t1", content: '{"q":1}' }] });
});

describe("without a key", () => {
  const page = `<form></form><div class="result results_links"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fx%3Fa%3D1&amp;rut=1">Exa<b>mple</b> &amp; co</a><a class="result__snippet" href="x">The <b>snippet</b></a></div>
  <div class="result result--ad"><a class="result__a" href="https://ads.example">Ad</a></div>
  <div class="result"><a class="result__a" href="javascript:alert(1)">bad</a></div>`;

  it("DuckDuckGo's page is read, ads and odd links left out", async () => {
    await using e = await engine("duckduckgo", [page]);
    const answer = await e.run({ query: "x", freshness: "pd" });
    expect(answer).toMatchObject({ provider: "duckduckgo", count: 1, results: [{ url: "https://example.com/x?a=1" }], note: expect.stringContaining("without an API key") });
    expect(JSON.stringify(answer)).toContain("Example & co");
    expect(e.hits[0]?.url).toBe("/html/?q=x&df=d");
  });

  it("a page for robots is named as such", async () => {
    await using e = await engine("duckduckgo", ['<div class="anomaly-modal">']);
    await expect(e.run({ query: "x" })).rejects.toThrow("DuckDuckGo wants to see a person");
  });

  it.each(["brave", "gemini", "kimi", "perplexity", "grok"] as const)("%s that was chosen says which key is missing", async (provider) => {
    await using e = await engine(provider, [{}], { provider });
    expect(await e.run({ query: "x" })).toMatchObject({ error: provider === "grok" ? "missing_xai_api_key" : `missing_${provider}_api_key`, message: expect.stringContaining("Set tools.web.search") });
    expect(e.hits).toEqual([]);
  });
});

describe("trouble", () => {
  it.each<[object | string | number, RegExp]>([[503, /brave search failed \(503\)/], ["<html>", /brave answered something else than search results/]])("%j", async (answer, problem) => {
    await using e = await engine("brave", [answer], { apiKey: "k" });
    await expect(e.run({ query: "x" })).rejects.toThrow(problem);
  });
  it.each<[Record<string, unknown>, RegExp]>([[{}, /Missing required parameter: query/], [{ query: "x", freshness: "soon" }, /freshness must be/], [{ query: "x", search_lang: "german" }, /search_lang must be/], [{ query: "x", ui_lang: "de" }, /ui_lang must look/]])("%j is refused", async (args, problem) => {
    await using e = await engine("brave", [BRAVE], { apiKey: "k" });
    await expect(e.run(args)).rejects.toThrow(problem);
  });
});
