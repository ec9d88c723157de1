import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createPluginTrust } from "../../src/plugins/index.ts";
import { PACKAGE_ROOT } from "../support/gateway.ts";
import { writePlugin } from "../support/plugin.ts";
import { pluginWorld as world } from "../support/plugin-world.ts";

const run = promisify(execFile);

const PROBE = `
import type { OpenClawPluginApi } from "openclaw/plugin-sdk";
import { jsonResult } from "openclaw/plugin-sdk/core";
import { appendFileSync } from "node:fs";
enum Mark { Seen = "seen" }
class Keeper { constructor(private readonly file: string) {} note(line: string) { appendFileSync(this.file, line + "\\n"); } }
export default {
  id: "probe",
  register(api: OpenClawPluginApi) {
    const keep = new Keeper(process.env.PROBE_FILE ?? "");
    const say = (name: string) => (event: any, ctx: any) => keep.note(name + (event?.message?.role ? "(" + event.message.role + ")" : ""));
    for (const name of ["before_model_resolve", "before_agent_start", "llm_input", "llm_output", "agent_end", "before_tool_call", "message_received", "session_start", "session_end", "before_reset", "gateway_start", "gateway_stop", "message_sent"]) api.on(name as any, say(name));
    api.on("after_tool_call", (event: any, ctx: any) => keep.note("after_tool_call " + ctx.sessionKey + " " + typeof event.durationMs));
    api.on("tool_result_persist", say("tool_result_persist"));
    api.on("before_message_write", say("before_message_write"));
    api.on("before_prompt_build", () => ({ prependContext: "SECOND" }), { priority: 10 });
    api.on("before_prompt_build", () => ({ prependContext: "PREPENDED-CTX" }));
    api.registerHook(["gateway:startup", "command", "message:received"], (event: any) => keep.note("event " + event.type + ":" + event.action), { name: "probe-events" });
    api.registerTool((ctx: any) => { keep.note("factory " + ctx.agentId); return { name: "probe_add", description: "Adds", parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a"] }, async execute(_id: string, p: any) { return jsonResult({ sum: p.a + 1, mark: Mark.Seen }); } }; }, { name: "probe_add" });
    api.registerTool({ name: "probe_shy", description: "x", parameters: { type: "object" }, async execute() { return "plain words"; } } as any, { optional: true });
    api.registerCommand({ name: "probe", description: "Says it back", acceptsArgs: true, handler: (ctx: any) => ({ text: JSON.stringify({ args: ctx.args, channel: ctx.channel, ok: ctx.isAuthorizedSender, body: ctx.commandBody }) }) });
    api.registerCommand({ name: "status", description: "no", handler: () => ({ text: "no" }) });
    api.registerHttpRoute({ path: "probe/x", handler: (_req: any, res: any) => { res.end("hello"); } });
    api.registerHttpRoute({ path: "/probe/boom", handler: () => { throw new Error("no"); } });
    api.registerHttpRoute({ path: "/api/channels/probe", handler: (_req: any, res: any) => { res.end("inside"); } });
    api.registerGatewayMethod("probe.hello", ({ params, respond }: any) => respond(true, { hello: params.name }));
    api.registerGatewayMethod("health", () => undefined);
    api.registerService({ id: "probe-service", start: (ctx: any) => keep.note("service up " + typeof ctx.stateDir), stop: () => keep.note("service down") });
  },
};
`;

