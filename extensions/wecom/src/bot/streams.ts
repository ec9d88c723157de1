import { createHash } from "node:crypto";
import { errorText, type Logger, type StreamHandle } from "openclaw/plugin-sdk";
import { z } from "zod";
import { STREAM_EXPIRED, WecomError } from "../errors.ts";
import { BOT_TEXT_BYTES, headOf, hideMediaLines } from "../format.ts";
import type { BotLink } from "./link.ts";

/** Shown while nothing is said yet; the app draws it as thinking. */
const THINKING = "<think></think>";
const INTERRUPTED = "⚠️ 已中断";
const DEFAULT_INTERVAL_MS = 400;
/** The platform ends a stream after about six minutes. Source: spec channels-cn §2.2. */
const MAX_STREAM_MS = 5.5 * 60_000;
/** A stream that the core gives up waits so long for the text that takes its place. */
const PARK_MS = 3000;

const streamRef = z.object({ via: z.literal("bot-socket"), reqId: z.string(), streamId: z.string() });

export interface StreamsDeps {
  readonly link: () => BotLink | undefined;
  readonly log: Logger;
  readonly now: () => number;
  readonly intervalMs?: number | undefined;
}

/** The answers that grow in the chats of one bot. A stream cannot be taken back, only ended. */
export interface BotStreams {
  open(reqId: string, options: { readonly showsThinking: boolean }): StreamHandle;
  /**
   * Ends the stream of a message with `text`, or answers it with a new one. @throws WecomError `window` when the message cannot be
   * answered any more. At most one text answers a message.
   */
  answer(reqId: string, text: string): Promise<string>;
  /** Whether a message may still be answered in its own place. */
  isAnswerable(reqId: string): boolean;
  /** A stream of an earlier process: the answer of its message takes its place; without one it is ended. */
  adoptOrphan(ref: unknown): void;
  close(): Promise<void>;
}

/** The same in every process: what was lost may be sent again. */
const streamIdOf = (reqId: string): string => createHash("sha1").update(reqId).digest("hex").slice(0, 24);

interface Open {
  readonly streamId: string;
  /** What people see. */
  shown: string;
  timer: NodeJS.Timeout | undefined;
}

const MAX_ANSWERED = 2000;

export function createBotStreams({ link, log, now, intervalMs = DEFAULT_INTERVAL_MS }: StreamsDeps): BotStreams {
  const parked = new Map<string, Open>();
  const answered = new Set<string>();

  async function send(reqId: string, streamId: string, content: string, finish: boolean): Promise<void> {
    const open = link();
    if (!open) throw new WecomError("retry", "The connection to WeCom is not open");
    await open.request("aibot_respond_msg", { msgtype: "stream", stream: { id: streamId, finish, content: headOf(content, BOT_TEXT_BYTES), feedback: { id: streamId } } }, { what: finish ? "take an answer" : "show a growing answer", reqId });
  }

  function noteAnswered(reqId: string): void {
    answered.add(reqId);
    const oldest = answered.values().next().value;
    if (answered.size > MAX_ANSWERED && oldest !== undefined) answered.delete(oldest);
  }

  async function endSilently(reqId: string, { streamId, shown }: Open): Promise<void> {
    noteAnswered(reqId);
    await send(reqId, streamId, shown === THINKING || shown === "" ? "…" : shown, true).catch((err: unknown) => log.debug("stream not ended", { reason: errorText(err) }));
  }

  /** Keeps a stream for the text that comes in its place, and ends it when none comes. */
  function park(reqId: string, stream: Open, forMs = PARK_MS): void {
    stream.timer = setTimeout(() => {
      parked.delete(reqId);
      void endSilently(reqId, stream);
    }, forMs).unref();
    parked.set(reqId, stream);
  }

  function open(reqId: string, { showsThinking }: { readonly showsThinking: boolean }): StreamHandle {
    const stream: Open = { streamId: streamIdOf(reqId), shown: "", timer: undefined };
    const startedMs = now();
    let latest = "";
    let isBegun = false;
    let isOver = false;
    let isClosed = false;
    let lastAtMs = Number.NEGATIVE_INFINITY;
    let timer: NodeJS.Timeout | undefined;
    let running: Promise<void> | undefined;

    async function show(text: string): Promise<void> {
      lastAtMs = now();
      if (isOver || text === stream.shown) return;
      try {
        isBegun = true;
        await send(reqId, stream.streamId, text, false);
        stream.shown = text;
      } catch (err) {
        if (err instanceof WecomError && (err.kind === "window" || err.kind === "refused")) isOver = true;
        log.debug("growing answer not shown", { reason: errorText(err) });
      }
    }

    function schedule(): void {
      if (isClosed || isOver || timer || running || now() - startedMs > MAX_STREAM_MS) return;
      const text = hideMediaLines(latest);
      if (text === "" || text === stream.shown) return;
      timer = setTimeout(() => {
        timer = undefined;
        begin(hideMediaLines(latest));
      }, Math.max(0, lastAtMs + intervalMs - now()));
    }

    async function stop(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      timer = undefined;
      await running;
    }

    /** One frame at a time: while one is not acknowledged, texts are passed over for the newest. */
    function begin(text: string): void {
      running = show(text).finally(() => {
        running = undefined;
        schedule();
      });
    }

    if (showsThinking) begin(THINKING);
    return {
      ref: { via: "bot-socket", reqId, streamId: stream.streamId },
      update(fullText) {
        latest = fullText;
        schedule();
      },
      async finish() {
        await stop();
        if (isBegun && !isOver) park(reqId, stream);
        // The answer is sent like any other, durably; its text takes this stream's place.
        return { kind: "discarded" };
      },
      async fail() {
        await stop();
        if (isBegun && !isOver) park(reqId, stream);
      },
    };
  }

  return {
    open,
    isAnswerable: (reqId) => !answered.has(reqId),
    async answer(reqId, text) {
      const waiting = parked.get(reqId);
      clearTimeout(waiting?.timer);
      parked.delete(reqId);
      const streamId = streamIdOf(reqId);
      try {
        await send(reqId, streamId, text, true);
        noteAnswered(reqId);
        return streamId;
      } catch (err) {
        const isOver = err instanceof WecomError && err.kind !== "retry" && err.kind !== "uncertain" && err.kind !== "rate-limited";
        if (isOver) noteAnswered(reqId);
        if (isOver && err.kind !== "window") throw new WecomError("window", err.message, { code: STREAM_EXPIRED, cause: err });
        if (!isOver && waiting) park(reqId, waiting);
        // The whole text once more into the same stream changes nothing.
        throw err instanceof WecomError && err.kind === "uncertain" ? new WecomError("retry", err.message, { cause: err }) : err;
      }
    },
    adoptOrphan(ref) {
      const parsed = streamRef.safeParse(ref);
      if (parsed.success) park(parsed.data.reqId, { streamId: parsed.data.streamId, shown: INTERRUPTED, timer: undefined }, MAX_STREAM_MS);
    },
    async close() {
      const open = [...parked];
      parked.clear();
      for (const [reqId, stream] of open) {
        clearTimeout(stream.timer);
        await endSilently(reqId, stream);
      }
    },
  };
}
