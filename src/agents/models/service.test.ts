import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { json, startTestServer, startTestService } from "./service-fixture.ts";
import { AUTO_CHOICES } from "./provider-table.ts";
import type { ModelChoice } from "./types.ts";

const local: OpenClawConfig = { models: { providers: { local: { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", models: [{ id: "m1", name: "M1", contextWindow: 64_000 }] } } } };

describe("the default model", () => {
  it("is the configured one, whatever keys are set", async () => {
    await using t = await startTestService({ ...local, agents: { defaults: { model: "openai/gpt-5.2" } } }, { env: { ANTHROPIC_API_KEY: "k" } });
    expect(await t.models.selectDefault("main")).toMatchObject({ ref: { provider: "openai", modelId: "gpt-5.2" }, source: "defaults", reason: "Set in agents.defaults.model." });
  });

  it("is the agent's own before the shared one, and may be an alias", async () => {
    await using t = await startTestService({ agents: { defaults: { model: "openai/gpt-5.2" }, list: [{ id: "work", model: { primary: "opus" } }] } });
    expect(await t.models.selectDefault("work")).toMatchObject({ ref: { provider: "anthropic", modelId: "claude-opus-4-6" }, source: "agent" });
  });

  it("is the first model of a configured provider on this machine, without any key", async () => {
    await using t = await startTestService(local, { env: { OPENAI_API_KEY: "k" } });
    expect(await t.models.selectDefault("main")).toMatchObject({ ref: { provider: "local", modelId: "m1" }, source: "providers" });
  });

  it("skips a provider without a key and a model with too small a window", async () => {
    const providers = {
      far: { baseUrl: "https://far.example/v1", api: "openai-completions" as const, models: [{ id: "x", name: "x" }] },
      near: { baseUrl: "http://localhost:9/v1", api: "openai-completions" as const, models: [{ id: "tiny", name: "tiny", contextWindow: 4096 }, { id: "big", name: "big" }] },
    };
    await using t = await startTestService({ models: { providers } });
    expect((await t.models.selectDefault("main")).ref).toEqual({ provider: "near", modelId: "big" });
  });

  it.each([
    [{ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" }, "anthropic/claude-opus-4-6"],
    [{ OPENAI_API_KEY: "k" }, "openai/gpt-5.1-codex"],
    [{ GOOGLE_API_KEY: "k" }, "google/gemini-3-pro-preview"],
    [{ MOONSHOT_API_KEY: "k" }, "moonshot/kimi-k2.5"],
    [{ Z_AI_API_KEY: "k" }, "zai/glm-4.7"],
    [{ GITHUB_TOKEN: "k" }, "offline/guide"],
    [{ COPILOT_GITHUB_TOKEN: "k" }, "github-copilot/gpt-4o"],
    [{ AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" }, "amazon-bedrock/us.anthropic.claude-opus-4-6-v1"],
    [{}, "offline/guide"],
  ])("with %j is %s", async (env, expected) => {
    await using t = await startTestService({}, { env });
    const { ref } = await t.models.selectDefault("main");
    expect(`${ref.provider}/${ref.modelId}`).toBe(expected);
  });

  it("always exists in the catalogue", async () => {
    await using t = await startTestService({});
    for (const { provider, modelId } of AUTO_CHOICES) expect(await t.models.parseRef(`${provider}/${modelId}`, "main"), `${provider}/${modelId}`).toMatchObject({ ok: true });
  });

  it("comes from a stored login", async () => {
    await using t = await startTestService({});
    await mkdir(t.agentDir, { recursive: true });
    await writeFile(join(t.agentDir, "auth-profiles.json"), JSON.stringify({ version: 1, profiles: { "groq:default": { type: "api_key", provider: "groq", key: "gsk" } } }));
    expect(await t.models.selectDefault("main")).toMatchObject({ ref: { provider: "groq" }, source: "profile" });
    expect(await t.models.prepare({ provider: "groq", modelId: "llama-3.3-70b-versatile" }, "main")).toMatchObject({ apiKey: "gsk", profileId: "groq:default", authMode: "api-key", priced: true });
  });

  it("takes a name without provider for Anthropic's when nobody else knows it, and warns", async () => {
    await using t = await startTestService({ agents: { defaults: { model: "claude-future-9" } } });
    expect((await t.models.selectDefault("main")).ref).toEqual({ provider: "anthropic", modelId: "claude-future-9" });
    expect(t.warnings.join()).toContain("agents.defaults.model");
  });
});

describe("model servers on this machine", () => {
  it("are found in the background, the newest model with tools first, embeddings left out", async () => {
    await using ollama = await startTestServer((path, body, response) => {
      if (path === "/api/tags") {
        json(response, { models: [{ name: "nomic-embed-text", modified_at: "2026-03-01T00:00:00Z" }, { name: "plain:8b", modified_at: "2026-02-02T00:00:00Z" }, { name: "qwen3:8b", modified_at: "2026-01-01T00:00:00Z" }] });
      } else json(response, { capabilities: body.includes("qwen3") ? ["completion", "tools", "thinking"] : ["completion"], model_info: { "x.context_length": 40_960 } });
    });
    await using other = await startTestServer((_path, _body, response) => void response.end("<html>not a model server</html>"));
    const events = new EventEmitter();
    await using t = await startTestService({}, { probeLocalhost: true, localPorts: { ollama: ollama.port, lmstudio: other.port, llamacpp: 0, vllm: 0 }, onModelFound: (choice) => events.emit("found", choice) });
    const found = once(events, "found") as Promise<[ModelChoice]>;
    t.models.startProbes();
    expect((await found)[0]).toMatchObject({ ref: { provider: "ollama", modelId: "qwen3:8b" }, source: "localhost" });
    const prepared = await t.models.prepare({ provider: "ollama", modelId: "qwen3:8b" }, "main");
    expect(prepared).toMatchObject({ contextTokens: 32_768, authMode: "none", model: { baseUrl: ollama.url, reasoning: true } });
    expect((await t.models.list("main")).find((row) => row.id === "qwen3:8b")).toMatchObject({ available: true });
  });

  it("that are configured without models are asked for theirs", async () => {
    await using server = await startTestServer((_path, _body, response) => json(response, { data: [{ id: "text-embedding" }, { id: "chat-model", max_model_len: 65_536 }] }));
    const events = new EventEmitter();
    const config: OpenClawConfig = { models: { providers: { lan: { baseUrl: `${server.url}/v1`, api: "openai-completions", models: [] } } } };
    await using t = await startTestService(config, { probeLocalhost: true, localPorts: { ollama: 0, lmstudio: 0, llamacpp: 0, vllm: 0 }, onModelFound: (choice) => events.emit("found", choice) });
    const found = once(events, "found") as Promise<[ModelChoice]>;
    t.models.startProbes();
    expect((await found)[0].ref).toEqual({ provider: "lan", modelId: "chat-model" });
    expect((await t.models.prepare({ provider: "lan", modelId: "chat-model" }, "main")).contextTokens).toBe(65_536);
  });

  it("that are configured later are asked at once, also when one of theirs is chosen already", async () => {
    await using server = await startTestServer((_path, _body, response) => json(response, { data: [{ id: "chat-model" }] }));
    await using t = await startTestService({}, { probeLocalhost: true, localPorts: { ollama: 0, lmstudio: 0, llamacpp: 0, vllm: 0 } });
    t.models.startProbes();
    await t.models.selectDefault("main");
    t.setConfig({ agents: { defaults: { model: "lan/chat-model" } }, models: { providers: { lan: { baseUrl: `${server.url}/v1`, api: "openai-completions", models: [] } } } });
    t.models.lookAgain();
    await vi.waitFor(async () => expect(await t.models.list()).toContainEqual(expect.objectContaining({ provider: "lan", id: "chat-model", available: true })));
  });

  it("are looked for again while there is no model", async () => {
    let up = false;
    await using server = await startTestServer((_path, _body, response) => json(response, up ? { data: [{ id: "loaded-model" }] } : { error: "loading" }, up ? 200 : 503));
    const events = new EventEmitter();
    await using t = await startTestService({}, { probeLocalhost: true, probeIntervalMs: 20, localPorts: { ollama: 0, lmstudio: 0, llamacpp: server.port, vllm: 0 }, onModelFound: (choice) => events.emit("found", choice) });
    const found = once(events, "found") as Promise<[ModelChoice]>;
    t.models.startProbes();
    expect((await t.models.selectDefault("main")).source).toBe("offline");
    up = true;
    expect((await found)[0].ref).toEqual({ provider: "llamacpp", modelId: "loaded-model" });
  });

  it("are not asked when probing is off", async () => {
    await using server = await startTestServer((_path, _body, response) => json(response, { data: [{ id: "x" }] }));
    await using t = await startTestService({}, { localPorts: { ollama: server.port, lmstudio: server.port, llamacpp: server.port, vllm: server.port } });
    t.models.startProbes();
    expect((await t.models.selectDefault("main")).source).toBe("offline");
    expect(server.requests).toEqual([]);
  });
});

describe("names", () => {
  it("finds the provider of a bare id, and proposes what was meant", async () => {
    await using t = await startTestService(local);
    expect(await t.models.parseRef("m1", "main")).toMatchObject({ ok: true, ref: { provider: "local", modelId: "m1" } });
    expect(await t.models.parseRef("gpt-5.2", "main")).toMatchObject({ ok: true, ref: { provider: "openai", modelId: "gpt-5.2" } });
    expect(await t.models.parseRef("opsu", "main")).toMatchObject({ ok: false, suggestions: ["opus"] });
    expect(await t.models.parseRef("openai/gpt-5.22", "main")).toMatchObject({ ok: false, error: "Unknown model: openai/gpt-5.22" });
  });

  it("takes any id of a configured provider", async () => {
    await using t = await startTestService(local);
    expect(await t.models.parseRef("local/brand-new", "main")).toMatchObject({ ok: true });
    expect((await t.models.prepare({ provider: "local", modelId: "brand-new" }, "main")).model).toMatchObject({ id: "brand-new", api: "openai-completions", baseUrl: "http://127.0.0.1:9/v1", contextWindow: 64_000 });
  });

  it("pins a profile that exists, and refuses one that does not", async () => {
    await using t = await startTestService({});
    await mkdir(t.agentDir, { recursive: true });
    await writeFile(join(t.agentDir, "auth-profiles.json"), JSON.stringify({ version: 1, profiles: { "anthropic:me@mail.com": { type: "api_key", provider: "anthropic", key: "k1" } } }));
    expect(await t.models.parseRef("opus@anthropic:me@mail.com", "main")).toMatchObject({ ok: true, profileId: "anthropic:me@mail.com", ref: { provider: "anthropic" } });
    expect(await t.models.parseRef("anthropic/claude-opus-4-6@nobody", "main")).toMatchObject({ ok: false, error: 'There is no auth profile "nobody".' });
  });

  it("allows only listed models and the default, once there is a list", async () => {
    await using t = await startTestService({ agents: { defaults: { model: "openai/gpt-5.2", models: { "anthropic/claude-opus-4-6": {} } } } });
    expect(await t.models.isAllowed({ provider: "anthropic", modelId: "claude-opus-4-6" }, "main")).toBe(true);
    expect(await t.models.isAllowed({ provider: "openai", modelId: "gpt-5.2" }, "main")).toBe(true);
    expect(await t.models.isAllowed({ provider: "xai", modelId: "grok-4" }, "main")).toBe(false);
    expect((await t.models.list("main")).map((row) => `${row.provider}/${row.id}`)).toEqual(["openai/gpt-5.2", "anthropic/claude-opus-4-6"]);
  });
});

describe("keys", () => {
  it("names the variable and the command when there is none", async () => {
    await using t = await startTestService({});
    await expect(t.models.prepare({ provider: "deepseek", modelId: "deepseek-v4-flash" }, "main")).rejects.toMatchObject({
      code: "no-key", message: 'No API key found for provider "deepseek" (agent main).', fix: expect.stringMatching(/DEEPSEEK_API_KEY.*openclaw models auth/) as unknown,
    });
  });

  it("come from the environment before the config, and a config key may name a variable", async () => {
    const openai = { baseUrl: "https://api.openai.com/v1", apiKey: "MY_KEY", models: [] };
    await using both = await startTestService({ models: { providers: { openai } } }, { env: { OPENAI_API_KEY: "env-key", MY_KEY: "named-key" } });
    expect((await both.models.prepare({ provider: "openai", modelId: "gpt-5.2" }, "main")).apiKey).toBe("env-key");
    await using named = await startTestService({ models: { providers: { openai } } }, { env: { MY_KEY: "named-key" } });
    expect((await named.models.prepare({ provider: "openai", modelId: "gpt-5.2" }, "main")).apiKey).toBe("named-key");
  });

  it("may be printed by a command", async () => {
    await using t = await startTestService({ models: { providers: { x: { baseUrl: "https://x.example/v1", api: "openai-completions", apiKey: "!printf abc", models: [] } } } });
    expect((await t.models.prepare({ provider: "x", modelId: "y" }, "main")).apiKey).toBe("abc");
  });

  it("say which models exist when the id is wrong, and what replaces a removed provider", async () => {
    await using t = await startTestService({});
    await expect(t.models.prepare({ provider: "groq", modelId: "llama-3.3-70b-versatil" }, "main")).rejects.toMatchObject({ code: "unknown-model", fix: "Did you mean groq/llama-3.3-70b-versatile?" });
    await expect(t.models.prepare({ provider: "google-antigravity", modelId: "x" }, "main")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("refuses a model with too small a window", async () => {
    const providers = { near: { baseUrl: "http://localhost:9/v1", api: "openai-completions" as const, models: [{ id: "tiny", name: "tiny", contextWindow: 4096 }] } };
    await using t = await startTestService({ models: { providers } });
    await expect(t.models.prepare({ provider: "near", modelId: "tiny" }, "main")).rejects.toMatchObject({ code: "window-too-small" });
  });
});

describe("fallbacks", () => {
  const agents = { defaults: { model: { primary: "anthropic/claude-opus-4-6", fallbacks: ["gpt", "google/gemini-3-pro"] } } };

  it("are the listed ones in order, then the primary", async () => {
    await using t = await startTestService({ agents });
    const names = (refs: { provider: string; modelId: string }[]): string[] => refs.map((ref) => `${ref.provider}/${ref.modelId}`);
    expect(names(await t.models.fallbacks("main", { provider: "anthropic", modelId: "claude-opus-4-6" }))).toEqual(["openai/gpt-5.2", "google/gemini-3-pro-preview"]);
    expect(names(await t.models.fallbacks("main", { provider: "openai", modelId: "gpt-5.2" }))).toEqual(["google/gemini-3-pro-preview", "anthropic/claude-opus-4-6"]);
    expect(names(await t.models.fallbacks("main", { provider: "xai", modelId: "grok-4" }))).toEqual(["anthropic/claude-opus-4-6"]);
  });

  it("are none from a provider that forbids them", async () => {
    await using t = await startTestService({ ...local, agents, models: { providers: { local: { ...local.models?.providers?.["local"], failover: false } } } });
    expect(await t.models.fallbacks("main", { provider: "local", modelId: "m1" })).toEqual([]);
  });
});

describe("the catalogue", () => {
  it("drops one bad provider and keeps the others, saying which key is wrong", async () => {
    await using t = await startTestService({ models: { providers: { bad: { baseUrl: "not an address", models: [{ id: "x", name: "x" }] }, local: local.models?.providers?.["local"] ?? {} } } });
    await t.models.prepare({ provider: "local", modelId: "m1" }, "main");
    expect(t.warnings.join()).toContain("models.providers.bad");
  });

  it("hides a provider's own models when the config speaks another format", async () => {
    await using t = await startTestService({ models: { providers: { mistral: { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", models: [{ id: "mine", name: "mine" }] } } } });
    expect((await t.models.list()).filter((row) => row.provider === "mistral").map((row) => row.id)).toEqual(["mine"]);
  });

  it("writes models.json once, private, with the variable's name in place of the key", async () => {
    const cloud = { baseUrl: "https://cloud.example/v1", api: "openai-completions" as const, apiKey: "the-secret-value", models: [{ id: "c", name: "C" }] };
    await using t = await startTestService({ models: { providers: { cloud } } }, { env: { CLOUD_KEY: "the-secret-value", MOONSHOT_API_KEY: "moon-secret" } });
    await t.models.prepare({ provider: "cloud", modelId: "c" }, "main");
    const path = join(t.agentDir, "models.json");
    const text = await readFile(path, "utf8");
    expect(text).not.toContain("secret");
    expect(JSON.parse(text)).toMatchObject({ providers: { cloud: { apiKey: "CLOUD_KEY" }, moonshot: { apiKey: "MOONSHOT_API_KEY" } } });
    const before = await stat(path);
    expect(before.mode & 0o777).toBe(0o600);
    t.setConfig({ models: { providers: { cloud } } });
    await t.models.prepare({ provider: "cloud", modelId: "c" }, "main");
    expect((await stat(path)).ino).toBe(before.ino);
  });

  it("uses a provider that a person put into models.json", async () => {
    await using t = await startTestService({});
    await mkdir(t.agentDir, { recursive: true });
    await writeFile(join(t.agentDir, "models.json"), JSON.stringify({ providers: { mine: { baseUrl: "http://localhost:9/v1", api: "openai-completions", models: [{ id: "a" }] }, broken: { api: "unheard-of" } } }));
    expect((await t.models.prepare({ provider: "mine", modelId: "a" }, "main")).model.baseUrl).toBe("http://localhost:9/v1");
  });

  it("takes a trailing /v1 off an Anthropic address", async () => {
    await using t = await startTestService({ models: { providers: { p: { baseUrl: "http://localhost:9/v1/", api: "anthropic-messages", models: [{ id: "a", name: "a" }] } } } });
    expect((await t.models.prepare({ provider: "p", modelId: "a" }, "main")).model.baseUrl).toBe("http://localhost:9");
  });

  it("caps Claude at 200K unless the long context is asked for", async () => {
    const ref = { provider: "anthropic", modelId: "claude-opus-4-6" };
    await using plain = await startTestService({}, { env: { ANTHROPIC_API_KEY: "k" } });
    expect((await plain.models.prepare(ref, "main")).contextTokens).toBe(200_000);
    await using long = await startTestService({ agents: { defaults: { models: { "anthropic/claude-opus-4-6": { params: { context1m: true } } } } } }, { env: { ANTHROPIC_API_KEY: "k" } });
    const prepared = await long.models.prepare(ref, "main");
    expect(prepared.contextTokens).toBe(1_000_000);
    expect(prepared.headers?.["anthropic-beta"]).toContain("context-1m-2025-08-07");
  });
});

it("offers thinking levels as the model has them, low by default", async () => {
  await using t = await startTestService({});
  expect(await t.models.thinkingLevels({ provider: "openai", modelId: "gpt-5.2" }, "main")).toContain("xhigh");
  expect(await t.models.thinkingLevels({ provider: "zai", modelId: "glm-4.7" }, "main")).toEqual(["off", "low"]);
  expect(await t.models.thinkingLevels({ provider: "groq", modelId: "llama-3.3-70b-versatile" }, "main")).toEqual(["off"]);
  expect(await t.models.defaultThinking({ provider: "anthropic", modelId: "claude-opus-4-6" }, "main")).toBe("low");
  expect(await t.models.defaultThinking({ provider: "offline", modelId: "guide" }, "main")).toBe("off");
});

it("answers questions about the configuration without loading Pi", async () => {
  const script = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) { if (name.startsWith("@mariozechner/")) throw new Error("Pi was loaded"); return next(name, context); } });
    const { createModelService } = await import(${JSON.stringify(new URL("./index.ts", import.meta.url).href)});
    const { silentLogger } = await import(${JSON.stringify(new URL("../../infra/log.ts", import.meta.url).href)});
    const make = (config, env) => createModelService({ config: () => config, env, stateDir: "/nonexistent", agentDir: () => "/nonexistent", clock: { now: () => 0 }, log: silentLogger, probeLocalhost: false });
    const provider = { baseUrl: "http://127.0.0.1:9", api: "openai-completions", models: [{ id: "m", name: "m" }] };
    const set = make({ agents: { defaults: { model: { primary: "local/m", fallbacks: ["gpt"] } } }, models: { providers: { local: provider } } }, {});
    await set.fallbacks("main", (await set.selectDefault("main")).ref);
    await set.isAllowed({ provider: "local", modelId: "m" }, "main");
    await set.parseRef("local/m", "main");
    await make({}, { OPENAI_API_KEY: "k" }).selectDefault("main");
    console.log((await make({}, {}).selectDefault("main")).ref.provider);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  expect(stdout.trim()).toBe("offline");
});

describe("several keys of one provider", () => {
  const stored = { version: 1, profiles: { "groq:a": { type: "api_key", provider: "groq", key: "ka" }, "groq:b": { type: "api_key", provider: "groq", key: "kb" } } };
  const ref = { provider: "groq", modelId: "llama-3.3-70b-versatile" };

  it("take turns when one is refused, and a pinned one is never changed", async () => {
    await using t = await startTestService({});
    await mkdir(t.agentDir, { recursive: true });
    await writeFile(join(t.agentDir, "auth-profiles.json"), JSON.stringify(stored));
    const first = await t.models.prepare(ref, "main");
    expect(first.apiKey).toBe("ka");
    await t.models.reportFailure(first, "main", "rate_limit");
    expect(await t.models.nextProfile(first, "main", new Set(["groq:a"]))).toBe("groq:b");
    expect((await t.models.prepare(ref, "main")).apiKey).toBe("kb");
    expect((await t.models.prepare(ref, "main", { profileId: "groq:a" })).apiKey).toBe("ka");
    expect((await t.models.prepare(ref, "main", { preferredProfileId: "groq:a" })).apiKey).toBe("kb");
    expect(await t.models.nextProfile(await t.models.prepare(ref, "main"), "main", new Set(["groq:b"]))).toBeUndefined();
  });

  it("a timeout says nothing about a key", async () => {
    await using t = await startTestService({});
    await mkdir(t.agentDir, { recursive: true });
    await writeFile(join(t.agentDir, "auth-profiles.json"), JSON.stringify(stored));
    const first = await t.models.prepare(ref, "main");
    await t.models.reportFailure(first, "main", "timeout");
    expect((await t.models.prepare(ref, "main")).profileId).toBe("groq:a");
  });

  it("all resting: the chosen model is still tried, a fallback only near the end of the pause and every 30 s", async () => {
    await using t = await startTestService({});
    await mkdir(t.agentDir, { recursive: true });
    await writeFile(join(t.agentDir, "auth-profiles.json"), JSON.stringify({ version: 1, profiles: { "groq:a": stored.profiles["groq:a"] } }));
    const prepared = await t.models.prepare(ref, "main");
    await t.models.reportFailure(prepared, "main", "rate_limit");
    t.clock.nowMs += 60_000;
    await t.models.reportFailure(prepared, "main", "rate_limit");
    expect((await t.models.prepare(ref, "main")).apiKey).toBe("ka");
    await expect(t.models.prepare(ref, "main", { asFallback: true })).rejects.toMatchObject({ code: "unavailable", message: "All keys of groq are resting for 5 more min." });
    t.clock.nowMs += 4 * 60_000;
    expect((await t.models.prepare(ref, "main", { asFallback: true })).apiKey).toBe("ka");
    await expect(t.models.prepare(ref, "main", { asFallback: true })).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("providers with ways of their own", () => {
  it("Copilot gets a token for the GitHub one, kept until it ends, and its own host", async () => {
    let calls = 0;
    const fetchFn: typeof fetch = async (_url, init) => {
      calls++;
      expect(new Headers(init?.headers).get("authorization")).toBe("Bearer gh");
      return Response.json({ token: "tid=1;proxy-ep=proxy.business.githubcopilot.com;", expires_at: Date.UTC(2026, 1, 26, 1) / 1000 });
    };
    await using t = await startTestService({}, { env: { COPILOT_GITHUB_TOKEN: "gh" }, fetch: fetchFn });
    const ref = { provider: "github-copilot", modelId: "gpt-4o" };
    expect(await t.models.prepare(ref, "main")).toMatchObject({ apiKey: "tid=1;proxy-ep=proxy.business.githubcopilot.com;", model: { baseUrl: "https://api.business.githubcopilot.com" } });
    await t.models.prepare(ref, "main");
    expect(calls).toBe(1);
  });

  it("Cloudflare's gateway takes account and gateway from the profile and sends the upstream's key as its own", async () => {
    await using t = await startTestService({});
    await mkdir(t.agentDir, { recursive: true });
    const profile = { type: "api_key", provider: "cloudflare-ai-gateway", key: "sk", metadata: { accountId: "acc", gatewayId: "gw" } };
    await writeFile(join(t.agentDir, "auth-profiles.json"), JSON.stringify({ version: 1, profiles: { "cloudflare-ai-gateway:default": profile } }));
    const { model } = await t.models.prepare({ provider: "cloudflare-ai-gateway", modelId: "claude-sonnet-4-5" }, "main");
    expect(model.baseUrl).toBe("https://gateway.ai.cloudflare.com/v1/acc/gw/anthropic");
    expect(model.provider).not.toBe("cloudflare-ai-gateway");
  });

  it("a provider taken out of the config is gone from models.json too, one added there by hand stays", async () => {
    await using t = await startTestService(local);
    await mkdir(t.agentDir, { recursive: true });
    await writeFile(join(t.agentDir, "models.json"), JSON.stringify({ providers: { mine: { baseUrl: "http://localhost:9/v1", models: [{ id: "a" }] } } }));
    await t.models.list();
    t.setConfig({});
    await t.models.list();
    const { providers } = JSON.parse(await readFile(join(t.agentDir, "models.json"), "utf8")) as { providers: Record<string, unknown> };
    expect(Object.keys(providers)).toEqual(["mine"]);
  });

  it("a server in the person's network needs no key; a public one does", async () => {
    const provider = (baseUrl: string): OpenClawConfig => ({ models: { providers: { p: { baseUrl, api: "openai-completions", models: [{ id: "m", name: "m" }] } } } });
    await using home = await startTestService(provider("http://192.168.1.20:8000/v1"));
    expect((await home.models.prepare({ provider: "p", modelId: "m" }, "main")).authMode).toBe("none");
    await using open = await startTestService(provider("https://api.example.com/v1"));
    await expect(open.models.prepare({ provider: "p", modelId: "m" }, "main")).rejects.toMatchObject({ code: "no-key", fix: expect.stringContaining("models.providers.p.apiKey") as unknown });
  });
});
