import type { ChannelPlugin } from "../channels/contract/index.ts";
import type { ConfigSnapshot } from "../config/index.ts";
import { systemClock } from "../infra/clock.ts";
import type { PluginCatalog, PluginService } from "../plugins/index.ts";
import { resolveAgent, resolveDefaultAgentId } from "../routing/index.ts";
import type { Cli } from "./cli.ts";
import { createCliLogger } from "./config-access.ts";
import { agentRoots, builtInChannels } from "./library.ts";

/** What lies on disk; no code of a plugin runs. */
export async function openCatalog(cli: Cli): Promise<PluginCatalog> {
  const { openPluginCatalog } = await import("../plugins/index.ts");
  return openPluginCatalog({ env: cli.env, stateDir: cli.paths.stateDir, packageRoot: cli.packageRoot, roots: agentRoots(cli), clock: systemClock });
}

/** Plugins loaded into this command; `alsoChannel`: also the one that brings this channel, though it is off. */
export async function loadPlugins(cli: Cli, snapshot: ConfigSnapshot, alsoChannel?: string): Promise<PluginService> {
  const { createHookRunner, createPluginService } = await import("../plugins/index.ts");
  const log = createCliLogger(cli, "error");
  const service = createPluginService({
    config: () => snapshot.config, log, catalog: await openCatalog(cli), hooks: createHookRunner(log, () => undefined), stateDir: cli.paths.stateDir, host: undefined,
    workspaceDir: () => resolveAgent(snapshot.config, resolveDefaultAgentId(snapshot.config), agentRoots(cli)).workspaceDir,
    loadSdk: () => import("../plugin-sdk/index.ts"), createRuntime: async () => ({ version: cli.version }),
  });
  await service.load({ alsoChannel });
  return service;
}

/** Every channel that there is, those of plugins too. */
export async function allChannels(cli: Cli, snapshot: ConfigSnapshot, wanted?: string): Promise<readonly ChannelPlugin[]> {
  const { toChannelPlugin } = await import("../plugins/index.ts");
  const own = await builtInChannels(cli);
  const service = await loadPlugins(cli, snapshot, wanted);
  const brought = service.channels().map((offer) => toChannelPlugin(offer, createCliLogger(cli, "error")));
  return [...own.filter(({ id }) => !brought.some((channel) => channel.id === id)), ...brought];
}
