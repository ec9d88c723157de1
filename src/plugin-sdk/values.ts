import { CHANNEL_LABELS } from "./channel-facts.ts";

export { DEFAULT_ACCOUNT_ID } from "../pairing/index.ts";
export { normalizeAccountId, normalizeOptionalAccountId } from "../routing/index.ts";

export const SILENT_REPLY_TOKEN = "NO_REPLY";
export const PAIRING_APPROVED_MESSAGE = "✅ OpenClaw access approved. Send a message to start chatting.";

/** Nouns for the log line that says what a missing group policy blocks. */
export const GROUP_POLICY_BLOCKED_LABEL = {
  group: "group messages", guild: "guild messages", room: "room messages", channel: "channel messages", space: "space messages",
} as const;

/** The closed set of actions of the message tool. Source: spec channels §1. */
export const CHANNEL_MESSAGE_ACTION_NAMES: readonly string[] = [
  "send", "broadcast", "poll", "react", "reactions", "read", "edit", "unsend", "reply", "sendWithEffect", "renameGroup", "setGroupIcon", "addParticipant",
  "removeParticipant", "leaveGroup", "sendAttachment", "delete", "pin", "unpin", "list-pins", "permissions", "thread-create", "thread-list", "thread-reply",
  "search", "sticker", "sticker-search", "member-info", "role-info", "emoji-list", "emoji-upload", "sticker-upload", "role-add", "role-remove",
  "channel-info", "channel-list", "channel-create", "channel-edit", "channel-delete", "channel-move", "category-create", "category-edit", "category-delete",
  "topic-create", "voice-status", "event-list", "event-create", "timeout", "kick", "ban", "set-presence",
];

interface BlueBubblesAction {
  /** Key under `channels.bluebubbles.actions`. */
  readonly gate: string;
  readonly groupOnly?: boolean;
  readonly unsupportedOnMacOS26?: boolean;
}

export const BLUEBUBBLES_ACTIONS: Readonly<Record<string, BlueBubblesAction>> = {
  react: { gate: "reactions" },
  edit: { gate: "edit", unsupportedOnMacOS26: true },
  unsend: { gate: "unsend" },
  reply: { gate: "reply" },
  sendWithEffect: { gate: "sendWithEffect" },
  renameGroup: { gate: "renameGroup", groupOnly: true },
  setGroupIcon: { gate: "setGroupIcon", groupOnly: true },
  addParticipant: { gate: "addParticipant", groupOnly: true },
  removeParticipant: { gate: "removeParticipant", groupOnly: true },
  leaveGroup: { gate: "leaveGroup", groupOnly: true },
  sendAttachment: { gate: "sendAttachment" },
};
export const BLUEBUBBLES_ACTION_NAMES: readonly string[] = Object.keys(BLUEBUBBLES_ACTIONS);
export const BLUEBUBBLES_GROUP_ACTIONS: ReadonlySet<string> = new Set(BLUEBUBBLES_ACTION_NAMES.filter((name) => BLUEBUBBLES_ACTIONS[name]?.groupOnly === true));

/** The exact command that lets a sender in, for `security.resolveDmPolicy().approveHint`. */
export const formatPairingApproveHint = (channel: string): string =>
  `Approve via: openclaw pairing list ${channel} / openclaw pairing approve ${channel} <code>`;

/** An error that says which target is missing, e.g. `Delivering to Slack requires target <channelId>`. */
export function missingTargetError(provider: string, hint?: string): Error {
  return new Error(`Delivering to ${provider} requires target${hint ? ` ${hint}` : ""}`);
}

/** Name, docs and blurb of a channel that the product knows; undefined for others. Aliases are understood. */
export function getChatChannelMeta(id: string): (typeof CHANNEL_LABELS)[string] | undefined {
  const wanted = id.trim().toLowerCase();
  return Object.values(CHANNEL_LABELS).find((meta) => meta.id === wanted || meta.aliases?.includes(wanted));
}
