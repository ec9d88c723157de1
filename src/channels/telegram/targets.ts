/** A chat as the Bot API takes it; `threadId` is a topic or a thread of a direct chat. */
export interface TelegramTarget {
  readonly chatId: string;
  readonly threadId?: number | undefined;
}

/** The General topic of a forum: its id must not be sent with messages. */
export const GENERAL_TOPIC = 1;

export const TARGET_HINT = "a chat id, @name, t.me/name, or <chat id>:topic:<n>";

/** Understands every spelling of spec channels §4.3; undefined when it is none of Telegram's. */
export function parseTarget(raw: string): TelegramTarget | undefined {
  let text = raw.trim();
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(/^(?:telegram|tg|group):/i, "").trim();
  }
  const link = /^(?:https?:\/\/)?(?:www\.)?t\.me\/([A-Za-z]\w{3,31})\/?$/.exec(text);
  if (link) return { chatId: `@${link[1]}` };
  const match = /^(-?\d{1,20}|@[A-Za-z]\w{3,31})(?::(?:topic:)?(\d{1,15}))?$/.exec(text);
  const chatId = match?.[1];
  if (chatId === undefined) return undefined;
  const threadId = match?.[2] === undefined ? undefined : Number(match[2]);
  return threadId === undefined ? { chatId } : { chatId, threadId };
}

/** Canonical address: `telegram:<id>[:topic:<n>]`. */
export function normalizeTarget(raw: string): string | undefined {
  const target = parseTarget(raw);
  if (!target) return undefined;
  return `telegram:${target.chatId}${target.threadId === undefined ? "" : `:topic:${target.threadId}`}`;
}

/** Groups and channels have negative ids. */
export const isGroupChatId = (chatId: string): boolean => chatId.startsWith("-");
