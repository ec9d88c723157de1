import { join } from "node:path";
import { BUILT_IN_CHANNELS, type ConfigKnowledge, type OpenClawConfig } from "../config/index.ts";
import type { Clock } from "../infra/clock.ts";
import { discoverPlugins, type Discovery } from "./discovery.ts";
import { readExternalCatalog } from "./external-catalog.ts";
import { enableState } from "./enable-state.ts";
import type { PluginTrust } from "./trust.ts";
import type { PluginCandidate, PluginDiagnostic, PluginRecord } from "./types.ts";

export interface PluginCatalogOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly bundledDir: string | undefined;
  /** Workspaces of the agents, the default agent's first. */
  readonly workspaceDirs: (config: OpenClawConfig) => readonly string[];
  readonly clock: Clock;
  readonly trust: Pick<PluginTrust, "isTrusted">;
}

/** What lies on disk and what the config says of it; no code of a plugin runs. */
export interface PluginCatalog {
  discover(config: OpenClawConfig): Promise<Discovery>;
  /** What validation may know of plugins and their channels. */
  knowledge(config: unknown): Promise<ConfigKnowledge>;
  /** Every plugin with whether it is on and why not. */
  inspect(config: OpenClawConfig): Promise<{ readonly plugins: PluginRecord[]; readonly diagnostics: readonly PluginDiagnostic[] }>;
  recordOf(candidate: PluginCandidate, config: OpenClawConfig): PluginRecord;
}

/** A burst of validations reads the disk once. Source: spec plugin-sdk §1. */
const CACHE_MS = 200;

/** Ids of plugins that the reference brings and we have as rooms of our own, or not yet: valid in a config. Source: spec plugin-sdk §14. */
const REFERENCE_PLUGINS =
  "bluebubbles copilot-proxy device-pair diagnostics-otel discord feishu google-gemini-cli-auth googlechat imessage irc line llm-task lobster matrix mattermost memory-core memory-lancedb minimax-portal-auth msteams nextcloud-talk nostr open-prose phone-control qwen-portal-auth signal slack synology-chat talk-voice telegram thread-ownership tlon twitch voice-call whatsapp zalo zalouser".split(" ");

export function createPluginCatalog(options: PluginCatalogOptions): PluginCatalog {
  const { env, clock } = options;
  let last: { readonly key: string; readonly atMs: number; readonly found: Promise<Discovery> } | undefined;

  function discover(config: OpenClawConfig): Promise<Discovery> {
    const workspaceDirs = options.workspaceDirs(config);
    const key = JSON.stringify([workspaceDirs, config.plugins?.load?.paths]);
    const cacheMs = env["OPENCLAW_DISABLE_PLUGIN_MANIFEST_CACHE"] === "1" ? 0 : Number(env["OPENCLAW_PLUGIN_MANIFEST_CACHE_MS"] ?? CACHE_MS);
    if (last?.key === key && clock.now() - last.atMs < cacheMs) return last.found;
    const found = discoverPlugins(config, { stateDir: options.stateDir, workspaceDirs, bundledDir: options.bundledDir, isTrusted: (path) => options.trust.isTrusted(path) });
    last = { key, atMs: clock.now(), found };
    return found;
  }

  function recordOf({ manifest, origin, entry, workspaceDir, overriddenBy }: PluginCandidate, config: OpenClawConfig): PluginRecord {
    const state = overriddenBy ? { enabled: false as const, reason: `overridden by ${overriddenBy} plugin` } : enableState(config, { origin, manifest }, env);
    return {
      id: manifest.id, name: manifest.name ?? manifest.id, version: manifest.version, description: manifest.description, kind: manifest.kind, source: entry, origin, workspaceDir,
      enabled: state.enabled, status: "disabled", error: state.enabled ? undefined : state.reason,
      toolNames: [], hookNames: [], channelIds: [], providerIds: [], gatewayMethods: [], cliCommands: [], services: [], commands: [], httpHandlers: 0, hookCount: 0,
      configSchema: true, configUiHints: manifest.uiHints, configJsonSchema: manifest.configSchema,
    };
  }

  return {
    discover,
    recordOf,
    async knowledge(given) {
      const config = (given ?? {}) as OpenClawConfig;
      const { candidates } = await discover(config);
      const manifests = new Map(candidates.filter(({ overriddenBy }) => overriddenBy === undefined).map(({ manifest }) => [manifest.id, manifest]));
      const channelIds = new Set([...BUILT_IN_CHANNELS, ...[...manifests.values()].flatMap(({ channels }) => channels)]);
      const isMissing = Object.keys(config.channels ?? {}).some((id) => !channelIds.has(id) && id !== "defaults" && id !== "modelByChannel");
      const offered = isMissing ? (await readExternalCatalog({ env, stateDir: options.stateDir })).channels : [];
      const check = config.plugins?.entries === undefined ? undefined : (await import("./config-check.ts")).checkPluginConfig;
      return {
        channelIds,
        channelSources: new Map(offered.map(({ id, spec }) => [id, spec])),
        pluginIds: new Set([...manifests.keys(), ...REFERENCE_PLUGINS]),
        validatePluginConfig: (id, value) => {
          const manifest = manifests.get(id);
          return manifest && check ? check(manifest, value) : [];
        },
      };
    },
    async inspect(config) {
      const { candidates, diagnostics } = await discover(config);
      return { plugins: candidates.map((candidate) => recordOf(candidate, config)), diagnostics };
    },
  };
}

/** Folders of skills that a plugin brings. */
export const skillDirsOf = ({ root, manifest }: PluginCandidate): string[] => manifest.skills.map((dir) => join(root, dir));
