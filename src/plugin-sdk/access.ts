import type { GroupPolicy } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { resolveCommandAuthorizedFromAuthorizers, type CommandAuthorizer, type ModeWhenAccessGroupsOff } from "../plugins/runtime/helpers/index.ts";
import { mergeAllowFromEntries } from "./allow-from.ts";

/** Who may speak where. Source: spec plugin-sdk §14, channels §2.3–2.4. */

export const resolveDefaultGroupPolicy = (cfg: OpenClawConfig): GroupPolicy | undefined => cfg.channels?.defaults?.groupPolicy;

export interface RuntimeGroupPolicy {
  readonly groupPolicy: GroupPolicy;
  /** The channel has no section at all; say so once. */
  readonly providerMissingFallbackApplied: boolean;
}

export interface GroupPolicyQuery {
  readonly providerConfigPresent: boolean;
  readonly groupPolicy?: GroupPolicy | undefined;
  readonly defaultGroupPolicy?: GroupPolicy | undefined;
}

export function resolveRuntimeGroupPolicy(query: GroupPolicyQuery & { readonly configuredFallbackPolicy?: GroupPolicy | undefined; readonly missingProviderFallbackPolicy?: GroupPolicy | undefined }): RuntimeGroupPolicy {
  const { providerConfigPresent, groupPolicy, defaultGroupPolicy } = query;
  if (providerConfigPresent) return { groupPolicy: groupPolicy ?? defaultGroupPolicy ?? query.configuredFallbackPolicy ?? "open", providerMissingFallbackApplied: false };
  return { groupPolicy: groupPolicy ?? query.missingProviderFallbackPolicy ?? "allowlist", providerMissingFallbackApplied: groupPolicy === undefined };
}

export const resolveAllowlistProviderRuntimeGroupPolicy = (query: GroupPolicyQuery): RuntimeGroupPolicy =>
  resolveRuntimeGroupPolicy({ ...query, configuredFallbackPolicy: "allowlist", missingProviderFallbackPolicy: "allowlist" });

export const resolveOpenProviderRuntimeGroupPolicy = (query: GroupPolicyQuery): RuntimeGroupPolicy =>
  resolveRuntimeGroupPolicy({ ...query, configuredFallbackPolicy: "open", missingProviderFallbackPolicy: "allowlist" });

export type AccessDecision = "allow" | "block" | "pairing";

export interface AccessResult {
  readonly decision: AccessDecision;
  readonly reason: string;
}

interface AccessQuery {
  readonly isGroup: boolean;
  readonly dmPolicy?: string | null | undefined;
  readonly groupPolicy?: string | null | undefined;
  readonly isSenderAllowed: (allowFrom: string[]) => boolean;
}

/** In a direct chat by `dmPolicy` (unset: pairing), in a group by `groupPolicy` (unset: allowlist). */
export function resolveDmGroupAccessDecision(query: AccessQuery & { readonly effectiveAllowFrom: readonly (string | number)[]; readonly effectiveGroupAllowFrom: readonly (string | number)[] }): AccessResult {
  if (query.isGroup) return groupDecision(query.groupPolicy ?? "allowlist", mergeAllowFromEntries([], query.effectiveGroupAllowFrom), query.isSenderAllowed);
  const policy = query.dmPolicy ?? "pairing";
  if (policy === "disabled") return { decision: "block", reason: "dmPolicy=disabled" };
  if (policy === "open") return { decision: "allow", reason: "dmPolicy=open" };
  if (query.isSenderAllowed(mergeAllowFromEntries([], query.effectiveAllowFrom))) return { decision: "allow", reason: `dmPolicy=${policy} (allowlisted)` };
  if (policy === "pairing") return { decision: "pairing", reason: "dmPolicy=pairing (not allowlisted)" };
  return { decision: "block", reason: `dmPolicy=${policy} (not allowlisted)` };
}

function groupDecision(policy: string, allowFrom: string[], isSenderAllowed: (list: string[]) => boolean): AccessResult {
  if (policy === "disabled") return { decision: "block", reason: "groupPolicy=disabled" };
  if (policy === "open") return { decision: "allow", reason: "groupPolicy=open" };
  if (allowFrom.length === 0) return { decision: "block", reason: "groupPolicy=allowlist (empty allowlist)" };
  if (!isSenderAllowed(allowFrom)) return { decision: "block", reason: "groupPolicy=allowlist (not allowlisted)" };
  return { decision: "allow", reason: "groupPolicy=allowlist (allowlisted)" };
}

