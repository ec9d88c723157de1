import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { createAgentRuntime, createLinkUnderstanding, createMcpService, createMediaUnderstanding, createModelService, createProviderUsage, type AgentEvent, type AgentRuntime } from "../agents/index.ts";
import { buildSkillCommands, builtInCommands, createCommandRegistry, createCommandServices, createConversation, nativeMenu, type ChatEvent, type Conversation } from "../auto-reply/index.ts";
import { createBrowserService, type BrowserServiceOptions } from "../browser/index.ts";
import { createCanvasCapabilities } from "../canvas/index.ts";
import type { ChannelPlugin } from "../channels/contract/index.ts";
import { createChannelManager, type ChannelManager } from "../channels/manager/index.ts";
import { createLarkPlugin } from "../channels/lark/index.ts";
import { createTelegramPlugin } from "../channels/telegram/index.ts";
import { createConfigOverrides, createConfigSource, ensureInitialConfig, resolveGatewayPort, type ConfigSnapshot, type ConfigSource, type OpenClawConfig, type ReloadPlan, type StatePaths } from "../config/index.ts";
import { createInbox, createOutbox, createPendingHistory, createPendingSessionLog, createPreviewLog, createSystemEvents, openJournal, type Journal } from "../delivery/index.ts";
import { systemClock, type Clock } from "../infra/clock.ts";
import { createEmitter } from "../infra/emitter.ts";
import { errorText } from "../infra/errors.ts";
import { acquireFileLock } from "../infra/file-lock.ts";
import { createGuardedFetch } from "../infra/guarded-fetch.ts";
import { createConsoleSink, createFileSink } from "../infra/log-sinks.ts";
import { createLogger, type LogThreshold } from "../infra/log.ts";
import { createNodeRegistry } from "../nodes/index.ts";
import { addOwner, createChannelPairingStore, createDeviceStore, createNodePairingStore, hasOwner } from "../pairing/index.ts";
import { createAgentHooks, createHookRunner, createSessionWatch, fireEvent, guardProcess, hookOutbox, oauthOf, openPluginCatalog, tellReceived, tellSent } from "../plugins/index.ts";
import { expandPath, listAgentIds, mainSessionKey, resolveAgent, resolveDefaultAgentId, resolveSessionKey, subagentDepth, type AgentRoots } from "../routing/index.ts";
import { checkExposure, createAuthGate, createTailscaleWhois, resolveAuth } from "../security/index.ts";
import { createSessionService } from "../sessions/index.ts";
import { createAdmission, pairingText } from "./admission.ts";
import type { GatewayContext } from "./context.ts";
import { createGatewayActions } from "./gateway-actions.ts";
import { createHealthService } from "./health.ts";
import { createGatewayExecApprovals } from "./exec-approvals/index.ts";
import { createGatewayCron, cronActions } from "./cron.ts";
import { createGatewayPlugins } from "./plugins.ts";
import { createGatewayHeartbeats } from "./heartbeats.ts";
import { createChatCompletionsSurface } from "./http/v1-chat.ts";
import { createModelsSurface } from "./http/v1-models.ts";
import { createResponsesSurface } from "./http/v1-responses.ts";
import { createToolsInvokeSurface } from "./http/tools-invoke.ts";
import { channelHandler, createCanvasHost, createControlUiSurface, createFrontServer, createHttpFrontDoor, createPluginRoutes } from "./http/index.ts";
import { createIdempotencyCache } from "./idempotency.ts";
import { createLogTransports } from "./log-transports.ts";
import { listen, loadTls, resolveBindHosts, takeLock } from "./listen.ts";
import { createMediaDownload } from "./media-download.ts";
import { fetchMedia } from "./media-fetch.ts";
import { createMessageActions } from "./message-actions.ts";
import { announceNodePairing, nodePairingMethods } from "./methods/node-pairing.ts";
import { nodeMethods } from "./methods/nodes.ts";
import { createGatewayNodes, createNodeActions } from "./nodes.ts";
import { agentMethods } from "./methods/agent.ts";
import { catalogMethods } from "./methods/catalog.ts";
import { channelMethods } from "./methods/channels.ts";
import { chatMethods } from "./methods/chat.ts";
import { configMethods, createWriteLimiter } from "./methods/config.ts";
import { announceDevices, deviceMethods } from "./methods/devices.ts";
import { healthMethods } from "./methods/health.ts";
import { cronMethods } from "./methods/cron.ts";
import { execApprovalMethods } from "./methods/exec-approvals.ts";
import { heartbeatMethods } from "./methods/heartbeat.ts";
import { presenceMethods } from "./methods/presence.ts";
import { sessionMethods } from "./methods/sessions.ts";
import { createMethodRouter, EVENTS } from "./protocol/index.ts";
import { createRestartService } from "./restart.ts";
import { createSendPayload } from "./send-payload.ts";
import { createSessionActions } from "./session-actions.ts";
import { createGatewaySubagents } from "./subagents.ts";
import { announceRestart } from "./sentinel.ts";
import { GatewayStartError } from "./start-error.ts";
import { toolEventFor } from "./tool-events.ts";
import { avatarOf, uiIdentity } from "./ui-identity.ts";
import { createPresenceStore, createPresenceTracker, createWsServer, type WsServer } from "./ws/index.ts";

