import { createHash } from "node:crypto";
import type { StreamHandle } from "openclaw/plugin-sdk";
import { z } from "zod";
import { WecomError } from "../errors.ts";
import { BOT_TEXT_BYTES, headOf, hideMediaLines } from "../format.ts";

/** An answer of the callback form: the platform asks for it again and again until it is finished. Source: spec channels-cn §2.4. */
export interface StreamState {
  readonly id: string;
  readonly finish: boolean;
  readonly content: string;
  readonly images: readonly StreamImage[];
}

export interface StreamImage {
  readonly base64: string;
  readonly md5: string;
}

const LIFE_MS = 10 * 60_000;
const CLOSE_AFTER_MS = 5.5 * 60_000;
const PARK_MS = 3000;
/** The platform asks about once a second; who is not asked so long is not asked any more. */
const POLL_WAIT_MS = 10_000;
const LATE = "⏳ 处理时间较长，完成后会单独发给你。";
const QUEUED = "已收到，已排队处理中...";
/** Behind a message that waits already: both are read in one go. */
const MERGED = "已收到，已合并排队处理中...";
const ANSWERED_BELOW = "已和后面的消息合并处理，请看后面的回复。";

const streamRef = z.object({ via: z.literal("bot-webhook"), streamId: z.string() });

interface Entry {
  readonly id: string;
  readonly chatKey: string;
  readonly createdAtMs: number;
  /** It came while another message of its chat was being answered. */
  readonly isQueued: boolean;
  /** Its own answer has begun. */
  isOpened: boolean;
  content: string;
  images: readonly StreamImage[];
  isFinished: boolean;
  /** The platform has seen the end. */
  isTaken: boolean;
  readonly onTaken: Set<() => void>;
  parkTimer?: NodeJS.Timeout | undefined;
}

export interface StreamStates {
  /** The stream of a message, the same for a repeated one. */
  begin(messageId: string, chatKey: string): StreamState;
  /** What the platform is told when it asks; an unknown id is finished and empty. */
  poll(id: string): StreamState;
  open(id: string): StreamHandle;
  /** Finishes a stream and waits until the platform has taken it. @throws WecomError `window` when it does not, or the stream is over */
  answer(id: string, text: string, images?: readonly StreamImage[]): Promise<string>;
  isAnswerable(id: string): boolean;
  /** A stream of an earlier process, that the platform may still ask for: its answer is on the way. */
  adoptOrphan(ref: unknown): void;
  close(): void;
}

export function createStreamStates({ placeholder, now, pollWaitMs = POLL_WAIT_MS }: { readonly placeholder: string; readonly now: () => number; readonly pollWaitMs?: number | undefined }): StreamStates {
  const entries = new Map<string, Entry>();

  function sweep(): void {
    for (const [id, entry] of entries) if (now() - entry.createdAtMs > LIFE_MS) entries.delete(id);
  }

  const view = ({ id, isFinished, content, images }: Entry): StreamState => ({ id, finish: isFinished, content: headOf(content, BOT_TEXT_BYTES), images: isFinished ? images : [] });
  const idOf = (messageId: string): string => createHash("sha1").update(messageId).digest("hex").slice(0, 24);

  function end(entry: Entry, content: string): void {
    clearTimeout(entry.parkTimer);
    entry.content = content;
    entry.isFinished = true;
  }

  const isOpenEnded = (entry: Entry): boolean => !entry.isFinished && now() - entry.createdAtMs <= CLOSE_AFTER_MS;

  /** Messages that waited before this one are answered together with it, in its stream: theirs would stand open. */
  function endMerged(last: Entry): void {
    for (const entry of entries.values()) {
      if (entry === last) return;
      if (entry.chatKey === last.chatKey && isOpenEnded(entry) && !entry.isOpened) end(entry, ANSWERED_BELOW);
    }
  }

  return {
    begin(messageId, chatKey) {
      sweep();
      const id = idOf(messageId);
      const known = entries.get(id);
      if (known) return view(known);
      const before = [...entries.values()].filter((other) => other.chatKey === chatKey && isOpenEnded(other));
      const content = before.some(({ isQueued, isOpened }) => isQueued && !isOpened) ? MERGED : before.length > 0 ? QUEUED : placeholder;
      const entry: Entry = { id, chatKey, createdAtMs: now(), isQueued: before.length > 0, isOpened: false, content, images: [], isFinished: false, isTaken: false, onTaken: new Set() };
      entries.set(id, entry);
      return view(entry);
    },
    poll(id) {
      sweep();
      const entry = entries.get(id);
      if (!entry) return { id, finish: true, content: "", images: [] };
      if (!entry.isFinished && now() - entry.createdAtMs > CLOSE_AFTER_MS) end(entry, LATE);
      if (entry.isFinished && !entry.isTaken) {
        entry.isTaken = true;
        for (const tell of entry.onTaken) tell();
      }
      return view(entry);
    },
    open(id) {
      const begun = entries.get(id);
      if (begun) {
        begun.isOpened = true;
        endMerged(begun);
      }
      const park = (): Promise<void> => {
        const entry = entries.get(id);
        if (entry && !entry.isFinished) entry.parkTimer = setTimeout(() => end(entry, entry.content), PARK_MS);
        return Promise.resolve();
      };
      return {
        ref: { via: "bot-webhook", streamId: id },
        update(fullText) {
          const entry = entries.get(id);
          const text = hideMediaLines(fullText);
          if (entry && !entry.isFinished && text !== "") entry.content = text;
        },
        async finish() {
          await park();
          return { kind: "discarded" };
        },
        fail: park,
      };
    },
    isAnswerable(id) {
      const entry = entries.get(id);
      return entry !== undefined && !entry.isFinished && now() - entry.createdAtMs <= CLOSE_AFTER_MS;
    },
    adoptOrphan(ref) {
      const id = streamRef.safeParse(ref).data?.streamId;
      if (id === undefined || entries.has(id)) return;
      entries.set(id, { id, chatKey: "", createdAtMs: now(), isQueued: false, isOpened: true, content: placeholder, images: [], isFinished: false, isTaken: false, onTaken: new Set() });
    },
    async answer(id, text, images = []) {
      const entry = entries.get(id);
      if (!entry || entry.isFinished) throw new WecomError("window", "The message cannot be answered in its place any more");
      // A command is answered at once, while the answer before it goes on: then nothing was merged.
      const isAlone = ![...entries.values()].some((other) => other !== entry && other.chatKey === entry.chatKey && isOpenEnded(other) && (other.isOpened || !other.isQueued));
      if (isAlone) endMerged(entry);
      entry.images = images;
      end(entry, text);
      let timer: NodeJS.Timeout | undefined;
      const taken = await new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), pollWaitMs);
        entry.onTaken.add(() => resolve(true));
      });
      clearTimeout(timer);
      if (!taken) {
        entries.delete(id);
        throw new WecomError("window", "WeCom does not ask for the answer any more");
      }
      return `stream-${id}`;
    },
    close() {
      for (const entry of entries.values()) clearTimeout(entry.parkTimer);
    },
  };
}
