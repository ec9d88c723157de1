import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, writeFileAtomic } from "../../infra/atomic-file.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";

/** Stream → card. */
const file = z.record(z.string(), z.string());
const MAX_CARDS = 200;

/**
 * Which cards are open, on disk: the platform chooses their ids, so that only a file knows those that a killed process left.
 * Failures are logged; such a card stays open until the platform closes it.
 */
export interface CardStore {
  put(streamId: string, cardId: string): Promise<void>;
  remove(streamId: string): Promise<void>;
  find(streamId: string): Promise<string | undefined>;
}

export function createCardStore(stateDir: string | undefined, log: Logger): CardStore {
  const path = stateDir === undefined ? undefined : join(stateDir, "feishu", "cards.json");
  let cards: Map<string, string> | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  async function load(): Promise<Map<string, string>> {
    if (cards) return cards;
    try {
      cards = new Map(Object.entries(file.parse((path === undefined ? undefined : await readJsonFile(path)) ?? {})));
    } catch (err) {
      log.warn("list of open cards not read", { error: errorText(err) });
      cards = new Map();
    }
    return cards;
  }

  function change(apply: (cards: Map<string, string>) => void): Promise<void> {
    const done = queue.then(async () => {
      const known = await load();
      apply(known);
      const oldest = known.keys().next().value;
      if (known.size > MAX_CARDS && oldest !== undefined) known.delete(oldest);
      if (path !== undefined) await writeFileAtomic(path, JSON.stringify(Object.fromEntries(known)));
    }).catch((err: unknown) => log.warn("list of open cards not written", { error: errorText(err) }));
    queue = done;
    return done;
  }

  return {
    put: (streamId, cardId) => change((known) => void known.set(streamId, cardId)),
    remove: (streamId) => change((known) => void known.delete(streamId)),
    async find(streamId) {
      await queue;
      return (await load()).get(streamId);
    },
  };
}
