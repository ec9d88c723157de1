import { createHash, randomUUID } from "node:crypto";
import { errorText, type Logger, type OutboundMedia, type OutboundMessage, type SendOptions, type SendOutcome } from "openclaw/plugin-sdk";
import type { AppApi, AppMessage } from "./agent/api-client.ts";
import type { SentCards } from "./bot/cards.ts";
import type { BotLink } from "./bot/link.ts";
import type { BotStreams } from "./bot/streams.ts";
import { uploadByLink } from "./bot/upload.ts";
import type { WecomAccount } from "./config.ts";
import { toOutcome, WecomError } from "./errors.ts";
import { APP_TEXT_BYTES, BOT_TEXT_BYTES, describeTemplateCard, splitText, takeTemplateCard, type TemplateCard } from "./format.ts";
import { prepareFile, type PreparedFile } from "./media.ts";
import { readReplyData, type ReplyData } from "./reply-data.ts";
import { formatTarget, parseTarget, TARGET_HINT, type WecomTarget } from "./targets.ts";
import type { StreamImage, StreamStates } from "./webhook/stream-states.ts";

export interface SendDeps {
  readonly account: WecomAccount;
  readonly log: Logger;
  /** The long connection, when it is open. */
  readonly link: () => BotLink | undefined;
  readonly streams: BotStreams;
  readonly states: StreamStates;
  readonly cards: SentCards;
  readonly app: AppApi | undefined;
  /** Uses the address of one later answer. @throws WecomError `window` when it is used up */
  respond(url: string, text: string, signal: AbortSignal): Promise<void>;
}

type Part = { readonly kind: "text"; readonly text: string; readonly isFirst: boolean } | { readonly kind: "card"; readonly card: TemplateCard } | { readonly kind: "media"; readonly media: OutboundMedia };

const MAX_IMAGES = 10;
const MAX_IMAGE_BYTES = 10 * 1024 * 1024;

/** Splits and sends; the platform's answers become outcomes. Source: spec channels-cn §2.2, §2.4, §2.5. */
export async function sendMessage(deps: SendDeps, message: OutboundMessage, options: SendOptions): Promise<SendOutcome> {
  const target = parseTarget(message.to);
  if (!target) return { kind: "rejected", reason: `"${message.to}" is no WeCom address: use ${TARGET_HINT}.` };
  const messageIds: string[] = [];
  let index = options.skipParts;
  try {
    const route = createRoute(deps, target, message, options.signal);
    const parts = planParts(message, route);
    if (parts.length === 0) return { kind: "rejected", reason: "There is nothing to send: the message has no text and no file." };
    for (; index < parts.length; index++) {
      const part = parts[index];
      if (!part) break;
      if (options.signal.aborted) return { kind: "unreachable", reason: "sending was stopped", sentParts: index };
      const messageId = await sendPart(deps, route, part);
      messageIds.push(messageId);
      options.onPart({ index, messageId });
    }
    return { kind: "sent", messageIds, chatId: target.id };
  } catch (err) {
    return toOutcome(err, index);
  }
}

function planParts(message: OutboundMessage, route: Route): Part[] {
  const { text, card } = route.takesCards ? takeTemplateCard(message.text) : describeTemplateCard(message.text);
  const media = [...(message.media ?? [])];
  const texts = splitText(route.wordsBefore(text, media), route.textBytes);
  // Where no card can go, the words before it tell the choices.
  const buttons = route.takesCards ? (message.buttons?.flat() ?? []) : [];
  return [
    ...texts.map((one, at): Part => ({ kind: "text", text: one, isFirst: at === 0 })),
    ...(card ? [{ kind: "card", card } as const] : []),
    ...(buttons.length > 0 ? [{ kind: "card", card: buttonCard(buttons) } as const] : []),
    ...media.filter((one) => !route.goesWithText(one)).map((one): Part => ({ kind: "media", media: one })),
  ];
}

/** Choices under a message; what a button carries comes back as its key. */
const buttonCard = (buttons: readonly { readonly text: string; readonly callbackData: string }[]): TemplateCard => ({
  card_type: "button_interaction", main_title: { title: "请选择" }, task_id: `t${randomUUID().replaceAll("-", "")}`,
  button_list: buttons.slice(0, 6).map(({ text, callbackData }, at) => ({ text, style: at === 0 ? 1 : 2, key: callbackData })),
});

