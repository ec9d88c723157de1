import { queueByPath, emitSessionTranscriptUpdate } from "./process-registry.ts";
import {
  appendTranscriptLines,
  createHeader,
  isTranscriptHeader,
  newEntryId,
  parseTranscriptLine,
  type TranscriptEntry,
  type TranscriptMessageBody,
} from "./transcript.ts";
import { readLinesBackwards } from "./transcript-read.ts";

/** An open conversation that owns the leaf: appends go through it while it lives. */
export interface LiveTranscript {
  appendMessage(message: TranscriptMessageBody): string;
  flush(): Promise<void>;
}

const live = new Map<string, LiveTranscript>();

/** Makes `transcript` the writer of `path` until the result is called. */
export function registerLiveTranscript(path: string, transcript: LiveTranscript): () => void {
  live.set(path, transcript);
  return () => {
    if (live.get(path) === transcript) live.delete(path);
  };
}

export interface AppendMessageOptions {
  readonly path: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly nowMs: number;
}

/** Appends one message under the current leaf, creating the file with its header when needed. Returns the entry id. */
export async function appendTranscriptMessage(options: AppendMessageOptions, message: TranscriptMessageBody): Promise<string> {
  const owner = live.get(options.path);
  if (owner) {
    const id = owner.appendMessage(message);
    await owner.flush();
    return id;
  }
  return queueByPath(options.path, async () => {
    const leaf = await lastEntryId(options.path);
    const lines: string[] = [];
    if (leaf === undefined) lines.push(JSON.stringify(createHeader(options.sessionId, options.cwd, options.nowMs)));
    const entry: TranscriptEntry = {
      type: "message",
      id: newEntryId(),
      parentId: leaf ?? null,
      timestamp: new Date(options.nowMs).toISOString(),
      message,
    };
    lines.push(JSON.stringify(entry));
    await appendTranscriptLines(options.path, lines);
    emitSessionTranscriptUpdate(options.path);
    return entry.id;
  });
}

/** Id of the last entry; null when the file holds only its header, undefined when there is no usable file. */
async function lastEntryId(path: string): Promise<string | null | undefined> {
  for await (const line of readLinesBackwards(path)) {
    const parsed = parseTranscriptLine(line);
    if (!parsed) continue;
    return isTranscriptHeader(parsed) ? null : parsed.id;
  }
  return undefined;
}
