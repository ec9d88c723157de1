import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { OpenClawConfig } from "../config/index.ts";
import { writeFileAtomic } from "../infra/atomic-file.ts";
import { archiveStamp } from "./reset.ts";
import { loadTranscript, relinkEntries } from "./transcript-read.ts";
import { createHeader, type TranscriptEntry } from "./transcript.ts";
import type { SessionEntry } from "./types.ts";

const DEFAULT_FORK_MAX_TOKENS = 100_000;

/** A parent above `session.parentForkMaxTokens` (0: no limit) is not carried into a thread. Source: spec agent-pipeline §3.2. */
export function mayFork(cfg: OpenClawConfig, parent: Pick<SessionEntry, "totalTokens">): boolean {
  const limit = cfg.session?.parentForkMaxTokens ?? DEFAULT_FORK_MAX_TOKENS;
  return limit === 0 || (parent.totalTokens ?? 0) <= limit;
}

/**
 * A transcript of its own that begins with what the parent's active branch holds now. Undefined when the parent has
 * nothing to carry over.
 */
export async function forkTranscript(parentPath: string, cwd: string, nowMs: number): Promise<{ readonly sessionId: string; readonly sessionFile: string } | undefined> {
  const { header, entries } = await loadTranscript(parentPath);
  const branch = activeBranch(relinkEntries(entries));
  if (!header || branch.length === 0) return undefined;
  const sessionId = randomUUID();
  const sessionFile = join(dirname(parentPath), `${archiveStamp(nowMs)}_${sessionId}.jsonl`);
  const lines = [{ ...createHeader(sessionId, cwd, nowMs), parentSession: parentPath }, ...branch];
  await writeFileAtomic(sessionFile, lines.map((line) => `${JSON.stringify(line)}\n`));
  return { sessionId, sessionFile };
}

/** From the root to the last entry. */
function activeBranch(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const branch: TranscriptEntry[] = [];
  for (let at = entries.at(-1); at; at = at.parentId === null ? undefined : byId.get(at.parentId)) {
    byId.delete(at.id); // a circle in a damaged file ends here
    branch.push(at);
  }
  return branch.reverse();
}
