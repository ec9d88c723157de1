import { z } from "zod";
import type { ReplyContext } from "openclaw/plugin-sdk";
import type { Scene } from "./targets.ts";

const MINUTE_MS = 60_000;
const WINDOW_MS: Readonly<Record<Scene, number>> = { c2c: 60 * MINUTE_MS, group: 5 * MINUTE_MS, channel: 5 * MINUTE_MS, dm: 5 * MINUTE_MS };
const MAX_REPLIES = 5;
/** More than replies to one message. */
const NUMBERS_A_SECOND = 8;
const MAX_KEPT = 2000;
const contextData = z.object({ msgId: z.string(), isEvent: z.boolean().optional() });

/** The window that a message opens, or an event such as a pressed button. Source: spec channels-cn §1.6. */
export function openWindow(scene: Scene, msgId: string, atMs: number, { isEvent = false }: { readonly isEvent?: boolean } = {}): ReplyContext {
  const limited = scene === "c2c" || scene === "group";
  return { data: { msgId, ...(isEvent ? { isEvent } : {}) }, expiresAtMs: atMs + WINDOW_MS[scene], ...(limited ? { maxReplies: MAX_REPLIES } : {}) };
}

/** Id of the message or the event that is answered. */
export const replyTo = (context: ReplyContext | undefined): string | undefined => contextData.safeParse(context?.data).data?.msgId;

/** Whether a message is answered: what grows or types needs one. */
export const answersMessage = (context: ReplyContext | undefined): boolean => contextData.safeParse(context?.data).data?.isEvent !== true;

export type PassiveReply = ({ readonly msg_id: string } | { readonly event_id: string }) & { readonly msg_seq: number };

export const idOf = (reply: PassiveReply): string => ("msg_id" in reply ? reply.msg_id : reply.event_id);

export interface Windows {
  /** Ids for one more reply; undefined when the window is closed or its replies are used up. */
  take(context: ReplyContext | undefined): PassiveReply | undefined;
  /** How many are left. */
  left(context: ReplyContext | undefined): number;
  /** The platform says that this message can no longer be answered. */
  close(msgId: string): void;
}

/** Counts replies per message, and never uses a pair of msg_id and msg_seq twice. */
export function createWindows(now: () => number): Windows {
  const used = new Map<string, { count: number; readonly base: number }>();
  const read = (context: ReplyContext | undefined): { msgId: string; isEvent: boolean; left: number } | undefined => {
    const data = contextData.safeParse(context?.data).data;
    if (!data || now() >= (context?.expiresAtMs ?? 0)) return undefined;
    return { msgId: data.msgId, isEvent: data.isEvent === true, left: (context?.maxReplies ?? Number.POSITIVE_INFINITY) - (used.get(data.msgId)?.count ?? 0) };
  };
  const entry = (msgId: string): { count: number; readonly base: number } => {
    // The start depends on the clock, so that a restarted gateway does not repeat numbers: each second has its own.
    const found = used.get(msgId) ?? { count: 0, base: (Math.floor(now() / 1000) % 10_000_000) * NUMBERS_A_SECOND };
    used.set(msgId, found);
    const oldest = used.keys().next().value;
    if (used.size > MAX_KEPT && oldest !== undefined) used.delete(oldest);
    return found;
  };
  return {
    take(context) {
      const open = read(context);
      if (!open || open.left <= 0) return undefined;
      const record = entry(open.msgId);
      record.count++;
      const msg_seq = record.base + record.count;
      return open.isEvent ? { event_id: open.msgId, msg_seq } : { msg_id: open.msgId, msg_seq };
    },
    left: (context) => Math.max(0, read(context)?.left ?? 0),
    close(msgId) {
      entry(msgId).count = Number.POSITIVE_INFINITY;
    },
  };
}
