import type { GroupToolPolicy } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { ResolvedAgent } from "../routing/index.ts";
import type { ModelRef } from "./models/types.ts";
import { CORE_TOOL_NAMES, matchesAnyEntry, OWNER_TRUST_TOOLS, TOOL_PROFILES, type ToolNameInfo } from "./tool-policy.ts";

export interface ToolPolicyInput {
  readonly config: OpenClawConfig;
  readonly agent: ResolvedAgent;
  readonly model: ModelRef;
  readonly isOwner: boolean;
  readonly group: GroupToolPolicy | undefined;
  /** The mode by which the run is in a sandbox. */
  readonly sandboxed: false | string;
  /** `leaf`: it may not delegate further. */
  readonly subagent: "leaf" | "inner" | undefined;
}

export type ToolVerdict = { readonly kind: "allowed" } | { readonly kind: "removed"; readonly rule: string; readonly explanation?: string | undefined };

interface JudgedTool extends ToolNameInfo {
  readonly ownerOnly?: boolean | undefined;
  /** Needs to be named by an allow list. */
  readonly optional?: boolean | undefined;
}

type Step = (tool: JudgedTool) => ToolVerdict;

const ALLOWED: ToolVerdict = { kind: "allowed" };
const SANDBOX_ALLOW = ["exec", "process", "read", "write", "edit", "apply_patch", "image", "sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "subagents", "session_status"];
const SANDBOX_DENY = ["browser", "canvas", "nodes", "cron", "gateway", "telegram", "whatsapp", "discord", "irc", "googlechat", "slack", "signal", "imessage"];
const SUBAGENT_DENY = ["gateway", "agents_list", "whatsapp_login", "session_status", "cron", "memory_search", "memory_get", "sessions_send"];
const LEAF_DENY = ["sessions_list", "sessions_history", "sessions_spawn"];

/**
 * Ten steps, each of which can only narrow what the former left; the verdict names the rule that removed a tool.
 * Source: spec tools-and-automation §2, decisions §7.
 */
export function judgeTool(input: ToolPolicyInput, tool: JudgedTool): ToolVerdict {
  for (const step of policySteps(input)) {
    const verdict = step(tool);
    if (verdict.kind === "removed") return verdict;
  }
  return ALLOWED;
}

function policySteps(input: ToolPolicyInput): Step[] {
  const { config, agent, model } = input;
  const global = config.tools;
  const own = agent.config?.tools;
  const provider = (map: NonNullable<OpenClawConfig["tools"]>["byProvider"]): { key: string; rules: NonNullable<typeof map>[string] } | undefined => {
    for (const key of [`${model.provider}/${model.modelId}`, model.provider]) {
      const rules = map?.[key];
      if (rules) return { key, rules };
    }
    return undefined;
  };
  const globalProvider = provider(global?.byProvider);
  const ownProvider = provider(own?.byProvider);
  const profileOwner = own?.profile === undefined ? "tools" : `agents.list[${agent.id}].tools`;
  const steps: Step[] = [
    (tool) => ownerStep(input, tool),
    optionalStep([...(global?.allow ?? []), ...(global?.alsoAllow ?? []), ...(own?.allow ?? []), ...(own?.alsoAllow ?? []), ...(input.group?.allow ?? []), ...(input.group?.alsoAllow ?? [])]),
    profileStep(`${profileOwner}.profile`, own?.profile ?? global?.profile, own?.alsoAllow ?? global?.alsoAllow),
    listStep("tools", global?.allow, global?.deny),
    listStep(`agents.list[${agent.id}].tools`, own?.allow, own?.deny),
    groupStep(input.group),
  ];
  if (globalProvider) {
    steps.push(
      profileStep(`tools.byProvider.${globalProvider.key}.profile`, globalProvider.rules.profile, globalProvider.rules.alsoAllow),
      listStep(`tools.byProvider.${globalProvider.key}`, globalProvider.rules.allow, globalProvider.rules.deny),
    );
  }
  if (ownProvider) steps.push(listStep(`agents.list[${agent.id}].tools.byProvider.${ownProvider.key}`, ownProvider.rules.allow, ownProvider.rules.deny));
  if (input.sandboxed) steps.push(sandboxStep(input.sandboxed, resolveSandboxToolLists(config, agent)));
  if (input.subagent) steps.push(subagentStep(input.subagent, global?.subagents?.tools));
  return steps;
}

export interface SandboxToolLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** The keys they come from; `default` where nothing is set. */
  readonly allowFrom: string;
  readonly denyFrom: string;
}

/** Lists of the agent over the general ones over the built-in ones. Source: spec tools-and-automation §2. */
export function resolveSandboxToolLists(config: OpenClawConfig, agent: Pick<ResolvedAgent, "id" | "config">): SandboxToolLists {
  const global = config.tools?.sandbox?.tools;
  const own = agent.config?.tools?.sandbox?.tools;
  const from = (key: "allow" | "deny"): string => (own?.[key] ? `agents.list[${agent.id}].tools.sandbox.tools.${key}` : global?.[key] ? `tools.sandbox.tools.${key}` : "default");
  const also = own?.alsoAllow ?? global?.alsoAllow ?? [];
  const denied = own?.deny ?? global?.deny;
  const deny = denied ?? [...SANDBOX_DENY, ...Object.keys(config.channels ?? {}).filter((id) => id !== "defaults")].filter((name) => !matchesAnyEntry(also, { name }));
  const chosen = own?.allow ?? global?.allow ?? SANDBOX_ALLOW;
  // An empty list allows everything, like any other; a list of its own still has the model see.
  const allow = chosen.length === 0 ? [] : [...new Set([...chosen, ...also, ...(matchesAnyEntry(deny, { name: "image" }) ? [] : ["image"])])];
  return { allow, deny, allowFrom: from("allow"), denyFrom: from("deny") };
}

