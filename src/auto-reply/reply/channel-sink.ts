import { randomUUID } from "node:crypto";
import type { ReplyPayload } from "../../agents/index.ts";
import type { ChannelPlugin, OutboundMessage, ReplyContext, SendOutcome, StreamHandle } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { DeliveryResult, FirstAttempt, Outbox, PreviewLog } from "../../delivery/index.ts";
import type { Logger } from "../../infra/log.ts";
import { applyPrefix } from "../../infra/text/index.ts";
import { attachFiles, type ResolveMedia } from "./attachments.ts";
import { createTypingLoop, type TypingLoop } from "./typing.ts";

/** Where the replies of one run go; fixed when the run starts. */
export interface ReplyRoute {
  readonly channel: string;
  readonly accountId: string;
  readonly to: string;
  readonly threadId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly replyContext?: ReplyContext | undefined;
  readonly inboxId?: string | undefined;
}

export interface ChannelSinkOptions {
  readonly cfg: OpenClawConfig;
  readonly plugin: ChannelPlugin;
  readonly route: ReplyRoute;
  readonly runId: string;
  readonly outbox: Outbox;
  readonly previews: PreviewLog;
  readonly log: Logger;
  readonly prefix: () => string | undefined;
  readonly resolveMedia: ResolveMedia;
  readonly typingIntervalMs: number;
  readonly allowPreview: boolean;
}

export interface ChannelSink {
  readonly typing: TypingLoop;
  /** The answer so far; shown where there is a preview. */
  partial(text: string): void;
  /** Something said before the answer; journaled at once. */
  notice(index: number, text: string): Promise<void>;
  /** Journals one block; resolves when it is journaled, not when it is sent. */
  block(payload: ReplyPayload, kind?: "tool" | "block"): Promise<void>;
  /** Journals the final payloads. `done` tells their fate. */
  finals(payloads: readonly ReplyPayload[]): Promise<{ readonly done: Promise<readonly DeliveryResult[]> }>;
  /** Closes an open preview; after a failure or an abort. */
  discardPreview(): Promise<void>;
}

/**
 * Replies into a channel: threading, media, prefix, preview. Ids are made from run and position, so that a replayed run
 * never sends the same piece twice. Source: spec agent-pipeline-output §6.4–6.7, decisions §5.
 */
export function createChannelSink(options: ChannelSinkOptions): ChannelSink {
  const { cfg, plugin, route, outbox, log } = options;
  const target = { accountId: route.accountId, to: route.to, threadId: route.threadId, replyContext: route.replyContext };
  const mode = plugin.threading?.resolveReplyToMode(cfg, route.accountId) ?? "all";
  const tagsAllowed = mode !== "off" || plugin.threading?.allowExplicitReplyTagsWhenOff !== false;
  const previewId = randomUUID();
  let preview: StreamHandle | undefined;
  let previewTried = false;
  let blocks = 0;
  let sent = 0;

  const typing = createTypingLoop(
    () => plugin.outbound?.sendTyping?.(cfg, target) ?? Promise.resolve(),
    options.typingIntervalMs,
    (err) => log.debug("typing signal failed", { err }),
  );

  function replyTarget(payload: ReplyPayload): string | undefined {
    if (payload.replyToId && tagsAllowed) return payload.replyToId;
    if (payload.replyToCurrent && tagsAllowed) return route.messageId;
    if (mode === "all" || (mode === "first" && sent === 0)) return route.messageId;
    return undefined;
  }

  async function toMessages(payload: ReplyPayload, kind: OutboundMessage["kind"]): Promise<OutboundMessage[]> {
    const tagged = plugin.outbound?.takeMediaTags?.(payload.text ?? "");
    const sources = [...(payload.mediaUrls ?? []).map((source) => ({ source, asVoice: payload.audioAsVoice === true })), ...(tagged?.media ?? [])];
    const { media, problems } = await attachFiles(sources, options.resolveMedia);
    const body = [tagged?.text ?? payload.text, ...problems].filter(Boolean).join("\n\n");
    if (body === "" && media.length === 0) return [];
    const message: OutboundMessage = {
      ...target,
      text: applyPrefix(options.prefix(), body),
      ...(media.length > 0 ? { media } : {}),
      replyToId: replyTarget(payload),
      ...(kind ? { kind } : {}),
      ...(payload.channelData ? { channelData: payload.channelData } : {}),
    };
    sent++;
    return [message];
  }

  async function enqueue(id: string, payload: ReplyPayload, kind: OutboundMessage["kind"], firstAttempt?: FirstAttempt): Promise<Promise<DeliveryResult>[]> {
    const messages = await toMessages(payload, kind);
    return messages.map((message, index) =>
      outbox.deliver({ id: index === 0 ? id : `${id}.${index}`, channel: route.channel, message, runId: options.runId, inboxId: route.inboxId }, firstAttempt),
    );
  }

  async function post(id: string, payload: ReplyPayload, kind?: OutboundMessage["kind"]): Promise<void> {
    for (const fate of await enqueue(id, payload, kind)) fate.catch((err: unknown) => log.error("message not delivered", { err }));
  }

  async function closePreview(): Promise<void> {
    const open = preview;
    preview = undefined;
    if (!open) return;
    try {
      await open.fail();
    } catch (err) {
      log.warn("preview not removed", { err });
    }
    options.previews.closed(previewId);
  }

  return {
    typing,
    partial(text) {
      typing.touch();
      if (!options.allowPreview) return;
      if (!previewTried) {
        previewTried = true;
        preview = plugin.streaming?.open?.(cfg, { ...target, replyToId: mode === "off" ? undefined : route.messageId });
        if (preview) options.previews.opened(previewId, route.channel, route.accountId, preview.ref);
      }
      preview?.update(applyPrefix(options.prefix(), text));
    },
    notice: (index, text) => post(`${options.runId}:notice:${index}`, { text }),
    async block(payload, kind = "block") {
      typing.touch();
      await post(`${options.runId}:block:${blocks++}`, payload, kind);
    },
    async finals(payloads) {
      const fates: Promise<DeliveryResult>[] = [];
      // Pieces of the answer are counted by themselves: after a restart they are all that is known of the run.
      let answers = 0;
      let others = 0;
      for (const payload of payloads) {
        if (payload.isReasoning && plugin.outbound?.showsReasoning !== true) continue;
        const isAnswer = !payload.isReasoning && !payload.isError && !payload.isNotice;
        const open = isAnswer && answers === 0 && payload.text !== undefined && !payload.mediaUrls?.length ? preview : undefined;
        if (open) preview = undefined;
        const attempt = open
          ? async (text: string): Promise<SendOutcome | undefined> => {
              const result = await open.finish(text);
              options.previews.closed(previewId);
              return result.kind === "replaced" ? { kind: "sent", messageIds: result.messageIds } : undefined;
            }
          : undefined;
        fates.push(...(await enqueue(isAnswer ? `${options.runId}:final:${answers++}` : `${options.runId}:beside:${others++}`, payload, "final", attempt)));
      }
      await closePreview();
      return { done: Promise.all(fates) };
    },
    discardPreview: closePreview,
  };
}