it("a plugin in TypeScript: its tool, hooks in their order, command, routes, method and service work, and nothing of it is called twice", async () => {
  const file = join(await mkdtemp(join(tmpdir(), "probe-")), "log");
  process.env["PROBE_FILE"] = file;
  {
    await using w = await world({
      prepare: (stateDir) => writePlugin(join(stateDir, "extensions"), "probe", { "index.ts": PROBE }),
      plugins: { allow: ["probe"] }, config: { hooks: { internal: { enabled: true } } },
      answer: (_asked, call) => (call === 0 ? { tool: "probe_add", args: { a: 2 } } : "three"),
    });
    const record = w.record("probe");
    expect(record).toMatchObject({ status: "loaded", toolNames: ["probe_add", "probe_shy"], commands: ["probe"], gatewayMethods: ["probe.hello"], services: ["probe-service"], httpHandlers: 3 });
    const said = w.list().diagnostics.map(({ message }) => message);
    expect(said).toContain('command registration failed: Command name "status" is reserved by a built-in command');
    expect(said).toContain("gateway method already registered: health");

    expect(await w.ask("what is two and one")).toBe("three");
    expect(w.asked[0]?.last).toMatch(/^SECOND\n\nPREPENDED-CTX\n\n.*what is two and one$/s);
    expect(w.asked[0]?.tools).toContain("probe_add");
    expect(w.asked[0]?.tools).not.toContain("probe_shy");
    expect(JSON.parse(w.asked[1]?.last ?? "")).toEqual({ sum: 3, mark: "seen" });
    const lines = async (): Promise<string[]> => (await readFile(file, "utf8")).trim().split("\n");
    await expect.poll(async () => (await lines()).includes("llm_output")).toBe(true);
    const run = (await lines()).filter((line) => !/^(service|gateway|event)/.test(line));
    expect(run).toEqual([
      "session_start", "message_received", "before_model_resolve", "before_agent_start", "factory main", "llm_input", "before_message_write(user)", "before_message_write(assistant)", "before_tool_call",
      "after_tool_call agent:main:main number", "tool_result_persist(toolResult)", "before_message_write(toolResult)", "before_message_write(assistant)", "agent_end", "llm_output",
    ]);

    expect(JSON.parse(await w.ask("/probe a b"))).toEqual({ args: "a b", channel: "webchat", ok: true, body: "/probe a b" });
    expect(await w.ask("/status")).toContain("mock/m");
    expect(await (await fetch(`${w.g.url}/probe/x`)).text()).toBe("hello");
    const boom = await fetch(`${w.g.url}/probe/boom`);
    expect([boom.status, await boom.text()]).toEqual([500, "Internal Server Error"]);
    for (const path of ["/api/channels/probe", "/api%2Fchannels/probe", "//api/channels/probe", "/api/%63hannels/probe"]) expect((await fetch(`${w.g.url}${path}`)).status).toBe(401);
    expect(await (await fetch(`${w.g.url}/api/channels/probe`, { headers: { authorization: "Bearer T" } })).text()).toBe("inside");
    expect(await w.client.call("probe.hello", { name: "bob" })).toEqual({ hello: "bob" });
    await w.ask("/new");
    await expect.poll(async () => (await lines()).filter((line) => ["before_reset", "session_end", "session_start"].includes(line))).toEqual(["session_start", "before_reset", "session_end", "session_start"]);
  }
  const told = (await readFile(file, "utf8")).split("\n").filter((line) => line.startsWith("event"));
  expect(told).toEqual(["event gateway:startup", ...Array.from({ length: told.length - 2 }, () => "event message:received"), "event command:new"]);
  expect((await readFile(file, "utf8")).trim().split("\n").slice(-2)).toEqual(["gateway_stop", "service down"]);
  await rm(join(file, ".."), { recursive: true, force: true });
});

/** Source: spec plugin-sdk §6 and §13. */
const API = "id name version description source config pluginConfig runtime logger registerTool registerHook registerHttpHandler registerHttpRoute registerChannel registerProvider registerGatewayMethod registerCli registerService registerCommand resolvePath on";
const RUNTIME: Readonly<Record<string, string>> = {
  config: "loadConfig writeConfigFile", system: "enqueueSystemEvent runCommandWithTimeout formatNativeDependencyHint", media: "loadWebMedia detectMime mediaKindFromMime isVoiceCompatibleAudio getImageMetadata resizeToJpeg",
  tts: "textToSpeechTelephony", tools: "createMemoryGetTool createMemorySearchTool registerMemoryCli", logging: "shouldLogVerbose getChildLogger", state: "resolveStateDir",
  "channel.text": "chunkByNewline chunkText chunkMarkdownText chunkTextWithMode chunkMarkdownTextWithMode resolveChunkMode resolveTextChunkLimit hasControlCommand resolveMarkdownTableMode convertMarkdownTables",
  "channel.reply": "dispatchReplyWithBufferedBlockDispatcher dispatchReplyFromConfig createReplyDispatcherWithTyping finalizeInboundContext formatAgentEnvelope formatInboundEnvelope resolveEnvelopeFormatOptions resolveEffectiveMessagesConfig resolveHumanDelayConfig withReplyDispatcher",
  "channel.routing": "resolveAgentRoute buildAgentSessionKey", "channel.pairing": "buildPairingReply readAllowFromStore upsertPairingRequest", "channel.media": "fetchRemoteMedia saveMediaBuffer", "channel.activity": "record get",
  "channel.session": "resolveStorePath readSessionUpdatedAt recordSessionMetaFromInbound recordInboundSession updateLastRoute", "channel.mentions": "buildMentionRegexes matchesMentionPatterns matchesMentionWithExplicit",
  "channel.reactions": "shouldAckReaction removeAckReactionAfterReply", "channel.groups": "resolveGroupPolicy resolveRequireMention", "channel.debounce": "createInboundDebouncer resolveInboundDebounceMs",
  "channel.commands": "resolveCommandAuthorizedFromAuthorizers isControlCommandMessage shouldComputeCommandAuthorized shouldHandleTextCommands", events: "onAgentEvent",
};