type Entries = readonly (string | number)[] | null | undefined;

export interface AllowFromLists {
  readonly allowFrom?: Entries;
  readonly groupAllowFrom?: Entries;
  /** Those who were approved by pairing; they count in direct chats only, and not under `allowlist`. */
  readonly storeAllowFrom?: Entries;
  readonly dmPolicy?: string | null | undefined;
  /** Default true: without a list of its own a group has the direct one. */
  readonly groupAllowFromFallbackToAllowFrom?: boolean | null | undefined;
}

export function resolveEffectiveAllowFromLists(lists: AllowFromLists): { effectiveAllowFrom: string[]; effectiveGroupAllowFrom: string[] } {
  const own = mergeAllowFromEntries([], lists.groupAllowFrom);
  const fallback = lists.groupAllowFromFallbackToAllowFrom === false ? [] : mergeAllowFromEntries([], lists.allowFrom);
  return {
    effectiveAllowFrom: mergeAllowFromEntries(lists.allowFrom, lists.dmPolicy === "allowlist" ? [] : lists.storeAllowFrom),
    effectiveGroupAllowFrom: own.length > 0 ? own : fallback,
  };
}

export function resolveDmGroupAccessWithLists(query: AccessQuery & AllowFromLists): AccessResult & { effectiveAllowFrom: string[]; effectiveGroupAllowFrom: string[] } {
  const effective = resolveEffectiveAllowFromLists(query);
  return { ...resolveDmGroupAccessDecision({ ...query, ...effective }), ...effective };
}

export interface SenderGroupAccess extends RuntimeGroupPolicy {
  readonly allowed: boolean;
  readonly reason: "allowed" | "disabled" | "empty_allowlist" | "sender_not_allowlisted";
}

export function evaluateSenderGroupAccess(query: {
  readonly providerConfigPresent: boolean;
  readonly configuredGroupPolicy?: GroupPolicy | undefined;
  readonly defaultGroupPolicy?: GroupPolicy | undefined;
  readonly groupAllowFrom: string[];
  readonly senderId: string;
  readonly isSenderAllowed: (senderId: string, allowFrom: string[]) => boolean;
}): SenderGroupAccess {
  const policy = resolveOpenProviderRuntimeGroupPolicy({ ...query, groupPolicy: query.configuredGroupPolicy });
  const refuse = (reason: SenderGroupAccess["reason"]): SenderGroupAccess => ({ ...policy, allowed: false, reason });
  if (policy.groupPolicy === "disabled") return refuse("disabled");
  if (policy.groupPolicy === "allowlist") {
    if (query.groupAllowFrom.length === 0) return refuse("empty_allowlist");
    if (!query.isSenderAllowed(query.senderId, query.groupAllowFrom)) return refuse("sender_not_allowlisted");
  }
  return { ...policy, allowed: true, reason: "allowed" };
}

export interface CommandGateQuery {
  readonly useAccessGroups: boolean;
  readonly authorizers: readonly CommandAuthorizer[];
  readonly allowTextCommands: boolean;
  readonly hasControlCommand: boolean;
  readonly modeWhenAccessGroupsOff?: ModeWhenAccessGroupsOff | undefined;
}

/** A control command of somebody without the right to it is not even read by the model. */
export function resolveControlCommandGate(query: CommandGateQuery): { commandAuthorized: boolean; shouldBlock: boolean } {
  const commandAuthorized = resolveCommandAuthorizedFromAuthorizers(query);
  return { commandAuthorized, shouldBlock: query.allowTextCommands && query.hasControlCommand && !commandAuthorized };
}

export interface SenderCommandQuery {
  readonly cfg: OpenClawConfig;
  readonly rawBody: string;
  readonly isGroup: boolean;
  readonly dmPolicy: string;
  readonly configuredAllowFrom: string[];
  readonly configuredGroupAllowFrom?: string[] | undefined;
  readonly senderId: string;
  readonly isSenderAllowed: (senderId: string, allowFrom: string[]) => boolean;
  readonly readAllowFromStore: () => Promise<string[]>;
  readonly shouldComputeCommandAuthorized: (rawBody: string, cfg: OpenClawConfig) => boolean;
  readonly resolveCommandAuthorizedFromAuthorizers: (query: { useAccessGroups: boolean; authorizers: readonly CommandAuthorizer[] }) => boolean;
}

