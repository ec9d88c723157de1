import { join } from "node:path";
import { type ConfigPath, getAtPath } from "./config-path.ts";
import { isInside } from "./env.ts";
import { isPlainObject, type PlainObject } from "./json-value.ts";
import { absolute, type StatePaths } from "./paths.ts";
import { keyTable } from "./schema/table.ts";

/** What the rest of the product knows; checks whose list is absent are not made. */
export interface ConfigKnowledge {
  /** Ids of channels, built in or declared by installed plugins. */
  readonly channelIds?: ReadonlySet<string> | undefined;
  /** What brings a channel that is not there, by its id: something that `openclaw plugins install` takes. */
  readonly channelSources?: ReadonlyMap<string, string> | undefined;
  readonly pluginIds?: ReadonlySet<string> | undefined;
  /** Faults of a plugin's own settings, one sentence each. */
  readonly validatePluginConfig?: ((pluginId: string, config: unknown) => readonly string[]) | undefined;
}

export interface SemanticFinding {
  readonly path: ConfigPath;
  readonly message: string;
  /** `error` refuses the configuration; `warning` starts with it but refuses a write that brings it. */
  readonly severity: "error" | "warning";
}

/** Checks beyond types (spec: cli-and-ui §1.3). `config` may be malformed: what cannot be read is passed over. */
export function checkSemantics(config: unknown, paths: StatePaths, known: ConfigKnowledge): SemanticFinding[] {
  return [
    ...checkAgents(config, paths),
    ...checkHeartbeatTargets(config, known),
    ...checkChannels(config, known),
    ...checkPlugins(config, known),
    ...checkMainKey(config),
  ];
}

const error = (path: ConfigPath, message: string): SemanticFinding => ({ path, message, severity: "error" });
const warning = (path: ConfigPath, message: string): SemanticFinding => ({ path, message, severity: "warning" });

const objectAt = (config: unknown, ...path: ConfigPath): PlainObject => {
  const value = getAtPath(config, path);
  return isPlainObject(value) ? value : {};
};

const agentEntries = (config: unknown): readonly (readonly [number, PlainObject])[] => {
  const list = getAtPath(config, ["agents", "list"]);
  return Array.isArray(list)
    ? [...(list as unknown[]).entries()].filter((entry): entry is [number, PlainObject] => isPlainObject(entry[1]))
    : [];
};

function checkAgents(config: unknown, paths: StatePaths): SemanticFinding[] {
  const findings: SemanticFinding[] = [];
  const dirs = new Map<string, string>();
  for (const [i, agent] of agentEntries(config)) {
    const id = String(agent["id"]).trim().toLowerCase();
    const given = agent["agentDir"];
    const dir =
      typeof given === "string" && given.trim() !== ""
        ? absolute(given.trim(), paths.home, paths.stateDir)
        : join(paths.agentsDir, id, "agent");
    const other = dirs.get(dir);
    if (other !== undefined) {
      findings.push(
        error(
          ["agents", "list"],
          `agents "${other}" and "${id}" share the directory ${dir}; give each its own id and agentDir`,
        ),
      );
    }
    dirs.set(dir, id);
    const avatar = objectAt(agent, "identity")["avatar"];
    if (typeof avatar === "string") {
      const fault = avatarFault(avatar, workspaceOf(config, agent, paths));
      if (fault !== undefined) findings.push(error(["agents", "list", i, "identity", "avatar"], fault));
    }
  }
  return findings;
}

function workspaceOf(config: unknown, agent: PlainObject, paths: StatePaths): string {
  const workspace = agent["workspace"] ?? objectAt(config, "agents", "defaults")["workspace"];
  return typeof workspace === "string" && workspace.trim() !== ""
    ? absolute(workspace, paths.home, paths.stateDir)
    : paths.defaultWorkspace;
}

