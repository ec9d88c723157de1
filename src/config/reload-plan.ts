/** Something that a running gateway does to apply a change without a restart. */
export type HotAction =
  | "gmail"
  | "hooks"
  | "heartbeat"
  | "cron"
  | "browser"
  | "mcp"
  | "gateway-auth"
  | "trusted-proxies"
  | "allowed-origins"
  | `channel:${string}`;

export interface ReloadPlan {
  /** `none`: values are read at use. `hot`: run the actions. `restart`: the actions are part of it. */
  readonly kind: "none" | "hot" | "restart";
  readonly hot: ReadonlySet<HotAction>;
  /** The paths that need the restart. */
  readonly restartPaths: readonly string[];
}

/** What the loaded channels say about their keys. */
export interface ChannelReloadRules {
  readonly channelId: string;
  readonly configPrefixes: readonly string[];
  readonly noopPrefixes?: readonly string[] | undefined;
}

type Effect =
  | { readonly kind: "none" }
  | { readonly kind: "restart" }
  | { readonly kind: "hot"; readonly actions: readonly HotAction[] };

interface Rule {
  readonly prefix: string;
  readonly effect: Effect;
}

const NONE: Effect = { kind: "none" };
const RESTART: Effect = { kind: "restart" };
const hot = (prefix: string, ...actions: readonly HotAction[]): Rule => ({ prefix, effect: { kind: "hot", actions } });
const none = (...prefixes: readonly string[]): Rule[] => prefixes.map((prefix) => ({ prefix, effect: NONE }));
const restart = (...prefixes: readonly string[]): Rule[] => prefixes.map((prefix) => ({ prefix, effect: RESTART }));

/** First match wins (spec: cli-and-ui §1.7, decisions §1.6). */
const BEFORE_CHANNELS: readonly Rule[] = [
  ...none("gateway.remote", "gateway.reload"),
  hot("gateway.auth", "gateway-auth"),
  hot("gateway.trustedProxies", "trusted-proxies"),
  hot("gateway.controlUi.allowedOrigins", "allowed-origins"),
  hot("hooks.gmail", "gmail", "hooks"),
  hot("hooks", "hooks"),
  hot("agents.defaults.heartbeat", "heartbeat"),
  hot("agent.heartbeat", "heartbeat"),
  hot("heartbeat", "heartbeat"),
  ...restart("cron.store"),
  hot("cron", "cron"),
  hot("browser", "browser"),
  hot("mcp", "mcp"),
];

const AFTER_CHANNELS: readonly Rule[] = [
  ...none(
    "$schema",
    "meta",
    "identity",
    "wizard",
    "logging",
    "models",
    "agents",
    "tools",
    "bindings",
    "audio",
    "agent",
    "routing",
  ),
  ...none("messages", "session", "talk", "skills", "ui", "channels.defaults", "channels.modelByChannel"),
  // Native commands are registered with the platforms at start; everything else under `commands` is read at use.
  ...restart("commands.native", "commands.nativeSkills"),
  ...none("commands"),
  ...restart("plugins", "gateway", "discovery", "canvasHost"),
];

const isUnder = (path: string, prefix: string): boolean =>
  path === prefix || path.startsWith(`${prefix}.`) || path.startsWith(`${prefix}[`);

/** What changed paths (dotted, as `changedPaths` gives them) ask for. A path without a rule needs a restart. */
export function planReload(changedPaths: readonly string[], channels: readonly ChannelReloadRules[] = []): ReloadPlan {
  const rules = [...BEFORE_CHANNELS, ...channels.flatMap(channelRules), ...AFTER_CHANNELS];
  const actions = new Set<HotAction>();
  const restartPaths: string[] = [];
  for (const path of changedPaths) {
    const own = rules.find((rule) => isUnder(path, rule.prefix));
    // The list of agents holds heartbeats of its own.
    if (isUnder(path, "agents.list")) actions.add("heartbeat");
    const effect = own?.effect ?? RESTART;
    if (effect.kind === "restart") restartPaths.push(path);
    else if (effect.kind === "hot") for (const action of effect.actions) actions.add(action);
  }
  return { kind: restartPaths.length > 0 ? "restart" : actions.size > 0 ? "hot" : "none", hot: actions, restartPaths };
}

export type ReloadMode = "hybrid" | "hot" | "restart" | "off";

/** The plan under `gateway.reload.mode`: `hot` ignores what needs a restart, `restart` restarts for all, `off` does nothing. */
export function applyReloadMode(plan: ReloadPlan, mode: ReloadMode, changedPaths: readonly string[]): ReloadPlan {
  switch (mode) {
    case "hybrid":
      return plan;
    case "hot":
      return { ...plan, kind: plan.hot.size > 0 ? "hot" : "none" };
    case "restart":
      return changedPaths.every((path) => isUnder(path, "meta"))
        ? plan
        : { ...plan, kind: "restart", restartPaths: changedPaths };
    case "off":
      return { kind: "none", hot: new Set(), restartPaths: [] };
  }
}

function channelRules(channel: ChannelReloadRules): Rule[] {
  return [
    ...none(...(channel.noopPrefixes ?? [])),
    ...channel.configPrefixes.map((prefix) => hot(prefix, `channel:${channel.channelId}`)),
  ];
}