it("the api is what plugins know; what it has for channels that are not there says which one is missing", async () => {
  await using w = await world({ prepare: (stateDir) => writePlugin(join(stateDir, "extensions"), "looker", { "index.js": "export default { register(api) { globalThis.__looker = api; } };" }) });
  const api = (globalThis as { __looker?: { runtime: { channel: Record<string, Record<string, unknown>> } } }).__looker as Record<string, unknown> & { runtime: { channel: Record<string, Record<string, unknown>> } };
  expect(Object.keys(api).toSorted((a, b) => a.localeCompare(b))).toEqual(API.split(" ").toSorted((a, b) => a.localeCompare(b)));
  const at = (path: string): Record<string, unknown> => path.split(".").reduce<Record<string, unknown>>((value, key) => value[key] as Record<string, unknown>, api.runtime);
  for (const [path, names] of Object.entries(RUNTIME)) expect([path, names.split(" ").filter((name) => typeof at(path)[name] !== "function")]).toEqual([path, []]);

  const faults: string[] = [];
  const ids = ["discord", "slack", "telegram", "signal", "imessage", "whatsapp", "line"];
  for (const id of ids) {
    for (const [name, door] of Object.entries(api.runtime.channel[id] ?? {})) {
      if (typeof door !== "function") continue;
      const poll = { question: "q", options: ["a", "b"] };
      const [first, second] = name.startsWith("sendPoll") ? ["x", poll] : name.startsWith("handle") ? [{ action: "react" }, {}] : name.startsWith("createQuick") ? [["a"], {}] : ["x", "y"];
      await Promise.resolve().then(() => (door as (...args: unknown[]) => unknown)(first, second, {})).catch((err: Error) => faults.push(`${err.constructor.name} ${id}.${name}: ${err.message}`));
    }
  }
  expect(faults.filter((fault) => !/^(?:Channel)?Error /.test(fault))).toEqual([]);
  expect(faults.filter((fault) => !/: .*(?:discord|slack|telegram|signal|imessage|whatsapp|line)/i.test(fault))).toEqual([]);
  const absent = ids.filter((id) => w.g.gateway.context.channels.find(id) === undefined);
  expect(absent.filter((id) => !faults.some((fault) => fault.startsWith(`Error ${id}.sendMessage`) && fault.includes(`Channel ${id} is not part of this gateway. Known are: `)))).toEqual([]);
  expect(w.record("looker")).toMatchObject({ status: "loaded" });
});

const plugin = (body: string): Record<string, string> => ({ "index.js": `export default { register(api) { ${body} } };` });