/** How the parts of one message reach a chat. Every method @throws WecomError. */
interface Route {
  readonly textBytes: number;
  readonly takesCards: boolean;
  text(text: string, isFirst: boolean): Promise<string>;
  card(card: TemplateCard): Promise<string>;
  file(file: PreparedFile): Promise<string>;
  /** The file is part of the first text. */
  goesWithText(media: OutboundMedia): boolean;
  /** The text with what has to be said about files that cannot be sent here. */
  wordsBefore(text: string, media: readonly OutboundMedia[]): string;
}

function createRoute(deps: SendDeps, target: WecomTarget, message: OutboundMessage, signal: AbortSignal): Route {
  const data = readReplyData(message);
  const { account, app } = deps;
  if (target.byApp || data?.via === "app" || (!account.bot && app)) return appRoute(deps, target, signal);
  if (data?.via === "bot-webhook") return callbackRoute(deps, data, message, signal);
  if (account.bot?.mode === "websocket") return socketRoute(deps, target, data?.via === "bot-socket" ? data.reqId : undefined, message, signal);
  if (app && target.kind === "user") return appRoute(deps, target, signal);
  throw new WecomError("refused", `A bot in callback form only answers; it cannot write to ${formatTarget(target)} first. Use the long connection, or configure an app (${account.configPath}.agent).`);
}

const asIs = { takesCards: true, goesWithText: () => false, wordsBefore: (text: string) => text } as const;

function socketRoute(deps: SendDeps, target: WecomTarget, reqId: string | undefined, message: OutboundMessage, signal: AbortSignal): Route {
  const open = (): BotLink => {
    const link = deps.link();
    if (!link) throw new WecomError("retry", "The connection to WeCom is not open");
    return link;
  };
  const write = async (body: AppMessage): Promise<string> => {
    await open().request("aibot_send_msg", { chatid: target.id, ...body }, { what: "send a message" });
    return `bot-${randomUUID()}`;
  };
  const isAnswer = message.kind === undefined || message.kind === "final";
  return {
    ...asIs,
    textBytes: BOT_TEXT_BYTES,
    async text(text, isFirst) {
      if (reqId !== undefined && isAnswer && isFirst && deps.streams.isAnswerable(reqId)) {
        try {
          return await deps.streams.answer(reqId, text);
        } catch (err) {
          // The message can be answered no more: the bot writes by itself.
          if (!(err instanceof WecomError) || err.kind !== "window") throw err;
          deps.log.info("answer goes out as a message of its own", { reason: err.message });
        }
      }
      return write({ msgtype: "markdown", markdown: { content: text } });
    },
    async card(card) {
      const id = await write({ msgtype: "template_card", template_card: card });
      deps.cards.add(card);
      return id;
    },
    async file(file) {
      const mediaId = await uploadByLink(open(), file, signal).catch((err: unknown) => {
        throw repeatable(err);
      });
      return write({ msgtype: file.type, [file.type]: { media_id: mediaId } });
    },
  };
}

function appRoute({ app, log }: Pick<SendDeps, "app" | "log">, target: WecomTarget, signal: AbortSignal): Route {
  if (!app) throw new WecomError("refused", "There is no app: set channels.wecom.agent (corpId, corpSecret, agentId)");
  const write = async (message: AppMessage): Promise<string> => {
    const { messageId, undelivered } = await app.send(target, message, signal);
    if (undelivered !== undefined) log.warn("a message of the app did not reach everybody", { undelivered });
    return messageId;
  };
  return {
    ...asIs,
    textBytes: APP_TEXT_BYTES,
    text: (text) => write({ msgtype: "text", text: { content: text } }),
    card: (card) => write({ msgtype: "template_card", template_card: card }),
    async file(file) {
      const mediaId = await app.upload(file, signal).catch((err: unknown) => {
        throw repeatable(err);
      });
      return write({ msgtype: file.type, [file.type]: { media_id: mediaId } });
    },
  };
}

