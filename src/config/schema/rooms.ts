import { isPlainObject } from "../json-value.ts";

/**
 * Prefixes of the keys that the product honours. A known key outside of them is accepted and does nothing yet: one warning at
 * start, and a line in `doctor` (spec: decisions §1.3).
 */
export const HONOURED_PREFIXES: readonly string[] = [
  "$schema",
  "meta",
  "env",
  "wizard",
  "logging",
  "auth",
  "models",
  "heartbeat",
  "agents",
  "tools",
  "bindings",
  "broadcast",
  "messages",
  "commands",
  "session",
  "cron",
  "approvals",
  "browser",
  "mcp",
  "gateway",
  "channels",
  "skills",
  "audio",
  "hooks.internal.enabled",
  "plugins",
];

/** Parts of honoured sections that have no effect yet; `*` stands for any one key or list item. */
const WITHOUT_EFFECT: readonly string[] = [
  ...["agents.defaults", "agents.list.*"].flatMap((agent) => [
    `${agent}.memorySearch`, `${agent}.cliBackends`, `${agent}.sandbox.browser`,
    `${agent}.timeFormat`, `${agent}.mediaMaxMb`,
  ]),
  "session.threadBindings",
  "messages.tts", "messages.messagePrefix",
  "tools.exec.node", "agents.list.*.tools.exec.node", "tools.message.crossContext.marker",
  "canvasHost.port", "gateway.nodes.browser", "gateway.tailscale.resetOnExit", "gateway.channelHealthCheckMinutes",
  "logging.redactPatterns", "logging.redactSensitive", "skills.install", 
  "channels.modelByChannel",
  "agents.defaults.subagents.announceTimeoutMs", "agents.defaults.models.*.streaming", "browser.remoteCdpTimeoutMs",
  ...["transport", "sshTarget", "sshIdentity"].map((key) => `gateway.remote.${key}`), "gateway.tls.autoGenerate", "gateway.tls.caPath",
  ...["maxUrlParts", "files", "images"].map((key) => `gateway.http.endpoints.responses.${key}`),
  ...["channels.telegram", "channels.telegram.accounts.*"].flatMap((telegram) => [`${telegram}.retry`, `${telegram}.draftChunk`]),
  "channels.feishu.capabilities", "channels.feishu.accounts.*.capabilities",
];

/** Channels that are built in; others need a plugin, or are accepted and do nothing yet. */
export const BUILT_IN_CHANNELS: readonly string[] = ["telegram", "feishu"];
const CHANNEL_SECTIONS: ReadonlySet<string> = new Set([...BUILT_IN_CHANNELS, "defaults", "modelByChannel"]);

/** Paths of keys of a configuration that nothing honours yet: the topmost ones. `channelIds`: channels that plugins bring. */
export function findUnusedKeys(config: unknown, channelIds: ReadonlySet<string> = new Set(), honoured: readonly string[] = HONOURED_PREFIXES): (readonly string[])[] {
  const unused: (readonly string[])[] = [];
  const visit = (value: unknown, keys: readonly string[]): void => {
    const path = keys.join(".");
    const [root, section] = keys;
    if (WITHOUT_EFFECT.some((pattern) => matches(pattern, keys)) || (root === "channels" && section !== undefined && keys.length === 2 && !CHANNEL_SECTIONS.has(section) && !channelIds.has(section))) {
      unused.push(keys);
      return;
    }
    const inside = keys.length === 0 || honoured.some((prefix) => path === prefix || path.startsWith(`${prefix}.`) || prefix.startsWith(`${path}.`));
    if (!inside) unused.push(keys);
    else if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, [...keys, String(index)]);
    else if (isPlainObject(value)) for (const [key, item] of Object.entries(value)) visit(item, [...keys, key]);
  };
  visit(config, []);
  return unused;
}

function matches(pattern: string, keys: readonly string[]): boolean {
  const parts = pattern.split(".");
  return parts.length === keys.length && parts.every((part, i) => part === "*" || part === keys[i]);
}
