import type { ReplyContext } from "./inbound.ts";

/** One message for one chat, before formatting and splitting. */
export interface OutboundTarget {
  readonly accountId: string;
  /** As given by `InboundMessage.to` or normalised from what a person typed. */
  readonly to: string;
  readonly threadId?: string | undefined;
  readonly replyToId?: string | undefined;
  readonly silent?: boolean | undefined;
  readonly replyContext?: ReplyContext | undefined;
}

export interface OutboundMedia {
  /** A local file; the core has checked that it may be sent. */
  readonly path: string;
  readonly mimeType: string;
  readonly fileName: string;
  readonly asVoice?: boolean | undefined;
}

export interface OutboundButton {
  readonly text: string;
  readonly callbackData: string;
}

export interface OutboundMessage extends OutboundTarget {
  /** Markdown as the model wrote it. */
  readonly text: string;
  /** What of an answer this is; unset for what is not part of one. */
  readonly kind?: "tool" | "block" | "final" | undefined;
  readonly media?: readonly OutboundMedia[] | undefined;
  readonly buttons?: readonly (readonly OutboundButton[])[] | undefined;
  readonly channelData?: Readonly<Record<string, unknown>> | undefined;
}

/** Outcome of one send, classified by the channel; one place (delivery) retries. */
export type SendOutcome =
  | { readonly kind: "sent"; readonly messageIds: readonly string[]; readonly chatId?: string | undefined }
  | { readonly kind: "rejected"; readonly reason: string }
  | { readonly kind: "rate-limited"; readonly retryAfterMs: number; readonly sentParts?: number | undefined }
  | { readonly kind: "window-expired"; readonly reason: string }
  /** The platform may or may not have it. `sentParts`: leading parts that are certainly there. */
  | { readonly kind: "uncertain"; readonly reason: string; readonly sentParts?: number | undefined }
  /** Certainly not sent (refused connection, 5xx before the platform took it): may be tried again. */
  | { readonly kind: "unreachable"; readonly reason: string; readonly sentParts?: number | undefined };

export interface SendOptions {
  readonly signal: AbortSignal;
  /** Parts (after splitting) that an earlier try already delivered: skip them. */
  readonly skipParts: number;
  /** Called after each part that the platform confirmed, before the next is sent. */
  onPart(part: { readonly index: number; readonly messageId: string }): void;
}

/** A message that grows while the model writes (edited preview, card, draft). */
export interface StreamHandle {
  /** JSON-safe; journaled, so that an orphan is closed after a restart. */
  readonly ref: unknown;
  update(fullText: string): void;
  /** Makes the final text stand. `replaced`: the preview now is the message; `discarded`: send it as new. */
  finish(fullText: string): Promise<{ kind: "replaced"; messageIds: readonly string[] } | { kind: "discarded" }>;
  /** Removes or closes the preview. */
  fail(): Promise<void>;
}
