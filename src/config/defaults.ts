import { getAtPath, setAtPath } from "./config-path.ts";
import type { EnvView } from "./env.ts";
import { isPlainObject, type PlainObject } from "./json-value.ts";
import { isContainer, type KeyNode, keyTable } from "./schema/table.ts";

export type AnthropicAuthMode = "oauth" | "api_key" | undefined;

/** Short names of models; they apply where their target is a key of `agents.defaults.models` without an alias. */
export const BUILT_IN_MODEL_ALIASES: Readonly<Record<string, string>> = {
  opus: "anthropic/claude-opus-4-6",
  sonnet: "anthropic/claude-sonnet-4-6",
  gpt: "openai/gpt-5.2",
  "gpt-mini": "openai/gpt-5-mini",
  gemini: "google/gemini-3-pro-preview",
  "gemini-flash": "google/gemini-3-flash-preview",
};

/**
 * The effective configuration: the resolved one with second spellings joined, schema defaults, and the defaults of spec
 * cli-and-ui §1.3. Never changes its argument.
 */
export function applyDefaults(resolved: unknown, env: EnvView): PlainObject {
  let config: unknown = isPlainObject(resolved) ? resolved : {};
  config = joinSpellings(config);
  config = applySchemaDefaults(config, keyTable());
  const put = (path: string, value: unknown): void => {
    const keys = path.split(".");
    if (getAtPath(config, keys) === undefined && isPlaceable(config, keys)) config = setAtPath(config, keys, value);
  };
  put("commands.native", "auto");
  put("commands.nativeSkills", "auto");
  put("commands.restart", true);
  put("commands.ownerDisplay", "raw");
  put("messages.ackReactionScope", "group-mentions");
  if (isPlaceable(config, ["session", "mainKey"])) config = setAtPath(config, ["session", "mainKey"], "main");
  put("agents.defaults.maxConcurrent", 4);
  put("agents.defaults.subagents.maxConcurrent", 8);
  put("agents.defaults.subagents.maxSpawnDepth", 1);
  put("agents.defaults.compaction.mode", "safeguard");
  put("agents.defaults.bootstrapMaxChars", 20_000);
  put("agents.defaults.bootstrapTotalMaxChars", 150_000);
  put("agents.defaults.imageMaxDimensionPx", 1200);
  if (isPlainObject(getAtPath(config, ["logging"]))) put("logging.redactSensitive", "tools");
  config = applyAnthropicDefaults(config, detectAnthropicAuth(config, env));
  config = applyModelDefaults(config);
  return config as PlainObject;
}

/** Whether nothing but objects (or nothing) lies on the way to a key; a broken part gets no defaults. */
function isPlaceable(config: unknown, keys: readonly string[]): boolean {
  return keys.every((_, i) => {
    const parent = getAtPath(config, keys.slice(0, i));
    return parent === undefined || isPlainObject(parent);
  });
}

function applySchemaDefaults(value: unknown, node: KeyNode): unknown {
  if (Array.isArray(value))
    return node.types.some((alt) => alt.kind === "obj")
      ? value.map((item: unknown) => applySchemaDefaults(item, node))
      : value;
  if (!isPlainObject(value) || !node.types.some(isContainer)) return value;
  let copy: PlainObject | undefined;
  for (const [key, item] of Object.entries(value)) {
    // An account overlays its channel: a default of its own would hide what the channel says.
    if (key === "accounts") continue;
    const child = node.children.get(key) ?? node.rest;
    const next = child && typeof item === "object" && item !== null ? applySchemaDefaults(item, child) : item;
    if (next !== item) (copy ??= { ...value })[key] = next;
  }
  for (const child of node.children.values()) {
    if (child.defaultValue !== undefined && value[child.name] === undefined)
      (copy ??= { ...value })[child.name] = child.defaultValue;
  }
  return copy ?? value;
}

/** Second spellings of one thing (spec: decisions §1.4, seed-names). The first spelling wins where both stand. */
function joinSpellings(root: unknown): unknown {
  let config = root;
  const accounts = getAtPath(config, ["channels", "telegram", "accounts"]);
  const bases = [
    ["channels", "telegram"],
    ...Object.keys(isPlainObject(accounts) ? accounts : {}).map((id) => ["channels", "telegram", "accounts", id]),
  ];
  for (const base of bases) {
    const token = getAtPath(config, [...base, "token"]);
    if (typeof token === "string" && getAtPath(config, [...base, "botToken"]) === undefined)
      config = setAtPath(config, [...base, "botToken"], token);
  }
  const list = getAtPath(config, ["agents", "list"]);
  const beats: (readonly (string | number)[])[] = [["agents", "defaults", "heartbeat"]];
  if (Array.isArray(list)) list.forEach((_, i) => beats.push(["agents", "list", i, "heartbeat"]));
  const allOff = getAtPath(config, ["heartbeat", "enabled"]) === false;
  for (const beat of beats) {
    const isOff = getAtPath(config, [...beat, "enabled"]) === false;
    const isHere = beat.length === 3 || isPlainObject(getAtPath(config, beat));
    if (isOff || (allOff && isHere && isPlaceable(config, ["agents", "defaults", "heartbeat", "every"])))
      config = setAtPath(config, [...beat, "every"], "0m");
  }
  const oldSsrf = getAtPath(config, ["browser", "ssrfPolicy", "allowPrivateNetwork"]);
  const ssrf = ["browser", "ssrfPolicy", "dangerouslyAllowPrivateNetwork"];
  if (typeof oldSsrf === "boolean" && getAtPath(config, ssrf) === undefined) config = setAtPath(config, ssrf, oldSsrf);
  const ttsEnabled = getAtPath(config, ["messages", "tts", "enabled"]);
  if (typeof ttsEnabled === "boolean" && getAtPath(config, ["messages", "tts", "auto"]) === undefined) {
    config = setAtPath(config, ["messages", "tts", "auto"], ttsEnabled ? "always" : "off");
  }
  return config;
}

