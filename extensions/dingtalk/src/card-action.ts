import type { InboundMessage } from "openclaw/plugin-sdk";
import { z } from "zod";
import type { DingTalkAccount } from "./config.ts";
import { type DingTalkTarget, formatTarget } from "./targets.ts";

const MAX_PLACES = 1000;

/** Where the cards of this process stand. */
export interface CardPlaces {
  add(outTrackId: string, target: DingTalkTarget): void;
  find(outTrackId: string): DingTalkTarget | undefined;
}

export function createCardPlaces(): CardPlaces {
  const places = new Map<string, DingTalkTarget>();
  return {
    add(outTrackId, target) {
      places.set(outTrackId, target);
      const oldest = places.keys().next().value;
      if (places.size > MAX_PLACES && oldest !== undefined) places.delete(oldest);
    },
    find: (outTrackId) => places.get(outTrackId),
  };
}

/** What the platform tells of a pressed button; `content` and `value` hold the same. Source: DingTalk's card callbacks in Stream mode. */
const pressed = z.looseObject({ outTrackId: z.string().min(1), userId: z.string().min(1), content: z.string().nullish(), value: z.string().nullish() });
const details = z.looseObject({ cardPrivateData: z.looseObject({ actionIds: z.array(z.union([z.string(), z.number()]).transform(String)).nullish(), params: z.record(z.string(), z.unknown()).nullish() }) });

/**
 * A button of a card as if the person had written it; in a chat that is not known (a card of an earlier process) it is a direct
 * message. @throws ZodError or SyntaxError for what is no pressed button
 */
export function readCardAction(data: string, env: { readonly account: DingTalkAccount; readonly callbackId: string; readonly now: () => number; readonly places: CardPlaces }): InboundMessage {
  const { outTrackId, userId, content, value } = pressed.parse(JSON.parse(data));
  const { cardPrivateData: { actionIds, params } } = details.parse(JSON.parse(content || value || "{}"));
  const place: DingTalkTarget = env.places.find(outTrackId) ?? { kind: "user", id: userId };
  const isGroup = place.kind === "group";
  const id = isGroup ? place.id : userId;
  return {
    channel: "dingtalk", accountId: env.account.accountId, messageId: `card:${outTrackId}:${env.callbackId}`, chat: { id, type: isGroup ? "group" : "direct" }, sender: { id: userId },
    text: wordsOf(actionIds?.[0] ?? "", params ?? {}), timestampMs: env.now(), to: formatTarget({ kind: place.kind, id }), from: isGroup ? `dingtalk:group:${id}` : `dingtalk:${userId}`,
    ...(isGroup ? { mentions: { bot: true, anyone: false, implicit: false } } : {}), commandSource: "native", noDebounce: true,
  };
}

/** The command or the words that the template gives the button; `stop` stops the answer. */
function wordsOf(actionId: string, params: Readonly<Record<string, unknown>>): string {
  const given = [params["command"], params["text"]].find((one) => typeof one === "string" && one.trim() !== "");
  if (typeof given === "string") return given.trim();
  if (actionId === "stop") return "/stop";
  return `[卡片交互] 按钮: ${actionId}${Object.keys(params).length > 0 ? ` ${JSON.stringify(params)}` : ""}`;
}
