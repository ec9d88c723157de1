/** One piece of a reply on its way to a person. Source: spec agent-pipeline §0. */
export interface ReplyPayload {
  readonly text?: string | undefined;
  readonly mediaUrls?: readonly string[] | undefined;
  readonly replyToId?: string | undefined;
  readonly replyToTag?: boolean | undefined;
  readonly replyToCurrent?: boolean | undefined;
  readonly audioAsVoice?: boolean | undefined;
  readonly isError?: boolean | undefined;
  readonly isReasoning?: boolean | undefined;
  /** Said by the gateway beside the answer. */
  readonly isNotice?: boolean | undefined;
  readonly channelData?: Readonly<Record<string, unknown>> | undefined;
}

export type ReplyKind = "tool" | "block" | "final";
