export type AckScope = "all" | "direct" | "group-all" | "group-mentions" | "off" | "none";

export interface AckQuery {
  readonly scope: AckScope | undefined;
  readonly isDirect: boolean;
  readonly isGroup: boolean;
  /** A group where mentions can be required at all. */
  readonly isMentionableGroup: boolean;
  readonly requireMention: boolean;
  readonly canDetectMention: boolean;
  readonly effectiveWasMentioned: boolean;
  readonly shouldBypassMention?: boolean | undefined;
}

/** Whether a message gets the reaction that says "seen". Source: spec channels §2.6, plugin-sdk §13. */
export function shouldAckReaction(query: AckQuery): boolean {
  switch (query.scope ?? "group-mentions") {
    case "all":
      return true;
    case "direct":
      return query.isDirect;
    case "group-all":
      return query.isGroup;
    case "group-mentions":
      if (!query.isMentionableGroup || !query.requireMention || !query.canDetectMention) return false;
      return query.effectiveWasMentioned || query.shouldBypassMention === true;
    default:
      return false;
  }
}

export interface AckRemoval {
  readonly removeAfterReply: boolean;
  /** Whether the reaction was set; null when none was tried. */
  readonly ackReactionPromise: Promise<boolean> | null | undefined;
  readonly ackReactionValue: string | null | undefined;
  readonly remove: () => Promise<void>;
  readonly onError?: ((err: unknown) => void) | undefined;
}

/** Takes the reaction back once it is known to be there. Does not wait and never throws. */
export function removeAckReactionAfterReply(removal: AckRemoval): void {
  if (!removal.removeAfterReply || !removal.ackReactionPromise || !removal.ackReactionValue) return;
  void removal.ackReactionPromise
    .then((set) => (set ? removal.remove() : undefined))
    .catch((err: unknown) => removal.onError?.(err));
}