function sandboxStep(mode: string, lists: SandboxToolLists): Step {
  const removed = (tool: ToolNameInfo, key: "allow" | "deny", from: string): ToolVerdict => ({
    kind: "removed", rule: from === "default" ? `tools.sandbox.tools.${key} (default)` : from, explanation: blockedBySandboxText(tool, mode, lists),
  });
  return (tool) => {
    if (matchesAnyEntry(lists.deny, tool)) return removed(tool, "deny", lists.denyFrom);
    if (lists.allow.length > 0 && !matchesAnyEntry(lists.allow, tool)) return removed(tool, "allow", lists.allowFrom);
    return ALLOWED;
  };
}

/** What a person reads about a tool that the sandbox takes away. Source: spec tools-and-automation §4. */
function blockedBySandboxText(tool: ToolNameInfo, mode: string, lists: SandboxToolLists): string {
  const isDenied = matchesAnyEntry(lists.deny, tool);
  return [
    `Tool "${tool.name}" blocked by sandbox tool policy (mode=${mode}).`,
    isDenied ? `It is named by ${lists.denyFrom === "default" ? "the built-in deny list" : lists.denyFrom}.` : `It is not in ${lists.allowFrom === "default" ? "the built-in allow list" : lists.allowFrom}.`,
    "Fix:",
    "- agents.defaults.sandbox.mode=off (or agents.list[].sandbox.mode)",
    isDenied && lists.denyFrom !== "default" ? `- remove ${tool.name} from ${lists.denyFrom}` : "- tools.sandbox.tools.alsoAllow (or agents.list[].tools.sandbox.tools.alsoAllow)",
  ].join("\n");
}

/** What sub-agents never get, unless a list names it. */
function subagentStep(kind: "leaf" | "inner", lists: { readonly allow?: readonly string[] | undefined; readonly alsoAllow?: readonly string[] | undefined; readonly deny?: readonly string[] | undefined } | undefined): Step {
  const base = kind === "leaf" ? [...SUBAGENT_DENY, ...LEAF_DENY] : SUBAGENT_DENY;
  const lifted = [...(lists?.allow ?? []), ...(lists?.alsoAllow ?? [])];
  const named = listStep("tools.subagents.tools", lists?.allow, lists?.deny);
  return (tool) => {
    if (matchesAnyEntry(base, tool) && !matchesAnyEntry(lifted, tool)) return { kind: "removed", rule: "not for sub-agents (tools.subagents.tools)" };
    return lists?.alsoAllow && matchesAnyEntry(lists.alsoAllow, tool) && !matchesAnyEntry(lists.deny ?? [], tool) ? ALLOWED : named(tool);
  };
}

function ownerStep(input: ToolPolicyInput, tool: JudgedTool): ToolVerdict {
  if (input.isOwner) return ALLOWED;
  if (tool.ownerOnly) return { kind: "removed", rule: "owner only" };
  if (!OWNER_TRUST_TOOLS.includes(tool.name) && tool.mcpServer === undefined) return ALLOWED;
  const granted = [...(input.group?.allow ?? []), ...(input.group?.alsoAllow ?? [])];
  return matchesAnyEntry(granted, tool) ? ALLOWED : { kind: "removed", rule: "sender is not an owner" };
}

/** Tools that a plugin offers and a person has to ask for. Source: spec plugin-sdk §8. */
function optionalStep(allowed: readonly string[]): Step {
  const named = allowed.filter((entry) => entry.trim() !== "*");
  return (tool) => (tool.optional !== true || matchesAnyEntry(named, tool) ? ALLOWED : { kind: "removed", rule: "optional: name it in tools.alsoAllow" });
}

function profileStep(rule: string, profile: string | undefined, alsoAllow: readonly string[] | undefined): Step {
  const names = profile === undefined ? undefined : TOOL_PROFILES[profile];
  if (!names) return () => ALLOWED;
  return (tool) => (names.includes(tool.name) || matchesAnyEntry(alsoAllow ?? [], tool) ? ALLOWED : { kind: "removed", rule: `${rule}=${profile}` });
}

/** An allow list of nothing but plugin or unknown names does not take the core tools away. */
function listStep(rule: string, allow: readonly string[] | undefined, deny: readonly string[] | undefined): Step {
  const namesCore = (allow ?? []).some((entry) => CORE_TOOL_NAMES.some((name) => matchesAnyEntry([entry], { name })));
  return (tool) => {
    if (deny && matchesAnyEntry(deny, tool)) return { kind: "removed", rule: `${rule}.deny` };
    if (allow && allow.length > 0 && namesCore && !matchesAnyEntry(allow, tool)) return { kind: "removed", rule: `${rule}.allow` };
    return ALLOWED;
  };
}

function groupStep(group: GroupToolPolicy | undefined): Step {
  return (tool) => {
    if (!group) return ALLOWED;
    if (group.deny && matchesAnyEntry(group.deny, tool)) return { kind: "removed", rule: "group tools.deny" };
    if (group.allow?.length && !matchesAnyEntry([...group.allow, ...(group.alsoAllow ?? [])], tool)) return { kind: "removed", rule: "group tools.allow" };
    return ALLOWED;
  };
}
