import { randomUUID } from "node:crypto";
import { errorText, type Logger, sleep, type StreamHandle } from "openclaw/plugin-sdk";
import { z } from "zod";
import type { DingTalkApi } from "./api.ts";
import { cardCalls } from "./card-calls.ts";
import type { DingTalkAccount } from "./config.ts";
import { DingTalkError } from "./errors.ts";
import type { DingTalkTarget } from "./targets.ts";

const DEFAULT_INTERVAL_MS = 1000;
const FINAL_TRIES = 3;
const MAX_WAIT_MS = 10_000;
const INTERRUPTED = "⚠️ 已中断";

const cardRef = z.object({ outTrackId: z.string() });

export interface CardDeps {
  readonly account: DingTalkAccount;
  readonly api: DingTalkApi;
  readonly log: Logger;
  readonly now: () => number;
  /** Told before a card is delivered. */
  onCreate(outTrackId: string): void;
  /** Cards do not work now: answers are Markdown for a while. */
  onDegrade(reason: string): void;
  /** After the answer stands, e.g. to name the asker in a group. */
  onFinished(): Promise<void>;
}

/** A card that grows while the model writes; one request at a time, the newest text wins. */
export function openCard(deps: CardDeps, target: DingTalkTarget): StreamHandle {
  const { account: { config }, log, now } = deps;
  const outTrackId = randomUUID();
  const calls = cardCalls(deps, outTrackId);
  const intervalMs = config.cardStreamInterval ?? DEFAULT_INTERVAL_MS;
  const streams = (config.cardStreamingMode ?? (config.cardRealTimeStream === true ? "all" : "off")) !== "off";
  const startedMs = now();
  let created = false;
  let isBroken = false;
  let isClosed = false;
  let latest = "";
  let shown = "";
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let lastAtMs = Number.NEGATIVE_INFINITY;

  const withStatus = (text: string, isDone: boolean): string => (config.cardStatusLine !== true ? text : `${text}\n\n> ${isDone ? `✅ ${((now() - startedMs) / 1000).toFixed(1)} s` : "⏳ …"}`);

  function give(reason: unknown): void {
    isBroken = true;
    log.warn("card given up, the answer goes out as Markdown", { reason: errorText(reason) });
    deps.onDegrade(errorText(reason));
  }

  async function step(): Promise<void> {
    const text = latest;
    lastAtMs = now();
    try {
      if (!created) {
        // Set before the call: a card whose answer was lost is closed as well.
        created = true;
        deps.onCreate(outTrackId);
        await calls.create(target, withStatus(text, false));
      } else await calls.stream(withStatus(text, false), { isFinalize: false, isError: false });
      shown = text;
    } catch (err) {
      const isTemporary = err instanceof DingTalkError && err.kind !== "refused" && err.kind !== "permission" && err.kind !== "token";
      if (shown === "" || !isTemporary) give(err);
      else {
        log.debug("card not updated", { reason: errorText(err) });
        lastAtMs = now() + Math.min(MAX_WAIT_MS, err.retryAfterMs ?? intervalMs);
      }
    }
  }

  function schedule(): void {
    if (isClosed || isBroken || !streams || timer || running || latest === shown || latest === "") return;
    timer = setTimeout(() => {
      timer = undefined;
      running = step().finally(() => {
        running = undefined;
        schedule();
      });
    }, Math.max(0, lastAtMs + intervalMs - now()));
  }

  async function stop(): Promise<void> {
    isClosed = true;
    clearTimeout(timer);
    timer = undefined;
    await running;
  }

  async function close(text: string): Promise<void> {
    if (!created) return;
    created = false;
    await closeCard(deps, outTrackId, text === "" ? INTERRUPTED : `${text}\n\n${INTERRUPTED}`);
  }

  return {
    ref: { outTrackId },
    update(fullText) {
      latest = fullText;
      schedule();
    },
    async finish(fullText) {
      await stop();
      const text = withStatus(fullText, true);
      try {
        if (!isBroken && !created) {
          created = true;
          deps.onCreate(outTrackId);
          await calls.create(target, text);
        }
        if (!isBroken) {
          // Whole texts: a repeated update changes nothing.
          await persist(() => calls.stream(text, { isFinalize: true, isError: false }));
          await persist(() => calls.settle(text, "3")).catch((err: unknown) => log.warn("finished card keeps its old state", { reason: errorText(err) }));
        }
      } catch (err) {
        give(err);
      }
      if (isBroken) {
        await close(shown);
        return { kind: "discarded" };
      }
      await deps.onFinished().catch((err: unknown) => log.debug("asker not named", { reason: errorText(err) }));
      return { kind: "replaced", messageIds: [outTrackId] };
    },
    async fail() {
      await stop();
      await close(shown);
    },
  };
}

/** Marks a card as failed. Failures are logged: there is nobody left to tell. */
async function closeCard(deps: Pick<CardDeps, "api" | "account" | "log">, outTrackId: string, content: string): Promise<void> {
  const calls = cardCalls(deps, outTrackId);
  try {
    await calls.stream(content, { isFinalize: true, isError: true });
    await calls.settle(content, "5");
  } catch (err) {
    deps.log.debug("card not closed", { reason: errorText(err) });
  }
}

/** Closes a card that an earlier process left open. */
export async function closeOrphan(deps: Pick<CardDeps, "api" | "account" | "log">, ref: unknown): Promise<void> {
  const parsed = cardRef.safeParse(ref);
  if (parsed.success) await closeCard(deps, parsed.data.outTrackId, `${INTERRUPTED}（网关已重启）`);
}

/** Repeats what may be repeated, with the pause that the platform asks for. @throws DingTalkError */
async function persist(call: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (err) {
      const isTemporary = err instanceof DingTalkError && (err.kind === "rate-limited" || err.kind === "retry" || err.kind === "uncertain");
      if (!isTemporary || attempt >= FINAL_TRIES) throw err;
      await sleep(Math.min(MAX_WAIT_MS, err.retryAfterMs ?? 500 * attempt));
    }
  }
}
