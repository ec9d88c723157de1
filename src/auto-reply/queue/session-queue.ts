import type { QueueSettings } from "./settings.ts";

/** One message that waits for its session. */
export interface Queued<T> {
  readonly item: T;
  /** Items are merged only when this is equal: authority, channel, account, chat, thread. */
  readonly mergeKey: string;
  /** What the overflow summary says of it. */
  readonly preview: string;
}

export interface DropNotice<T> {
  readonly dropped: readonly T[];
  readonly policy: QueueSettings["drop"];
}

export interface Batch<T> {
  readonly items: readonly T[];
  readonly mergeKey: string;
  /** Gave way for lack of room; the batch answers them too. */
  readonly summarised: readonly T[];
  /** One line for each of them that the model is told of, oldest first. */
  readonly lines: readonly string[];
  /** How many of the lines are not the whole message. */
  readonly cut: number;
}

interface Summarised<T> extends Queued<T> {
  readonly line: string;
  readonly cut: boolean;
}

const SUMMARY_LINE_CHARS = 160;
/** Lines kept, in units of the queue's cap; the spec's one cap loses messages of a burst that fits into two. */
const SUMMARY_CAPS = 2;
/** A stream of messages without a pause is read after so many times the debounce. */
const MAX_DEBOUNCES = 10;

/**
 * What waits behind the running turn of one session. Pure bookkeeping: the worker decides when to take the next batch.
 * Source: spec agent-pipeline §4.2.
 */
export class SessionQueue<T> {
  #waiting: Queued<T>[] = [];
  #summarised: Summarised<T>[] = [];
  #cap = 1;
  #firstAt = 0;
  #lastAt = 0;

  get depth(): number {
    return this.#waiting.length;
  }

  /** ms until the sender has paused for `debounceMs`. */
  waitMs(debounceMs: number, nowMs: number): number {
    return Math.max(0, Math.min(this.#lastAt + debounceMs, this.#firstAt + MAX_DEBOUNCES * debounceMs) - nowMs);
  }

  /** The notice names what had to give way; its items must be answered or reported by the caller. */
  push(queued: Queued<T>, settings: QueueSettings, nowMs: number): DropNotice<T> | undefined {
    this.#lastAt = nowMs;
    this.#cap = settings.cap;
    if (this.#waiting.length === 0) this.#firstAt = nowMs;
    if (this.#waiting.length < settings.cap) {
      this.#waiting.push(queued);
      return undefined;
    }
    if (settings.drop === "new") return { dropped: [queued.item], policy: "new" };
    const dropped = this.#waiting.splice(0, this.#waiting.length - settings.cap + 1);
    this.#waiting.push(queued);
    if (settings.drop === "old") return { dropped: dropped.map(({ item }) => item), policy: "old" };
    this.#summarised.push(...dropped.map(summarise));
    return undefined;
  }

  /** Back to the front, in this order: what was taken and could not be used. */
  putBack(queued: readonly Queued<T>[]): void {
    this.#waiting.unshift(...queued);
  }

  /** The next batch: in modes that collect, every leading item of equal merge key, else one. */
  take(mode: QueueSettings["mode"]): Batch<T> | undefined {
    const first = this.#waiting.shift();
    if (!first) return undefined;
    const items = [first.item];
    if (mode === "collect" || mode === "steer-backlog" || mode === "interrupt") {
      while (this.#waiting[0]?.mergeKey === first.mergeKey) items.push((this.#waiting.shift() as Queued<T>).item);
    }
    const own = this.#summarised.filter(({ mergeKey }) => mergeKey === first.mergeKey);
    this.#summarised = this.#summarised.filter(({ mergeKey }) => mergeKey !== first.mergeKey);
    this.#reviveOrphan();
    const told = own.slice(-SUMMARY_CAPS * this.#cap);
    return { items, mergeKey: first.mergeKey, summarised: own.map(({ item }) => item), lines: told.map(({ line }) => line), cut: told.filter(({ cut }) => cut).length };
  }

  /** Everything that waited; also what was only to be summed up. */
  clear(): T[] {
    const items = [...this.#summarised, ...this.#waiting].map(({ item }) => item);
    this.#waiting = [];
    this.#summarised = [];
    return items;
  }

  /** A summary never rides with messages of another chat or authority: with none of its own left, its newest message waits again. */
  #reviveOrphan(): void {
    if (this.#waiting.length > 0) return;
    const orphan = this.#summarised.pop();
    if (orphan) this.#waiting.push(orphan);
  }
}

function summarise<T>(queued: Queued<T>): Summarised<T> {
  const text = queued.preview.replace(/\s+/g, " ").trim();
  const cut = text.length > SUMMARY_LINE_CHARS;
  return { ...queued, line: cut ? `${text.slice(0, SUMMARY_LINE_CHARS - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : text, cut };
}

const BATCH_TITLE = "[Queued messages while agent was busy]";
const OVERFLOW_TITLE = "[Queue overflow]";
/** Between the messages of a merged batch. */
export const QUEUED_MARK = /(?:^|\n\n)---\nQueued #\d+\n/;

/** Is this what stands before the first message of a merged batch? */
export const isBatchHead = (text: string): boolean => text.startsWith(BATCH_TITLE) || text.startsWith(OVERFLOW_TITLE);

/** The prompt of a merged batch. */
export function buildCollectPrompt(prompts: readonly string[], lines: readonly string[], droppedCount: number): string {
  if (prompts.length === 1 && droppedCount === 0) return prompts[0] as string;
  const parts: string[] = [];
  if (prompts.length > 1) parts.push(BATCH_TITLE);
  if (droppedCount > 0) parts.push(`${OVERFLOW_TITLE} Dropped ${droppedCount} message(s) due to cap.\nSummary:\n${lines.map((line) => `- ${line}`).join("\n")}`);
  for (const [index, prompt] of prompts.entries()) parts.push(`---\nQueued #${index + 1}\n${prompt}`);
  return parts.join("\n\n");
}

/** For the sender, when a part of what was summed up did not reach the model. */
export function overflowNotice({ summarised, lines, cut }: Pick<Batch<unknown>, "summarised" | "lines" | "cut">): string | undefined {
  const unread = summarised.length - lines.length;
  if (unread > 0) {
    return `⚠️ Too many messages came in at once: ${unread} could not be read at all and ${lines.length} only as one line each. Please repeat what is important.`;
  }
  return cut > 0 ? `⚠️ Too many messages came in at once: of ${cut} I could read only the first ${SUMMARY_LINE_CHARS} characters. Please repeat what is important.` : undefined;
}