it("a plugin that throws, hangs, rejects, exits or is broken is named, and the gateway answers", async () => {
  await using w = await world({
    async prepare(stateDir) {
      const dir = join(stateDir, "extensions");
      await writePlugin(dir, "throws", plugin('throw new Error("cannot begin")'));
      await writePlugin(dir, "syntax", { "index.ts": "export default {{{" });
      await writePlugin(dir, "rejects", plugin('api.on("message_received", () => { void Promise.reject(new Error("stray")); })'));
      await writePlugin(dir, "timer", plugin('api.on("message_received", () => { setTimeout(() => { throw new Error("thrown by a timer"); }, 1); });'));
      await writePlugin(dir, "socket", plugin('api.on("message_received", async () => { (await import("node:net")).connect(1, "127.0.0.1"); });'));
      await writePlugin(dir, "exits", plugin('api.on("before_model_resolve", () => process.exit(3)); api.registerTool(() => { throw new Error("no tool today"); }, { name: "never" });'));
      await writePlugin(dir, "async", { "index.js": 'export default async (api) => { api.registerCommand({ name: "early", description: "", handler: () => ({ text: "here" }) }); await null; throw new Error("late"); };' });
      await writePlugin(dir, "schema", plugin(""), { configSchema: { type: "object", required: ["key"], properties: { key: { type: "string" } } } });
      await mkdir(join(dir, "nothing"), { recursive: true });
      await writeFile(join(dir, "nothing", "index.js"), "export default 1;");
      await writePlugin(dir, "open", plugin(""));
      await chmod(join(dir, "open"), 0o777);
    },
    plugins: { entries: { gone: { enabled: true }, schema: { enabled: true } } },
  });
  expect(await w.ask("hello")).toBe("fine");
  expect(await w.ask("/early")).toBe("here");
  expect(w.record("throws")).toMatchObject({ status: "error", error: "cannot begin" });
  expect(w.record("syntax")).toMatchObject({ status: "error", error: expect.stringContaining("failed to load plugin") as string });
  expect(w.record("rejects")).toMatchObject({ status: "loaded", lastFault: expect.stringContaining("stray") as string });
  await expect.poll(() => [w.record("timer")?.lastFault, w.record("socket")?.lastFault]).toEqual([expect.stringContaining("thrown by a timer"), expect.stringContaining("ECONNREFUSED")]);
  expect(w.record("exits")).toMatchObject({ status: "loaded", faults: expect.any(Number) as number });
  expect(w.record("open")).toBeUndefined();
  const said = w.list().diagnostics.map(({ message }) => message).join("\n");
  expect(said).toContain("blocked plugin candidate: path_world_writable");
  expect(said).toMatch(/plugin manifest not found: .*nothing/);
  expect(await w.ask("still there?")).toBe("fine");
});

it("a channel of a plugin whose every function throws is named; conversations, status and the end of the gateway go on", async () => {
  const boom = (where: string): string => `${where}: (..._args) => { throw new Error("boom in ${where}"); }`;
  const all = (...names: string[]): string => `{ ${names.map(boom).join(", ")} }`;
  const channel = (id: string, config: string, rest: string): string =>
    plugin(`api.registerChannel({ plugin: { id: "${id}", meta: { label: "${id}" }, capabilities: { chatTypes: ["direct", "group"] }, config: ${config}, ${rest} } });`)["index.js"] ?? "";
  const adapters = [
    `security: ${all("resolveDmPolicy", "collectWarnings")}`, `groups: ${all("resolveRequireMention", "resolveToolPolicy")}`, `outbound: { ${boom("chunker")}, ${boom("resolveTarget")}, ${boom("sendText")} }`,
    `status: ${all("probeAccount", "collectStatusIssues")}`, `agentPrompt: ${all("messageToolHints")}`, boom("agentTools"), `actions: ${all("listActions", "handleAction")}`,
    `messaging: ${all("normalizeTarget")}`, `threading: ${all("resolveReplyToMode")}`, `pairing: { idLabel: "x", ${boom("normalizeAllowEntry")} }`, `resolver: ${all("resolveTargets")}`,
    `gateway: ${all("startAccount", "stopAccount", "logoutAccount")}`,
  ].join(", ");
  await using w = await world({
    async prepare(stateDir) {
      const dir = join(stateDir, "extensions");
      await writePlugin(dir, "wreck", { "index.js": channel("wreck", all("listAccountIds", "resolveAccount", "defaultAccountId", "isEnabled", "isConfigured", "describeAccount"), adapters) }, { channels: ["wreck"] });
      await writePlugin(dir, "half", { "index.js": channel("half", `{ listAccountIds: () => ["default"], resolveAccount: () => ({}), ${boom("describeAccount")}, ${boom("resolveAllowFrom")} }`, adapters) }, { channels: ["half"] });
    },
    config: { channels: { wreck: {}, half: {} } },
  });
  expect(await w.ask("hello")).toBe("fine");
  const status = await w.client.call<{ channelAccounts: Record<string, { lastError?: string }[]> }>("channels.status", { probe: true, timeoutMs: 1000 });
  expect(status.channelAccounts["wreck"]).toEqual([]);
  expect(status.channelAccounts["half"]?.[0]?.lastError).toContain("boom in startAccount");
  for (const method of ["health", "status", "commands.list", "channels.logout"]) await w.client.request(method, method === "channels.logout" ? { channel: "half" } : {});
  for (const id of ["wreck", "half"]) expect((await w.client.request("send", { channel: id, to: "u1", message: "x", idempotencyKey: id })).error?.message).toMatch(/boom|account|configured|running/i);
  expect(w.record("wreck")).toMatchObject({ status: "loaded", lastFault: expect.stringContaining("boom in ") as string });
  expect(w.record("half")).toMatchObject({ status: "loaded", lastFault: expect.stringContaining("boom in ") as string });
  expect(await w.ask("still there?")).toBe("fine");
});

