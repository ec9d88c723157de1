import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import { createCloudCatalogues, type CloudCataloguesOptions } from "./cloud-catalogues.ts";
import { json, startTestServer, startTestService } from "./service-fixture.ts";

async function cloud(answer: (req: IncomingMessage, res: ServerResponse) => void, more: Partial<CloudCataloguesOptions> & { readonly vars?: Readonly<Record<string, string>> } = {}) {
  const asked: { url: string; authorization: string | undefined }[] = [];
  const server = createServer((req, res) => {
    asked.push({ url: req.url ?? "", authorization: req.headers.authorization });
    answer(req, res);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = { nowMs: 0 };
  const catalogues = createCloudCatalogues({
    env: (name) => more.vars?.[name], bedrock: () => ({ enabled: false }), isUsable: async () => true, baseUrl: (provider) => `${origin}/${provider}`, keyOf: () => "hf-key", fetch,
    clock: { now: () => clock.nowMs } as CloudCataloguesOptions["clock"], log: silentLogger, bedrockEndpoint: origin, ...more,
  });
  return {
    asked, clock, catalogues,
    async [Symbol.asyncDispose]() {
      catalogues.close();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const LISTS: Readonly<Record<string, unknown>> = {
  "/venice/models": {
    data: [
      { id: "new-llama", type: "text", model_spec: { availableContextTokens: 65_536, capabilities: { supportsVision: true, supportsReasoning: true } } },
      { id: "painter", type: "image" },
    ],
  },
  "/huggingface/models": { data: [{ id: "lab/Seer-R1", architecture: { input_modalities: ["text", "image"] }, providers: [{}, { context_length: 40_960 }] }, { id: "lab/Plain" }] },
};

it("lists of Venice and Hugging Face become models, with a key only where one is asked for, once an hour", async () => {
  await using c = await cloud((req, res) => json(res, LISTS[req.url ?? ""]));
  await Promise.all([c.catalogues.refresh(), c.catalogues.refresh()]);
  expect(c.catalogues.models()).toEqual([
    { provider: "venice", id: "new-llama", name: "new-llama", contextWindow: 65_536, maxTokens: 8192, reasoning: true, image: true },
    { provider: "huggingface", id: "lab/Seer-R1", name: "Seer-R1", contextWindow: 40_960, maxTokens: 8192, reasoning: true, image: true },
    { provider: "huggingface", id: "lab/Plain", name: "Plain", contextWindow: 131_072, maxTokens: 8192, reasoning: false, image: false },
  ]);
  expect(c.asked.toSorted((a, b) => a.url.localeCompare(b.url))).toEqual([{ url: "/huggingface/models", authorization: "Bearer hf-key" }, { url: "/venice/models", authorization: undefined }]);
  c.clock.nowMs = 3_599_000;
  await c.catalogues.refresh();
  expect(c.asked).toHaveLength(2);
  c.clock.nowMs = 3_601_000;
  await c.catalogues.refresh();
  expect(c.asked).toHaveLength(4);
});

it("a list that is broken or refused leaves what was known, and is asked for again later", async () => {
  let broken = false;
  await using c = await cloud((req, res) => (broken ? (req.url?.startsWith("/venice") ? res.writeHead(503).end() : json(res, { data: [{ id: 5 }] })) : json(res, LISTS[req.url ?? ""])));
  await c.catalogues.refresh();
  broken = true;
  c.clock.nowMs = 3_601_000;
  await c.catalogues.refresh();
  expect(c.catalogues.models()).toHaveLength(3);
  await c.catalogues.refresh();
  expect(c.asked).toHaveLength(4);
  c.clock.nowMs += 10 * 60_000;
  await c.catalogues.refresh();
  expect(c.asked).toHaveLength(6);
});

const SUMMARIES = {
  modelSummaries: [
    { modelId: "anthropic.claude-9", modelName: "Claude 9", providerName: "Anthropic", inputModalities: ["TEXT", "IMAGE"], outputModalities: ["TEXT"], responseStreamingSupported: true, modelLifecycle: { status: "ACTIVE" } },
    { modelId: "anthropic.old", providerName: "Anthropic", inputModalities: ["TEXT"], outputModalities: ["TEXT"], responseStreamingSupported: true, modelLifecycle: { status: "LEGACY" } },
    { modelId: "amazon.painter", providerName: "Amazon", inputModalities: ["TEXT"], outputModalities: ["IMAGE"], responseStreamingSupported: true, modelLifecycle: { status: "ACTIVE" } },
    { modelId: "meta.thinking-1", modelName: "Thinking 1", providerName: "Meta", inputModalities: ["TEXT"], outputModalities: ["TEXT"], responseStreamingSupported: true, modelLifecycle: { status: "ACTIVE" } },
  ],
};

it.each<[string, Record<string, string>, RegExp]>([
  ["keys of the environment", { AWS_ACCESS_KEY_ID: "AKIA1", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-west-1" }, /^AWS4-HMAC-SHA256 Credential=AKIA1\/\d{8}\/eu-west-1\/bedrock\//],
  ["a bearer token", { AWS_BEARER_TOKEN_BEDROCK: "bear" }, /^Bearer bear$/],
])("Bedrock lists what is active, streams and writes text; signed with %s", async (_name, vars, signature) => {
  await using c = await cloud((_req, res) => json(res, SUMMARIES), { vars, isUsable: async () => false, bedrock: () => ({ providerFilter: ["anthropic", "META"], defaultContextWindow: 64_000 }) });
  await c.catalogues.refresh();
  expect(c.catalogues.models()).toEqual([
    { provider: "amazon-bedrock", id: "anthropic.claude-9", name: "Claude 9", contextWindow: 64_000, maxTokens: 4096, reasoning: false, image: true },
    { provider: "amazon-bedrock", id: "meta.thinking-1", name: "Thinking 1", contextWindow: 64_000, maxTokens: 4096, reasoning: true, image: false },
  ]);
  expect(c.asked).toMatchObject([{ url: "/foundation-models", authorization: expect.stringMatching(signature) as string }]);
});

it("nothing is asked without a key, or where it is switched off", async () => {
  await using c = await cloud((_req, res) => json(res, {}), { isUsable: async () => false, vars: { AWS_PROFILE: "me" }, bedrock: () => ({ enabled: false }) });
  await c.catalogues.refresh();
  expect(c.asked).toEqual([]);
});

it("what a provider's list names can be chosen and is offered, without a run having waited for it", async () => {
  await using server = await startTestServer((_path, _body, response) => json(response, LISTS["/huggingface/models"]));
  await using s = await startTestService({ models: { providers: { huggingface: { baseUrl: server.url, models: [] } } } }, { env: { HF_TOKEN: "k" }, probeClouds: true, fetch });
  await expect.poll(async () => (await s.models.list("main")).find(({ id }) => id === "lab/Seer-R1")).toMatchObject({ provider: "huggingface", contextWindow: 40_960, reasoning: true, available: true });
  expect((await s.models.prepare({ provider: "huggingface", modelId: "lab/Seer-R1" }, "main")).model).toMatchObject({ baseUrl: server.url, api: "openai-completions", input: ["text", "image"] });
  expect(server.requests).toMatchObject([{ path: "/models", headers: { authorization: "Bearer k" } }]);
});
