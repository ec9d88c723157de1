import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import { type Reactions, TYPING } from "./reactions.ts";

/** Without a new signal the sign of typing goes: the run has ended without an answer. */
const QUIET_MS = 15_000;
const MAX_DONE = 500;

/** A reaction on the message that is being answered, in place of a sign of typing. Failures are logged. */
export interface TypingSigns {
  signal(messageId: string): Promise<void>;
  /** The answer stands. */
  done(messageId: string): Promise<void>;
  /** Takes back what is shown. */
  stop(): Promise<void>;
}

export function createTypingSigns(reactions: Reactions, log: Logger): TypingSigns {
  const shown = new Map<string, { readonly set: Promise<boolean>; timer: NodeJS.Timeout }>();
  const finished = new Set<string>();

  async function clear(messageId: string): Promise<void> {
    const sign = shown.get(messageId);
    if (!sign) return;
    shown.delete(messageId);
    clearTimeout(sign.timer);
    if (!(await sign.set)) return;
    await reactions.remove(messageId, TYPING).catch((err: unknown) => log.debug("sign of typing not taken back", { reason: errorText(err) }));
  }

  function show(messageId: string): Promise<boolean> {
    return reactions.add(messageId, TYPING).then(() => true, (err: unknown) => {
      log.debug("sign of typing not shown", { reason: errorText(err) });
      return false;
    });
  }

  return {
    async signal(messageId) {
      if (finished.has(messageId)) return;
      const timer = setTimeout(() => void clear(messageId), QUIET_MS);
      timer.unref();
      const sign = shown.get(messageId);
      if (sign) {
        clearTimeout(sign.timer);
        sign.timer = timer;
        return;
      }
      const set = show(messageId);
      shown.set(messageId, { set, timer });
      await set;
    },
    async done(messageId) {
      finished.add(messageId);
      const oldest = finished.values().next().value;
      if (finished.size > MAX_DONE && oldest !== undefined) finished.delete(oldest);
      await clear(messageId);
    },
    async stop() {
      await Promise.all([...shown.keys()].map(clear));
    },
  };
}