it("services, routes, methods and tools that fail are laid at the door of their plugin", async () => {
  await using w = await world({
    async prepare(stateDir) {
      const dir = join(stateDir, "extensions");
      await writePlugin(dir, "servant", plugin('api.registerService({ id: "s", start: () => { throw new Error("no start"); } });'));
      await writePlugin(dir, "maker", plugin('api.registerTool(() => { throw new Error("no tool today"); }, { name: "never" });'));
      await writePlugin(dir, "router", plugin('api.registerHttpRoute({ path: "/r", handler: () => { throw new Error("no page"); } });'));
      await writePlugin(dir, "teller", plugin('api.registerGatewayMethod("teller.ask", () => { throw new Error("no answer"); });'));
    },
  });
  expect(await w.ask("hello")).toBe("fine");
  expect((await fetch(`${w.g.url}/r`)).status).toBe(500);
  expect((await w.client.request("teller.ask")).ok).toBe(false);
  expect(["servant", "maker", "router", "teller"].map((id) => w.record(id)?.lastFault)).toEqual([
    expect.stringContaining("no start"), expect.stringContaining("no tool today"), expect.stringContaining("no page"), expect.stringContaining("no answer"),
  ]);
});

const CHANNEL = `
export default { id: "probechan", register(api) {
  const rt = api.runtime;
  const out = globalThis.__probechan ??= { delivered: [], sent: [], hooks: [], failNext: 0, ctxKeys: [], routes: [] };
  api.on("message_received", (event, ctx) => out.hooks.push(ctx));
  api.on("llm_input", (_event, ctx) => out.hooks.push(ctx.messageProvider));
  out.say = async (text, sid, extra = {}) => {
    const cfg = rt.config.loadConfig();
    const route = rt.channel.routing.resolveAgentRoute({ cfg, channel: "probechan", accountId: "default", peer: { kind: "direct", id: "u1" } });
    out.routes.push(route);
    const storePath = rt.channel.session.resolveStorePath(cfg.session?.store, { agentId: route.agentId });
    const body = rt.channel.reply.formatAgentEnvelope({ channel: "PC", from: "Alice", timestamp: 1700000000000, body: text });
    const ctx = rt.channel.reply.finalizeInboundContext({ Body: body, RawBody: text, CommandBody: text, From: "probechan:u1", To: "probechan:u1", SessionKey: route.sessionKey, AccountId: route.accountId, ChatType: "direct", SenderId: "u1", SenderName: "Alice", Provider: "probechan", Surface: "probechan", MessageSid: sid, OriginatingChannel: "probechan", OriginatingTo: "probechan:u1", ...extra });
    await rt.channel.session.recordInboundSession({ storePath, sessionKey: route.sessionKey, ctx, onRecordError: (err) => { throw err; } });
    return rt.channel.reply.dispatchReplyWithBufferedBlockDispatcher({ ctx, cfg, dispatcherOptions: { deliver: async (payload, info) => { if (out.failNext-- > 0) throw new Error("no line"); out.delivered.push({ payload, kind: info.kind }); } } });
  };
  api.registerChannel({ plugin: {
    id: "probechan", meta: { id: "probechan", label: "Probe", selectionLabel: "Probe", docsPath: "/x", blurb: "x" }, capabilities: { chatTypes: ["direct"] },
    config: { listAccountIds: () => ["default"], resolveAccount: () => ({ enabled: true }) },
    outbound: { deliveryMode: "direct", sendText: async (ctx) => { out.sent.push(ctx.text); return { channel: "probechan", messageId: "m" + out.sent.length }; } },
    gateway: { startAccount: async (ctx) => { out.ctxKeys = Object.keys(ctx).sort(); out.status = ctx.getStatus(); await new Promise((resolve) => ctx.abortSignal.addEventListener("abort", resolve)); } },
  } });
} };`;

