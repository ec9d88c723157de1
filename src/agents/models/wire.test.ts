import { LLMock } from "@copilotkit/aimock";
import type { AssistantMessage, Context } from "@mariozechner/pi-ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelsProviderConfig, OpenClawConfig } from "../../config/index.ts";
import { requestOptions } from "../pi-embedded-runner/pi-session.ts";
import { loadPi } from "../pi.ts";
import { json, startTestServer, startTestService, type TestService } from "./service-fixture.ts";
import type { PreparedModel } from "./types.ts";

const context = (text: string): Context => ({ systemPrompt: "You are a test.", messages: [{ role: "user", content: text, timestamp: 0 }], tools: [{ name: "clock", description: "Time", parameters: { type: "object", properties: {} } }] });

/** As the runner sends it. */
async function call(prepared: PreparedModel, text: string, more: { signal?: AbortSignal } = {}): Promise<{ message: AssistantMessage; deltas: string[] }> {
  const { ai } = await loadPi();
  const stream = (prepared.stream ?? ai.streamSimple)(prepared.model, context(text), { ...requestOptions(prepared), ...more });
  const deltas: string[] = [];
  for await (const event of stream) if (event.type === "text_delta") deltas.push(event.delta);
  return { message: await stream.result(), deltas };
}

const textOf = (message: AssistantMessage): string => message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");

describe("a prepared model reaches its provider", () => {
  const mock = new LLMock({ port: 0 });
  beforeAll(async () => {
    await mock.start();
    mock.onMessage("hello", { content: "Hello from the mock provider." });
    // Gemini itself ends a call with STOP; the mock's own word for it is none of Gemini's.
    mock.onMessage("gemini time", { toolCalls: [{ name: "clock", arguments: "{}" }], finishReason: "STOP" });
    mock.onMessage("time", { toolCalls: [{ name: "clock", arguments: "{}" }] });
  });
  afterAll(() => mock.stop());

  const formats: [api: NonNullable<ModelsProviderConfig["api"]>, path: string][] = [
    ["openai-completions", "/v1"],
    ["openai-responses", "/v1"],
    ["anthropic-messages", "/v1"],
    ["google-generative-ai", "/v1beta"],
  ];

  it.each(formats)("as %s, with text and tool calls", async (api, path) => {
    const provider: ModelsProviderConfig = { baseUrl: mock.url + path, api, apiKey: "test-key", models: [{ id: "mock-model", name: "Mock" }] };
    await using t = await startTestService({ models: { providers: { mine: provider } } });
    const choice = await t.models.selectDefault("main");
    const prepared = await t.models.prepare(choice.ref, "main");
    const { message, deltas } = await call(prepared, "hello");
    expect(message.errorMessage).toBeUndefined();
    expect(textOf(message)).toBe("Hello from the mock provider.");
    expect(deltas.length).toBeGreaterThan(0);
    expect(message.stopReason).toBe("stop");
    const tool = (await call(prepared, api === "google-generative-ai" ? "gemini time" : "time")).message;
    expect(tool.errorMessage).toBeUndefined();
    expect(tool.stopReason).toBe("toolUse");
    expect(tool.content.find((block) => block.type === "toolCall")).toMatchObject({ name: "clock" });
  });
});