export interface GatewayOverrides {
  readonly bind?: string | undefined;
  readonly auth?: string | undefined;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  readonly tailscale?: string | undefined;
}

export interface GatewayOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly paths: StatePaths;
  readonly snapshot: ConfigSnapshot;
  readonly version: string;
  /** Folder of the installed package: UI assets, docs, skills. */
  readonly packageRoot: string;
  readonly port?: number | undefined;
  readonly overrides?: GatewayOverrides | undefined;
  readonly console?: { readonly level?: LogThreshold | undefined; readonly style?: "pretty" | "compact" | "json" | undefined; readonly color?: boolean | undefined; write(line: string): void } | undefined;
  readonly clock?: Clock | undefined;
  /** Origins that the guarded fetch may reach although they are private; for tests. */
  readonly fetchAllowOrigins?: readonly string[] | undefined;
  /** Further flags and environment of the agent's browser; for tests. */
  readonly browserLaunch?: BrowserServiceOptions["launch"];
  /** false: no single-instance lock (several gateways in one test process). */
  readonly lock?: boolean | undefined;
  readonly channels?: boolean | undefined;
}

export interface Gateway {
  readonly port: number;
  readonly url: string;
  /** Shared token, when that is the auth mode; for the terminal's dashboard line. */
  readonly token: string | undefined;
  /** Resolves when channels were started and unfinished work was taken up. */
  readonly ready: Promise<void>;
  readonly context: GatewayContext;
  /** Ends runs within limits, keeps what is unfinished for the next start. */
  close(reason: "stop" | "restart"): Promise<void>;
  /** Asked from inside: config changes that need it, RPC, /restart. */
  onRestart(listener: (reason: string) => void): () => void;
}

const DRAIN_MS = 10_000;
/** A store is locked for one write. Source: spec agent-pipeline §3.1. */
const SESSION_LOCK_STALE_MS = 30_000;
const IDLE_WARM_MS = 3000;
const HEALTH_INTERVAL_MS = 60_000;

/** @throws GatewayStartError naming the file */
function takeJournal(stateDir: string): Journal {
  try {
    return openJournal(stateDir);
  } catch (cause) {
    const reason = cause instanceof Error && cause.cause !== undefined ? ` (${errorText(cause.cause)})` : "";
    throw new GatewayStartError(`${errorText(cause)}${reason}`, "Check the disk and the permissions, or move the file aside, then start again.", { cause });
  }
}

