/** Names, groups and profiles of tools, and the matching of allow and deny lists. Source: spec tools-and-automation §2. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "group:fs": ["read", "write", "edit", "apply_patch"],
  "group:runtime": ["exec", "process"],
  "group:web": ["web_search", "web_fetch"],
  "group:memory": ["memory_search", "memory_get"],
  "group:sessions": ["sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "subagents", "session_status"],
  "group:ui": ["browser", "canvas"],
  "group:messaging": ["message"],
  "group:automation": ["cron", "gateway"],
  "group:nodes": ["nodes"],
  "group:agents": ["agents_list"],
  "group:media": ["image", "pdf", "tts"],
};

export const CORE_TOOL_NAMES: readonly string[] = Object.values(GROUPS).flat();

export const TOOL_PROFILES: Readonly<Record<string, readonly string[] | undefined>> = {
  minimal: ["session_status"],
  coding: [
    "read", "write", "edit", "apply_patch", "exec", "process", "memory_search", "memory_get", "sessions_list", "sessions_history",
    "sessions_send", "sessions_spawn", "subagents", "session_status", "cron", "image",
  ],
  messaging: ["sessions_list", "sessions_history", "sessions_send", "session_status", "message"],
  full: undefined,
};

/** Tools that a run whose weakest sender is no owner does not get (spec decisions §7.2). */
export const OWNER_TRUST_TOOLS: readonly string[] = ["exec", "process", "write", "edit", "apply_patch", "nodes", "canvas", "browser", "gateway"];

export interface ToolNameInfo {
  readonly name: string;
  readonly pluginId?: string | undefined;
  readonly mcpServer?: string | undefined;
}

const ALIASES: Readonly<Record<string, string>> = { bash: "exec", "apply-patch": "apply_patch" };

/** Does one entry of a list name this tool? Case-insensitive, `*` globs, groups, plugin ids. */
export function matchesToolEntry(entry: string, tool: ToolNameInfo): boolean {
  const wanted = ALIASES[entry.trim().toLowerCase()] ?? entry.trim().toLowerCase();
  const name = tool.name.toLowerCase();
  if (wanted === "*") return true;
  if (wanted === "group:mcp") return tool.mcpServer !== undefined;
  if (wanted === "group:plugins") return tool.pluginId !== undefined;
  if (wanted === "group:openclaw") {
    return tool.pluginId === undefined && tool.mcpServer === undefined && !GROUPS["group:fs"]?.includes(name) && !GROUPS["group:runtime"]?.includes(name);
  }
  const group = GROUPS[wanted];
  if (group) return group.includes(name);
  if (wanted === tool.pluginId || wanted === tool.mcpServer?.toLowerCase()) return true;
  if (wanted === "exec" && name === "apply_patch") return true;
  if (!wanted.includes("*")) return wanted === name;
  return new RegExp(`^${wanted.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`).test(name);
}

export function matchesAnyEntry(entries: readonly string[], tool: ToolNameInfo): boolean {
  return entries.some((entry) => matchesToolEntry(entry, tool));
}
