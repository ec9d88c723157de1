import type { ReactionTypeEmoji } from "grammy/types";

/** Telegram checks the emoji; a variation selector at its end would make it refuse a known one. */
export function reactionList(emoji: string): ReactionTypeEmoji[] {
  const plain = emoji.trim().replace(/\ufe0f$/, "");
  // The type lists Telegram's set of today; the server decides.
  return plain === "" ? [] : [{ type: "emoji", emoji: plain as ReactionTypeEmoji["emoji"] }];
}
