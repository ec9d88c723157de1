import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { errorText, type Logger, writeFileAtomic } from "openclaw/plugin-sdk";

export interface QuotedMessage {
  readonly text: string;
  readonly isOwn: boolean;
}

/** What was said under which index, so that a quote can be read. */
export interface QuoteIndex {
  add(ref: string | undefined, message: QuotedMessage): void;
  find(ref: string): Promise<QuotedMessage | undefined>;
  /** Resolves when what was added is on disk, or its failure is logged. */
  flush(): Promise<void>;
}

const MAX_ENTRIES = 20_000;
const MAX_CHARS = 1000;
const KEPT_MS = 7 * 24 * 60 * 60_000;
const line = z.object({ ref: z.string(), text: z.string(), isOwn: z.boolean(), at: z.number() });
type Line = z.infer<typeof line>;

/** A week of messages, in a file of one line each. Without a path only in memory. Source: spec channels-cn §1.4 (quotes). */
export function createQuoteIndex(options: { readonly path: string | undefined; readonly now: () => number; readonly log: Logger }): QuoteIndex {
  const { path, now, log } = options;
  const known = new Map<string, Line>();
  let lines = 0;
  let turn: Promise<void> | undefined;

  const isKept = (entry: Line): boolean => now() - entry.at < KEPT_MS;
  function keep(entry: Line): void {
    known.delete(entry.ref);
    known.set(entry.ref, entry);
    const oldest = known.keys().next().value;
    if (known.size > MAX_ENTRIES && oldest !== undefined) known.delete(oldest);
  }
  async function load(): Promise<void> {
    const early = [...known.values()];
    known.clear();
    const text = path === undefined ? "" : await readFile(path, "utf8").catch(() => "");
    for (const raw of text.split("\n")) {
      const entry = readLine(raw);
      if (raw !== "") lines++;
      if (entry && isKept(entry)) keep(entry);
    }
    for (const entry of early) keep(entry);
  }
  async function write(entry: Line): Promise<void> {
    if (path === undefined) return;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (++lines <= 2 * Math.max(known.size, 100)) return appendFile(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    const kept = [...known.values()].filter(isKept);
    lines = kept.length;
    await writeFileAtomic(path, kept.map((one) => `${JSON.stringify(one)}\n`).join(""));
  }
  const inTurn = (work: () => Promise<void>): Promise<void> =>
    (turn = (turn ?? load()).then(work).catch((err: unknown) => log.warn("quote index not written", { reason: errorText(err) })));

  return {
    add(ref, { text, isOwn }) {
      if (ref === undefined || ref === "") return;
      const entry = { ref, text: text.slice(0, MAX_CHARS), isOwn, at: now() };
      keep(entry);
      void inTurn(() => write(entry));
    },
    async find(ref) {
      await inTurn(() => Promise.resolve());
      const found = known.get(ref);
      return found && isKept(found) ? { text: found.text, isOwn: found.isOwn } : undefined;
    },
    flush: () => inTurn(() => Promise.resolve()),
  };
}

function readLine(raw: string): Line | undefined {
  try {
    return line.parse(JSON.parse(raw));
  } catch {
    // The last line of a killed process may be torn.
    return undefined;
  }
}