interface ProbeChannel {
  readonly delivered: { payload: Record<string, unknown>; kind: string }[];
  readonly sent: string[];
  readonly hooks: unknown[];
  failNext: number;
  readonly ctxKeys: string[];
  readonly routes: unknown[];
  readonly status: Record<string, unknown>;
  say(text: string, sid: string, extra?: object): Promise<unknown>;
}

it("a channel of the older shape carries a conversation: its own gate, the reply to its deliver, repeats once, commands, and sends unasked", async () => {
  await using w = await world({
    prepare: (stateDir) => writePlugin(join(stateDir, "extensions"), "probechan", { "index.js": CHANNEL }, { channels: ["probechan"] }),
    plugins: { allow: ["probechan"] }, config: { channels: { probechan: {} } }, answer: () => "pong",
  });
  const channel = (globalThis as { __probechan?: ProbeChannel }).__probechan as ProbeChannel;
  await expect.poll(() => channel.ctxKeys).toEqual(["abortSignal", "account", "accountId", "cfg", "getStatus", "log", "runtime", "setStatus"]);
  expect(channel.status).toMatchObject({ accountId: "default", enabled: true, configured: true, running: true, lastError: null, reconnectAttempts: 0 });

  expect(await channel.say("ping", "1")).toEqual({ queuedFinal: true, counts: { tool: 0, block: 0, final: 1 } });
  expect(channel.routes[0]).toMatchObject({ agentId: "main", channel: "probechan", accountId: "default", sessionKey: "agent:main:main", mainSessionKey: "agent:main:main", matchedBy: "default" });
  expect(channel.delivered).toEqual([{ payload: { text: "pong", replyToTag: false, replyToCurrent: false, audioAsVoice: false }, kind: "final" }]);
  expect(channel.hooks).toEqual([{ channelId: "probechan", accountId: "default", conversationId: "probechan:u1" }, "probechan"]);
  expect(w.asked[0]?.last).toMatch(/ping$/);
  expect(await channel.say("ping", "1")).toEqual({ queuedFinal: false, counts: { tool: 0, block: 0, final: 0 } });
  expect(w.asked).toHaveLength(1);

  await channel.say("/whoami", "2", { CommandAuthorized: true });
  expect(String(channel.delivered.at(-1)?.payload["text"])).toContain("u1");
  // Nobody is an owner because a channel says so: what needs one is not offered.
  await channel.say("do it", "3", { CommandAuthorized: true });
  expect(w.asked.at(-1)?.tools).not.toContain("exec");

  // What the plugin could not deliver is tried once more.
  channel.failNext = 1;
  await channel.say("again", "4");
  expect(channel.delivered.at(-1)).toMatchObject({ payload: { text: "pong" } });
  expect(channel.delivered).toHaveLength(4);

  expect(await w.client.call("send", { channel: "probechan", to: "probechan:u1", message: "by hand", idempotencyKey: "k1" })).toMatchObject({ channel: "probechan", messageId: "m1" });
  expect(channel.sent).toEqual(["by hand"]);
});

it("a memory without its settings is named and the gateway starts; the command refuses to make it the memory until it has them", async () => {
  const schema = { kind: "memory", configSchema: { type: "object", required: ["key"], properties: { key: { type: "string" } } } };
  await using w = await world({
    prepare: (stateDir) => writePlugin(join(stateDir, "extensions"), "memo", plugin(""), schema),
    plugins: { entries: { memo: { enabled: true } }, slots: { memory: "memo" } },
  });
  expect(await w.ask("hello")).toBe("fine");
  expect(w.record("memo")).toMatchObject({ status: "error", error: "invalid config: must have required properties key" });
  expect(w.list().diagnostics.map(({ message }) => message)).toContain("there is no memory: plugin memo did not load: invalid config: must have required properties key");
  const openclaw = (...args: string[]) => run(process.execPath, [join(PACKAGE_ROOT, "src", "entry.ts"), ...args], { env: { PATH: process.env["PATH"] ?? "", HOME: w.stateDir, OPENCLAW_STATE_DIR: w.stateDir, OPENCLAW_SKIP_LOCAL_MODELS: "1" } });
  await openclaw("config", "unset", "plugins.slots");
  await expect(openclaw("plugins", "enable", "memo")).rejects.toMatchObject({ stderr: expect.stringContaining('Plugin "memo" cannot be the memory yet: invalid config: must have required properties key\nSet plugins.entries.memo.config') as string });
  await openclaw("config", "set", "plugins.entries.memo.config", '{"key":"k"}');
  expect((await openclaw("plugins", "enable", "memo")).stdout).toContain('Exclusive slot "memory" switched from "memory-core" to "memo".');
});

