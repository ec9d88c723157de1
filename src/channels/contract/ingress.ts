import type { InboundMessage } from "./inbound.ts";
import { matchesMention } from "./mention-patterns.ts";
import type { ChannelAccessRules } from "./plugin.ts";

/**
 * The one gate before any side effect of a message: no download, no pairing reply, no queue and no command before it.
 * Pure and total; anything missing or unknown is refused. Source: spec channels §2.3–2.4, agent-pipeline §1.5–1.7,
 * decisions §6–7, security-record B1–B3.
 */
export type Admission =
  | {
      readonly kind: "run";
      readonly commandAuthorized: boolean;
      /** Addressed in a group: named, replied to, or by a bypassing command. Always false in direct chats. */
      readonly wasMentioned: boolean;
      readonly isOwner: boolean;
    }
  /** An unknown sender of a direct message: make or refresh a pairing request. */
  | { readonly kind: "pair" }
  /** Group talk that is not meant for the bot: kept as pending history. */
  | { readonly kind: "history" }
  | { readonly kind: "drop"; readonly reason: DropReason };

export type DropReason =
  | "no-sender"
  | "no-chat"
  | "dm-disabled"
  | "dm-not-allowed"
  | "group-disabled"
  | "group-not-listed"
  | "group-allowlist-empty"
  | "group-sender-not-allowed"
  | "command-unauthorized";

/** A group refusal that a line of config would lift; the first of a chat is shown in status. */
export function isGroupConfigDrop(reason: string): boolean {
  return reason === "group-not-listed" || reason === "group-allowlist-empty" || reason === "group-sender-not-allowed";
}

export interface AdmitCommandSettings {
  /** The text is a control command (`/…`) that the core knows. */
  readonly isControlCommand: boolean;
  /** commands.text is not false, or the command came from the native menu. */
  readonly enabled: boolean;
  /** commands.useAccessGroups; default true. */
  readonly useAccessGroups: boolean;
  /** The list of commands.allowFrom that applies here (own channel, else `*`); when present it alone decides. */
  readonly allowFrom?: readonly string[] | undefined;
  /** The channel admits commands of owners only. */
  readonly enforceOwner?: boolean | undefined;
}

export interface AdmitInput {
  readonly message: Pick<InboundMessage, "channel" | "chat" | "sender" | "text" | "mentions">;
  readonly rules: ChannelAccessRules;
  /** The channel's comparison form of an id; prefix of the channel removed. */
  normalizeEntry(entry: string): string;
  /** Senders approved by pairing on this account. Counts for direct messages only. */
  readonly pairedIds: readonly string[];
  readonly mentionPatterns: readonly RegExp[];
  /** The session's `/activation`; overrides the config's requireMention. */
  readonly activation?: "mention" | "always" | undefined;
  /** What was said in a voice message, searched when there is no text. */
  readonly transcript?: string | undefined;
  /** commands.ownerAllowFrom; undefined when the key is not set. */
  readonly ownerAllowFrom?: readonly string[] | undefined;
  readonly commands: AdmitCommandSettings;
}

export function admit(input: AdmitInput): Admission {
  const { message } = input;
  const senderId = compareForm(message.sender.id, input);
  if (typeof message.chat.id !== "string" || message.chat.id.trim() === "") return drop("no-chat");
  if (senderId === "" || senderId === "*") return drop("no-sender");
  switch (message.chat.type) {
    case "direct":
      return admitDirect(input, senderId);
    case "group":
    case "channel":
      return admitGroup(input, senderId);
    default:
      return drop("no-chat");
  }
}

/**
 * Senders with an owner's authority on this channel: commands.ownerAllowFrom, else the channel's allowFrom; `*` makes
 * nobody an owner. Entries of other channels (`discord:42`) never match. Source: decisions §7.1.
 */
export function isOwnerSender(input: Pick<AdmitInput, "message" | "rules" | "normalizeEntry" | "ownerAllowFrom">): boolean {
  const id = compareForm(input.message.sender.id, input);
  const list = input.ownerAllowFrom ?? input.rules.allowFrom;
  return id !== "" && list.some((entry) => entry.trim() !== "*" && compareForm(entry, input) === id);
}

