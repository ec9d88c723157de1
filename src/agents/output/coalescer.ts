import type { ReplyPayload } from "./payload.ts";

export interface CoalescerOptions {
  readonly minChars: number;
  readonly maxChars: number;
  readonly idleMs: number;
  readonly joiner: string;
}

export interface BlockCoalescer {
  push(payload: ReplyPayload): void;
  /** Sends what is held; at message and tool boundaries. */
  flush(): void;
}

/**
 * Joins small blocks into one message. Flushes at `maxChars`, on media, when the reply target changes, or after
 * `idleMs` without a new block once `minChars` are there. Source: spec agent-pipeline-output §6.3.
 */
export function createBlockCoalescer(options: CoalescerOptions, send: (payload: ReplyPayload) => void): BlockCoalescer {
  let held: ReplyPayload | undefined;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const payload = held;
    held = undefined;
    if (payload) send(payload);
  }

  function arm(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if ((held?.text?.length ?? 0) >= options.minChars) flush();
      else if (held) arm();
    }, options.idleMs);
    timer.unref();
  }

  return {
    flush,
    push(payload) {
      if (payload.mediaUrls?.length) {
        flush();
        send(payload);
        return;
      }
      const text = payload.text ?? "";
      if (held && (held.replyToId !== payload.replyToId || held.audioAsVoice !== payload.audioAsVoice)) flush();
      if (held && (held.text ?? "").length + options.joiner.length + text.length > options.maxChars) flush();
      held = held ? { ...held, text: `${held.text ?? ""}${options.joiner}${text}` } : payload;
      if ((held.text ?? "").length >= options.maxChars) flush();
      else arm();
    },
  };
}
