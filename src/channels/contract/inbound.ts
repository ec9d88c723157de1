import type { ChatAddress } from "../../routing/index.ts";

/**
 * What a channel hands to the gateway for one platform event, and what comes back.
 * JSON-safe: it is journaled as it is. Source: spec decisions §5–6, agent-pipeline §1.1.
 */
export type { ChatType } from "../../routing/index.ts";

export type MediaKind = "image" | "video" | "audio" | "voice" | "document" | "sticker";

/** A medium that was announced but not fetched yet; `ref` means something only to its channel. */
export interface InboundMediaRef {
  readonly kind: MediaKind;
  readonly ref: string;
  readonly mimeType?: string | undefined;
  readonly fileName?: string | undefined;
  readonly sizeBytes?: number | undefined;
  /** ms since the epoch after which the platform no longer serves it. */
  readonly expiresAtMs?: number | undefined;
}

export interface InboundSender {
  /** The platform's immutable id; the only field that authorisation looks at. */
  readonly id: string;
  readonly name?: string | undefined;
  readonly username?: string | undefined;
  readonly tag?: string | undefined;
  readonly e164?: string | undefined;
  /** Roles in the guild; bindings may ask for one. */
  readonly roles?: readonly string[] | undefined;
}

export interface InboundChat extends ChatAddress {
  /** Group subject or channel name. */
  readonly title?: string | undefined;
  readonly threadLabel?: string | undefined;
  /** `#general`, when `title` says more. */
  readonly channelName?: string | undefined;
  /** Server or workspace by name. */
  readonly spaceName?: string | undefined;
  readonly members?: string | undefined;
}

export interface InboundMentions {
  /** The platform says, or the text shows, that the bot itself is addressed. */
  readonly bot: boolean;
  /** Somebody is mentioned, the bot or another. */
  readonly anyone: boolean;
  /** A reply to one of the bot's messages counts as an implicit mention. */
  readonly implicit: boolean;
}

export interface InboundReply {
  readonly id: string;
  readonly body?: string | undefined;
  readonly sender?: string | undefined;
  readonly isQuote?: boolean | undefined;
  readonly idFull?: string | undefined;
  /** The quoted message was itself forwarded. */
  readonly forward?: InboundForward | undefined;
}

export interface InboundForward {
  readonly from: string;
  readonly type?: string | undefined;
  readonly id?: string | undefined;
  readonly username?: string | undefined;
  readonly title?: string | undefined;
  readonly signature?: string | undefined;
  readonly chatType?: string | undefined;
  readonly messageId?: string | undefined;
  readonly dateMs?: number | undefined;
}

export interface InboundLocation {
  readonly lat: number;
  readonly lon: number;
  readonly accuracyM?: number | undefined;
  readonly name?: string | undefined;
  readonly address?: string | undefined;
  readonly isLive?: boolean | undefined;
  readonly source: string;
}

/** Opaque to the core, journaled with the message and handed back to the channel's outbound side. */
export interface ReplyContext {
  readonly data: unknown;
  readonly expiresAtMs?: number | undefined;
  readonly maxReplies?: number | undefined;
}

export interface InboundMessage {
  readonly channel: string;
  readonly accountId: string;
  /** Platform message id; together with channel, account and chat the dedupe key. */
  readonly messageId: string;
  readonly chat: InboundChat;
  readonly sender: InboundSender;
  /** The bare text, line breaks and code fences kept. Empty when there are only media. */
  readonly text: string;
  readonly timestampMs: number;
  /** Address of the sender side (`telegram:42`, `telegram:group:-100:topic:7`): MsgContext.From. */
  readonly from: string;
  /** Where a reply goes: MsgContext.To and OriginatingTo, understood by the channel's `outbound`. */
  readonly to: string;
  readonly media?: readonly InboundMediaRef[] | undefined;
  readonly mentions?: InboundMentions | undefined;
  readonly reply?: InboundReply | undefined;
  readonly forward?: InboundForward | undefined;
  readonly location?: InboundLocation | undefined;
  readonly replyContext?: ReplyContext | undefined;
  /** `native`: chosen from the platform's command menu. */
  readonly commandSource?: "text" | "native" | undefined;
  /** A group's own system prompt from the channel's config. */
  readonly groupSystemPrompt?: string | undefined;
  /** Skill names that the group's or topic's config allows; undefined means all. */
  readonly skillFilter?: readonly string[] | undefined;
  /**
   * What the model reads, where a channel says more about the message than its sender did; it contains `text`, which alone is
   * searched for commands.
   */
  readonly agentText?: string | undefined;
  /** Set by channels that choose the session themselves (plugins of the older shape). */
  readonly sessionKey?: string | undefined;
  /** An id that is unique over all chats, where `messageId` is not. */
  readonly messageIdFull?: string | undefined;
  /** The message that opened the thread, and what was said in it before the bot came. */
  readonly threadStarter?: string | undefined;
  readonly threadHistory?: string | undefined;
  /** Lines about the message that the model may read but not obey. */
  readonly untrustedContext?: readonly string[] | undefined;
  /** Further messages that were joined into this one (parts of a long text, an album). */
  readonly mergedMessageIds?: readonly string[] | undefined;
  /** Never debounced with neighbours (edited, callback). */
  readonly noDebounce?: boolean | undefined;
}

/** Something that is not a message but may matter to the next turn (a reaction, a join). */
export interface InboundSystemEvent {
  readonly channel: string;
  readonly accountId: string;
  readonly chat: InboundChat;
  readonly actorId: string;
  readonly text: string;
  /** Events with the same key replace each other while queued. */
  readonly contextKey?: string | undefined;
  readonly dedupeId: string;
}

/** Only `unavailable` (disk full, draining) means: do not acknowledge the platform. */
export type ReceiveOutcome =
  | { readonly kind: "accepted"; readonly id: string }
  | { readonly kind: "duplicate" }
  | { readonly kind: "dropped"; readonly reason: string }
  | { readonly kind: "unavailable"; readonly reason: string };
