import type { OpenClawConfig } from "../config/index.ts";
import type { PluginManifest, PluginOrigin } from "./types.ts";

export type EnableState = { readonly enabled: true } | { readonly enabled: false; readonly reason: string };

/** Bundled plugins that are on without being asked for. Source: spec plugin-sdk §3. */
const BUNDLED_ON = new Set(["device-pair", "phone-control", "talk-voice"]);
const DEFAULT_MEMORY_PLUGIN = "memory-core";

/** The plugin that fills the memory slot; undefined: none. */
export function memorySlot(config: OpenClawConfig): string | undefined {
  const slot = config.plugins?.slots?.memory?.trim();
  if (slot === undefined || slot === "") return DEFAULT_MEMORY_PLUGIN;
  return slot.toLowerCase() === "none" ? undefined : slot;
}

/** First rule that matches. Source: spec plugin-sdk §3; a bundled channel is on as soon as its section is there. */
export function enableState(config: OpenClawConfig, plugin: { readonly origin: PluginOrigin; readonly manifest: PluginManifest }, env: Readonly<Record<string, string | undefined>>): EnableState {
  const { id } = plugin.manifest;
  const { enabled, allow = [], deny = [], slots, entries } = config.plugins ?? {};
  const off = (reason: string): EnableState => ({ enabled: false, reason });
  if (enabled === false) return off("plugins disabled");
  if (deny.includes(id)) return off("blocked by denylist");
  if (allow.length > 0 && !allow.includes(id) && !(plugin.origin === "bundled" && hasChannelSection(config, plugin.manifest, env))) return off("not in allowlist");
  if (slots?.memory === id) return { enabled: true };
  const entry = entries?.[id]?.enabled;
  if (entry === true) return memoryState(config, plugin.manifest);
  if (entry === false) return off("disabled in config");
  if (plugin.origin !== "bundled") return memoryState(config, plugin.manifest);
  if (BUNDLED_ON.has(id) || hasChannelSection(config, plugin.manifest, env)) return memoryState(config, plugin.manifest);
  return off("bundled (disabled by default)");
}

function hasChannelSection(config: OpenClawConfig, manifest: PluginManifest, env: Readonly<Record<string, string | undefined>>): boolean {
  const sections = (config.channels ?? {}) as Readonly<Record<string, { readonly enabled?: unknown } | undefined>>;
  const present = manifest.channels.map((id) => sections[id]).filter((section) => typeof section === "object" && section !== null);
  if (present.length > 0) return present.some((section) => section?.enabled !== false);
  return manifest.activationEnv.some((name) => (env[name] ?? "").trim() !== "");
}

/** Only one memory plugin is on: the one in the slot. */
export function memoryState(config: OpenClawConfig, manifest: Pick<PluginManifest, "id" | "kind">): EnableState {
  if (manifest.kind !== "memory") return { enabled: true };
  const slot = memorySlot(config);
  if (slot === manifest.id) return { enabled: true };
  return { enabled: false, reason: slot === undefined ? "memory slot disabled" : `memory slot set to "${slot}"` };
}
