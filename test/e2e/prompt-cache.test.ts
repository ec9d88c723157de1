import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel } from "../support/model.ts";
import { startRecorder } from "../support/recorder.ts";

/** 1×1 pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

type Api = "openai-completions" | "anthropic-messages" | "openai-responses";

interface Body {
  readonly system?: unknown;
  readonly messages?: readonly unknown[];
  readonly input?: readonly unknown[];
  readonly tools?: unknown;
  readonly [field: string]: unknown;
}

/** The marks that say how far the provider shall cache move along with the newest message; they are no content. */
const bytes = (value: unknown): string => JSON.stringify(value ?? null, (key, inner: unknown) => (key === "cache_control" ? undefined : inner));
const messagesOf = (body: Body): readonly unknown[] => body.messages ?? body.input ?? [];

function expectPrefix(bodies: readonly Body[]): void {
  for (const [index, body] of bodies.entries()) {
    const before = bodies[index - 1];
    if (!before) continue;
    expect(bytes(body.system)).toBe(bytes(before.system));
    expect(bytes(body.tools)).toBe(bytes(before.tools));
    const messages = messagesOf(before);
    expect(bytes(messagesOf(body).slice(0, messages.length))).toBe(bytes(messages));
    expect(messagesOf(body).length).toBeGreaterThan(messages.length);
  }
}

async function home(api: Api, url: string, params: Record<string, unknown> = {}, cost?: Record<string, number>): Promise<string> {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-cache-"));
  const config = {
    gateway: { mode: "local", auth: { mode: "token", token: "T" } },
    models: {
      providers: {
        mock: {
          baseUrl: api === "anthropic-messages" ? url : `${url}/v1`, apiKey: "mock-key", api,
          models: [{ id: "gpt-mock", name: "Mock", contextWindow: 128_000, maxTokens: 8192, input: ["text", "image"], ...(cost ? { cost } : {}) }],
        },
      },
    },
    agents: { defaults: { workspace: join(stateDir, "workspace"), model: { primary: "mock/gpt-mock" }, models: { "mock/gpt-mock": { params } } } },
  };
  await writeFile(join(stateDir, "openclaw.json"), JSON.stringify(config), { mode: 0o600 });
  return stateDir;
}

it.each<Api>(["openai-completions", "anthropic-messages", "openai-responses"])("every request begins with the bytes of the one before (%s): after a tool, a command, an image and a restart", async (api) => {
  await using model = await startMockModel((mock) => {
    mock.on({ userMessage: /disk/, hasToolResult: false }, { toolCalls: [{ name: "exec", arguments: JSON.stringify({ command: "echo tool-was-here" }) }] });
    mock.onMessage(/.*/, { content: "ok" });
  }, api);
  await using recorder = await startRecorder(model.mock.url);
  const stateDir = await home(api, recorder.url);
  {
    await using g = await startTestGateway({ stateDir });
    await using client = await connectClient(g.url, g.token);
    await client.chat("ping");
    await client.chat("look at the disk");
    await client.chat("/status");
    await client.chat("what is on this picture?", "main", { attachments: [{ type: "image", mimeType: "image/png", fileName: "p.png", content: PNG }] });
    await client.chat("and now?");
  }
  {
    await using g = await startTestGateway({ stateDir });
    await using client = await connectClient(g.url, g.token);
    await client.chat("are you back?");
    await client.chat("good");
  }
  const bodies = recorder.bodies.map((body) => JSON.parse(body) as Body);
  expect(bodies).toHaveLength(7);
  expectPrefix(bodies);
  expect(bytes(messagesOf(bodies[6] as Body))).toContain(PNG);
  expect(bytes(bodies[6])).not.toContain("OpenClaw 2026");
  const ping = bodies[0] as Body;
  expect(Math.ceil((bytes(ping.system ?? "").length + bytes(messagesOf(ping)).length) / 4)).toBeLessThanOrEqual(3000);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

it("params.cacheRetention reaches Anthropic: marks on system and newest message, an hour when long, none when none", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }), "anthropic-messages");
  await using recorder = await startRecorder(model.mock.url);
  const marks: string[][] = [];
  for (const cacheRetention of ["short", "long", "none"]) {
    const stateDir = await home("anthropic-messages", recorder.url, { cacheRetention });
    await using g = await startTestGateway({ stateDir });
    await using client = await connectClient(g.url, g.token);
    await client.chat("one");
    await client.chat("two");
    const { system, messages } = JSON.parse(recorder.bodies.at(-1) as string) as Body;
    const found = [...JSON.stringify([system, messages?.slice(0, -1), messages?.at(-1)]).matchAll(/"cache_control":(\{[^}]*\})/g)].map((match) => match[1] as string);
    marks.push(found);
    await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
  }
  const [short = [], long = [], none = []] = marks;
  expect(short.length).toBe(2);
  expect(short.every((mark) => mark === '{"type":"ephemeral"}')).toBe(true);
  expect(long.length).toBe(2);
  expect(long.every((mark) => mark === '{"type":"ephemeral","ttl":"1h"}')).toBe(true);
  expect(none).toEqual([]);
});

/** One answer of Anthropic's stream with cached tokens; the mock knows none. */
const CACHED_ANSWER = [
  { type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "gpt-mock", content: [], stop_reason: null, usage: { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 2000, cache_creation_input_tokens: 300 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 50 } },
  { type: "message_stop" },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

it("cached tokens and their cost are counted; a model without a price is never shown as free", async () => {
  const server = createServer((_request, response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(CACHED_ANSWER));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answers: string[] = [];
  for (const cost of [{ input: 10, output: 20, cacheRead: 1, cacheWrite: 12 }, undefined]) {
    const stateDir = await home("anthropic-messages", url, {}, cost);
    {
      await using g = await startTestGateway({ stateDir });
      await using client = await connectClient(g.url, g.token);
      await client.chat("/usage full");
      answers.push((await client.chat("one")).text ?? "");
    }
    const store = JSON.parse(await readFile(join(stateDir, "agents", "main", "sessions", "sessions.json"), "utf8")) as Record<string, Record<string, unknown>>;
    expect(store["agent:main:main"]).toMatchObject({ inputTokens: 100, outputTokens: 50, cacheRead: 2000, cacheWrite: 300, totalTokens: 2450, totalTokensFresh: true });
    await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
  }
  server.close();
  // (100 × 10 + 50 × 20 + 2000 × 1 + 300 × 12) / 1,000,000 dollars
  expect(answers[0]).toContain("est $0.0076");
  expect(answers[1]).toContain("price unknown");
  expect(answers[1]).not.toContain("$0");
});
