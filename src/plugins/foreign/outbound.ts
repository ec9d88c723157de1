import type { ChannelOutboundAdapter, OutboundMessage, SendOptions, SendOutcome } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import { chunkMarkdownText } from "../../infra/text/index.ts";
import { callPlugin, inPlugin } from "../scope.ts";
import { toLivePayload, type LiveReceivers } from "./live.ts";
import type { ForeignChannel } from "./shape.ts";

const DEFAULT_TEXT_LIMIT = 4000;
/** ms that one call of a channel's sending side may take. */
const SEND_LIMIT_MS = 60_000;
const RATE_LIMIT_WAIT_MS = 5000;

/** The sending side of a channel of the older shape. Source: spec plugin-sdk §12. */
export function foreignOutbound(channel: ForeignChannel, pluginId: string, live: LiveReceivers): ChannelOutboundAdapter {
  const { outbound } = channel;
  const max = outbound?.textChunkLimit ?? DEFAULT_TEXT_LIMIT;

  async function attempt(parts: readonly (() => unknown)[], options: SendOptions): Promise<SendOutcome> {
    const messageIds: string[] = [];
    let chatId: string | undefined;
    for (const [index, send] of parts.entries()) {
      if (index < options.skipParts) continue;
      try {
        const result = readResult(await callPlugin(pluginId, "sending a message", SEND_LIMIT_MS, send));
        messageIds.push(result.messageId);
        chatId = result.chatId ?? chatId;
        options.onPart({ index, messageId: result.messageId });
      } catch (err) {
        return failure(err, index);
      }
    }
    return { kind: "sent", messageIds, chatId };
  }

  function partsOf(cfg: OpenClawConfig, message: OutboundMessage): (() => unknown)[] {
    const receiver = live.of(message);
    if (receiver) return [() => receiver.deliver(toLivePayload(message), message.kind ?? "final")];
    const base = { cfg, to: message.to, accountId: message.accountId, replyToId: message.replyToId, threadId: message.threadId, silent: message.silent };
    const media = message.media ?? [];
    if (outbound?.sendPayload && message.channelData) return [() => outbound.sendPayload?.({ ...base, text: message.text, mediaUrl: media[0]?.path, payload: toLivePayload(message) })];
    const texts = message.text === "" ? [] : inPlugin(pluginId, () => outbound?.chunker?.(message.text, max) ?? chunkMarkdownText(message.text, max));
    const { sendText, sendMedia } = outbound ?? {};
    if (media.length > 0 && sendMedia) {
      const [caption = "", ...rest] = texts;
      return [
        ...media.map(({ path }, index) => () => sendMedia.call(outbound, { ...base, text: index === 0 ? caption : "", mediaUrl: path })),
        ...(sendText ? rest.map((text) => () => sendText.call(outbound, { ...base, text })) : []),
      ];
    }
    if (!sendText) return [];
    const lines = [...texts, ...media.map(({ fileName }) => `📎 ${fileName}`)];
    return lines.map((text) => () => sendText.call(outbound, { ...base, text }));
  }

  return {
    textLimit: { max, unit: "utf16" },
    async send(cfg, message, options) {
      const parts = partsOf(cfg, message);
      return parts.length === 0 ? { kind: "rejected", reason: `Outbound not configured for channel: ${channel.id}` } : attempt(parts, options);
    },
    async sendTyping(_cfg, target) {
      await live.of(target)?.typing?.();
    },
    ...(outbound?.resolveTarget && {
      resolveTarget(cfg, to, accountId) {
        const found = inPlugin(pluginId, () => outbound.resolveTarget?.({ cfg, to, accountId, mode: "explicit" }));
        return found?.ok && found.to !== undefined ? { ok: true, to: found.to } : { ok: false, error: errorText(found?.error ?? `"${to}" is no address of ${channel.id}`) };
      },
    }),
    ...(outbound?.sendPoll && {
      sendPoll: (cfg, target, poll, options) => attempt([() => outbound.sendPoll?.({ cfg, to: target.to, accountId: target.accountId, threadId: target.threadId, poll })], options),
    }),
  };
}

function readResult(value: unknown): { messageId: string; chatId: string | undefined } {
  const { messageId, chatId, channelId, ok, error } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  if (ok === false) throw new Error(errorText(error ?? "the channel refused the message"));
  const chat = chatId ?? channelId;
  return { messageId: messageId === undefined || messageId === null ? "" : String(messageId), chatId: chat === undefined ? undefined : String(chat) };
}

/** Such a channel only throws; what is certain is read out of its words. */
function failure(err: unknown, sentParts: number): SendOutcome {
  const reason = errorText(err);
  if (/\b429\b|too many requests|rate.?limit/i.test(reason)) return { kind: "rate-limited", retryAfterMs: RATE_LIMIT_WAIT_MS, sentParts };
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(reason)) return { kind: "unreachable", reason, sentParts };
  return { kind: "uncertain", reason, sentParts };
}