/** Builds one gateway: config, log, lock, stores, HTTP and WebSocket, then channels and replay. @throws GatewayStartError */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { env, paths } = options;
  const clock = options.clock ?? systemClock;
  const startedAt = clock.now();
  const stopping = new AbortController();
  let phase: "starting" | "ready" | "draining" = "starting";
  /** Made after the config is open; a reload asks it for the channels' key prefixes. */
  let channels: ChannelManager | undefined;

  // Log: file for the gateway alone, console for the person.
  let current: () => OpenClawConfig = () => options.snapshot.config;
  const level = (): LogThreshold => (env["OPENCLAW_LOG_LEVEL"] as LogThreshold | undefined) ?? current().logging?.level ?? "info";
  const fileSink = createFileSink({
    target: () => (current().logging?.file ? { file: current().logging?.file as string } : { dir: paths.logsDir }), threshold: level, maxBytes: () => current().logging?.maxFileBytes,
  });
  const transports = createLogTransports();
  const log = createLogger([
    fileSink, transports.sink,
    ...(options.console
      ? [createConsoleSink({
          threshold: () => options.console?.level ?? current().logging?.consoleLevel ?? "info", style: () => options.console?.style ?? current().logging?.consoleStyle ?? "compact",
          color: options.console.color === true, write: (line) => options.console?.write(line),
        })]
      : []),
  ], { subsystem: "gateway" });

  const roots: AgentRoots = { stateDir: paths.stateDir, workspaceDir: paths.defaultWorkspace };
  // Config: the last good one for every reader.
  const source: ConfigSource = await openConfig();
  const base = source.current;
  const configOverrides = createConfigOverrides();
  let overlaid: { from: OpenClawConfig; value: OpenClawConfig } | undefined;
  const config = (): OpenClawConfig => {
    const from = configOverrides.apply(base());
    if (overlaid?.from !== from) overlaid = { from, value: overlay(from, options.overrides) };
    return overlaid.value;
  };
  current = config;

  const bindHosts = resolveBindHosts(config());
  const problems = checkExposure(config(), env as NodeJS.ProcessEnv, bindHosts[0] ?? "127.0.0.1");
  if (problems.length > 0) throw new GatewayStartError(problems.join("; "), "Correct the named keys of the configuration and start again.");
  if (config().hooks?.enabled && !config().hooks?.token) throw new GatewayStartError("hooks.enabled needs hooks.token", "Set hooks.token or switch hooks.enabled off.");
  const wantedPort = resolveGatewayPort(options.port, env, config()).port;
  const lock = options.lock === false || env["OPENCLAW_ALLOW_MULTI_GATEWAY"] === "1" ? undefined : await takeLock(paths.configPath, wantedPort);
  const cleanups: (() => Promise<void> | void)[] = [() => lock?.release(), () => fileSink.close()];

  try {
    return await boot();
  } catch (err) {
    for (const cleanup of cleanups.toReversed()) await cleanup();
    throw err;
  }

  async function openConfig(): Promise<ConfigSource> {
    const known = openPluginCatalog({ env, stateDir: paths.stateDir, packageRoot: options.packageRoot, roots, clock });
    const deps = { paths, env, version: options.version, log: log.child({ subsystem: "config" }), known: (config: unknown) => known.knowledge(config) };
    const opened = createConfigSource({ ...deps, initial: options.snapshot, channelRules: () => channelRules() });
    await ensureInitialConfig(opened.snapshot(), opened.writer);
    await opened.reload();
    const auth = resolveAuth(overlay(opened.current(), options.overrides), env as NodeJS.ProcessEnv);
    if (auth.mode === "token" && !auth.token) {
      await opened.writer.set("gateway.auth.token", randomBytes(24).toString("hex"));
      await opened.reload();
    }
    const { unusedKeys, warnings } = opened.snapshot();
    for (const warning of warnings) log.warn(`config: ${warning.message}`, { path: warning.path, line: warning.line });
    if (unusedKeys.length > 0) log.warn("config keys that have no effect in this version", { keys: unusedKeys.slice(0, 50) });
    return opened;
  }

  function channelRules(): { channelId: string; configPrefixes: readonly string[]; noopPrefixes?: readonly string[] | undefined }[] {
    return (channels?.plugins ?? []).map((plugin) => ({ channelId: plugin.id, configPrefixes: plugin.reload?.configPrefixes ?? [`channels.${plugin.id}`], noopPrefixes: plugin.reload?.noopPrefixes }));
  }

  async function boot(): Promise<Gateway> {
    const journal = takeJournal(paths.stateDir);
    cleanups.push(() => journal.close());
    const pluginLog = log.child({ subsystem: "gateway/plugins" });
    const hooks = createHookRunner(pluginLog, (pluginId, text) => plugins.service.report(pluginId, text));
    const systemEvents = createSystemEvents(journal, clock);
    const history = createPendingHistory(journal);
    const inbox = createInbox(journal, clock);
    const pairing = createChannelPairingStore({ stateDir: paths.stateDir, clock, log: log.child({ subsystem: "pairing" }) });
    const nodePairing = createNodePairingStore({ stateDir: paths.stateDir, clock, log: log.child({ subsystem: "nodes" }) });
    const devices = createDeviceStore({ stateDir: paths.stateDir, clock, log: log.child({ subsystem: "devices" }) });
    const sessions = createSessionService({
      config, roots, clock, log: log.child({ subsystem: "sessions" }), pending: createPendingSessionLog(journal), env, isActive: (key) => conversation.isBusy(key),
      watch: createSessionWatch(hooks, (key) => sessions.agentIdOf(key)),
      withLock: async (path, write) => {
        await using _held = await acquireFileLock(`${path}.lock`, { vagueStaleMs: SESSION_LOCK_STALE_MS });
        return write();
      },
    });
    const fetch = createGuardedFetch({ allowOrigins: options.fetchAllowOrigins ?? [] });
    const events = createEmitter<AgentEvent>((err) => log.error("agent event listener failed", { err }));
    const chats = createEmitter<ChatEvent>((err) => log.error("chat event listener failed", { err }));
    const restarts = createEmitter<string>((err) => log.error("restart listener failed", { err }));
    const registry = createCommandRegistry(builtInCommands(), {
      plugins: () => plugins.commands(),
      loadSkills: async (agentId, taken) => buildSkillCommands(await agents.skills(agentId), taken),
    });
    let conversation: Conversation;
    let ws: WsServer;
    const routes = createPluginRoutes();
    const plugins = createGatewayPlugins({
      config, env, stateDir: paths.stateDir, packageRoot: options.packageRoot, roots, clock, log: pluginLog, hooks, routes, inbox, version: options.version,
      conversation: () => conversation, outbox: () => outbox, channels: () => manager, router: () => router, context: () => context,
      isOwner: (channel, accountId, senderId) => isOwnerId(channels?.find(channel), ownerIdsOf(config(), channels?.find(channel), accountId), channel, senderId),
      open: async (dispatch) => (await import("./plugin-host.ts")).openPluginDoors({ context, dispatch, routes, transports, agentEvents: events, fetchAllowOrigins: options.fetchAllowOrigins ?? [] }),
    });
    cleanups.push(guardProcess({ log: pluginLog, ownerOf: (err) => plugins.service.ownerOf(err), onFault: (pluginId, text) => plugins.service.report(pluginId, text) }));

    const models = createModelService({
      config, env, stateDir: paths.stateDir, agentDir: (id) => resolveAgent(config(), id, roots).agentDir, clock, log: log.child({ subsystem: "models" }),
      probeLocalhost: env["OPENCLAW_SKIP_LOCAL_MODELS"] !== "1", oauth: (provider) => oauthOf(plugins.service.registry, provider),
    });
    const providerUsage = createProviderUsage({ models, clock });
    const outbox = hookOutbox(createOutbox({
      journal, clock, log: log.child({ subsystem: "delivery" }),
      send: (channel, message, sendOptions) => channels?.find(channel)?.outbound?.send(config(), message, sendOptions),
      onSettled: (request, result) => {
        if (result.kind === "sent") channels?.noteOutbound(request.channel, request.message.accountId);
        tellSent(hooks, request, result);
      },
    }), hooks);
    const mcp = createMcpService({ config, clock, log: log.child({ subsystem: "mcp" }), version: options.version });
    cleanups.push(() => mcp.close());
    const browser = createBrowserService({ config, env, stateDir: paths.stateDir, clock, log: log.child({ subsystem: "browser" }), allowOrigins: options.fetchAllowOrigins ?? [], launch: options.browserLaunch });
    cleanups.push(() => browser.close());
    const execApprovals = createGatewayExecApprovals({
      config, home: paths.home, clock, log: log.child({ subsystem: "exec" }), sessions, systemEvents, channel: (id) => channels?.find(id), outbox: () => outbox, heartbeats: () => heartbeats, ws: () => ws,
    });
    cleanups.push(() => execApprovals.close());
    const agents: AgentRuntime = createAgentRuntime({
      config, models, mcp, browser, roots, clock, log: log.child({ subsystem: "agent" }), env,
      docsDir: existing(join(options.packageRoot, "docs", "en")), bundledSkillsDir: env["OPENCLAW_BUNDLED_SKILLS_DIR"] ?? join(options.packageRoot, "skills"),
      messageActions: createMessageActions({ config, channels: () => channels as ChannelManager, outbox: () => outbox, stateDir: paths.stateDir, fetch, clock, log: log.child({ subsystem: "agent" }), sessions, waitIdle: (key, ms) => agents.runs.waitIdle(key, ms) }),
      pluginSkillDirs: () => plugins.service.skillDirs(), hooks: createAgentHooks(hooks), extraTools: (run, taken) => plugins.tools(run, taken),
      messageChannels: () => (channels?.plugins ?? []).map((plugin) => plugin.id),
      messageToolHints: () => channels?.collect("hints for the message tool", (plugin) => plugin.agentPrompt?.messageToolHints(config()) ?? []) ?? [],
      statusSource: {
        status: (sessionKey) => services().statusText(sessionKey),
        async setModel(sessionKey, model) {
          await services().setModel(sessionKey, model);
        },
      },
      fetch,
      spawnDepth: (sessionKey) => sessions.storeFor(sessions.agentIdOf(sessionKey)).get(sessionKey)?.spawnDepth ?? subagentDepth(sessionKey),
      sessionActions: createSessionActions({
        config, log: log.child({ subsystem: "sessions" }), sessions, agents: () => agents, conversation: () => conversation, subagents: () => subagents, channel: (id) => channels?.find(id), send: (...args) => send(...args),
      }),
      execApprovals: execApprovals.actions,
      nodeActions: createNodeActions({ nodes: () => nodes, devices, stateDir: paths.stateDir }),
      gatewayActions: createGatewayActions({ router: () => router, context: () => context }),
      cronActions: cronActions({ cron: () => cron, systemEvents, heartbeats: () => heartbeats, sessions }),
      onJobExit: (sessionKey, text, slug) => {
        systemEvents.push(sessionKey, text, { contextKey: `exec:${slug}` });
        heartbeats.wake({ reason: "exec-event", agentId: sessions.agentIdOf(sessionKey), sessionKey });
      },
      sessions,
      onCompacted: (sessionKey, text) => systemEvents.push(sessionKey, text, { contextKey: "compaction" }),
    });
    cleanups.push(() => agents.close());
    const services = (): ReturnType<typeof createCommandServices> =>
      createCommandServices({
        config, source, overrides: configOverrides, agents, providerUsage, sessions, systemEvents, pairing, conversation, registry, clock, version: options.version, startedAt,
        channel: (id) => channels?.find(id), ownerIds: (channel, accountId) => ownerIdsOf(config(), channels?.find(channel), accountId),
        subagents: () => subagents, decideApproval: execApprovals.decide,
        restart: async (sessionKey, deliveryContext) => (await context.restart.schedule({ kind: "restart", reason: "/restart", sessionKey, deliveryContext })).restart,
      });

    conversation = createConversation({
      config, clock, log: log.child({ subsystem: "conversation" }), stateDir: paths.stateDir, sessions, agents, outbox, previews: createPreviewLog(journal, clock),
      events: { agent: (event) => events.emit(event), chat: (event) => chats.emit(event), now: () => clock.now() },
      fetchUrl: (url, maxBytes) => fetchMedia(fetch, url, maxBytes), inbox, history, systemEvents, registry, commandServices: services,
      channel: (id) => channels?.find(id),
      channelSummary: () => channels?.summaryLines() ?? [],
      hasPlannedJob: (sessionKey) => cron.list({ enabled: "enabled" }).then(({ jobs }) => jobs.some((job) => job.sessionKey === sessionKey), () => true), // nobody knows
      admit: createAdmission({
        config, roots, pairing, registry, channel: (id) => channels?.find(id),
        activation: (message) => {
          const { agentId, sessionKey } = resolveSessionKey(config(), message);
          return sessions.storeFor(agentId).get(sessionKey)?.groupActivation;
        },
      }),
      async requestPairing(message) {
        const plugin = channels?.find(message.channel);
        if (!plugin) return undefined;
        const meta = Object.fromEntries(Object.entries({ name: message.sender.name, username: message.sender.username }).filter((entry): entry is [string, string] => entry[1] !== undefined));
        const outcome = await pairing.request({ channel: message.channel, accountId: message.accountId }, { id: message.sender.id, meta });
        health.refresh();
        return outcome.kind === "created" ? pairingText(plugin, message.sender.id, outcome.code) : undefined;
      },
      downloadMedia: createMediaDownload({ config, channel: (id) => channels?.find(id), stateDir: paths.stateDir, log, signal: stopping.signal }),
      ownerIds: (channel, accountId) => ownerIdsOf(config(), channels?.find(channel), accountId),
      version: options.version, onReceived: (ctx) => tellReceived(hooks, ctx),
      media: createMediaUnderstanding({ config, env, models, log: log.child({ subsystem: "media" }) }), links: createLinkUnderstanding({ config, log: log.child({ subsystem: "links" }) }),
    });
    const channelsOff = options.channels === false || env["OPENCLAW_SKIP_CHANNELS"] === "1" || env["OPENCLAW_SKIP_PROVIDERS"] === "1";
    channels = createChannelManager({
      channels: [
        { plugin: createTelegramPlugin({ env, log: log.child({ subsystem: "channels/telegram" }) }), origin: "builtin", provider: "telegram" },
        { plugin: createLarkPlugin({ env, stateDir: paths.stateDir, pairedIds: (accountId) => pairing.allowFrom("feishu", accountId), log: log.child({ subsystem: "channels/feishu" }) }), origin: "builtin", provider: "feishu" },
      ],
      config, log, clock, stateDir: paths.stateDir,
      receive: (message) => {
        warmSoon(0);
        return conversation.receive(message);
      },
      receiveEvent: (event) => conversation.receiveEvent(event),
      nativeCommands: (channel, accountId) => {
        const listed = registry.listed(config(), resolveDefaultAgentId(config()));
        return nativeMenu(config(), channel, accountId, listed, channels?.find(channel)?.commands?.nativeAuto === true);
      },
      patchConfig: async (patch, reason) => {
        log.info("config changed by a channel", { reason });
        await source.writer.mergePatch(patch as Record<string, unknown>);
      },
      route: (owner, path, handler) => routes.add({ path, auth: "plugin", match: "exact", owner, handler: channelHandler(handler) }),
      onChange: () => health.refresh(),
    });
    const manager = channels;
    cleanups.push(() => manager.stopAll());
    const send = createSendPayload({ channel: (id) => manager.find(id), agents, outbox, fetch, stateDir: paths.stateDir, log: log.child({ subsystem: "delivery" }) });
    const heartbeats = createGatewayHeartbeats({
      config, clock, log: log.child({ subsystem: "heartbeat" }), sessions, systemEvents, agents, conversation, channels: manager, send,
      onEvent: (event) => ws.broadcast("heartbeat", event, { dropIfSlow: true }),
    });
    cleanups.push(() => heartbeats.stop());
    const cron = createGatewayCron({
      config, env, clock, log: log.child({ subsystem: "cron" }), stateDir: paths.stateDir, sessions, systemEvents, agents, conversation, channels: manager, heartbeats, send, fetch,
      onEvent: (event) => ws.broadcast("cron", event, { dropIfSlow: true }), onChat: (event) => chats.emit(event),
    });
    cleanups.push(() => cron.stop());
    const subagents = createGatewaySubagents({ config, clock, log: log.child({ subsystem: "subagents" }), stateDir: paths.stateDir, sessions, agents, conversation, channels: manager, outbox, hooks });

    const health = createHealthService({ config, source, roots, clock, sessions, channels: () => manager, onChange: (summary) => ws?.broadcast("health", summary, { stateVersion: { presence: presence.version(), health: health.version() } }) });
    const presence = createPresenceStore({ clock, self: { host: hostname(), version: options.version, platform: process.platform, mode: "gateway", reason: "self" } });
    const tracker = createPresenceTracker(presence);
    const broadcastPresence = (): void => ws.broadcast("presence", { presence: presence.list() }, { dropIfSlow: true, stateVersion: { presence: presence.version(), health: health.version() } });
    const nodes = createGatewayNodes({
      registry: createNodeRegistry({ config, sendTo: (connId, event, payload) => ws.sendTo(connId, event, payload) }), ws: () => ws, conversation, sessions, systemEvents, log: log.child({ subsystem: "nodes" }),
    });
    let boundPort = wantedPort;

    const context: GatewayContext = {
      paths, config, source, clock, log, version: options.version, startedAt, port: () => boundPort, logFile: () => fileSink.currentFile(), sessions, agents, providerUsage, conversation,
      commands: registry, channels: manager, pairing, devices, presence, outbox, history, systemEvents, heartbeats, cron, subagents, execApprovals, nodes, nodePairing, plugins: plugins.service, health, idempotency: createIdempotencyCache(clock), fetch, ws: () => ws,
      restart: createRestartService({
        stateDir: paths.stateDir, clock, log, startedAt, isIdle: () => agents.runs.all().length === 0, perform: (reason) => restarts.emit(reason),
      }),
      enqueueSystemEvent: (text, eventOptions) => systemEvents.push(mainSessionKey(resolveDefaultAgentId(config())), text, eventOptions),
      broadcastPresence,
    };
    cleanups.push(() => context.restart.cancel());

    const auth = createAuthGate({ config, env: env as NodeJS.ProcessEnv, clock, whois: createTailscaleWhois() });
    const router = createMethodRouter<GatewayContext>(
      [...healthMethods, ...presenceMethods, ...heartbeatMethods, ...cronMethods, ...execApprovalMethods, ...chatMethods, ...agentMethods, ...sessionMethods, ...configMethods(createWriteLimiter(() => clock.now())), ...channelMethods, ...catalogMethods, ...deviceMethods, ...nodeMethods, ...nodePairingMethods],
      context,
    );
    const door = createHttpFrontDoor({ config, auth, log: log.child({ subsystem: "gateway/http" }), readiness: () => phase });
    const onAgentEvent = (listener: (event: AgentEvent) => void): (() => void) => events.on(listener);
    for (const surface of routes.surfaces) door.register(surface);
    door.register(createResponsesSurface(context, onAgentEvent));
    door.register(createChatCompletionsSurface(context, onAgentEvent));
    door.register(createModelsSurface(context));
    door.register(createToolsInvokeSurface(context));
    const canvasKeys = createCanvasCapabilities(clock);
    const canvas = createCanvasHost({ config, env, auth, capabilities: canvasKeys, defaultRoot: join(paths.stateDir, "canvas"), expandPath, log: log.child({ subsystem: "canvas" }) });
    cleanups.push(() => canvas.close());
    door.register(canvas.surface);
    door.register(createControlUiSurface({ config, assetsDir: join(options.packageRoot, "dist", "control-ui"), identity: () => uiIdentity(config(), roots), avatar: (agentId) => avatarOf(config(), roots, agentId) }));

    const tls = await loadTls(config());
    const server = createFrontServer({ handler: door.handler, ...(tls ? { tls } : {}) });
    ws = createWsServer({
      server, router, auth, devices, clock, config, log: log.child({ subsystem: "gateway/ws" }),
      hello: (conn) => {
        const mayRead = conn.scopes.some((scope) => scope === "operator.admin" || scope === "operator.read" || scope === "operator.write");
        const defaultAgentId = resolveDefaultAgentId(config());
        return {
          server: { version: options.version, connId: conn.connId },
          features: { methods: router.advertised(), events: EVENTS },
          snapshot: {
            presence: mayRead ? presence.list() : [], health: mayRead ? (health.latest() ?? {}) : {}, stateVersion: { presence: presence.version(), health: health.version() },
            uptimeMs: clock.now() - startedAt, configPath: paths.configPath, stateDir: paths.stateDir,
            sessionDefaults: { defaultAgentId, mainKey: "main", mainSessionKey: mainSessionKey(defaultAgentId), scope: config().session?.scope ?? "per-sender" },
            authMode: auth.current().mode,
          },
          ...(conn.role === "node" && canvas.isEnabled() && conn.hostHeader ? { canvasHostUrl: `${tls ? "https" : "http"}://${conn.hostHeader}/__openclaw__/cap/${canvasKeys.issue(conn.connId)}` } : {}),
        };
      },
      interceptUpgrade: canvas.interceptUpgrade,
      onConnected: (conn) => {
        tracker.connected(conn);
        execApprovals.greet(conn);
        nodes.connected(conn);
        warmSoon(0);
        health.refresh();
      },
      onDisconnected: (conn) => {
        nodes.disconnected(conn);
        canvasKeys.revoke(conn.connId);
        if (tracker.disconnected(conn)) broadcastPresence();
      },
    });
    cleanups.push(announceNodePairing(nodePairing, (event, payload, broadcastOptions) => ws.broadcast(event, payload, broadcastOptions)));
    cleanups.push(announceDevices(devices, (event, payload, broadcastOptions) => ws.broadcast(event, payload, broadcastOptions)));
    events.on((event) => {
      if (event.stream === "tool") ws.sendToolEvent(toolEventFor(event, sessions.storeFor(sessions.agentIdOf(event.sessionKey ?? "")).get(event.sessionKey ?? "")?.verboseLevel));
      else ws.broadcast("agent", event);
      nodes.publish("agent", event);
    });
    chats.on((event) => {
      ws.broadcast("chat", event, { dropIfSlow: event.state === "delta" });
      nodes.publish("chat", event);
    });

    const servers = [server, ...(await listen(server, bindHosts, wantedPort, paths.configPath))];
    const address = server.address();
    boundPort = typeof address === "object" && address ? address.port : wantedPort;
    cleanups.push(async () => {
      await ws.shutdown({ reason: closing === "restart" ? "gateway restarting" : "gateway stopping", restartExpectedMs: closing === "restart" ? 1500 : null });
      await Promise.all(servers.map((item) => new Promise<void>((resolve) => {
        item.close(() => resolve());
        item.closeAllConnections();
      })));
    });
    log.info("listening", { hosts: bindHosts, port: boundPort, pid: process.pid, version: options.version });
    log.info("log file", { file: fileSink.currentFile() });

    const offConfig = source.onChange((change) => void applyChange(change.plan, change.changedPaths));
    source.watch();
    cleanups.push(() => {
      offConfig();
      source.close();
    });

    async function applyChange(plan: ReloadPlan, changed: readonly string[]): Promise<void> {
      if (plan.hot.has("gateway-auth") || plan.hot.has("trusted-proxies") || plan.hot.has("allowed-origins")) ws.revalidate();
      await manager.reload(changed).catch((err: unknown) => log.error("channel reload failed", { err }));
      if (changed.some((path) => path === "models" || path.startsWith("models."))) models.lookAgain();
      if (plan.hot.has("heartbeat")) heartbeats.reload();
      if (plan.hot.has("cron")) cron.reload();
      if (plan.hot.has("mcp")) mcp.reload();
      health.refresh();
      if (plan.kind !== "restart") return;
      log.info(`config change requires gateway restart (${plan.restartPaths.join(", ")})`);
      await context.restart.schedule({ kind: "restart", reason: `config: ${plan.restartPaths.join(", ")}`, delayMs: 0 });
    }

    // Pi is heavy: loaded at the first connect or message, or when the gateway has been idle for a moment.
    let warmTimer: NodeJS.Timeout | undefined = setTimeout(warm, IDLE_WARM_MS);
    warmTimer.unref();
    function warm(): void {
      warmTimer = undefined;
      agents.warm().catch((err: unknown) => log.error("agent runtime not loaded", { err }));
    }
    function warmSoon(ms: number): void {
      if (!warmTimer) return;
      clearTimeout(warmTimer);
      warmTimer = setTimeout(warm, ms);
      warmTimer.unref();
    }
    const healthTimer = setInterval(() => health.refresh(), HEALTH_INTERVAL_MS);
    healthTimer.unref();
    cleanups.push(() => {
      clearTimeout(warmTimer);
      clearInterval(healthTimer);
    });

    const ready = (async (): Promise<void> => {
      await adoptSingleSender().catch((err: unknown) => log.error("owner not adopted", { err }));
      // What the ingress gate asks a store must be in memory before the first message.
      // One that cannot be read has said so; each turn in it says it to its sender, and the rest of the gateway works.
      for (const id of listAgentIds(config())) await sessions.storeFor(id).refresh().catch(() => undefined);
      await plugins.load();
      // Menus of platforms offer skills too.
      await registry.refreshSkills(resolveDefaultAgentId(config())).catch((err: unknown) => log.warn("skills not read", { err }));
      await plugins.service.startServices();
      if (!channelsOff) await manager.startAll();
      models.startProbes();
      await conversation.replay();
      await subagents.start();
      await announceRestart(context).catch((err: unknown) => log.warn("restart not announced", { err }));
      heartbeats.start();
      await cron.start();
      fireEvent(hooks, { type: "gateway", action: "startup", context: { cfg: config(), workspaceDir: resolveAgent(config(), resolveDefaultAgentId(config()), roots).workspaceDir } });
      void hooks.notify("gateway_start", { port: boundPort }, { port: boundPort });
      phase = "ready";
      const choice = await models.selectDefault(resolveDefaultAgentId(config()));
      log.info("ready", { model: `${choice.ref.provider}/${choice.ref.modelId}`, reason: choice.reason });
    })().catch((err: unknown) => log.error("start-up did not finish", { err }));

    /** A state directory with exactly one paired sender and no owner: that sender is the owner (spec decisions §7.1). */
    async function adoptSingleSender(): Promise<void> {
      if (hasOwner(config())) return;
      const senders = manager.plugins.flatMap((plugin) => [...new Set(plugin.config.listAccountIds(config()).flatMap((id) => [...pairing.allowFrom(plugin.id, id)]))].map((id) => `${plugin.id}:${id}`));
      const [only] = senders;
      if (senders.length !== 1 || only === undefined) return;
      await addOwner(source.writer, config(), only);
      log.warn("the only paired sender is now the owner of this installation", { owner: only, undo: "openclaw config unset commands.ownerAllowFrom" });
    }

    let closing: "stop" | "restart" | undefined;
    const scheme = tls ? "https" : "http";
    const authNow = auth.current();
    return {
      port: boundPort,
      url: `${scheme}://127.0.0.1:${boundPort}`,
      token: authNow.mode === "token" ? authNow.token : undefined,
      ready,
      context,
      onRestart: (listener) => restarts.on(listener),
      async close(reason) {
        if (closing) return;
        closing = reason;
        phase = "draining";
        stopping.abort();
        log.info(reason === "restart" ? "restarting" : "stopping");
        await hooks.notify("gateway_stop", { reason: "gateway stopping" }, { port: boundPort });
        await plugins.service.stopServices();
        await manager.stopAll().catch((err: unknown) => log.error("channels not stopped", { err }));
        cron.quiesce();
        const subagentsStopped = subagents.stop();
        await conversation.drain(DRAIN_MS);
        await subagentsStopped;
        await outbox.stop();
        health.close();
        await sessions.close().catch((err: unknown) => log.error("sessions not flushed", { err }));
        for (const cleanup of cleanups.toReversed()) await Promise.resolve(cleanup()).catch((err: unknown) => log.error("clean-up failed", { reason: errorText(err) }));
      },
    };
  }
}