function avatarFault(avatar: string, workspace: string): string | undefined {
  const value = avatar.trim();
  if (value === "" || /^https?:\/\//i.test(value) || /^data:image\//i.test(value)) return undefined;
  if (value.startsWith("~")) return "identity.avatar must not begin with ~; use a path inside the workspace";
  if (/^[a-z][a-z0-9+.-]*:/i.test(value))
    return "identity.avatar must be an http(s) or data URL or a path inside the workspace";
  return isInside(absolute(value, workspace, workspace), workspace)
    ? undefined
    : "identity.avatar must stay inside the workspace";
}

function checkHeartbeatTargets(config: unknown, known: ConfigKnowledge): SemanticFinding[] {
  const ids = new Set([
    ...(keyTable().children.get("channels")?.children.keys() ?? []),
    ...Object.keys(objectAt(config, "channels")),
    ...(known.channelIds ?? []),
  ]);
  const places: ConfigPath[] = [
    ["agents", "defaults"],
    ...agentEntries(config).map(([i]) => ["agents", "list", i] as const),
  ];
  return places.flatMap((place) => {
    const path = [...place, "heartbeat", "target"];
    const target = getAtPath(config, path);
    if (typeof target !== "string") return [];
    const name = target.trim().toLowerCase();
    if (name === "") return [error(path, 'heartbeat target must not be empty; use "last", "none" or a channel id')];
    if (name === "last" || name === "none" || (ids.has(name) && name !== "defaults" && name !== "modelbychannel"))
      return [];
    const message = `unknown heartbeat target: ${target}`;
    return [known.channelIds ? error(path, message) : warning(path, message)];
  });
}

const unknownChannel = (id: string, source: string | undefined): string => `unknown channel id: ${id}${source === undefined ? "" : `; install the plugin that brings it: openclaw plugins install ${source}`}`;

function checkChannels(config: unknown, known: ConfigKnowledge): SemanticFinding[] {
  const findings: SemanticFinding[] = [];
  for (const [id, channel] of Object.entries(objectAt(config, "channels"))) {
    if (id === "defaults" || id === "modelByChannel") continue;
    if (known.channelIds && !known.channelIds.has(id) && !keyTable().children.get("channels")?.children.has(id))
      findings.push(warning(["channels", id], unknownChannel(id, known.channelSources?.get(id))));
    if (!isPlainObject(channel)) continue;
    findings.push(...checkOpenPolicy(channel, undefined, ["channels", id]));
    for (const [accountId, account] of Object.entries(objectAt(channel, "accounts"))) {
      if (isPlainObject(account))
        findings.push(...checkOpenPolicy(account, channel, ["channels", id, "accounts", accountId]));
    }
    if (id === "telegram") findings.push(...checkTelegramTokens(channel));
  }
  return findings;
}

/** `dmPolicy: "open"` must be said twice: also as `"*"` in allowFrom. */
function checkOpenPolicy(channel: PlainObject, base: PlainObject | undefined, path: ConfigPath): SemanticFinding[] {
  const findings: SemanticFinding[] = [];
  const allowFrom = channel["allowFrom"] ?? base?.["allowFrom"];
  if (channel["dmPolicy"] === "open" && !admitsAll(allowFrom)) {
    findings.push(error([...path, "allowFrom"], `dmPolicy="open" requires allowFrom to include "*"`));
  }
  const dm = objectAt(channel, "dm");
  if (dm["policy"] === "open" && !admitsAll(dm["allowFrom"] ?? allowFrom)) {
    findings.push(error([...path, "dm", "allowFrom"], `dm.policy="open" requires dm.allowFrom to include "*"`));
  }
  return findings;
}

const admitsAll = (list: unknown): boolean => Array.isArray(list) && list.some((entry) => String(entry).trim() === "*");

function checkTelegramTokens(channel: PlainObject): SemanticFinding[] {
  const { token, botToken } = channel;
  if (typeof token !== "string" || typeof botToken !== "string" || token === botToken) return [];
  return [
    error(["channels", "telegram", "token"], "token and botToken are two names of one thing and differ; keep botToken"),
  ];
}

function checkPlugins(config: unknown, known: ConfigKnowledge): SemanticFinding[] {
  const findings: SemanticFinding[] = [];
  const plugins = objectAt(config, "plugins");
  const check = (id: unknown, path: ConfigPath): void => {
    if (typeof id !== "string" || id === "none" || id === "*" || !known.pluginIds || known.pluginIds.has(id)) return;
    findings.push(warning(path, `plugin not found: ${id}`));
  };
  for (const key of ["allow", "deny"]) {
    const list = plugins[key];
    if (Array.isArray(list)) list.forEach((id: unknown) => check(id, ["plugins", key]));
  }
  check(objectAt(plugins, "slots")["memory"], ["plugins", "slots", "memory"]);
  for (const [id, entry] of Object.entries(objectAt(plugins, "entries"))) {
    check(id, ["plugins", "entries", id]);
    if (!isPlainObject(entry) || !known.validatePluginConfig) continue;
    const isOff = entry["enabled"] === false;
    const isUnset = entry["config"] === undefined;
    if (isOff && isUnset) continue;
    for (const fault of known.validatePluginConfig(id, entry["config"] ?? {})) {
      const path = ["plugins", "entries", id, "config"];
      // One that has just been installed waits for its settings; that is no reason for the gateway not to start.
      findings.push(isOff || isUnset ? warning(path, `invalid config: ${fault}`) : error(path, `invalid config: ${fault}`));
    }
  }
  return findings;
}

function checkMainKey(config: unknown): SemanticFinding[] {
  const mainKey = objectAt(config, "session")["mainKey"];
  return typeof mainKey === "string" && mainKey !== "main"
    ? [warning(["session", "mainKey"], `session.mainKey is always "main"; "${mainKey}" is ignored`)]
    : [];
}
