import { gateVisibleText, HEARTBEAT_TOKEN, stripEdgeToken } from "../../agents/index.ts";
import { resolveHumanDelay } from "../../auto-reply/index.ts";
import { sleep } from "../../infra/backoff.ts";
import { applyPrefix } from "../../infra/text/index.ts";
import { fillResponsePrefix, type ResponsePrefixContext } from "./reply-prefix.ts";

/** The way of an answer to a channel plugin's `deliver`: in order, one after another. Source: spec plugin-sdk §13. */

export type DispatchKind = "tool" | "block" | "final";

export interface DispatchPayload {
  text?: string | undefined;
  mediaUrl?: string | undefined;
  mediaUrls?: readonly string[] | undefined;
  replyToId?: string | undefined;
  replyToTag?: boolean | undefined;
  replyToCurrent?: boolean | undefined;
  audioAsVoice?: boolean | undefined;
  isError?: boolean | undefined;
  isReasoning?: boolean | undefined;
  channelData?: Readonly<Record<string, unknown>> | undefined;
}

export type SkipReason = "empty" | "silent" | "heartbeat";

export interface HumanDelay {
  readonly mode?: "off" | "natural" | "custom" | undefined;
  readonly minMs?: number | undefined;
  readonly maxMs?: number | undefined;
}

export interface ReplyDispatcherOptions {
  readonly deliver: (payload: DispatchPayload, info: { readonly kind: DispatchKind }) => unknown;
  readonly responsePrefix?: string | undefined;
  readonly responsePrefixContext?: ResponsePrefixContext | undefined;
  /** Asked at each message: the model may be known only then. */
  readonly responsePrefixContextProvider?: (() => ResponsePrefixContext) | undefined;
  readonly onHeartbeatStrip?: (() => void) | undefined;
  readonly onError?: ((err: unknown, info: { readonly kind: DispatchKind }) => void) | undefined;
  readonly onSkip?: ((payload: DispatchPayload, info: { readonly kind: DispatchKind; readonly reason: SkipReason }) => void) | undefined;
  /** Between the blocks of one answer. */
  readonly humanDelay?: HumanDelay | undefined;
  readonly onIdle?: (() => void) | undefined;
}

export type DispatchCounts = Record<DispatchKind, number>;

export interface ReplyDispatcher {
  /** false: there is nothing in it to send. */
  sendToolResult(payload: DispatchPayload): boolean;
  sendBlockReply(payload: DispatchPayload): boolean;
  sendFinalReply(payload: DispatchPayload): boolean;
  /** Resolves when everything that was accepted is delivered or has failed. */
  waitForIdle(): Promise<void>;
  getQueuedCounts(): DispatchCounts;
  /** Of those, the ones that `deliver` refused. */
  getFailedCounts(): DispatchCounts;
  /** Nothing more comes; `onIdle` follows when the rest is out. */
  markComplete(): void;
}

export function createReplyDispatcher(options: ReplyDispatcherOptions): ReplyDispatcher {
  const counts: DispatchCounts = { tool: 0, block: 0, final: 0 };
  const failed: DispatchCounts = { tool: 0, block: 0, final: 0 };
  let tail: Promise<void> = Promise.resolve();
  let pending = 0;
  let complete = false;
  let idle = false;
  let sentBlock = false;

  const checkIdle = (): void => {
    if (!complete || pending > 0 || idle) return;
    idle = true;
    quietly(() => options.onIdle?.());
  };
  const deliver = async (payload: DispatchPayload, kind: DispatchKind, delayMs: number): Promise<void> => {
    try {
      if (delayMs > 0) await sleep(delayMs);
      await options.deliver(payload, { kind });
    } catch (err) {
      failed[kind]++;
      quietly(() => options.onError?.(err, { kind }));
    } finally {
      pending--;
      checkIdle();
    }
  };
  const enqueue = (kind: DispatchKind, raw: DispatchPayload): boolean => {
    const payload = preparePayload(raw, kind, options);
    if (!payload) return false;
    counts[kind]++;
    pending++;
    idle = false;
    const delayMs = kind === "block" && sentBlock ? pauseMs(options.humanDelay) : 0;
    if (kind === "block") sentBlock = true;
    tail = tail.then(() => deliver(payload, kind, delayMs));
    return true;
  };
  return {
    sendToolResult: (payload) => enqueue("tool", payload),
    sendBlockReply: (payload) => enqueue("block", payload),
    sendFinalReply: (payload) => enqueue("final", payload),
    async waitForIdle() {
      // What is delivered may send more.
      for (let seen: Promise<void> | undefined; seen !== tail; ) {
        seen = tail;
        await seen;
      }
    },
    getQueuedCounts: () => ({ ...counts }),
    getFailedCounts: () => ({ ...failed }),
    markComplete() {
      complete = true;
      checkIdle();
    },
  };
}

