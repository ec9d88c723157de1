import type { InboxRow } from "../delivery/index.ts";

/** Who ended a message before it came to a turn. */
export interface ReadingStop {
  readonly by: "rpc" | "stop";
  /** Whose word it was; empty for a client's. */
  readonly asking: readonly InboxRow[];
}

interface Entry {
  readonly row: InboxRow;
  readonly sessionKey: string;
  stop?: ReadingStop;
}

/** Messages between their arrival and their turn: files are fetched, links read, earlier ones of the chat awaited. */
export interface Reading {
  /** To be called again when they are read or given up. */
  begin(rows: readonly InboxRow[], sessionKey: string): () => void;
  /** The turn of these messages of the session will not come; of all unless `isMeant` says otherwise. */
  stop(sessionKey: string, stop: ReadingStop, isMeant?: (row: InboxRow) => boolean): InboxRow[];
  /** How one of `rows` was stopped. */
  stopOf(rows: readonly InboxRow[]): ReadingStop | undefined;
}

export function createReading(): Reading {
  const entries = new Map<string, Entry>();
  return {
    begin(rows, sessionKey) {
      for (const row of rows) entries.set(row.id, { row, sessionKey });
      return () => {
        for (const { id } of rows) entries.delete(id);
      };
    },
    stop(sessionKey, stop, isMeant = () => true) {
      const hit = [...entries.values()].filter((entry) => entry.stop === undefined && entry.sessionKey === sessionKey && isMeant(entry.row));
      for (const entry of hit) entry.stop = stop;
      return hit.map(({ row }) => row);
    },
    stopOf: (rows) => rows.map(({ id }) => entries.get(id)?.stop).find((stop) => stop !== undefined),
  };
}