function admitDirect(input: AdmitInput, senderId: string): Admission {
  const { rules } = input;
  const listed = includes(rules.allowFrom, senderId, input);
  const paired = includes(input.pairedIds.filter((entry) => entry !== "*"), senderId, input);
  const run = (known: boolean): Admission => ({
    kind: "run",
    commandAuthorized: isCommandAuthorized(input, senderId, known),
    wasMentioned: false,
    isOwner: isOwnerSender(input),
  });
  switch (rules.dmPolicy) {
    case "disabled":
      return drop("dm-disabled");
    case "open":
      return run(listed || paired);
    case "allowlist":
      return listed ? run(true) : drop("dm-not-allowed");
    case "pairing":
      return listed || paired ? run(true) : { kind: "pair" };
    default:
      return drop("dm-not-allowed");
  }
}

function admitGroup(input: AdmitInput, senderId: string): Admission {
  const { rules, message } = input;
  if (!rules.groupEnabled) return drop("group-disabled");
  const list = rules.groupAllowFrom ?? rules.allowFrom;
  switch (rules.groupPolicy) {
    case "disabled":
      return drop("group-disabled");
    case "allowlist":
      if (list.length === 0) return drop("group-allowlist-empty");
      if (!includes(list, senderId, input)) return drop("group-sender-not-allowed");
      break;
    case "open":
      break;
    default:
      return drop("group-disabled");
  }
  if (!rules.groupListed) return drop("group-not-listed");

  const isOwner = isOwnerSender(input);
  const known = isOwner || includes(list, senderId, input) || includes(rules.allowFrom, senderId, input);
  const commandAuthorized = isCommandAuthorized(input, senderId, known);
  const isCommand = input.commands.isControlCommand && input.commands.enabled;
  if (isCommand && !commandAuthorized) return drop("command-unauthorized");

  const spoken = message.text !== "" ? message.text : (input.transcript ?? "");
  const named = message.mentions?.bot === true || matchesMention(input.mentionPatterns, spoken);
  const addressed = named || message.mentions?.implicit === true;
  const bypass = isCommand && message.mentions?.anyone !== true;
  const detectable = message.mentions !== undefined || input.mentionPatterns.length > 0;
  const mentionNeeded = input.activation ? input.activation === "mention" : rules.requireMention;
  if (mentionNeeded && detectable && !addressed && !bypass) return { kind: "history" };
  return { kind: "run", commandAuthorized, wasMentioned: addressed || bypass, isOwner };
}

/** Source: spec agent-pipeline §1.7. `known`: the sender stands in one of the lists that count here. */
function isCommandAuthorized(input: AdmitInput, senderId: string, known: boolean): boolean {
  const { commands } = input;
  if (commands.allowFrom !== undefined) return includes(commands.allowFrom, senderId, input);
  if (commands.useAccessGroups && !known) return false;
  if (!commands.enforceOwner && input.ownerAllowFrom === undefined) return true;
  const list = input.ownerAllowFrom ?? input.rules.allowFrom;
  if (includes(list, senderId, input)) return true;
  return input.ownerAllowFrom === undefined && list.length === 0;
}

const drop = (reason: DropReason): Admission => ({ kind: "drop", reason });

function compareForm(entry: string, input: Pick<AdmitInput, "message" | "normalizeEntry">): string {
  if (typeof entry !== "string") return "";
  const trimmed = entry.trim();
  const prefix = `${input.message.channel}:`;
  return input.normalizeEntry(trimmed.toLowerCase().startsWith(prefix) ? trimmed.slice(prefix.length) : trimmed);
}

function includes(list: readonly string[], senderId: string, input: Pick<AdmitInput, "message" | "normalizeEntry">): boolean {
  return list.some((entry) => entry.trim() === "*" || compareForm(entry, input) === senderId);
}