it("one id has one plugin and one channel one owner; the others say who took it, and a stranger in the workspace does not run", async () => {
  const says = (text: string): Record<string, string> => plugin(`api.registerCommand({ name: "twin", description: "", handler: () => ({ text: "${text}" }) });`);
  const brings = (more = ""): Record<string, string> => plugin(`api.registerChannel({ plugin: { id: "Dup", meta: { label: "Dup" }, capabilities: { chatTypes: ["direct"] }, config: { listAccountIds: () => [], resolveAccount: () => ({}) } } }); ${more}`);
  await using w = await world({
    async prepare(stateDir) {
      const [global, workspace] = [join(stateDir, "extensions"), join(stateDir, "workspace", ".openclaw", "extensions")];
      await writePlugin(global, "twin", says("global"));
      await createPluginTrust(stateDir, Date.now).trust(await writePlugin(workspace, "twin", says("workspace")));
      await writePlugin(workspace, "stranger", plugin('globalThis.__strangerRan = true;'));
      await writePlugin(global, "a-first", brings(), { channels: ["dup"] });
      await writePlugin(global, "b-second", brings(), { channels: ["dup"] });
      await writePlugin(global, "c-third", brings('api.registerCommand({ name: "third", description: "", handler: () => ({ text: "3" }) });'), { channels: ["dup"] });
    },
  });
  const twins = w.list().plugins.filter(({ id }) => id === "twin");
  expect(twins.map(({ origin, status, error }) => [origin, status, error])).toEqual([["workspace", "loaded", undefined], ["global", "disabled", "overridden by workspace plugin"]]);
  expect(await w.ask("/twin")).toBe("workspace");
  const said = w.list().diagnostics.map(({ message, pluginId }) => `${pluginId}: ${message}`);
  expect(said.filter((line) => line.includes("not trusted"))).toEqual([expect.stringContaining(`openclaw plugins trust ${join(w.stateDir, "workspace", ".openclaw", "extensions", "stranger")}`)]);
  expect([w.record("stranger"), "__strangerRan" in globalThis]).toEqual([undefined, false]);
  expect(["a-first", "b-second", "c-third"].map((id) => [w.record(id)?.status, w.record(id)?.error])).toEqual([["loaded", undefined], ["disabled", "channel dup provided by a-first"], ["loaded", undefined]]);
  expect(said).toContain("c-third: disabled: channel dup provided by a-first");
  expect(await w.ask("/third")).toBe("3");
});

it("what a plugin says in its code counts too: its kind, paths as they are written, codes of its refusals", async () => {
  await using w = await world({
    async prepare(stateDir) {
      const dir = join(stateDir, "extensions");
      await writePlugin(dir, "sly", { "index.js": 'export default { id: "other", name: "Sly", kind: "memory", register(api) { api.registerCommand({ name: "sly", description: "", handler: () => ({ text: "remembered" }) }); } };' });
      const routes = '["//hooks//a/", "/caf%C3%A9", "/twice", "twice"].forEach((path) => api.registerHttpRoute({ path, handler: (_req, res) => res.end(path) }));';
      const prefix = 'api.registerHttpRoute({ path: "/under", match: "prefix", auth: "gateway", handler: (req, res) => res.end(req.url) }); api.registerHttpRoute({ path: "/twice", replaceExisting: true, handler: (_req, res) => res.end("second") });';
      const methods = 'api.registerGatewayMethod("paths.no", ({ respond }) => respond(false, undefined, { code: "INVALID_REQUEST", message: "not so" })); api.registerGatewayMethod("paths.odd", ({ respond }) => respond(false, undefined, { code: "ODD", message: "odd" }));';
      await writePlugin(dir, "paths", plugin(`${routes} ${prefix} ${methods} api.registerCommand({ name: "bare", description: "", handler: () => ({ text: "bare" }) });`));
    },
  });
  expect(w.list().diagnostics.map(({ message }) => message)).toContain('plugin id mismatch (config uses "sly", export uses "other")');
  expect(w.record("sly")).toMatchObject({ name: "Sly", status: "disabled", enabled: false, error: 'memory slot set to "memory-core"', commands: [] });
  const read = async (path: string, headers = {}): Promise<[number, string]> => {
    const answer = await fetch(`${w.g.url}${path}`, { headers });
    return [answer.status, await answer.text()];
  };
  expect(await Promise.all(["/hooks/a/", "//hooks/a/", "/caf%C3%A9", "/twice"].map((path) => read(path)))).toEqual([[200, "//hooks//a/"], [200, "//hooks//a/"], [200, "/caf%C3%A9"], [200, "second"]]);
  expect(w.list().diagnostics.map(({ message }) => message)).toContain("http route already registered: /twice");
  expect((await read("/under/x"))[0]).toBe(401);
  expect(await read("/under/x?y=1", { authorization: "Bearer T" })).toEqual([200, "/under/x?y=1"]);
  expect((await read("/underneath"))[1]).not.toContain("/under");
  expect((await w.client.request("paths.no")).error).toMatchObject({ code: "INVALID_REQUEST", message: "not so" });
  expect((await w.client.request("paths.odd")).error).toMatchObject({ code: "UNAVAILABLE", message: "odd" });
  // Words behind a command that takes none are talk.
  expect([await w.ask("/bare"), await w.ask("/bare with words")]).toEqual(["bare", "fine"]);
});

