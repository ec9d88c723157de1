import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ifExists, isErrno } from "../../infra/atomic-file.ts";
import { isTranscriptHeader, isTranscriptMessage, parseTranscriptLine } from "../../sessions/index.ts";

export interface UsageTotals {
  readonly input: number;
  readonly output: number;
  /** US dollars of the calls whose price is known. */
  readonly cost: number;
  /** Calls that used tokens and have no price. */
  readonly unpriced: number;
}

interface Call extends UsageTotals {
  readonly atMs: number;
}

const NOTHING: UsageTotals = { input: 0, output: 0, cost: 0, unpriced: 0 };

export const sumUsage = (calls: Iterable<UsageTotals>): UsageTotals => {
  let sum = NOTHING;
  for (const call of calls) sum = { input: sum.input + call.input, output: sum.output + call.output, cost: sum.cost + call.cost, unpriced: sum.unpriced + call.unpriced };
  return sum;
};

/** Every model call that a transcript holds, also those before a compaction. A missing file holds none. */
export async function readCalls(path: string): Promise<Call[]> {
  const calls: Call[] = [];
  try {
    for await (const line of createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Infinity })) {
      if (!line.includes('"usage"')) continue;
      const call = toCall(line);
      if (call) calls.push(call);
    }
  } catch (err) {
    if (!isErrno(err, "ENOENT")) throw err;
  }
  return calls;
}

/** Calls of all transcripts of a folder, archived ones too, that were written to since `sinceMs`. */
export async function readCallsOfFolder(dir: string, sinceMs: number): Promise<Call[]> {
  const names = (await ifExists(readdir(dir))) ?? [];
  const calls: Call[] = [];
  for (const name of names.filter((file) => file.includes(".jsonl"))) {
    const path = join(dir, name);
    if ((await stat(path)).mtimeMs < sinceMs) continue;
    calls.push(...(await readCalls(path)).filter((call) => call.atMs >= sinceMs));
  }
  return calls;
}

function toCall(line: string): Call | undefined {
  const entry = parseTranscriptLine(line);
  if (!entry || isTranscriptHeader(entry) || !isTranscriptMessage(entry) || entry.message.role !== "assistant") return undefined;
  const usage = fields(entry.message["usage"]);
  const input = numberOf(usage["input"]) + numberOf(usage["cacheRead"]) + numberOf(usage["cacheWrite"]);
  const output = numberOf(usage["output"]);
  if (input + output === 0) return undefined;
  const cost = numberOf(fields(usage["cost"])["total"]);
  return { atMs: Date.parse(entry.timestamp), input, output, cost, unpriced: cost > 0 ? 0 : 1 };
}

const fields = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
const numberOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
