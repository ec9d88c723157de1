import { basename, isAbsolute, join, relative, resolve } from "node:path";

const SESSION_ID = /^[a-z0-9][a-z0-9._-]{0,127}$/i;

export function isSessionId(id: string): boolean {
  return SESSION_ID.test(id) && !id.includes("..");
}

/** `<id>.jsonl`, or `<id>-topic-<thread>.jsonl` for a topic. @throws RangeError when the id could leave the folder */
export function transcriptFileName(sessionId: string, threadId?: string): string {
  if (!isSessionId(sessionId)) throw new RangeError(`Session id ${JSON.stringify(sessionId)} is not allowed in a file name`);
  return threadId === undefined ? `${sessionId}.jsonl` : `${sessionId}-topic-${encodeURIComponent(threadId)}.jsonl`;
}

/**
 * Where the transcript of an entry lies. A stored path outside the sessions folder (a moved home, a hostile store) is
 * only ever used by its file name inside the folder. Source: spec decisions §3.2.
 */
export function resolveTranscriptPath(sessionsDir: string, sessionId: string, stored?: string): string {
  const dir = resolve(sessionsDir);
  if (stored) {
    const inside = isAbsolute(stored) ? relative(dir, stored) : stored;
    const path = join(dir, inside.startsWith("..") || isAbsolute(inside) ? basename(stored) : inside);
    if (path.endsWith(".jsonl") && !relative(dir, path).startsWith("..")) return path;
  }
  return join(dir, transcriptFileName(sessionId));
}
