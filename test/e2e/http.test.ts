import { connect } from "node:net";
import { request as httpRequest } from "node:http";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";

const REPLY = "Paris is the capital of France.";
const CSP =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

let model: MockModel;
let g: TestGateway;
let uiRoot: string;

beforeAll(async () => {
  uiRoot = await mkdtemp(join(tmpdir(), "openclaw-ui-"));
  await mkdir(join(uiRoot, "assets"));
  await writeFile(join(uiRoot, "index.html"), "<!doctype html><title>OpenClaw</title>");
  await writeFile(join(uiRoot, "assets", "main-abcdef123.js"), "export {};");
  model = await startMockModel((mock) => mock.onMessage(/capital/i, { content: REPLY }));
  g = await startTestGateway({
    config: {
      ...model.config,
      agents: { defaults: { model: { primary: "mock/gpt-mock" } }, list: [{ id: "main", default: true }, { id: "work" }] },
      gateway: {
        mode: "local", auth: { mode: "token", token: "T" }, controlUi: { root: uiRoot },
        http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true, maxBodyBytes: 200_000 } } },
      },
    },
  });
  await g.gateway.ready;
});

afterAll(async () => {
  await g[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

const bearer = { authorization: "Bearer T", "content-type": "application/json" };
const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${g.url}${path}`, { method: "POST", headers: { ...bearer, ...headers }, body: typeof body === "string" ? body : JSON.stringify(body) });

interface Choice {
  readonly index: number;
  readonly delta: { readonly content?: string };
  readonly finish_reason?: string | null;
}

interface Answer {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly choices: readonly Choice[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
  readonly data: readonly { readonly id: string }[];
  readonly error: { readonly type: string; readonly message: string };
}

const readAnswer = async (res: Response): Promise<Answer> => (await res.json()) as Answer;

interface Sse {
  readonly event: string | undefined;
  readonly data: string;
}

function parseSse(text: string): Sse[] {
  return text.split("\n\n").filter((block) => block !== "").map((block) => ({
    event: /^event: (.*)$/m.exec(block)?.[1],
    data: /^data: (.*)$/m.exec(block)?.[1] ?? "",
  }));
}

const ask = { model: "openclaw", messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "What is the capital?" }] };

it("answers an OpenAI client's chat completion as one JSON object", async () => {
  const res = await post("/v1/chat/completions", ask);
  const body = await readAnswer(res);

  expect(res.status).toBe(200);
  expect(body).toMatchObject({
    id: expect.stringMatching(/^chatcmpl_/), object: "chat.completion", created: expect.any(Number), model: "openclaw",
    choices: [{ index: 0, message: { role: "assistant", content: REPLY }, finish_reason: "stop" }],
  });
  expect(body.usage.prompt_tokens).toBeGreaterThan(0);
  expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
});

it("streams a chat completion: role, text, finish, done", async () => {
  const res = await post("/v1/chat/completions", { ...ask, stream: true });
  const events = parseSse(await res.text());

  expect(res.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(events.at(-1)?.data).toBe("[DONE]");
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.data) as Answer);
  expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
  expect(chunks.every((chunk) => chunk.object === "chat.completion.chunk" && chunk.model === "openclaw")).toBe(true);
  expect(chunks[0]?.choices[0]).toEqual({ index: 0, delta: { role: "assistant" } });
  expect(chunks.at(-1)?.choices[0]).toEqual({ index: 0, delta: {}, finish_reason: "stop" });
  const middle = chunks.slice(1, -1).map((chunk) => chunk.choices[0]);
  expect(middle.length).toBeGreaterThan(0);
  expect(middle.every((choice) => choice?.finish_reason === null)).toBe(true);
  expect(middle.map((choice) => choice?.delta.content).join("")).toBe(REPLY);
});

it("answers a response request as one JSON object", async () => {
  const res = await post("/v1/responses", { model: "openclaw", input: "What is the capital?" });
  const body = await readAnswer(res);

  expect(res.status).toBe(200);
  expect(body).toMatchObject({
    id: expect.stringMatching(/^resp_/), object: "response", status: "completed", model: "openclaw",
    output: [{ type: "message", id: expect.stringMatching(/^msg_/), role: "assistant", content: [{ type: "output_text", text: REPLY }], status: "completed" }],
  });
  expect(Object.keys(body.usage)).toEqual(["input_tokens", "output_tokens", "total_tokens"]);
});

it("streams a response in the documented order of events", async () => {
  const res = await post("/v1/responses", { model: "openclaw", stream: true, input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "What is the capital?" }] }] });
  const events = parseSse(await res.text());

  expect(events.at(-1)).toEqual({ event: undefined, data: "[DONE]" });
  const named = events.slice(0, -1);
  expect(named.every((event) => JSON.parse(event.data).type === event.event)).toBe(true);
  const order = named.map((event) => event.event).filter((name, i, all) => name !== all[i - 1]);
  expect(order).toEqual([
    "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added", "response.output_text.delta",
    "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed",
  ]);
  const deltas = named.filter((event) => event.event === "response.output_text.delta").map((event) => JSON.parse(event.data).delta);
  expect(deltas.join("")).toBe(REPLY);
});

it("keeps the conversation of a named user", async () => {
  await post("/v1/chat/completions", { ...ask, user: "Ann" });
  await post("/v1/chat/completions", { ...ask, user: "ann" });

  const last = model.mock.getLastRequest()?.body as { messages: { role: string }[] };
  expect(last.messages.filter((message) => message.role === "user")).toHaveLength(2);
});

it("lists the agents as models", async () => {
  const res = await fetch(`${g.url}/v1/models`, { headers: bearer });
  const body = await readAnswer(res);

  expect(body.object).toBe("list");
  expect(body.data.map((item) => item.id)).toEqual(["openclaw", "openclaw:main", "openclaw:work"]);
  expect(body.data[0]).toMatchObject({ object: "model", created: expect.any(Number), owned_by: "openclaw" });
});

it.each(["/v1/chat/completions", "/v1/responses"])("%s refuses a missing or wrong key, and another verb before it", async (path) => {
  for (const headers of [{}, { authorization: "Bearer wrong" }] as Record<string, string>[]) {
    const res = await fetch(`${g.url}${path}`, { method: "POST", headers, body: "{}" });
    expect(res.status).toBe(401);
    expect(await res.json()).toEqual({ error: { message: "Unauthorized", type: "unauthorized" } });
  }
  const res = await fetch(`${g.url}${path}`);
  expect([res.status, await res.text(), res.headers.get("allow")]).toEqual([405, "Method Not Allowed", "POST"]);
});

it.each([
  ["/v1/chat/completions", "{not json", /JSON/i],
  ["/v1/chat/completions", "", /Missing user message in `messages`/],
  ["/v1/chat/completions", '{"messages":"hi"}', /messages/],
  ["/v1/responses", "[", /JSON/i],
  ["/v1/responses", '{"model":"openclaw","input":"x","surprise":1}', /surprise/],
  ["/v1/responses", '{"input":"x"}', /model/],
  ["/v1/responses", '{"model":"openclaw","input":[]}', /Missing user message/],
])("%s explains the body %s", async (path, body, words) => {
  const res = await post(path, body);
  const answer = await readAnswer(res);

  expect(res.status).toBe(400);
  expect(answer.error.type).toBe("invalid_request_error");
  expect(answer.error.message).toMatch(words);
});

it.each([
  ["/v1/chat/completions", 1_100_000],
  ["/v1/responses", 300_000],
])("%s tells a client that its body of %i bytes is too large, and the client gets to read it", async (path, size) => {
  const res = await post(path, JSON.stringify({ model: "openclaw", input: "x".repeat(size), messages: [] }));

  expect(res.status).toBe(413);
  expect((await readAnswer(res)).error.message).toMatch(/large|bytes/i);
  expect((await fetch(`${g.url}/healthz`)).status).toBe(200);
});

it("names an agent that does not exist, and does not create it", async () => {
  const byModel = await post("/v1/chat/completions", { ...ask, model: "openclaw:nobody" });
  const byHeader = await post("/v1/responses", { model: "openclaw", input: "capital" }, { "x-openclaw-agent-id": "../x" });

  expect(byModel.status).toBe(400);
  expect((await readAnswer(byModel)).error.message).toContain('Unknown agent "nobody"');
  expect(byHeader.status).toBe(400);
});

function rawGet(path: string, headers: Record<string, string>, method = "GET"): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const req = httpRequest(`${g.url}${path}`, { method, headers }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (part: string) => (body += part)).on("end", () => resolve({ status: res.statusCode, body }));
    });
    req.on("error", reject).end();
  });
}

it("does not answer for a name that is not its own (DNS rebinding), unless the caller holds the key", async () => {
  expect(await rawGet("/", { host: "attacker.test" })).toEqual({ status: 421, body: "Misdirected Request" });
  expect((await rawGet("/v1/models", { host: "attacker.test" })).status).toBe(421);
  expect((await rawGet("/nowhere.txt", { host: "attacker.test:18789" })).status).toBe(421);
  expect((await rawGet("/v1/models", { host: "attacker.test", authorization: "Bearer T" })).status).toBe(200);
});

it("refuses a request that changes something when it comes from a page elsewhere", async () => {
  const res = await post("/v1/chat/completions", ask, { origin: "https://attacker.test" });
  const bySite = await rawGet("/v1/chat/completions", { authorization: "Bearer T", "sec-fetch-site": "cross-site" }, "POST");

  expect(res.status).toBe(403);
  expect((await readAnswer(res)).error.message).toContain("gateway.controlUi.allowedOrigins");
  expect(bySite.status).toBe(403);
});

it.each([
  ["/healthz", { ok: true, status: "live" }],
  ["/health", { ok: true, status: "live" }],
  ["/readyz", { ok: true, status: "ready" }],
  ["/ready", { ok: true, status: "ready" }],
])("%s answers monitors without a key", async (path, expected) => {
  const res = await fetch(`${g.url}${path}`);
  expect([res.status, await res.json()]).toEqual([200, expected]);
  expect((await fetch(`${g.url}${path}`, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(`${g.url}${path}`, { method: "POST" })).status).toBe(405);
});

it("serves the Control UI with its policy, and any page of the app by the same file", async () => {
  for (const path of ["/", "/chat", "/sessions/deep/link"]) {
    const res = await fetch(`${g.url}${path}`);
    expect([res.status, res.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(res.headers.get("content-security-policy")).toBe(CSP);
    expect(res.headers.get("x-frame-options")).toBe("DENY");
    expect(res.headers.get("x-content-type-options")).toBe("nosniff");
    expect(res.headers.get("referrer-policy")).toBe("no-referrer");
    expect(await res.text()).toContain("<title>OpenClaw</title>");
  }
  const config = await (await fetch(`${g.url}/__openclaw/control-ui-config.json`)).json();
  expect(config).toMatchObject({ basePath: "", assistantAgentId: "main" });
  expect(JSON.stringify(config)).not.toContain('"T"');
  expect((await fetch(`${g.url}/assets/main-abcdef123.js`)).headers.get("cache-control")).toContain("immutable");
});

it("knows no static file that is not there, and no way out of the folder", async () => {
  for (const path of ["/missing.js", "/assets/gone.css", "/favicon.ico"]) expect((await fetch(`${g.url}${path}`)).status).toBe(404);
  for (const path of ["/..%2f..%2fetc%2fpasswd", "/assets/%2e%2e/%2e%2e/%2e%2e/etc/hostname", "/%2e%2e/%2e%2e/openclaw.json", "/a%00b.js"]) {
    const { status, body } = await rawGet(path, {});
    expect([path, status === 200 ? body.includes("<title>OpenClaw</title>") : [400, 404].includes(status ?? 0)]).toEqual([path, true]);
  }
});

it("survives garbage on the wire", async () => {
  await new Promise<void>((resolve) => {
    const socket = connect(g.gateway.port, "127.0.0.1", () => socket.write("\x16\x03\x01\x00\xff nonsense\r\n\r\n"));
    socket.on("error", () => undefined).on("close", () => resolve()).resume();
  });
  expect((await fetch(`${g.url}/healthz`)).status).toBe(200);
});
