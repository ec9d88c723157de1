import { randomUUID } from "node:crypto";
import { z } from "zod";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import type { OutboundTarget, StreamHandle } from "../contract/index.ts";
import type { LarkApi } from "./api.ts";
import { cardCalls, type CardCalls, createCard } from "./card-calls.ts";
import type { CardStore } from "./card-store.ts";
import type { LarkAccount } from "./config.ts";
import { isTemporary, LarkError } from "./errors.ts";
import { isCardText, mentionText, toCardText } from "./format.ts";
import { type Destination, postMessage, readReplyData, resolveDestination } from "./messages.ts";

/** At most ten updates a second; a chat takes five calls. Source: spec channels-cn §4.5. */
const MIN_INTERVAL_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** Above every number that a stream of ten minutes can reach. */
const ORPHAN_SEQUENCE = 1_000_000;
const INTERRUPTED = "⚠️ 已中断 · Interrupted";

const streamRef = z.object({ streamId: z.string() });

export interface CardDeps {
  readonly account: LarkAccount;
  readonly api: LarkApi;
  readonly store: CardStore;
  readonly log: Logger;
  readonly now: () => number;
  readonly minIntervalMs?: number | undefined;
  onSent(to: Destination["target"], messageId: string): void;
  /** After the answer stands. */
  onFinished(): void;
}

/** A card that grows while the model writes: one request at a time, the newest text wins. It appears with the first text that belongs into a card. */
export function openStreamCard(deps: CardDeps, target: OutboundTarget): StreamHandle {
  const { account: { config }, api, store, log, now } = deps;
  const intervalMs = deps.minIntervalMs ?? MIN_INTERVAL_MS;
  const streamId = randomUUID();
  let calls: CardCalls | undefined;
  let messageId: string | undefined;
  let isAbandoned = false;
  let isClosed = false;
  let latest = "";
  let considered = "";
  let shown = "";
  let lastAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function create(text: string): Promise<void> {
    const cardId = await createCard(api, text);
    calls = cardCalls(api, cardId);
    // Before anybody sees it: whoever dies now leaves nothing behind that the file does not know.
    await store.put(streamId, cardId);
    const destination = await resolveDestination(api, target);
    const sent = await postMessage(api, destination, { msgType: "interactive", content: JSON.stringify({ type: "card", data: { card_id: cardId } }) });
    messageId = sent.messageId;
    deps.onSent(destination.target, messageId);
  }

  async function step(): Promise<void> {
    considered = latest;
    const visible = hideMediaLines(latest);
    if (!calls && !isCardText(visible, config.renderMode)) return;
    const text = toCardText(visible, config);
    // Too long for one card: it rests at what it shows.
    if (text === undefined || text === "" || text === shown) return;
    lastAtMs = now();
    try {
      if (calls) await calls.write(text);
      else await create(text);
      shown = text;
    } catch (err) {
      if (messageId !== undefined && err instanceof LarkError && isTemporary(err)) {
        lastAtMs = now() + Math.min(MAX_PAUSE_MS, err.retryAfterMs ?? intervalMs);
        considered = "";
        return log.debug("card not updated", { reason: err.message });
      }
      isAbandoned = true;
      log.warn("card given up, the answer goes out as messages", { reason: errorText(err) });
    }
  }

  function schedule(): void {
    if (isClosed || isAbandoned || timer || running) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = step().finally(() => {
        running = undefined;
        if (latest !== considered) schedule();
      });
    }, Math.max(0, lastAtMs + intervalMs - now()));
  }

  async function stop(): Promise<void> {
    isClosed = true;
    clearTimeout(timer);
    timer = undefined;
    await running;
  }

  /** Takes the card out of the chat, or at least ends it. */
  async function discard(): Promise<void> {
    const open = calls;
    calls = undefined;
    if (!open) return;
    if (messageId === undefined || !(await recall(api, messageId, log))) await endInterrupted(open, log);
    await store.remove(streamId);
  }

  function finalText(fullText: string): string | undefined {
    const text = isAbandoned ? undefined : toCardText(fullText, config);
    const mention = mentionText(readReplyData(target)?.mention ?? [], "card");
    return text && mention ? `${mention} ${text}` : text;
  }

  return {
    ref: { streamId },
    update(fullText) {
      latest = fullText;
      schedule();
    },
    async finish(fullText) {
      await stop();
      const text = finalText(fullText);
      if (!calls || messageId === undefined || text === undefined) {
        await discard();
        return { kind: "discarded" };
      }
      try {
        if (text !== shown) await calls.write(text, { patient: true });
      } catch (err) {
        log.warn("final text goes out as a new message", { reason: errorText(err) });
        await discard();
        return { kind: "discarded" };
      }
      await calls.close(fullText).catch((err: unknown) => log.warn("finished card stays in streaming mode", { reason: errorText(err) }));
      await store.remove(streamId);
      deps.onFinished();
      return { kind: "replaced", messageIds: [messageId] };
    },
    async fail() {
      await stop();
      await discard();
    },
  };
}

/** Ends a card that an earlier process left open. Failures are logged: there is nobody left to tell. */
export async function closeOrphan(deps: Pick<CardDeps, "api" | "store" | "log">, ref: unknown): Promise<void> {
  const parsed = streamRef.safeParse(ref);
  const cardId = parsed.success ? await deps.store.find(parsed.data.streamId) : undefined;
  if (!parsed.success || cardId === undefined) return;
  await endInterrupted(cardCalls(deps.api, cardId, ORPHAN_SEQUENCE), deps.log);
  await deps.store.remove(parsed.data.streamId);
}

async function endInterrupted(calls: CardCalls, log: Logger): Promise<void> {
  try {
    await calls.append(INTERRUPTED).catch((err: unknown) => log.debug("note not added to a card", { reason: errorText(err) }));
    await calls.close(INTERRUPTED);
  } catch (err) {
    log.warn("card not closed", { reason: errorText(err) });
  }
}

async function recall(api: LarkApi, messageId: string, log: Logger): Promise<boolean> {
  try {
    await api.call("DELETE", `/im/v1/messages/${encodeURIComponent(messageId)}`, { what: "take back a message", patient: true });
    return true;
  } catch (err) {
    log.debug("card not taken back", { reason: errorText(err) });
    return false;
  }
}

/** Lines that name files are no words for people, also while they are being written. */
function hideMediaLines(text: string): string {
  const whole = text.replace(/^[ \t]*MEDIA:.*$/gm, "");
  const last = whole.slice(whole.lastIndexOf("\n") + 1).trimStart();
  return last !== "" && "MEDIA:".startsWith(last) ? whole.slice(0, whole.lastIndexOf("\n") + 1) : whole;
}
