import type { ChannelAccountContext, ReceiveOutcome } from "openclaw/plugin-sdk";
import type { AppApi } from "./agent/api-client.ts";
import { type ConnectionTimings, runConnection } from "./bot/connection.ts";
import type { SentCards } from "./bot/cards.ts";
import type { Frame } from "./bot/frames.ts";
import { parseBotMessage, readEvent, toInbound } from "./bot/inbound.ts";
import type { BotLink } from "./bot/link.ts";
import type { WecomAccount } from "./config.ts";
import { createDoor } from "./door.ts";
import { modeOf } from "./status.ts";
import { createAppCallback } from "./webhook/app-callback.ts";
import { createBotCallback } from "./webhook/bot-callback.ts";
import type { CallbackReceiver, CallbackRouter } from "./webhook/router.ts";
import type { StreamStates } from "./webhook/stream-states.ts";

/** A message can be answered in its place for about a day. */
const REPLY_LIFE_MS = 24 * 3_600_000;

/** All forms of one account until its signal aborts. @throws ChannelError when the long connection is given up */
export async function runAccount(deps: {
  readonly ctx: ChannelAccountContext<WecomAccount>;
  readonly states: StreamStates;
  readonly cards: SentCards;
  readonly app: AppApi | undefined;
  readonly router: CallbackRouter;
  readonly timings: ConnectionTimings;
  onLink(link: BotLink | undefined): void;
  link(): BotLink | undefined;
}): Promise<void> {
  const { ctx, states, app, router } = deps;
  const { account, signal, now } = ctx;
  const door = createDoor(ctx);
  const receivers: CallbackReceiver[] = [];
  if (account.bot?.mode === "webhook" && account.bot.callback) receivers.push(createBotCallback({ ctx, bot: account.bot, keys: account.bot.callback, streams: states, door }));
  if (account.app?.callback && app) receivers.push(createAppCallback({ ctx, app: account.app, keys: account.app.callback, api: app, door }));
  const withdraw = receivers.map((receiver) => router.add(receiver));
  ctx.setStatus({ mode: modeOf(account), ...(receivers.length > 0 ? { webhookPath: receivers.map(({ form }) => `/plugins/wecom/${form}/${account.accountId}`).join(", ") } : {}) });

  async function take({ cmd, headers: { req_id: reqId }, body }: Frame): Promise<void> {
    ctx.setStatus({ lastEventAt: now() });
    if (cmd === "aibot_event_callback") return takeEvent(reqId, body);
    if (cmd !== "aibot_msg_callback") return ctx.log.debug("frame of an unknown kind", { cmd });
    const inbound = toInbound(parseBotMessage(body), { account, now, replyExpiresAtMs: now() + REPLY_LIFE_MS, replyData: ({ chatId }) => ({ via: "bot-socket", reqId, chatId }) });
    if (inbound) noteLost(await door.take(inbound));
  }

  /** The long connection acknowledges nothing: what is not taken over does not come again. */
  function noteLost(outcome: ReceiveOutcome): ReceiveOutcome {
    if (outcome.kind === "unavailable") ctx.log.error("a message of WeCom was not taken over; its sender has to repeat it", { reason: outcome.reason });
    return outcome;
  }

  async function takeEvent(reqId: string, body: unknown): Promise<void> {
    const { type, choice, card, feedback } = readEvent(body);
    if (type === "enter_chat" && account.bot?.welcomeText !== undefined) {
      await deps.link()?.request("aibot_respond_welcome_msg", { msgtype: "text", text: { content: account.bot.welcomeText } }, { what: "greet", reqId });
      return;
    }
    const raw = typeof body === "object" && body !== null ? body : {};
    const given = parseBotMessage({ msgid: reqId, ...raw, msgtype: "text", text: { content: choice ?? "" } });
    if (feedback) return door.takeFeedback(feedback, { userId: given.from?.userid ?? "", groupId: given.chattype === "group" ? given.chatid : undefined });
    if (choice === undefined) return ctx.log.debug("event", { type });
    // An event's request can be answered with a card only: the answer is a message of its own.
    const inbound = toInbound(given, { account, now, replyExpiresAtMs: now() + REPLY_LIFE_MS, replyData: ({ chatId }) => ({ via: "bot-socket", reqId: "", chatId }) });
    if (!inbound || noteLost(await door.take(inbound)).kind !== "accepted") return;
    const changed = card && deps.cards.chosen(card.taskId, card.key, card.selected);
    if (changed) await deps.link()?.request("aibot_respond_update_msg", { response_type: "update_template_card", template_card: changed }, { what: "show a choice in its card", reqId });
  }

  try {
    if (account.bot?.mode === "websocket") await runConnection({ ctx, bot: account.bot, timings: deps.timings, onLink: deps.onLink, onCallback: take });
    else {
      ctx.setStatus({ connected: true, lastConnectedAt: now(), lastError: null });
      await new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
    }
  } finally {
    for (const stop of withdraw) stop();
  }
}
