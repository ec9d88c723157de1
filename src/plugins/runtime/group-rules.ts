import type { OpenClawConfig } from "../../config/index.ts";
import { accountFields, asFields, textOf, type Fields } from "./section.ts";

export interface GroupQuery {
  readonly cfg: OpenClawConfig;
  readonly channel: string;
  readonly groupId?: string | null | undefined;
  readonly accountId?: string | null | undefined;
  readonly groupIdCaseInsensitive?: boolean | undefined;
  /** There is a list of senders for groups: a policy of `allowlist` without `groups` then admits any group. */
  readonly hasGroupAllowFrom?: boolean | undefined;
}

export interface GroupPolicyResult {
  readonly allowlistEnabled: boolean;
  readonly allowed: boolean;
  readonly groupConfig?: Fields | undefined;
  readonly defaultConfig?: Fields | undefined;
}

/** Whether a group is admitted, and its settings. Source: spec channels §2.4. */
export function resolveGroupPolicy(query: GroupQuery): GroupPolicyResult {
  const section = accountFields(query.cfg, query.channel, query.accountId);
  const groups = asFields(section["groups"]);
  const hasGroups = Object.keys(groups).length > 0;
  const policy = section["groupPolicy"];
  const groupConfig = findGroup(groups, query.groupId, query.groupIdCaseInsensitive === true);
  const defaultConfig = Object.hasOwn(groups, "*") ? asFields(groups["*"]) : undefined;
  const allowlistEnabled = policy === "allowlist" || hasGroups;
  const anyGroup = policy === "allowlist" && !hasGroups && query.hasGroupAllowFrom === true;
  const allowed = policy !== "disabled" && (!allowlistEnabled || groupConfig !== undefined || defaultConfig !== undefined || anyGroup);
  return { allowlistEnabled, allowed, groupConfig, defaultConfig };
}

function findGroup(groups: Fields, id: string | null | undefined, anyCase: boolean): Fields | undefined {
  const wanted = id?.trim();
  if (!wanted || wanted === "*") return undefined;
  const key = Object.hasOwn(groups, wanted) ? wanted : anyCase ? Object.keys(groups).find((name) => name.toLowerCase() === wanted.toLowerCase()) : undefined;
  return key === undefined ? undefined : asFields(groups[key]);
}

export interface RequireMentionQuery extends GroupQuery {
  readonly requireMentionOverride?: boolean | undefined;
  readonly overrideOrder?: "before-config" | "after-config" | undefined;
}

/** `groups[id]`, then `groups["*"]`, then true. */
export function resolveRequireMention(query: RequireMentionQuery): boolean {
  const { groupConfig, defaultConfig } = resolveGroupPolicy(query);
  const configured = [groupConfig, defaultConfig].map((group) => group?.["requireMention"]).find((value) => typeof value === "boolean");
  const { requireMentionOverride: override, overrideOrder = "after-config" } = query;
  return (overrideOrder === "before-config" ? (override ?? configured) : (configured ?? override)) ?? true;
}

export interface GroupSender {
  readonly senderId?: string | null | undefined;
  readonly senderName?: string | null | undefined;
  readonly senderUsername?: string | null | undefined;
  readonly senderE164?: string | null | undefined;
}

export interface ToolPolicy {
  readonly allow?: readonly string[] | undefined;
  readonly alsoAllow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** The policy of the first key that fits: `id:`, `e164:`, `username:`, `name:`, a bare id, then `*`. */
export function resolveToolsBySender(query: GroupSender & { readonly toolsBySender?: Readonly<Record<string, unknown>> | undefined }): ToolPolicy | undefined {
  const table = new Map(Object.entries(query.toolsBySender ?? {}).map(([key, policy]) => [key.trim().toLowerCase(), policy]));
  const id = textOf(query.senderId)?.toLowerCase();
  const name = (value: string | null | undefined): string | undefined => textOf(value)?.toLowerCase().replace(/^@/, "");
  const keys = [
    id && `id:${id}`, name(query.senderE164) && `e164:${name(query.senderE164)}`, name(query.senderUsername) && `username:${name(query.senderUsername)}`,
    name(query.senderName) && `name:${name(query.senderName)}`, id, "*",
  ];
  const hit = keys.find((key) => key !== undefined && table.has(key));
  return hit === undefined ? undefined : toolPolicyOf(table.get(hit));
}

export function toolPolicyOf(value: unknown): ToolPolicy | undefined {
  const policy = asFields(value);
  const list = (key: string): string[] | undefined => (Array.isArray(policy[key]) ? (policy[key] as unknown[]).filter((item) => typeof item === "string") : undefined);
  const [allow, alsoAllow, deny] = [list("allow"), list("alsoAllow"), list("deny")];
  if (!allow && !alsoAllow && !deny) return undefined;
  return { ...(allow && { allow }), ...(alsoAllow && { alsoAllow }), ...(deny && { deny }) };
}

/** Of a list of settings, nearest first: each one's rule for the sender, then its rule for all. */
export function pickToolPolicy(layers: readonly (Fields | undefined)[], sender: GroupSender): ToolPolicy | undefined {
  for (const layer of layers) {
    if (!layer) continue;
    const policy = resolveToolsBySender({ ...sender, toolsBySender: asFields(layer["toolsBySender"]) }) ?? toolPolicyOf(layer["tools"]);
    if (policy) return policy;
  }
  return undefined;
}
