import type { SessionEntry } from "../sessions/index.ts";

/** A chat of a platform that a message can be sent to unasked. */
export interface ChatAddress {
  readonly channel: string;
  readonly accountId: string;
  readonly to: string;
  readonly threadId: string | undefined;
}

/** The chat that a session last spoke with; the web chat is none, it cannot be written to. */
export function lastChatOf(entry: Readonly<SessionEntry> | undefined): (Omit<ChatAddress, "accountId"> & { readonly accountId: string | undefined }) | undefined {
  const context = entry?.deliveryContext;
  const channel = context?.channel ?? entry?.lastChannel;
  const to = context?.to ?? entry?.lastTo;
  if (!channel || !to || channel === "webchat") return undefined;
  const threadId = context?.threadId ?? entry?.lastThreadId;
  return { channel, to, accountId: context?.accountId ?? entry?.lastAccountId, threadId: threadId === undefined ? undefined : String(threadId) };
}
