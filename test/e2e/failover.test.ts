import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { brokenProvider, call, fail, piece, say, sse, type Answer, type BrokenProvider } from "../support/broken-provider.ts";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";

const MODEL = { name: "Mock", contextWindow: 32_000, maxTokens: 2048, input: ["text"] };

interface World extends AsyncDisposable {
  readonly first: BrokenProvider;
  readonly second: BrokenProvider;
  /** Sends one message and gives the text of the final event, or of the error. */
  ask(text: string): Promise<string | undefined>;
  phases(): string[];
  entry(): Promise<Record<string, unknown>>;
  profiles(): Promise<Record<string, { cooldownUntil?: number; disabledUntil?: number; models?: object }>>;
}

/** Two providers, the first with two stored keys, the second as its fallback. */
async function world(first: readonly Answer[], second: readonly Answer[] = [], model: Record<string, unknown> = {}): Promise<World> {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-failover-"));
  const one = await brokenProvider(...first);
  const two = await brokenProvider(...second);
  const agentDir = join(stateDir, "agents", "main", "agent");
  await mkdir(agentDir, { recursive: true });
  const key = (name: string): object => ({ type: "api_key", provider: "one", key: name });
  await writeFile(join(agentDir, "auth-profiles.json"), JSON.stringify({ version: 1, profiles: { "one:a": key("key-a"), "one:b": key("key-b") }, usageStats: { "one:a": { lastUsed: 1 }, "one:b": { lastUsed: 2 } } }));
  const provider = (url: string, id: string): object => ({ baseUrl: url, api: "openai-completions", apiKey: "plain", models: [{ id, ...MODEL, ...model }] });
  const g = await startTestGateway({
    stateDir,
    config: {
      gateway: { mode: "local", auth: { mode: "token", token: "T" } },
      models: { providers: { one: provider(one.url, "big"), two: provider(two.url, "small") } },
      agents: { defaults: { workspace: join(stateDir, "workspace"), model: { primary: "one/big", fallbacks: ["two/small"] } } },
    },
  });
  await g.gateway.ready;
  const client = await connectClient(g.url, g.token);
  return {
    first: one, second: two,
    ask: async (text) => {
      const { text: said, end } = await client.chat(text);
      return said ?? String(end.payload?.["errorMessage"]);
    },
    phases: () => client.frames.flatMap(({ event, payload }) => {
      const phase = event === "agent" && payload?.["stream"] === "lifecycle" ? (payload["data"] as { phase: string }).phase : "";
      return phase.startsWith("fallback") ? [phase] : [];
    }),
    entry: async () => ({ ...(await g.gateway.context.sessions.get("agent:main:main")) }),
    profiles: async () => (JSON.parse(await readFile(join(agentDir, "auth-profiles.json"), "utf8")) as { usageStats: Record<string, object> }).usageStats,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await g[Symbol.asyncDispose]();
      await one[Symbol.asyncDispose]();
      await two[Symbol.asyncDispose]();
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const limited = fail(429, "slow down", { "retry-after-ms": "5" });
/** Tried again three times before it counts. */
const fourTimes = (answer: Answer): Answer[] => [answer, answer, answer, answer];

it("a key that is over its limit gives way to the next at once, and rests for that model", async () => {
  await using w = await world([limited, say("from b")]);
  expect(await w.ask("hello")).toBe("from b");
  expect(w.first.keys).toEqual(["key-a", "key-b"]);
  expect(await w.entry()).toMatchObject({ authProfileOverride: "one:b", authProfileOverrideSource: "auto" });
  expect((await w.profiles())["one:a"]?.models).toHaveProperty("big");
  // The session keeps what worked; a new one gives the next key its turn, if it does not rest.
  expect(await w.ask("again")).toBe("well again");
  expect(await w.ask("/new hello")).toBe("well again");
  expect(w.first.keys.slice(2)).toEqual(["key-b", "key-b"]);
});

it("a new conversation takes the next key", async () => {
  await using w = await world([]);
  for (const text of ["one", "two", "/new three", "four"]) expect(await w.ask(text)).toBe("well again");
  expect(w.first.keys).toEqual(["key-a", "key-a", "key-b", "key-b"]);
});

it("a provider without credit on any key is left for the fallback, said once, and left alone until its pause ends", async () => {
  await using w = await world([fail(402, "insufficient balance"), fail(402, "insufficient balance")], [say("from small"), say("from small again")]);
  expect(await w.ask("/verbose on")).toContain("on");
  expect(await w.ask("hello")).toBe("↪️ two/small answers in place of one/big (billing).\n\nfrom small");
  expect(w.first.keys).toEqual(["key-a", "key-b"]);
  expect(Object.values(await w.profiles()).every((usage) => (usage.disabledUntil ?? 0) > Date.now())).toBe(true);
  expect(await w.entry()).toMatchObject({ fallbackNoticeSelectedModel: "one/big", fallbackNoticeActiveModel: "two/small", fallbackNoticeReason: "billing" });
  // The chosen model is tried again for each message: it is what the person wants. It works now.
  expect(await w.ask("again")).toBe("↪️ one/big answers again.\n\nwell again");
  expect(w.phases()).toEqual(["fallback", "fallback_cleared"]);
  expect(await w.entry()).not.toHaveProperty("fallbackNoticeActiveModel");
});

it.each<[string, Answer[]]>([
  ["401 on both keys", [fail(401, "invalid api key"), fail(401, "invalid api key")]],
  ["a revoked key and a refused one", [fail(401, "this api key has been revoked"), fail(403, "forbidden")]],
  ["503 in every try", [...fourTimes(fail(503, "busy")), fail(503, "busy")]],
  ["limits on both keys", [limited, ...fourTimes(limited)]],
  ["an unknown model", [fail(404, "The model `big` does not exist")]],
  ["a request it takes for malformed", [fail(400, "invalid_request: bad field")]],
])("%s: the fallback answers, and the next message works", async (_name, answers) => {
  await using w = await world(answers.map((answer) => (res, req) => {
    res.setHeader("retry-after-ms", "5");
    answer(res, req);
  }), [say("from small"), say("from small again")]);
  expect(await w.ask("hello")).toBe("from small");
  expect(w.first.bodies).toHaveLength(answers.length);
  expect(await w.ask("next")).toMatch(/from small again|well again/);
});

it("when nothing answers, one message says so, with the last reason, and the next one works", async () => {
  await using w = await world([fail(401, "invalid api key"), fail(401, "invalid api key")], [fail(402, "no credit left: billing")]);
  expect(await w.ask("hello")).toBe("⚠️ All models failed (2). Last: The provider of two/small refuses for lack of credit. Top up the account or choose another model with /model.");
  expect(await w.ask("next")).toBe("well again");
});

it("a limit that lasts longer than a person waits is told with its time", async () => {
  await using provider = await brokenProvider(fail(429, "slow down", { "retry-after": "90" }));
  await using g = await startTestGateway({ config: provider.config });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  expect((await client.chat("hello")).end.payload?.["errorMessage"]).toBe("⚠️ mock/gpt-mock is overloaded or rate-limited. Please try again in 90 s.");
  expect(provider.bodies).toHaveLength(1);
});

it("a model that refuses its thinking level is asked for the next lower one", async () => {
  const refusal = fail(400, "Unsupported value: 'high' is not supported with this model. Supported values for reasoning are: 'low'.");
  await using w = await world([refusal], [], { reasoning: true });
  expect(await w.ask("/think high")).toContain("high");
  expect(await w.ask("hello")).toBe("well again");
  expect(w.first.bodies.map((body) => body.reasoning_effort)).toEqual(["high", "low"]);
});

it("an answer of nothing but thoughts is reported, and the next message works", async () => {
  const thoughts: Answer = (res) => {
    sse(res, piece({ role: "assistant", reasoning_content: "let me think" }), piece({}, "stop"), "[DONE]");
    res.end();
  };
  await using w = await world([thoughts, say("<think>only this</think>")], [], { reasoning: true });
  expect(await w.ask("hello")).toContain("⚠️ The model gave an empty answer");
  expect(await w.ask("again")).toContain("⚠️ The model gave an empty answer");
  expect(await w.ask("next")).toBe("well again");
});

it("a model that repeats one call without end is stopped, once and in words, and the next message works", async () => {
  const again = call("session_status", "{}");
  await using w = await world(Array.from({ length: 40 }, () => again));
  expect(await w.ask("hello")).toMatch(/^⚠️ The model went round in circles, so the run was ended: session_status was called 30 times with the same arguments and the same result\.$/);
  expect(w.first.bodies).toHaveLength(33);
});