/** The callback form: the answer waits in its stream; later ones take the response address or the app. */
function callbackRoute(deps: SendDeps, data: ReplyData & { via: "bot-webhook" }, message: OutboundMessage, signal: AbortSignal): Route {
  const { states, app, log } = deps;
  const isAnswer = message.kind === undefined || message.kind === "final";
  const byApp = app && appRoute(deps, { kind: "user", id: data.userId, byApp: true }, signal);
  const inStream = states.isAnswerable(data.streamId);
  const isInlineImage = ({ mimeType }: OutboundMedia): boolean => inStream && isAnswer && /^image\/(?:jpe?g|png)$/i.test(mimeType);
  const images = (message.media ?? []).filter(isInlineImage).slice(0, MAX_IMAGES);
  return {
    textBytes: BOT_TEXT_BYTES, takesCards: byApp !== undefined,
    goesWithText: (media) => images.includes(media) || !byApp,
    wordsBefore(text, media) {
      const others = media.filter((one) => !images.includes(one)).map(({ fileName }) => fileName);
      const note = others.length === 0 ? "" : byApp ? `📎 ${others.join("、")}：已通过应用私信发送。` : `⚠️ 智能机器人回调模式不能发送文件：${others.join("、")}。请配置自建应用（agent）或使用长连接。`;
      const body = text.trim() === "" && images.length > 0 ? "🖼️" : text;
      return [body, note].filter(Boolean).join("\n\n");
    },
    async text(text, isFirst) {
      if (isAnswer && isFirst && states.isAnswerable(data.streamId)) {
        try {
          return await states.answer(data.streamId, text, await inlineImages(images, log));
        } catch (err) {
          if (!(err instanceof WecomError) || err.kind !== "window") throw err;
          log.info("answer goes out another way", { reason: err.message });
        }
      }
      if (data.responseUrl !== undefined) {
        try {
          await deps.respond(data.responseUrl, text, signal);
          return `response-${randomUUID()}`;
        } catch (err) {
          if (!(err instanceof WecomError) || err.kind === "retry" || err.kind === "uncertain" || err.kind === "rate-limited") throw err;
        }
      }
      if (!byApp) throw new WecomError("window", "The message can be answered no more, and there is no app to write by");
      let messageId = "";
      for (const part of splitText(text, APP_TEXT_BYTES)) messageId = await byApp.text(part, false);
      return messageId;
    },
    card(card) {
      if (!byApp) throw new WecomError("refused", "A bot in callback form cannot send a card by itself");
      return byApp.card(card);
    },
    file(file) {
      if (!byApp) throw new WecomError("refused", "A bot in callback form cannot send files");
      return byApp.file(file);
    },
  };
}

async function inlineImages(images: readonly OutboundMedia[], log: Logger): Promise<StreamImage[]> {
  const read = await Promise.all(images.map(async (media) => {
    try {
      const { bytes } = await prepareFile(media, MAX_IMAGE_BYTES);
      return { base64: bytes.toString("base64"), md5: createHash("md5").update(bytes).digest("hex") };
    } catch (err) {
      log.warn("image not sent", { fileName: media.fileName, reason: errorText(err) });
      return undefined;
    }
  }));
  return read.filter((image) => image !== undefined);
}

async function sendPart({ account, log }: SendDeps, route: Route, part: Part): Promise<string> {
  if (part.kind === "text") return route.text(part.text, part.isFirst);
  if (part.kind === "card") return route.card(part.card);
  const { media } = part;
  try {
    return await route.file(await prepareFile(media, account.maxBytes));
  } catch (err) {
    if (!(err instanceof WecomError) || err.kind === "retry" || err.kind === "uncertain" || err.kind === "rate-limited") throw err;
    log.warn("file not sent", { fileName: media.fileName, reason: err.message });
    return route.text(`⚠️ ${media.fileName} could not be sent: ${err.message}`, false);
  }
}

/** An upload shows nothing to anybody, so it may be repeated even if it arrived. */
const repeatable = (err: unknown): unknown => (err instanceof WecomError && err.kind === "uncertain" ? new WecomError("retry", err.message, { cause: err }) : err);