/** What a plugin only wants to know must not hold up the rest of the answer. */
function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // its own failure; the pieces behind this one still go out
  }
}

function pauseMs(delay: HumanDelay | undefined): number {
  const range = resolveHumanDelay(delay);
  return range ? Math.round(range.minMs + Math.random() * (range.maxMs - range.minMs)) : 0;
}

const hasMedia = (payload: DispatchPayload): boolean => Boolean(payload.mediaUrl) || (payload.mediaUrls?.length ?? 0) > 0;
const hasChannelData = (payload: DispatchPayload): boolean => Object.keys(payload.channelData ?? {}).length > 0;

/** Without the tokens that are for the gateway, with the prefix; undefined when nothing is left. */
function preparePayload(payload: DispatchPayload, kind: DispatchKind, options: ReplyDispatcherOptions): DispatchPayload | undefined {
  const raw = payload.text ?? "";
  const rich = hasMedia(payload) || hasChannelData(payload);
  const skip = (reason: SkipReason): undefined => {
    options.onSkip?.(payload, { kind, reason });
    return undefined;
  };
  if (raw.trim() === "") return rich ? { ...payload } : skip("empty");
  const withoutHeartbeat = stripEdgeToken(raw, HEARTBEAT_TOKEN, true);
  const stripped = withoutHeartbeat !== raw;
  if (stripped) options.onHeartbeatStrip?.();
  const { text, silent } = gateVisibleText(raw);
  if (silent) return rich ? { ...payload, text: undefined } : skip(stripped && withoutHeartbeat.trim() === "" ? "heartbeat" : "silent");
  const prefix = fillResponsePrefix(options.responsePrefix, options.responsePrefixContextProvider?.() ?? options.responsePrefixContext ?? {});
  const body = text.trim() === raw.trim() ? raw : text;
  return { ...payload, text: applyPrefix(prefix, body) };
}

/** Typing signals in the two shapes that plugins give them. */
export interface TypingCallbacksLike {
  readonly onReplyStart: () => Promise<void> | void;
  readonly onIdle?: (() => void) | undefined;
  readonly onCleanup?: (() => void) | undefined;
}

export interface TypingDispatcherOptions extends ReplyDispatcherOptions {
  readonly typingCallbacks?: TypingCallbacksLike | undefined;
  readonly onReplyStart?: (() => Promise<void> | void) | undefined;
  readonly onCleanup?: (() => void) | undefined;
}

export interface TypingController {
  markDispatchIdle(): void;
  markRunComplete(): void;
  cleanup(): void;
}

export interface TypingReplyOptions {
  readonly onReplyStart?: (() => Promise<void> | void) | undefined;
  readonly onTypingCleanup?: (() => void) | undefined;
  readonly onTypingController?: ((typing: TypingController) => void) | undefined;
}

export interface TypingDispatcher {
  readonly dispatcher: ReplyDispatcher;
  /** For the dispatch: it begins and ends the typing. */
  readonly replyOptions: TypingReplyOptions;
  /** The turn is over, with or without an answer. */
  markDispatchIdle(): void;
}

export function createReplyDispatcherWithTyping(options: TypingDispatcherOptions): TypingDispatcher {
  const { typingCallbacks, onReplyStart, onIdle, onCleanup, ...rest } = options;
  let typing: TypingController | undefined;
  const markDispatchIdle = (): void => {
    typing?.markDispatchIdle();
    (onIdle ?? typingCallbacks?.onIdle)?.();
  };
  return {
    dispatcher: createReplyDispatcher({ ...rest, onIdle: markDispatchIdle }),
    replyOptions: {
      onReplyStart: onReplyStart ?? typingCallbacks?.onReplyStart,
      onTypingCleanup: onCleanup ?? typingCallbacks?.onCleanup,
      onTypingController: (controller) => void (typing = controller),
    },
    markDispatchIdle,
  };
}
