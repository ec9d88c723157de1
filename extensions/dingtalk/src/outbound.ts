import { randomUUID } from "node:crypto";
import { errorText, type Logger, type OutboundMedia, type OutboundMessage, type SendOptions, type SendOutcome } from "openclaw/plugin-sdk";
import type { DingTalkApi } from "./api.ts";
import type { DingTalkAccount } from "./config.ts";
import { DingTalkError, toOutcome } from "./errors.ts";
import { DEFAULT_CHUNK_CHARS, type TextPart, toTextParts } from "./format.ts";
import { uploadMedia } from "./media.ts";
import type { Pace } from "./pace.ts";
import type { PermissionHint } from "./permission-hint.ts";
import { liveSession, sendByRobot } from "./robot.ts";
import { type DingTalkTarget, isOpaqueId, parseTarget, TARGET_HINT } from "./targets.ts";

export interface SendDeps {
  readonly account: DingTalkAccount;
  readonly api: DingTalkApi;
  readonly log: Logger;
  readonly now: () => number;
  readonly hint: PermissionHint;
  readonly pace: Pace;
  /** Told what stands under an id, so that a quote of it can be understood. */
  onSent(id: string, text: string): void;
}

type Part = { readonly kind: "text"; readonly text: TextPart; readonly at: boolean } | { readonly kind: "media"; readonly media: OutboundMedia };

/** Formats, splits, sends; the platform's answers become outcomes. Source: spec channels-cn §3.5. */
export async function sendMessage(deps: SendDeps, message: OutboundMessage, options: SendOptions): Promise<SendOutcome> {
  const target = parseTarget(message.to);
  if (!target) return { kind: "rejected", reason: `"${message.to}" is no DingTalk address: use ${TARGET_HINT}.` };
  const messageIds: string[] = [];
  let index = options.skipParts;
  try {
    const parts = planParts(deps.account, await inlineImages(deps, message, options.signal));
    if (parts.length === 0) return { kind: "rejected", reason: "There is nothing to send: the message has no text and no file." };
    for (; index < parts.length; index++) {
      const part = parts[index];
      if (!part) break;
      if (options.signal.aborted) return { kind: "unreachable", reason: "sending was stopped", sentParts: index };
      const id = part.kind === "text" ? await sendText(deps, message, target, part.text, part.at, options.signal) : await sendMedia(deps, message, target, part.media, options.signal);
      messageIds.push(id);
      options.onPart({ index, messageId: id });
    }
    return { kind: "sent", messageIds, chatId: target.id };
  } catch (err) {
    return toOutcome(deps.hint.explain(err, deps.account), index);
  }
}

/** Files that the text shows as images are uploaded and stand where the text has them. */
async function inlineImages({ account, api, log }: SendDeps, message: OutboundMessage, signal: AbortSignal): Promise<OutboundMessage> {
  let { text } = message;
  const others: OutboundMedia[] = [];
  for (const media of message.media ?? []) {
    const place = `](${media.path})`;
    if (!media.mimeType.startsWith("image/") || !text.includes(place)) {
      others.push(media);
      continue;
    }
    try {
      const { msgKey, mediaId } = await uploadMedia(account, api, media, signal);
      if (msgKey === "sampleImageMsg") text = text.replaceAll(place, `](${mediaId})`);
      else others.push(media);
    } catch (err) {
      if (!(err instanceof DingTalkError) || isTemporary(err)) throw repeatable(err);
      log.warn("image in a text not uploaded", { reason: err.message });
    }
  }
  return { ...message, text, media: others };
}

function planParts({ config }: DingTalkAccount, message: OutboundMessage): Part[] {
  const texts = toTextParts(message.text, { limit: config.textChunkLimit ?? DEFAULT_CHUNK_CHARS, convertTables: config.convertMarkdownTables !== false, imageHosts: config.mediaUrlAllowlist });
  const isAnswer = message.kind === undefined || message.kind === "final";
  return [
    ...texts.map((text, at): Part => ({ kind: "text", text, at: isAnswer && at === texts.length - 1 })),
    ...(message.media ?? []).map((media): Part => ({ kind: "media", media })),
  ];
}

async function sendText(deps: SendDeps, message: OutboundMessage, target: DingTalkTarget, part: TextPart, at: boolean, signal: AbortSignal): Promise<string> {
  const { api, account } = deps;
  const session = liveSession(message.replyContext, target, deps.now());
  if (session) {
    deps.pace.take(target.id);
    try {
      await api.session(session.webhook, sessionBody(part, at && session.isGroup && !isOpaqueId(session.senderId) ? session.senderId : undefined), signal);
      return `session-${randomUUID()}`;
    } catch (err) {
      // A webhook that ended early: the robot may still write by itself, where it knows the person.
      const isOver = err instanceof DingTalkError && (err.kind === "window" || err.kind === "refused" || err.kind === "token");
      if (!isOver || (target.kind === "user" && isOpaqueId(target.id))) throw err;
      deps.log.info("session webhook refused, sending as robot", { reason: err.message });
    }
  }
  const msg = part.isMarkdown ? { msgKey: "sampleMarkdown", param: { title: part.title, text: part.text } } : { msgKey: "sampleText", param: { content: part.text } };
  const id = await sendByRobot(api, account, target, msg, signal);
  deps.onSent(id, part.text);
  return id || `robot-${randomUUID()}`;
}

function sessionBody(part: TextPart, atUserId: string | undefined): object {
  const text = atUserId === undefined ? part.text : `${part.text} @${atUserId}`;
  const at = atUserId === undefined ? {} : { at: { atUserIds: [atUserId], isAtAll: false } };
  return part.isMarkdown ? { msgtype: "markdown", markdown: { title: part.title, text }, ...at } : { msgtype: "text", text: { content: text }, ...at };
}

/** A file as the robot's own message; words about it where DingTalk does not take it. */
async function sendMedia(deps: SendDeps, message: OutboundMessage, target: DingTalkTarget, media: OutboundMedia, signal: AbortSignal): Promise<string> {
  const say = (text: string): Promise<string> => sendText(deps, message, target, { title: media.fileName.slice(0, 20), text, isMarkdown: text.startsWith("![") }, false, signal);
  try {
    const prepared = await uploadMedia(deps.account, deps.api, media, signal).catch((err: unknown) => {
      throw repeatable(err);
    });
    const isStranger = target.kind === "user" && isOpaqueId(target.id);
    if (isStranger && prepared.msgKey === "sampleImageMsg") return await say(`![${media.fileName.replace(/[[\]]/g, "")}](${prepared.mediaId})`);
    const id = await sendByRobot(deps.api, deps.account, target, prepared, signal);
    deps.onSent(id, `[${media.fileName}]`);
    return id || `robot-${randomUUID()}`;
  } catch (err) {
    if (!(err instanceof DingTalkError) || isTemporary(err)) throw err;
    const reason = errorText(deps.hint.explain(err, deps.account));
    deps.log.warn("file not sent", { fileName: media.fileName, reason });
    return say(`⚠️ ${media.fileName} could not be sent: ${reason}`);
  }
}

const isTemporary = (err: DingTalkError): boolean => err.kind === "rate-limited" || err.kind === "retry" || err.kind === "uncertain";

/** An upload shows nothing to anybody, so it may be repeated even if it arrived. */
const repeatable = (err: unknown): unknown => (err instanceof DingTalkError && err.kind === "uncertain" ? new DingTalkError("retry", err.message, { cause: err }) : err);