export interface SenderCommandAuthorization {
  readonly shouldComputeAuth: boolean;
  readonly effectiveAllowFrom: string[];
  readonly effectiveGroupAllowFrom: string[];
  readonly senderAllowedForCommands: boolean;
  readonly commandAuthorized: boolean | undefined;
}

/** Whether this sender's text may run commands; undefined when the text holds none. */
export async function resolveSenderCommandAuthorization(query: SenderCommandQuery): Promise<SenderCommandAuthorization> {
  const shouldComputeAuth = query.shouldComputeCommandAuthorized(query.rawBody, query.cfg);
  const needsStore = !query.isGroup && query.dmPolicy !== "allowlist" && (query.dmPolicy !== "open" || shouldComputeAuth);
  const storeAllowFrom = needsStore ? await query.readAllowFromStore().catch(() => []) : []; // a store that cannot be read admits nobody
  const lists = resolveEffectiveAllowFromLists({ allowFrom: query.configuredAllowFrom, groupAllowFrom: query.configuredGroupAllowFrom ?? [], storeAllowFrom, dmPolicy: query.dmPolicy });
  const senderAllowedForCommands = query.isSenderAllowed(query.senderId, query.isGroup ? lists.effectiveGroupAllowFrom : lists.effectiveAllowFrom);
  const ownerAllowed = query.isSenderAllowed(query.senderId, lists.effectiveAllowFrom);
  const groupAllowed = query.isSenderAllowed(query.senderId, lists.effectiveGroupAllowFrom);
  const commandAuthorized = shouldComputeAuth
    ? query.resolveCommandAuthorizedFromAuthorizers({
        useAccessGroups: query.cfg.commands?.useAccessGroups !== false,
        authorizers: [
          { configured: lists.effectiveAllowFrom.length > 0, allowed: ownerAllowed },
          { configured: lists.effectiveGroupAllowFrom.length > 0, allowed: groupAllowed },
        ],
      })
    : undefined;
  return { shouldComputeAuth, ...lists, senderAllowedForCommands, commandAuthorized };
}

export interface MentionGateQuery {
  readonly requireMention: boolean;
  readonly canDetectMention: boolean;
  readonly wasMentioned: boolean;
  /** A reply to the bot counts as one. */
  readonly implicitMention?: boolean | undefined;
  readonly shouldBypassMention?: boolean | undefined;
}

export function resolveMentionGating(query: MentionGateQuery): { effectiveWasMentioned: boolean; shouldSkip: boolean } {
  const effectiveWasMentioned = query.wasMentioned || query.implicitMention === true || query.shouldBypassMention === true;
  return { effectiveWasMentioned, shouldSkip: query.requireMention && query.canDetectMention && !effectiveWasMentioned };
}

/** An authorised command that addresses nobody needs no mention. */
export function resolveMentionGatingWithBypass(
  query: Omit<MentionGateQuery, "shouldBypassMention"> & {
    readonly isGroup: boolean;
    readonly hasAnyMention?: boolean | undefined;
    readonly allowTextCommands: boolean;
    readonly hasControlCommand: boolean;
    readonly commandAuthorized: boolean;
  },
): { effectiveWasMentioned: boolean; shouldSkip: boolean; shouldBypassMention: boolean } {
  const shouldBypassMention =
    query.isGroup && query.requireMention && !query.wasMentioned && query.hasAnyMention !== true && query.allowTextCommands && query.hasControlCommand && query.commandAuthorized;
  return { ...resolveMentionGating({ ...query, shouldBypassMention }), shouldBypassMention };
}

/** On WhatsApp: each kind of chat has a switch of its own. */
export function shouldAckReactionForWhatsApp(query: {
  readonly emoji: string;
  readonly isDirect: boolean;
  readonly isGroup: boolean;
  readonly directEnabled: boolean;
  readonly groupMode: "always" | "mentions" | "never";
  readonly wasMentioned: boolean;
  readonly groupActivated: boolean;
}): boolean {
  if (query.emoji === "") return false;
  if (query.isDirect) return query.directEnabled;
  if (!query.isGroup || query.groupMode === "never") return false;
  return query.groupMode === "always" || query.groupActivated || query.wasMentioned;
}