/** How this installation signs in at Anthropic, as far as config and environment tell. */
export function detectAnthropicAuth(config: unknown, env: EnvView): AnthropicAuthMode {
  const profiles = getAtPath(config, ["auth", "profiles"]);
  if (isPlainObject(profiles)) {
    const order = getAtPath(config, ["auth", "order", "anthropic"]);
    const ids = [...(Array.isArray(order) ? order.map(String) : []), ...Object.keys(profiles)];
    for (const id of ids) {
      const profile = profiles[id];
      if (!isPlainObject(profile) || profile["provider"] !== "anthropic") continue;
      return profile["mode"] === "api_key" ? "api_key" : "oauth";
    }
  }
  if (env.get("ANTHROPIC_OAUTH_TOKEN")) return "oauth";
  if (
    env.get("ANTHROPIC_API_KEY") ||
    typeof getAtPath(config, ["models", "providers", "anthropic", "apiKey"]) === "string"
  )
    return "api_key";
  return undefined;
}

function applyAnthropicDefaults(root: unknown, mode: AnthropicAuthMode): unknown {
  const defaults = ["agents", "defaults"];
  if (mode === undefined || !isPlaceable(root, [...defaults, "heartbeat", "every"])) return root;
  let config = root;
  const pruning = getAtPath(config, [...defaults, "contextPruning"]);
  if (pruning === undefined || (isPlainObject(pruning) && pruning["mode"] === undefined)) {
    config = setAtPath(config, [...defaults, "contextPruning"], {
      mode: "cache-ttl",
      ttl: "1h",
      ...(isPlainObject(pruning) ? pruning : {}),
    });
  }
  if (getAtPath(config, [...defaults, "heartbeat", "every"]) === undefined) {
    config = setAtPath(config, [...defaults, "heartbeat", "every"], mode === "oauth" ? "1h" : "30m");
  }
  const models = getAtPath(config, [...defaults, "models"]);
  if (mode !== "api_key" || !isPlainObject(models)) return config;
  for (const [id, entry] of Object.entries(models)) {
    if (
      !id.startsWith("anthropic/") ||
      !isPlainObject(entry) ||
      getAtPath(entry, ["params", "cacheRetention"]) !== undefined
    )
      continue;
    if (entry["params"] === undefined || isPlainObject(entry["params"])) {
      config = setAtPath(config, [...defaults, "models", id, "params", "cacheRetention"], "short");
    }
  }
  return config;
}

const ZERO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function applyModelDefaults(root: unknown): unknown {
  let config = root;
  const providers = getAtPath(config, ["models", "providers"]);
  for (const [id, provider] of Object.entries(isPlainObject(providers) ? providers : {})) {
    if (!isPlainObject(provider)) continue;
    if (id === "anthropic" && provider["api"] === undefined)
      config = setAtPath(config, ["models", "providers", id, "api"], "anthropic-messages");
    const models = provider["models"];
    if (Array.isArray(models))
      config = setAtPath(config, ["models", "providers", id, "models"], models.map(withModelDefaults));
  }
  const chosen = getAtPath(config, ["agents", "defaults", "models"]);
  if (!isPlainObject(chosen)) return config;
  const taken = new Set(Object.values(chosen).map((entry) => (isPlainObject(entry) ? entry["alias"] : undefined)));
  for (const [alias, id] of Object.entries(BUILT_IN_MODEL_ALIASES)) {
    const entry = Object.hasOwn(chosen, id) ? chosen[id] : undefined;
    if (isPlainObject(entry) && entry["alias"] === undefined && !taken.has(alias)) {
      config = setAtPath(config, ["agents", "defaults", "models", id, "alias"], alias);
    }
  }
  return config;
}

function withModelDefaults(model: unknown): unknown {
  if (!isPlainObject(model)) return model;
  const contextWindow = typeof model["contextWindow"] === "number" ? model["contextWindow"] : 200_000;
  const cost = isPlainObject(model["cost"]) ? { ...ZERO_COST, ...model["cost"] } : ZERO_COST;
  return { reasoning: false, input: ["text"], contextWindow, maxTokens: Math.min(8192, contextWindow), ...model, cost };
}
