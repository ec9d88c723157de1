import type { OpenClawConfig } from "../config/index.ts";

const CANVAS = ["canvas.present", "canvas.hide", "canvas.navigate", "canvas.eval", "canvas.snapshot", "canvas.a2ui.push", "canvas.a2ui.pushJSONL", "canvas.a2ui.reset"];
const APP = [...CANVAS, "camera.list", "location.get", "device.info", "device.status", "contacts.search", "calendar.events", "reminders.list", "photos.latest", "motion.activity", "motion.pedometer"];
const HOST = ["system.run", "system.which", "system.notify", "browser.proxy"];
const DEFAULTS: Readonly<Record<NodePlatform, readonly string[]>> = {
  ios: [...APP, "system.notify"], android: APP, macos: [...APP, ...HOST], linux: HOST, windows: HOST, unknown: [...CANVAS, "camera.list", "location.get", ...HOST],
};

type NodePlatform = "ios" | "android" | "macos" | "linux" | "windows" | "unknown";

const PREFIXES: readonly (readonly [string, NodePlatform])[] = [["ios", "ios"], ["android", "android"], ["mac", "macos"], ["darwin", "macos"], ["win", "windows"], ["linux", "linux"]];

/** By prefix of the platform, else of the device family. */
function platformOf(node: { readonly platform?: string | undefined; readonly deviceFamily?: string | undefined }): NodePlatform {
  for (const text of [node.platform, node.deviceFamily]) {
    const name = text?.trim().toLowerCase() ?? "";
    const hit = PREFIXES.find(([prefix]) => name.startsWith(prefix));
    if (hit) return hit[1];
  }
  return "unknown";
}

/**
 * What a node may be asked to do: what its platform has by default and `gateway.nodes.allowCommands` adds, without
 * `denyCommands`. Cameras, screens, writing and messages are off until they are allowed. Source: spec gateway-methods §4.8.
 */
export function allowedNodeCommands(config: OpenClawConfig, node: { readonly platform?: string | undefined; readonly deviceFamily?: string | undefined }): ReadonlySet<string> {
  const { allowCommands = [], denyCommands = [] } = config.gateway?.nodes ?? {};
  const denied = new Set(denyCommands.map((name) => name.trim()));
  return new Set([...DEFAULTS[platformOf(node)], ...allowCommands.map((name) => name.trim())].filter((name) => name !== "" && !denied.has(name)));
}
