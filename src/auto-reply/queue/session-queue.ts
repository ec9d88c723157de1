import { truncateText } from "../../infra/text/index.ts";
import type { QueueSettings } from "./settings.ts";

/** One message that waits for its session. */
export interface Queued<T> {
  readonly item: T;
  /** Items are merged only when this is equal: authority, channel, account, chat, thread. */
  readonly mergeKey: string;
  /** One line for the overflow summary. */
  readonly preview: string;
}

export interface DropNotice<T> {
  readonly dropped: readonly T[];
  readonly policy: QueueSettings["drop"];
}

const SUMMARY_LINE_CHARS = 160;

/**
 * What waits behind the running turn of one session. Pure bookkeeping: the conversation decides when to take the next
 * batch. Source: spec agent-pipeline §4.2.
 */
export class SessionQueue<T> {
  #waiting: Queued<T>[] = [];
  #summary: string[] = [];
  #summaryItems: T[] = [];
  #lastAt = 0;

  get depth(): number {
    return this.#waiting.length;
  }

  get lastEnqueuedAt(): number {
    return this.#lastAt;
  }

  /** The notice names what had to give way; its items must be answered or reported by the caller. */
  push(queued: Queued<T>, settings: QueueSettings, nowMs: number): DropNotice<T> | undefined {
    this.#lastAt = nowMs;
    if (this.#waiting.length < settings.cap) {
      this.#waiting.push(queued);
      return undefined;
    }
    if (settings.drop === "new") return { dropped: [queued.item], policy: "new" };
    const dropped = this.#waiting.splice(0, this.#waiting.length - settings.cap + 1);
    this.#waiting.push(queued);
    if (settings.drop === "summarize") {
      for (const { preview, item } of dropped) {
        this.#summary.push(truncateText(preview.replace(/\s+/g, " ").trim(), SUMMARY_LINE_CHARS));
        this.#summaryItems.push(item);
      }
      this.#summary = this.#summary.slice(-settings.cap);
      return undefined;
    }
    return { dropped: dropped.map(({ item }) => item), policy: "old" };
  }

  /** The next batch: in collect mode every leading item of equal merge key, else one. */
  take(mode: QueueSettings["mode"]): { readonly items: readonly T[]; readonly summarised: readonly T[]; readonly summary: readonly string[] } | undefined {
    const first = this.#waiting.shift();
    if (!first) return undefined;
    const items = [first.item];
    if (mode === "collect" || mode === "steer-backlog") {
      while (this.#waiting[0]?.mergeKey === first.mergeKey) items.push((this.#waiting.shift() as Queued<T>).item);
    }
    const summary = this.#summary;
    const summarised = this.#summaryItems;
    this.#summary = [];
    this.#summaryItems = [];
    return { items, summarised, summary };
  }

  clear(): T[] {
    const items = [...this.#summaryItems, ...this.#waiting.map(({ item }) => item)];
    this.#waiting = [];
    this.#summary = [];
    this.#summaryItems = [];
    return items;
  }
}

/** The prompt of a merged batch. */
export function buildCollectPrompt(prompts: readonly string[], summary: readonly string[], droppedCount: number): string {
  const parts: string[] = [];
  if (prompts.length > 1) parts.push("[Queued messages while agent was busy]");
  if (summary.length > 0) {
    parts.push(`[Queue overflow] Dropped ${droppedCount} message(s) due to cap.\nSummary:\n${summary.map((line) => `- ${line}`).join("\n")}`);
  }
  if (prompts.length === 1 && summary.length === 0) return prompts[0] as string;
  for (const [index, prompt] of prompts.entries()) parts.push(`---\nQueued #${index + 1}\n${prompt}`);
  return parts.join("\n\n");
}