function existing(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
}

/** Flags of this start over the file; the file is not changed. */
function overlay(cfg: OpenClawConfig, overrides: GatewayOverrides | undefined): OpenClawConfig {
  if (!overrides || Object.values(overrides).every((value) => value === undefined)) return cfg;
  const { bind, auth, token, password, tailscale } = overrides;
  const gateway = {
    ...cfg.gateway,
    ...(bind === undefined ? {} : { bind }),
    auth: {
      ...cfg.gateway?.auth, ...(auth === undefined ? {} : { mode: auth }), ...(token === undefined ? {} : { token, mode: auth ?? "token" }),
      ...(password === undefined ? {} : { password, mode: auth ?? "password" }),
    },
    ...(tailscale === undefined ? {} : { tailscale: { ...cfg.gateway?.tailscale, mode: tailscale } }),
  };
  return { ...cfg, gateway: gateway as OpenClawConfig["gateway"] };
}

/** For channels that gate for themselves: only who is named, never `*`. */
function isOwnerId(plugin: ChannelPlugin | undefined, ownerIds: readonly string[], channel: string, senderId: string): boolean {
  const plain = (entry: string): string => {
    const own = entry.trim().toLowerCase().startsWith(`${channel}:`) ? entry.trim().slice(channel.length + 1) : entry.trim();
    return plugin?.security?.normalizeEntry(own) ?? own.toLowerCase();
  };
  const id = plain(senderId);
  return id !== "" && ownerIds.some((entry) => entry.trim() !== "*" && plain(entry) === id);
}

function ownerIdsOf(cfg: OpenClawConfig, plugin: { id: string; config: { resolveAccount(cfg: OpenClawConfig, id: string): unknown; resolveAllowFrom?(account: unknown): readonly string[] } } | undefined, accountId: string): readonly string[] {
  if (cfg.commands?.ownerAllowFrom?.length) return cfg.commands.ownerAllowFrom.map(String);
  if (!plugin?.config.resolveAllowFrom) return [];
  return plugin.config.resolveAllowFrom(plugin.config.resolveAccount(cfg, accountId)).filter((entry) => entry !== "*");
}
