import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { ChannelPlugin } from "../channels/contract/index.ts";
import type { ConfigSnapshot } from "../config/index.ts";
import { systemClock } from "../infra/clock.ts";
import { errorText } from "../infra/errors.ts";
import { silentLogger } from "../infra/log.ts";
import type { PluginCatalog, PluginService } from "../plugins/index.ts";
import type { PluginTrial } from "../plugins/install/index.ts";
import type { PluginRuntime } from "../plugins/runtime/index.ts";
import { resolveAgent, resolveDefaultAgentId } from "../routing/index.ts";
import type { Cli } from "./cli.ts";
import { createCliLogger, createWriter, tolerateConfig } from "./config-access.ts";
import { agentRoots, builtInChannels, openSessions } from "./library.ts";
import { fieldsOf, textOf } from "./read.ts";
import { callGateway } from "./rpc.ts";

/** What lies on disk; no code of a plugin runs. */
export async function openCatalog(cli: Cli): Promise<PluginCatalog> {
  const { openPluginCatalog } = await import("../plugins/index.ts");
  return openPluginCatalog({ env: cli.env, stateDir: cli.paths.stateDir, packageRoot: cli.packageRoot, roots: agentRoots(cli), clock: systemClock });
}

interface LoadPluginsOptions {
  /** Also the plugin that brings this channel, though it is off. */
  readonly alsoChannel?: string | undefined;
  /** The caller says itself what went wrong. */
  readonly isQuiet?: boolean | undefined;
}

/** Plugins loaded into this command. */
export async function loadPlugins(cli: Cli, snapshot: ConfigSnapshot, { alsoChannel, isQuiet = false }: LoadPluginsOptions = {}): Promise<PluginService> {
  const { createHookRunner, createPluginService, guardProcess } = await import("../plugins/index.ts");
  const log = isQuiet ? silentLogger : createCliLogger(cli, "error");
  let made: Promise<PluginRuntime> | undefined;
  const runtime = (): Promise<PluginRuntime> => (made ??= createRuntime(cli, snapshot));
  const service = createPluginService({
    config: () => snapshot.config, log, catalog: await openCatalog(cli), hooks: createHookRunner(log, () => undefined), stateDir: cli.paths.stateDir, host: undefined,
    workspaceDir: () => resolveAgent(snapshot.config, resolveDefaultAgentId(snapshot.config), agentRoots(cli)).workspaceDir,
    async loadSdk() {
      const { createPluginSdk, offlineHost } = await import("../plugin-sdk/index.ts");
      return createPluginSdk(offlineHost(await runtime()));
    },
    createRuntime: runtime,
  });
  if (!cli.isGuarded) {
    cli.isGuarded = true;
    guardProcess({ log: createCliLogger(cli, "error"), ownerOf: (err) => service.ownerOf(err), onFault: (pluginId, text) => service.report(pluginId, text) });
  }
  await service.load({ alsoChannel });
  return service;
}

/** Loads one plugin on trial from its folder, as if it were the only one. */
export async function tryPlugin(cli: Cli, snapshot: ConfigSnapshot, dir: string, id: string): Promise<PluginTrial> {
  const config = { ...snapshot.config, plugins: { ...snapshot.config.plugins, enabled: true, allow: [id], load: { paths: [dir] }, entries: { [id]: { enabled: true, ...snapshot.config.plugins?.entries?.[id] } }, slots: { memory: id } } };
  const record = (await loadPlugins(cli, { ...snapshot, config }, { isQuiet: true })).list().plugins.find((plugin) => plugin.id === id);
  if (!record) return { kind: "broken", reason: "it was not found in its folder" };
  if (record.status === "loaded") return { kind: "ok" };
  const reason = record.error ?? "it did not load";
  // What `register` throws without settings may be the settings.
  return reason.startsWith("failed to load plugin") ? { kind: "broken", reason } : { kind: "unconfigured", reason };
}

/** `api.runtime` without a gateway: files and settings are there, what is sent goes through the running one. */
async function createRuntime(cli: Cli, snapshot: ConfigSnapshot): Promise<PluginRuntime> {
  const [{ createPluginRuntime }, { createChannelPairingStore }, { createImageWorker }] = await Promise.all([import("../plugins/runtime/index.ts"), import("../pairing/index.ts"), import("../media/index.ts")]);
  const log = createCliLogger(cli, "error");
  const onlyInGateway = (what: string) => async (): Promise<never> => {
    throw new Error(`${what} works inside the gateway only.`);
  };
  return createPluginRuntime({
    version: cli.version, config: () => snapshot.config, stateDir: cli.paths.stateDir, sessions: await openSessions(cli, snapshot), pairing: createChannelPairingStore({ stateDir: cli.paths.stateDir, clock: systemClock, log }),
    images: createImageWorker(), log, now: Date.now, isVerbose: () => false, isCommand: () => false, hasNativeCommands: () => false, onAgentEvent: () => () => undefined,
    systemEvents: {
      push() {
        throw new Error("A system event needs the gateway.");
      },
    },
    async writeConfig(next) {
      await createWriter(cli).replace(next);
    },
    async sendToChannel({ channel, to, text, mediaUrl, accountId, threadId }) {
      const sent = fieldsOf(await callGateway(cli, { timeout: 60_000 }, "send", { channel, to, message: text, idempotencyKey: randomUUID(), ...(mediaUrl ? { mediaUrl } : {}), ...(accountId ? { accountId } : {}), ...(threadId ? { threadId } : {}) }));
      return { channel, messageId: textOf(sent["messageId"]) };
    },
    sendPollToChannel: onlyInGateway("A poll"), probeChannel: onlyInGateway("A probe"), channelAction: onlyInGateway("A message action"), dispatch: onlyInGateway("An agent run"), listChannelActions: () => [],
  });
}

/** Commands that plugins bring; one whose name is taken is left out. Source: spec plugin-sdk §11. */
export async function addPluginCommands(program: Command, cli: Cli): Promise<void> {
  const snapshot = await tolerateConfig(cli);
  const service = await loadPlugins(cli, snapshot);
  const log = createCliLogger(cli, "error");
  const { workspaceDir } = service.list();
  for (const { pluginId, commands, register } of service.registry.cli) {
    if (commands.some((name) => program.commands.some((known) => known.name() === name || known.aliases().includes(name)))) continue;
    try {
      await register({ program, config: snapshot.config, workspaceDir, logger: log });
    } catch (err) {
      log.error(`plugin CLI register failed (${pluginId}): ${errorText(err)}`, { pluginId });
    }
  }
}

/** Every channel that there is, those of plugins too. */
export async function allChannels(cli: Cli, snapshot: ConfigSnapshot, wanted?: string): Promise<readonly ChannelPlugin[]> {
  const { toChannelPlugin } = await import("../plugins/index.ts");
  const own = await builtInChannels(cli);
  const service = await loadPlugins(cli, snapshot, { alsoChannel: wanted });
  const brought = service.channels().map((offer) => toChannelPlugin(offer, createCliLogger(cli, "error")));
  return [...own.filter(({ id }) => !brought.some((channel) => channel.id === id)), ...brought];
}