it("a plugin's command is a command of openclaw, beside ours and never in place of one", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "plugin-cli-"));
  try {
    await writePlugin(join(stateDir, "extensions"), "clip", plugin('api.registerCli(({ program }) => { program.command("probecli").argument("<word>").action((word) => console.log("probe says " + word)); }, { commands: ["probecli"] }); api.registerCli(({ program }) => { program.command("status").action(() => console.log("stolen")); }, { commands: ["status"] });'));
    // Others that try to end the command are named; it ends as it should.
    await writePlugin(join(stateDir, "extensions"), "quits", plugin("process.exit(5);"));
    await writePlugin(join(stateDir, "extensions"), "strays", plugin('setTimeout(() => { throw new Error("late"); }, 0); void Promise.reject(new Error("stray"));'));
    const openclaw = (...args: string[]) => run(process.execPath, [join(PACKAGE_ROOT, "src", "entry.ts"), ...args], { env: { PATH: process.env["PATH"] ?? "", HOME: stateDir, OPENCLAW_STATE_DIR: stateDir, OPENCLAW_SKIP_LOCAL_MODELS: "1" } });
    await expect(openclaw("plugins", "doctor")).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining("quits: process.exit is not for plugins (quits)") as string });
    expect((await openclaw("probecli", "hi")).stdout).toBe("probe says hi\n");
    await expect(openclaw("nosuchword")).rejects.toThrow(/unknown command/);
    expect((await openclaw("status", "--json").catch((err: { stdout: string }) => err)).stdout).not.toContain("stolen");
  } finally {
    await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
  }
});

it("a run that a plugin still looks at before it begins can be stopped: the model is not asked", async () => {
  const file = join(await mkdtemp(join(tmpdir(), "slow-hook-")), "log");
  const slow = `import { appendFileSync } from "node:fs";
export default { id: "slow", register(api) { api.on("before_model_resolve", async () => { appendFileSync(${JSON.stringify(file)}, "asked\\n"); await new Promise((done) => setTimeout(done, 1000)); }); } };`;
  await using w = await world({ prepare: (stateDir) => writePlugin(join(stateDir, "extensions"), "slow", { "index.ts": slow }), plugins: { allow: ["slow"] } });
  for (const [runId, abort] of [["r1", { sessionKey: "main" }], ["r2", { sessionKey: "main", runId: "r2" }]] as const) {
    await w.client.call("chat.send", { sessionKey: "main", message: "hello", idempotencyKey: runId });
    await expect.poll(async () => (await readFile(file, "utf8").catch(() => "")).split("asked").length - 1, { timeout: 10_000 }).toBe(Number(runId.slice(1)));
    expect(await w.client.call("chat.abort", abort)).toMatchObject({ aborted: true, runIds: [runId] });
    expect((await w.client.chatEnd(runId)).payload).toMatchObject({ state: "aborted" });
  }
  expect(w.asked).toEqual([]);
  await rm(file, { force: true });
  expect(await w.ask("and now?")).toBe("fine");
  expect(await w.client.call("chat.abort", { sessionKey: "main" })).toMatchObject({ aborted: false, runIds: [] });
});