describe("what is sent", () => {
  async function sentBy(config: OpenClawConfig, ref: { provider: string; modelId: string }): Promise<{ path: string; headers: Record<string, unknown>; body: Record<string, unknown> }> {
    await using server = await startTestServer((_path, _body, response) => json(response, { error: { message: "no" } }, 400));
    const providers = Object.fromEntries(Object.entries(config.models?.providers ?? {}).map(([key, provider]) => [key, { ...provider, baseUrl: `${server.url}/v1` }]));
    await using t: TestService = await startTestService({ ...config, models: { providers } });
    await call(await t.models.prepare(ref, "main"), "hello");
    const [request] = server.requests;
    return { path: request?.path ?? "", headers: { ...request?.headers }, body: JSON.parse(request?.body ?? "{}") as Record<string, unknown> };
  }

  it("to an unknown OpenAI-compatible server uses only what all of them understand", async () => {
    const { body, headers, path } = await sentBy({ models: { providers: { own: { api: "openai-completions", headers: { "X-Team": "blue" }, models: [{ id: "thinker", name: "T", reasoning: true }] } } } }, { provider: "own", modelId: "thinker" });
    expect(path).toBe("/v1/chat/completions");
    expect(JSON.stringify(body["messages"])).toContain('"role":"system"');
    expect(body).toHaveProperty("max_tokens");
    expect(body).not.toHaveProperty("store");
    expect(headers["x-team"]).toBe("blue");
  });

  it("to an Anthropic-compatible server goes to /v1/messages with the key, and as Bearer with authHeader", async () => {
    const { path, headers } = await sentBy({ models: { providers: { own: { api: "anthropic-messages", apiKey: "kk", authHeader: true, models: [{ id: "m", name: "M" }] } } } }, { provider: "own", modelId: "m" });
    expect(path).toMatch(/^\/v1\/messages/);
    expect(headers).toMatchObject({ "x-api-key": "kk", authorization: "Bearer kk" });
  });
});

describe("Ollama's own API", () => {
  const config = (baseUrl: string): OpenClawConfig => ({ models: { providers: { ollama: { baseUrl: `${baseUrl}/v1`, api: "ollama", models: [{ id: "qwen3", name: "Qwen", contextWindow: 20_000 }] } } } });
  const ref = { provider: "ollama", modelId: "qwen3" };

  it("streams text and tool calls, with the window as num_ctx and no invented key", async () => {
    await using server = await startTestServer((_path, _body, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write('{"message":{"role":"assistant","content":"Hel"},"done":false}\n{"message":{"content":"lo"},"do');
      response.write('ne":false}\n{"message":{"content":"","tool_calls":[{"function":{"name":"clock","arguments":{"zone":"UTC"}}}]},"done":false}\n');
      response.end('{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":11,"eval_count":7}');
    });
    await using t = await startTestService(config(server.url));
    const { message, deltas } = await call(await t.models.prepare(ref, "main"), "hi");
    expect(deltas).toEqual(["Hel", "lo"]);
    expect(message).toMatchObject({ stopReason: "toolUse", usage: { input: 11, output: 7, totalTokens: 18 } });
    expect(message.content[1]).toMatchObject({ type: "toolCall", name: "clock", arguments: { zone: "UTC" }, id: expect.stringMatching(/^ollama_call_/) as unknown });
    expect(server.requests[0]?.path).toBe("/api/chat");
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(JSON.parse(server.requests[0]?.body ?? "{}")).toMatchObject({ model: "qwen3", stream: true, options: { num_ctx: 20_000 }, tools: [{ type: "function", function: { name: "clock" } }] });
  });

  it.each([
    ["an error status", 404, '{"error":"model \\"qwen3\\" not found"}', '404 model "qwen3" not found'],
    ["an answer that breaks off", 200, '{"message":{"content":"Hel"},"done":false}\n', "Ollama ended the answer before it was done."],
    ["an error inside the stream", 200, '{"error":"out of memory"}\n', "out of memory"],
  ])("tells %s", async (_name, status, body, expected) => {
    await using server = await startTestServer((_path, _request, response) => void response.writeHead(status).end(body));
    await using t = await startTestService(config(server.url));
    const { message } = await call(await t.models.prepare(ref, "main"), "hi");
    expect(message).toMatchObject({ stopReason: "error", errorMessage: expected });
  });

  it("stops at once when the run is aborted", async () => {
    const stop = new AbortController();
    await using server = await startTestServer((_path, _request, response) => {
      response.writeHead(200);
      response.write('{"message":{"content":"Hel"},"done":false}\n', () => stop.abort());
    });
    await using t = await startTestService(config(server.url));
    const { message } = await call(await t.models.prepare(ref, "main"), "hi", { signal: stop.signal });
    expect(message.stopReason).toBe("aborted");
  });
});
