import type { DingTalkApi } from "./api.ts";
import type { DingTalkAccount } from "./config.ts";

const MAX_REMEMBERED = 500;
/** DingTalk's own "text emotion" that carries any words. */
const EMOTION_ID = "2659900";
const BACKGROUND_ID = "im_bg_1";
/** Values of `ackReaction` that name a way of thinking aloud. Source: spec channels-cn §3.1. */
const THINKING: Readonly<Record<string, string>> = { emoji: "🤔思考中", kaomoji: "(・ω・)ノ思考中", text: "思考中" };

/** Reactions on the messages of one account, which DingTalk knows by message and conversation. */
export interface Reactions {
  /** A message that was received lately. */
  saw(messageId: string, conversationId: string): void;
  /** `emoji` "" takes back what was set. Nothing happens for `off` and for messages that are no longer known. @throws DingTalkError */
  set(api: DingTalkApi, account: DingTalkAccount, messageId: string, emoji: string): Promise<void>;
}

export function createReactions(): Reactions {
  const seen = new Map<string, { readonly conversationId: string; name?: string | undefined }>();

  async function call(api: DingTalkApi, account: DingTalkAccount, how: "reply" | "recall", messageId: string, conversationId: string, name: string): Promise<void> {
    const textEmotion = { emotionId: EMOTION_ID, emotionName: name, text: name, backgroundId: BACKGROUND_ID };
    const body = { robotCode: account.clientId, openMsgId: messageId, openConversationId: conversationId, emotionType: 2, emotionName: name, textEmotion };
    await api.call("POST", `/v1.0/robot/emotion/${how}`, body, { what: how === "reply" ? "set a reaction" : "take back a reaction" });
  }

  return {
    saw(messageId, conversationId) {
      if (!seen.has(messageId)) seen.set(messageId, { conversationId });
      const oldest = seen.keys().next().value;
      if (seen.size > MAX_REMEMBERED && oldest !== undefined) seen.delete(oldest);
    },
    async set(api, account, messageId, emoji) {
      const message = seen.get(messageId);
      if (!message || emoji === "off") return;
      const name = emoji === "" ? undefined : (THINKING[emoji] ?? emoji);
      const before = message.name;
      if (name === before) return;
      message.name = name;
      if (before !== undefined) await call(api, account, "recall", messageId, message.conversationId, before);
      if (name !== undefined) await call(api, account, "reply", messageId, message.conversationId, name);
    },
  };
}
