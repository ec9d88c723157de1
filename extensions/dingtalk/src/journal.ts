import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "openclaw/plugin-sdk";
import { z } from "zod";

const DAY_MS = 86_400_000;
const DEFAULT_TTL_DAYS = 7;
const MAX_ENTRIES = 1000;
const MAX_TEXT_CHARS = 2000;
const SAVE_AFTER_MS = 500;

const file = z.object({
  version: z.literal(1),
  said: z.array(z.tuple([z.string(), z.object({ text: z.string(), sender: z.string().optional(), atMs: z.number() })])),
  names: z.array(z.tuple([z.string(), z.string()])),
});
type Entry = z.infer<typeof file>["said"][number][1];

/** What was said lately, for quotes that come without their text, and who is called how. */
export interface Journal {
  note(id: string, text: string, sender: string | undefined): void;
  find(ids: readonly (string | undefined)[]): { readonly text: string; readonly sender?: string | undefined } | undefined;
  noteName(name: string | undefined, address: string): void;
  /** The only address under this name. */
  address(name: string): string | undefined;
  /** Writes what is not yet written; nothing is written after that. */
  close(): Promise<void>;
}

/** Bounded, kept in `<state>/dingtalk/journal-<account>.json` for `journalTTLDays`. A file that cannot be read is begun anew. */
export async function openJournal(options: { readonly stateDir: string; readonly accountId: string; readonly ttlDays?: number | undefined; readonly now: () => number; onProblem(err: unknown): void }): Promise<Journal> {
  const dir = join(options.stateDir, "dingtalk");
  const path = join(dir, `journal-${options.accountId.replace(/[^\w-]/g, "_")}.json`);
  const ttlMs = (options.ttlDays ?? DEFAULT_TTL_DAYS) * DAY_MS;
  const stored = file.safeParse(await readFile(path, "utf8").then((text) => JSON.parse(text) as unknown).catch(() => undefined)).data;
  const said = new Map<string, Entry>(stored?.said);
  const names = new Map<string, string>(stored?.names);
  let timer: NodeJS.Timeout | undefined;
  let saving: Promise<void> = Promise.resolve();
  let isClosed = false;

  const prune = (): void => {
    for (const [id, { atMs }] of said) if (said.size > MAX_ENTRIES || atMs + ttlMs < options.now()) said.delete(id);
    for (const name of names.keys()) if (names.size > MAX_ENTRIES) names.delete(name);
  };
  const save = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    prune();
    const text = JSON.stringify({ version: 1, said: [...said], names: [...names] });
    saving = saving.then(async () => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, text);
    }).catch(options.onProblem);
    return saving;
  };
  const changed = (): void => {
    if (!isClosed) timer ??= setTimeout(() => void save(), SAVE_AFTER_MS).unref();
  };

  return {
    note(id, text, sender) {
      if (id === "" || text === "") return;
      said.set(id, { text: text.slice(0, MAX_TEXT_CHARS), sender, atMs: options.now() });
      changed();
    },
    find(ids) {
      const found = ids.map((id) => (id === undefined ? undefined : said.get(id))).find(Boolean);
      return found && found.atMs + ttlMs >= options.now() ? { text: found.text, sender: found.sender } : undefined;
    },
    noteName(name, address) {
      const key = name?.trim() ?? "";
      if (key === "" || names.get(key) === address) return;
      // Two of one name: neither is meant.
      names.set(key, names.has(key) ? "" : address);
      changed();
    },
    address: (name) => names.get(name.trim()) || undefined,
    close() {
      isClosed = true;
      return timer === undefined ? saving : save();
    },
  };
}
