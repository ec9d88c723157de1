import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import type { OutboundMedia, OutboundMessage, SendOptions, SendOutcome } from "../contract/index.ts";
import type { LarkApi } from "./api.ts";
import type { LarkAccount } from "./config.ts";
import { isTemporary, LarkError, toOutcome } from "./errors.ts";
import { cardContent, isCardText, type MentionTarget, mentionText, postContent, type TextPart, toTextParts } from "./format.ts";
import { uploadMedia } from "./media.ts";
import { type Destination, type MessageBody, postMessage, readReplyData, resolveDestination } from "./messages.ts";

export interface SendDeps {
  readonly account: LarkAccount;
  readonly api: LarkApi;
  readonly log: Logger;
  /** A message of the bot stands in a chat. */
  onSent(to: Destination["target"], messageId: string): void;
}

type Part = { readonly kind: "text"; readonly text: TextPart; readonly mention: readonly MentionTarget[]; readonly buttons: OutboundMessage["buttons"] } | { readonly kind: "media"; readonly media: OutboundMedia };

/** Formats, splits, sends; the platform's answers become outcomes. Source: spec channels-cn §4.5. */
export async function sendMessage(deps: SendDeps, message: OutboundMessage, options: SendOptions): Promise<SendOutcome> {
  const messageIds: string[] = [];
  let index = options.skipParts;
  let chatId: string | undefined;
  try {
    const parts = planParts(deps.account, message);
    if (parts.length === 0) return { kind: "rejected", reason: "There is nothing to send: the message has no text and no file." };
    const destination = await resolveDestination(deps.api, message, options.signal);
    for (; index < parts.length; index++) {
      const part = parts[index];
      if (!part) break;
      if (options.signal.aborted) return { kind: "unreachable", reason: "sending was stopped", sentParts: index };
      const sent = part.kind === "text" ? await sendText(deps, destination, part, options.signal) : await sendMedia(deps, destination, part.media, options.signal);
      messageIds.push(sent.messageId);
      chatId = sent.chatId ?? chatId;
      deps.onSent(destination.target, sent.messageId);
      options.onPart({ index, messageId: sent.messageId });
    }
    return { kind: "sent", messageIds, chatId };
  } catch (err) {
    return toOutcome(err, index);
  }
}

function planParts({ config }: LarkAccount, message: OutboundMessage): Part[] {
  const format = isCardText(message.text, config.renderMode) || message.buttons?.length ? "card" : "post";
  const texts = toTextParts(message.text, config, format);
  const isAnswer = message.kind === undefined || message.kind === "final";
  const mention = isAnswer ? (readReplyData(message)?.mention ?? []) : [];
  return [
    ...texts.map((text, at): Part => ({ kind: "text", text, mention: at === 0 ? mention : [], buttons: at === texts.length - 1 ? message.buttons : undefined })),
    ...(message.media ?? []).map((media): Part => ({ kind: "media", media })),
  ];
}

type Sent = Awaited<ReturnType<typeof postMessage>>;

async function sendText({ account, api, log }: SendDeps, destination: Destination, part: Extract<Part, { kind: "text" }>, signal: AbortSignal): Promise<Sent> {
  const naming = (format: TextPart["format"], text: string): string => [mentionText(part.mention, format), text].filter(Boolean).join(" ");
  const asPost = (text: string): Promise<Sent> => postMessage(api, destination, { msgType: "post", content: postContent(naming("post", text)) }, signal);
  const { format, text } = part.text;
  if (format === "post") return asPost(text);
  try {
    return await postMessage(api, destination, { msgType: "interactive", content: cardContent(naming("card", text), part.buttons) }, signal);
  } catch (err) {
    // What a card does not take (too many tables, odd markup) is still readable as a post.
    if (!(err instanceof LarkError) || err.kind !== "refused") throw err;
    log.info("card refused, sending a post", { reason: err.message });
    const [post] = toTextParts(text, { ...account.config, textChunkLimit: text.length + 1000, chunkMode: "length" }, "post");
    return asPost(post?.text ?? text);
  }
}

/** A file as a message of its own; words about it where the platform does not take it. */
async function sendMedia({ account, api, log }: SendDeps, destination: Destination, media: OutboundMedia, signal: AbortSignal): Promise<Sent> {
  let body: MessageBody;
  try {
    body = await uploadMedia(api, account.config, media, signal).catch((err: unknown) => {
      throw err instanceof LarkError && err.kind === "uncertain" ? new LarkError("retry", err.message, { cause: err }) : err;
    });
  } catch (err) {
    if (!(err instanceof LarkError) || isTemporary(err)) throw err;
    log.warn("file not sent", { fileName: media.fileName, reason: errorText(err) });
    body = { msgType: "post", content: postContent(`⚠️ ${media.fileName} could not be sent: ${err.message}`) };
  }
  return postMessage(api, destination, body, signal);
}
