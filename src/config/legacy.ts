import { type ConfigPath, formatConfigPath, getAtPath, setAtPath, unsetAtPath } from "./config-path.ts";
import { isPlainObject } from "./json-value.ts";

/** A key that older releases used and where it lives now (spec: cli-and-ui §1.8). `*` matches every list item. */
export interface LegacyRule {
  readonly from: readonly string[];
  readonly to: string;
  /** Moves the value; absent: by plain move to `to`. */
  readonly migrate?: (config: unknown, from: ConfigPath, value: unknown) => unknown;
}

export interface LegacyFinding {
  readonly path: ConfigPath;
  readonly message: string;
}

const move = (from: string, to: string): LegacyRule => ({ from: from.split("."), to });

const CHANNELS = ["whatsapp", "telegram", "discord", "slack", "signal", "imessage", "msteams"];

const AGENT_TO_TOOLS = ["tools.allow", "tools.deny", "elevated", "bash", "sandbox.tools", "subagents.tools"];

/** The rules in the order in which they migrate: parts before wholes. */
export const LEGACY_RULES: readonly LegacyRule[] = [
  { ...move("telegram.requireMention", "channels.telegram.groups.*.requireMention"), migrate: moveRequireMention },
  ...CHANNELS.map((id) => move(id, `channels.${id}`)),
  move("routing.allowFrom", "channels.whatsapp.allowFrom"),
  move("routing.bindings", "bindings"),
  { ...move("routing.agents", "agents.list"), migrate: moveAgentsMap },
  { ...move("routing.defaultAgentId", "agents.list[].default"), migrate: markDefaultAgent },
  move("routing.agentToAgent", "tools.agentToAgent"),
  {
    ...move("routing.groupChat.requireMention", 'channels.whatsapp|telegram|imessage.groups."*".requireMention'),
    migrate: moveRequireMention,
  },
  move("routing.groupChat.historyLimit", "messages.groupChat.historyLimit"),
  move("routing.groupChat.mentionPatterns", "messages.groupChat.mentionPatterns"),
  move("routing.queue", "messages.queue"),
  { ...move("routing.transcribeAudio", "tools.media.audio.models"), migrate: moveTranscribe },
  { ...move("identity", "agents.list[].identity"), migrate: moveIdentity },
  { ...move("agent.model", "agents.defaults.model"), migrate: moveModel("model") },
  { ...move("agent.imageModel", "agents.defaults.imageModel"), migrate: moveModel("imageModel") },
  { ...move("agent.modelFallbacks", "agents.defaults.model.fallbacks"), migrate: moveFallbacks("model") },
  {
    ...move("agent.imageModelFallbacks", "agents.defaults.imageModel.fallbacks"),
    migrate: moveFallbacks("imageModel"),
  },
  { ...move("agent.allowedModels", "agents.defaults.models"), migrate: moveAllowedModels },
  { ...move("agent.modelAliases", "agents.defaults.models.<id>.alias"), migrate: moveModelAliases },
  ...AGENT_TO_TOOLS.map((key) =>
    move(
      `agent.${key}`,
      key === "bash"
        ? "tools.exec"
        : key.startsWith("tools.")
          ? key
          : key === "elevated"
            ? "tools.elevated"
            : key.startsWith("sandbox")
              ? "tools.sandbox.tools"
              : "tools.subagents.tools",
    ),
  ),
  { ...move("agent", "agents.defaults"), migrate: mergeInto(["agents", "defaults"]) },
  move("memorySearch", "agents.defaults.memorySearch"),
  move("tools.bash", "tools.exec"),
  { ...move("messages.tts.enabled", "messages.tts.auto"), migrate: moveTtsEnabled },
  move("gateway.token", "gateway.auth.token"),
  { from: ["bindings", "*", "match", "accountID"], to: "bindings[].match.accountId", migrate: renameLast("accountId") },
  move("browser.ssrfPolicy.allowPrivateNetwork", "browser.ssrfPolicy.dangerouslyAllowPrivateNetwork"),
];

/** Legacy keys present, each named with its new place. */
export function findLegacyKeys(config: unknown): LegacyFinding[] {
  const found = LEGACY_RULES.flatMap((rule) =>
    matchRule(config, rule).map((path) => ({ path, message: legacyText(path, rule) })),
  );
  // `agent` as a whole need not be named beside its parts.
  return found.filter(
    (finding) =>
      !found.some(
        (other) =>
          other !== finding &&
          other.path.length > finding.path.length &&
          finding.path.every((s, i) => s === other.path[i]),
      ),
  );
}

export interface Migration {
  readonly config: unknown;
  /** One sentence a change. */
  readonly changes: readonly string[];
}

/** Moves every legacy key to its new place; a value already there wins and the old one is dropped. */
export function migrateLegacyConfig(config: unknown): Migration {
  const changes: string[] = [];
  let current = config;
  for (const rule of LEGACY_RULES) {
    for (const path of matchRule(current, rule)) {
      const value = getAtPath(current, path);
      const without = pruneEmptyParents(unsetAtPath(current, path), path);
      current = rule.migrate ? rule.migrate(without, path, value) : moveUnlessTaken(without, rule.to.split("."), value);
      changes.push(`Moved ${formatConfigPath(path)} → ${rule.to}.`);
    }
  }
  return { config: current, changes };
}

const legacyText = (path: ConfigPath, rule: LegacyRule): string =>
  `${formatConfigPath(path)} was moved; use ${rule.to} instead (run "openclaw doctor --fix" to move it).`;

