import type { Logger } from "../../infra/log.ts";
import type { StreamHandle } from "../contract/index.ts";
import { isNotModified, isParseError, readFailure } from "./errors.ts";
import { toTelegramTexts, type TelegramText } from "./format.ts";
import type { SendDeps } from "./outbound.ts";
import { GENERAL_TOPIC, isGroupChatId, type TelegramTarget } from "./targets.ts";

/** Source: spec channels §4.4. Groups are limited to 20 messages a minute, so that previews there move slower. */
const MIN_FIRST_CHARS = 30;
const MIN_INTERVAL_MS = { direct: 1000, group: 3000 } as const;

export interface StreamRef {
  readonly chatId: string;
  readonly messageId: number | undefined;
}

/**
 * A preview that is edited while the model writes. One request at a time, newest text wins. Any refusal (429, 400) ends
 * the preview for good; the final text then goes out as a new message.
 */
export function openPreview(deps: SendDeps, target: TelegramTarget, options: { readonly silent?: boolean | undefined; readonly log: Logger; readonly minIntervalMs?: number | undefined }): StreamHandle {
  const { client, account } = deps;
  const intervalMs = options.minIntervalMs ?? MIN_INTERVAL_MS[isGroupChatId(target.chatId) ? "group" : "direct"];
  const limit = Math.min(account.config.textChunkLimit ?? 4000, 4096);
  let messageId: number | undefined;
  let shown = "";
  let latest = "";
  let considered = "";
  let abandoned = false;
  let closed = false;
  let lastAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const only = (markdown: string): TelegramText | undefined => {
    const pieces = toTelegramTexts(markdown, { tables: account.config.markdown?.tables, limit });
    return pieces.length === 1 ? pieces[0] : undefined;
  };

  async function put(text: TelegramText, html: boolean): Promise<void> {
    const body = { text: html ? text.html : text.plain, ...(html ? { parse_mode: "HTML" as const } : {}) };
    const preview = account.config.linkPreview === false ? { link_preview_options: { is_disabled: true } } : {};
    try {
      if (messageId === undefined) {
        const thread = target.threadId === undefined || target.threadId === GENERAL_TOPIC ? {} : { message_thread_id: target.threadId };
        const sent = await client.api.sendMessage({ chat_id: target.chatId, ...thread, ...(options.silent ? { disable_notification: true } : {}), ...preview, ...body });
        messageId = sent.message_id;
        deps.onSent(String(sent.chat.id), sent.message_id);
      } else await client.api.editMessageText({ chat_id: target.chatId, message_id: messageId, ...preview, ...body });
    } catch (err) {
      const failure = readFailure(err);
      if (isNotModified(failure)) return;
      if (html && isParseError(failure)) return put(text, false);
      throw err;
    }
  }

  function schedule(): void {
    if (closed || abandoned || timer || running) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = step().finally(() => {
        running = undefined;
        if (latest !== considered) schedule();
      });
    }, Math.max(0, lastAtMs + intervalMs - Date.now()));
  }

  async function step(): Promise<void> {
    const markdown = latest;
    considered = markdown;
    const text = only(markdown);
    // Too long for one message: the preview rests at what it shows.
    if (closed || !text || (messageId === undefined && text.plain.length < MIN_FIRST_CHARS)) return;
    lastAtMs = Date.now();
    try {
      await put(text, true);
      shown = markdown;
    } catch (err) {
      abandoned = true;
      options.log.debug("preview abandoned", { reason: readFailure(err).kind });
    }
  }

  async function stop(): Promise<void> {
    closed = true;
    clearTimeout(timer);
    timer = undefined;
    await running;
  }

  async function remove(): Promise<void> {
    if (messageId === undefined) return;
    const id = messageId;
    messageId = undefined;
    try {
      await client.api.deleteMessage({ chat_id: target.chatId, message_id: id });
    } catch (err) {
      options.log.warn("preview not deleted", { reason: readFailure(err).kind });
    }
  }

  return {
    get ref(): StreamRef {
      return { chatId: target.chatId, messageId };
    },
    update(fullText) {
      latest = fullText;
      schedule();
    },
    async finish(fullText) {
      await stop();
      const text = only(fullText);
      if (messageId === undefined || abandoned || !text) {
        await remove();
        return { kind: "discarded" };
      }
      if (fullText !== shown) {
        try {
          await put(text, true);
        } catch (err) {
          options.log.debug("final text goes out as a new message", { reason: readFailure(err).kind });
          await remove();
          return { kind: "discarded" };
        }
      }
      return { kind: "replaced", messageIds: [String(messageId)] };
    },
    async fail() {
      await stop();
      await remove();
    },
  };
}
