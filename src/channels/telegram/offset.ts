import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, writeFileAtomic } from "../../infra/atomic-file.ts";

const offsetFile = z.object({ version: z.literal(2), lastUpdateId: z.number().int().nullable(), botId: z.union([z.string(), z.number()]) });

export interface OffsetStore {
  /** The last update that is certainly accepted, or undefined: none, another bot's, or an unreadable file. */
  load(): Promise<number | undefined>;
  save(lastUpdateId: number): Promise<void>;
}

/** `<state>/telegram/update-offset-<account>.json`, version 2. Source: spec channels §4.2. */
export function createOffsetStore(stateDir: string, accountId: string, token: string): OffsetStore {
  const path = join(stateDir, "telegram", `update-offset-${accountId}.json`);
  const botId = token.split(":")[0] ?? "";
  return {
    async load() {
      try {
        const parsed = offsetFile.safeParse(await readJsonFile(path));
        return parsed.success && String(parsed.data.botId) === botId ? (parsed.data.lastUpdateId ?? undefined) : undefined;
      } catch {
        // A damaged file only means that Telegram repeats what it still holds; duplicates are recognised.
        return undefined;
      }
    },
    save: (lastUpdateId) => writeFileAtomic(path, `${JSON.stringify({ version: 2, lastUpdateId, botId })}\n`),
  };
}