function matchRule(config: unknown, rule: LegacyRule): ConfigPath[] {
  let paths: (string | number)[][] = [[]];
  for (const segment of rule.from) {
    paths = paths.flatMap((path) => {
      const node = getAtPath(config, path);
      if (segment === "*") return Array.isArray(node) ? node.map((_, i) => [...path, i]) : [];
      return isPlainObject(node) && Object.hasOwn(node, segment) ? [[...path, segment]] : [];
    });
  }
  return paths;
}

function pruneEmptyParents(config: unknown, path: ConfigPath): unknown {
  let current = config;
  for (let length = path.length - 1; length > 0; length--) {
    const parent = getAtPath(current, path.slice(0, length));
    if (!isPlainObject(parent) || Object.keys(parent).length > 0) break;
    current = unsetAtPath(current, path.slice(0, length));
  }
  return current;
}

function moveUnlessTaken(config: unknown, to: ConfigPath, value: unknown): unknown {
  const old = getAtPath(config, to);
  if (old === undefined) return setAtPath(config, to, value);
  return isPlainObject(old) && isPlainObject(value) ? setAtPath(config, to, { ...value, ...old }) : config;
}

function mergeInto(to: ConfigPath) {
  return (config: unknown, _from: ConfigPath, value: unknown): unknown => {
    if (!isPlainObject(value)) return config;
    return Object.entries(value).reduce((current, [key, item]) => moveUnlessTaken(current, [...to, key], item), config);
  };
}

function renameLast(name: string) {
  return (config: unknown, from: ConfigPath, value: unknown): unknown =>
    moveUnlessTaken(config, [...from.slice(0, -1), name], value);
}

function moveRequireMention(config: unknown, from: ConfigPath, value: unknown): unknown {
  const ids = from[0] === "telegram" ? ["telegram"] : ["whatsapp", "telegram", "imessage"];
  return ids
    .filter((id) => id === "telegram" || getAtPath(config, ["channels", id]) !== undefined || ids.length > 1)
    .reduce(
      (current, id) => moveUnlessTaken(current, ["channels", id, "groups", "*", "requireMention"], value),
      config,
    );
}

function agentList(config: unknown): unknown[] {
  const list = getAtPath(config, ["agents", "list"]);
  return Array.isArray(list) ? [...(list as unknown[])] : [];
}

function moveAgentsMap(config: unknown, _from: ConfigPath, value: unknown): unknown {
  if (!isPlainObject(value)) return config;
  const list = agentList(config);
  for (const [id, agent] of Object.entries(value)) {
    if (!list.some((entry) => isPlainObject(entry) && entry["id"] === id))
      list.push({ id, ...(isPlainObject(agent) ? agent : {}) });
  }
  return setAtPath(config, ["agents", "list"], list);
}

function markDefaultAgent(config: unknown, _from: ConfigPath, value: unknown): unknown {
  const list = agentList(config);
  if (typeof value !== "string" || list.some((entry) => isPlainObject(entry) && entry["default"] === true))
    return config;
  const at = list.findIndex((entry) => isPlainObject(entry) && entry["id"] === value);
  if (at < 0) list.push({ id: value, default: true });
  else list[at] = { ...(list[at] as object), default: true };
  return setAtPath(config, ["agents", "list"], list);
}

function moveIdentity(config: unknown, _from: ConfigPath, value: unknown): unknown {
  const list = agentList(config);
  if (list.length === 0) list.push({ id: "main" });
  const at = Math.max(
    0,
    list.findIndex((entry) => isPlainObject(entry) && entry["default"] === true),
  );
  const entry = list[at];
  if (isPlainObject(entry) && entry["identity"] === undefined) list[at] = { ...entry, identity: value };
  return setAtPath(config, ["agents", "list"], list);
}

function moveModel(key: string) {
  return (config: unknown, _from: ConfigPath, value: unknown): unknown =>
    moveUnlessTaken(config, ["agents", "defaults", key], typeof value === "string" ? { primary: value } : value);
}

function moveFallbacks(key: string) {
  return (config: unknown, _from: ConfigPath, value: unknown): unknown => {
    const old = getAtPath(config, ["agents", "defaults", key]);
    const model = typeof old === "string" ? { primary: old } : isPlainObject(old) ? old : {};
    return setAtPath(config, ["agents", "defaults", key], { fallbacks: value, ...model });
  };
}

function moveAllowedModels(config: unknown, _from: ConfigPath, value: unknown): unknown {
  if (!Array.isArray(value)) return config;
  return value.reduce(
    (current: unknown, id: unknown) => moveUnlessTaken(current, ["agents", "defaults", "models", String(id)], {}),
    config,
  );
}

function moveModelAliases(config: unknown, _from: ConfigPath, value: unknown): unknown {
  if (!isPlainObject(value)) return config;
  return Object.entries(value).reduce(
    (current, [alias, id]) => moveUnlessTaken(current, ["agents", "defaults", "models", String(id), "alias"], alias),
    config,
  );
}

function moveTranscribe(config: unknown, _from: ConfigPath, value: unknown): unknown {
  const command = isPlainObject(value) ? value["command"] : value;
  const words = Array.isArray(command) ? command.map(String) : typeof command === "string" ? command.split(/\s+/) : [];
  const [program, ...args] = words;
  if (program === undefined) return config;
  const timeoutSeconds = isPlainObject(value) ? value["timeoutSeconds"] : undefined;
  const model = { type: "cli", command: program, args, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) };
  return moveUnlessTaken(config, ["tools", "media", "audio"], { enabled: true, models: [model] });
}

function moveTtsEnabled(config: unknown, _from: ConfigPath, value: unknown): unknown {
  return moveUnlessTaken(config, ["messages", "tts", "auto"], value === true ? "always" : "off");
}
