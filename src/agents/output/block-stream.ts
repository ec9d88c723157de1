import { sleep } from "../../infra/backoff.ts";
import type { Logger } from "../../infra/log.ts";
import type { BlockReplyConfig } from "../pi-embedded-runner/run/params.ts";
import { BlockChunker } from "./block-chunker.ts";
import { createBlockCoalescer } from "./coalescer.ts";
import type { ReplyPayload } from "./payload.ts";
import { toReplyPayload, type VisibleReply } from "./reply-text.ts";

/** Sends a reply in blocks while it is being written. Source: spec agent-pipeline-output §6.2–6.3. */
export interface BlockStream {
  /** The message so far; its text only grows. */
  feed(reply: VisibleReply): void;
  /** The message is complete. */
  end(reply: VisibleReply): void;
  /** A new message begins. */
  begin(): void;
  /** What is held goes out: a tool starts. */
  flush(): void;
  /** Blocks handed out; 0 once one could not be delivered in time, so that the final answer is sent whole. */
  readonly sent: number;
  /** Resolves when every block is out or given up. */
  drain(): Promise<void>;
}

export interface BlockStreamOptions {
  readonly config: BlockReplyConfig;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The part that no tool has sent yet. */
  readonly withoutSent: (payload: ReplyPayload) => ReplyPayload | undefined;
  /** Resolves when the block is in the outbox. */
  readonly send: (payload: ReplyPayload) => Promise<void>;
  readonly random?: (() => number) | undefined;
  readonly timeoutMs?: number | undefined;
}

const BLOCK_TIMEOUT_MS = 15_000;
const JOINERS = { paragraph: "\n\n", newline: "\n", sentence: " " } as const;

export function createBlockStream(options: BlockStreamOptions): BlockStream {
  const { config, log, signal } = options;
  const chunker = new BlockChunker(config.chunk);
  const coalescer = config.coalesce && createBlockCoalescer({ ...config.coalesce, joiner: JOINERS[config.chunk.breakPreference] }, queue);
  const seen = new Set<string>();
  let sent = 0;
  let isBroken = false;
  let sending: Promise<void> = Promise.resolve();
  let fed = 0;
  let mediaFed = 0;

  function queue(whole: ReplyPayload): void {
    const payload = options.withoutSent(whole);
    const key = payload && JSON.stringify([payload.text, payload.mediaUrls, payload.replyToId]);
    if (!payload || key === undefined || isBroken || seen.has(key)) return;
    seen.add(key);
    const isFirst = sent++ === 0;
    sending = sending.then(() => deliver(payload, isFirst));
  }

  async function deliver(payload: ReplyPayload, isFirst: boolean): Promise<void> {
    if (isBroken) return;
    if (!isFirst && config.humanDelay) await sleep(pauseMs(config.humanDelay, options.random ?? Math.random), signal);
    try {
      if (await inTime(options.send(payload), options.timeoutMs ?? BLOCK_TIMEOUT_MS)) return;
      log.warn("block delivery stalled; the rest goes out with the final answer");
    } catch (err) {
      log.error("block not delivered; the rest goes out with the final answer", { err });
    }
    isBroken = true;
  }

  function take(reply: VisibleReply, isComplete: boolean): void {
    const emit = (text: string): void => {
      const payload = toReplyPayload({ ...reply, text: text.replace(/^\n+/, "").trimEnd(), silent: false, mediaUrls: [] });
      if (!payload) return;
      if (coalescer) coalescer.push(payload);
      else queue(payload);
    };
    const append = (end: number): void => {
      if (end <= fed) return;
      chunker.append(reply.text.slice(fed, end));
      fed = end;
    };
    // A file stands where the model put it: the text before it goes out first.
    while (mediaFed < reply.mediaUrls.length) {
      const at = reply.mediaAt[mediaFed] ?? reply.text.length;
      const media = reply.mediaUrls.filter((_, index) => index >= mediaFed && reply.mediaAt[index] === at);
      mediaFed += Math.max(1, media.length);
      append(at);
      chunker.drain(emit, true);
      coalescer?.flush();
      const attachment = toReplyPayload({ ...reply, text: "", silent: true, mediaUrls: media });
      if (attachment) queue(attachment);
    }
    append(reply.text.length);
    if (isComplete || config.breakAt === "text_end") chunker.drain(emit, isComplete);
    if (isComplete) coalescer?.flush();
  }

  return {
    feed: (reply) => take(reply, false),
    end: (reply) => take(reply, true),
    begin() {
      fed = 0;
      mediaFed = 0;
      chunker.reset();
    },
    flush: () => coalescer?.flush(),
    get sent() {
      return isBroken ? 0 : sent;
    },
    async drain() {
      coalescer?.flush();
      await sending;
    },
  };
}

const pauseMs = ({ minMs, maxMs }: { readonly minMs: number; readonly maxMs: number }, random: () => number): number => Math.round(minMs + random() * Math.max(0, maxMs - minMs));

/** false when `work` is not done in time; its later failure is nobody's any more. */
async function inTime(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
