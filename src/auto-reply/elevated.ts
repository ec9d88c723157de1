import type { OpenClawConfig } from "../config/index.ts";

export interface ElevatedSender {
  readonly channel: string;
  readonly ids: readonly (string | undefined)[];
}

type Rules = NonNullable<NonNullable<OpenClawConfig["tools"]>["elevated"]>;

/**
 * Why a sender may not have commands run elevated, gate by gate with its key; empty when they may. An agent's own rules
 * can only narrow the general ones. Source: spec agent-pipeline-output §8.2, tools.elevated.
 */
export function elevatedRefusals(cfg: OpenClawConfig, agentRules: Rules | undefined, agentId: string, sender: ElevatedSender): string[] {
  const refusals: string[] = [];
  const check = (rules: Rules | undefined, key: string, required: boolean): void => {
    if (rules?.enabled === false) refusals.push(`${key}.enabled is false`);
    const list = rules?.allowFrom?.[sender.channel];
    if (list === undefined && !required) return;
    if (!isListed(list ?? [], sender)) refusals.push(`${key}.allowFrom.${sender.channel} does not name this sender`);
  };
  check(cfg.tools?.elevated, "tools.elevated", true);
  check(agentRules, `agents.list (${agentId}) tools.elevated`, false);
  return refusals;
}

function isListed(list: readonly (string | number)[], { channel, ids }: ElevatedSender): boolean {
  const wanted = new Set(ids.filter((id) => id !== undefined && id !== "").map((id) => normalize(String(id), channel)));
  return list.some((entry) => String(entry).trim() === "*" || wanted.has(normalize(String(entry), channel)));
}

const normalize = (entry: string, channel: string): string => {
  const text = entry.trim().toLowerCase();
  return (text.startsWith(`${channel}:`) ? text.slice(channel.length + 1) : text).replace(/^@/, "");
};
