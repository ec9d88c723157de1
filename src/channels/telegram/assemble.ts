import type { Message, Update } from "grammy/types";

/** Albums arrive as single messages. Waiting starts anew with each part. Source: spec channels §4.3. */
const ALBUM_WAIT_MS = 500;
/** Several messages forwarded at once come as one. */
const FORWARD_WAIT_MS = 80;
export const LONG_TEXT_CHARS = 4000;
const LONG_TEXT_WAIT_MS = 1500;
const LONG_TEXT_MAX_PARTS = 12;
const LONG_TEXT_MAX_CHARS = 50_000;

export interface HeldUpdate {
  readonly update: Update;
  readonly arrivedAtMs: number;
}

export interface Assembly {
  /** Groups to handle now, in order; most hold one update. */
  readonly ready: readonly (readonly Update[])[];
  /** ms until the next waiting group is complete; undefined when none waits. */
  readonly waitMs: number | undefined;
}

interface Group {
  readonly updates: Update[];
  readonly key: string | undefined;
  lastArrivalMs: number;
  waitMs: number;
  chars: number;
}

/** undefined also for a message without a chat: such an update is handed on alone and refused there. */
function messageOf(update: Update): Message | undefined {
  const message: (Partial<Pick<Message, "chat">> & Message) | undefined = update.message ?? update.channel_post;
  return message?.chat === undefined ? undefined : message;
}

/** Pure: puts together what belongs together and keeps the order within each chat. `held` is in update order. */
export function assemble(held: readonly HeldUpdate[], nowMs: number): Assembly {
  const groups: Group[] = [];
  for (const { update, arrivedAtMs } of held) {
    const message = messageOf(update);
    const open = message && groups.findLast((group) => group.key === keyOf(message) && fits(group, message));
    if (open && message) {
      open.updates.push(update);
      open.lastArrivalMs = Math.max(open.lastArrivalMs, arrivedAtMs);
      open.chars += message.text?.length ?? 0;
      if (open.waitMs === LONG_TEXT_WAIT_MS && (message.text?.length ?? 0) < LONG_TEXT_CHARS) open.waitMs = 0;
    } else {
      groups.push({
        updates: [update],
        key: message && keyOf(message),
        lastArrivalMs: arrivedAtMs,
        waitMs: message ? waitFor(message) : 0,
        chars: message?.text?.length ?? 0,
      });
    }
  }
  const ready: Update[][] = [];
  const waitingChats = new Set<number>();
  let waitMs: number | undefined;
  for (const group of groups) {
    const [first] = group.updates;
    const chatId = first && messageOf(first)?.chat.id;
    const left = group.lastArrivalMs + group.waitMs - nowMs;
    if (left > 0 && chatId !== undefined) {
      waitingChats.add(chatId);
      waitMs = Math.min(waitMs ?? left, left);
    } else if (chatId === undefined || !waitingChats.has(chatId)) ready.push(group.updates);
  }
  return { ready, waitMs };
}

function waitFor(message: Message): number {
  if (message.media_group_id !== undefined) return ALBUM_WAIT_MS;
  if ((message.text?.length ?? 0) >= LONG_TEXT_CHARS) return LONG_TEXT_WAIT_MS;
  return message.forward_origin ? FORWARD_WAIT_MS : 0;
}

function keyOf(message: Message): string {
  const sender = message.from?.id ?? message.sender_chat?.id ?? 0;
  return message.media_group_id === undefined
    ? `text:${message.chat.id}:${message.message_thread_id ?? 0}:${sender}`
    : `album:${message.chat.id}:${message.media_group_id}`;
}

function fits(group: Group, message: Message): boolean {
  if (message.media_group_id !== undefined) return true;
  const last = group.updates.at(-1);
  const previous = last && messageOf(last);
  if (group.waitMs === FORWARD_WAIT_MS) {
    return previous !== undefined && message.forward_origin !== undefined && message.date - previous.date <= 1 && group.updates.length < LONG_TEXT_MAX_PARTS;
  }
  if (!previous?.text || message.text === undefined || group.waitMs === 0) return false;
  return (
    previous.text.length >= LONG_TEXT_CHARS &&
    message.message_id === previous.message_id + 1 &&
    group.updates.length < LONG_TEXT_MAX_PARTS &&
    group.chars + message.text.length <= LONG_TEXT_MAX_CHARS &&
    // A command is never the tail of a pasted text.
    !message.text.startsWith("/")
  );
}
