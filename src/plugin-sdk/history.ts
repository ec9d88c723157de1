/** Messages of a group that did not address the bot, kept until one does. Source: spec plugin-sdk §14, channels §2.4. */

export const DEFAULT_GROUP_HISTORY_LIMIT = 50;
export const HISTORY_CONTEXT_MARKER = "[Chat messages since your last reply - for context]";
export const CURRENT_MESSAGE_MARKER = "[Current message - respond to this]";
/** Chats remembered in one map. */
const MAX_HISTORY_KEYS = 1000;

export interface HistoryEntry {
  readonly sender: string;
  readonly body: string;
  readonly timestamp?: number | undefined;
  readonly messageId?: string | undefined;
}

type HistoryMap<T> = Map<string, T[]>;

/** Forgets the chats that have been quiet the longest. */
export function evictOldHistoryKeys<T>(historyMap: HistoryMap<T>, maxKeys: number = MAX_HISTORY_KEYS): void {
  for (const key of historyMap.keys()) {
    if (historyMap.size <= maxKeys) return;
    historyMap.delete(key);
  }
}

export interface HistoryPlace<T> {
  readonly historyMap: HistoryMap<T>;
  readonly historyKey: string;
}

/** Adds a line, keeps the last `limit`. A limit of 0 keeps nothing. */
export function recordPendingHistoryEntry<T extends HistoryEntry>(input: HistoryPlace<T> & { readonly entry: T; readonly limit: number }): T[] {
  const { historyMap, historyKey, entry, limit } = input;
  if (limit <= 0) return [];
  const lines = historyMap.get(historyKey) ?? [];
  lines.push(entry);
  if (lines.length > limit) lines.splice(0, lines.length - limit);
  // Set anew, so that the map's order is that of the last message.
  historyMap.delete(historyKey);
  historyMap.set(historyKey, lines);
  evictOldHistoryKeys(historyMap);
  return lines;
}

export function recordPendingHistoryEntryIfEnabled<T extends HistoryEntry>(input: HistoryPlace<T> & { readonly entry?: T | null | undefined; readonly limit: number }): T[] {
  return input.entry && input.limit > 0 ? recordPendingHistoryEntry({ ...input, entry: input.entry }) : [];
}

export function clearHistoryEntries<T>({ historyMap, historyKey }: HistoryPlace<T>): void {
  historyMap.set(historyKey, []);
}

export function clearHistoryEntriesIfEnabled<T>(input: HistoryPlace<T> & { readonly limit: number }): void {
  if (input.limit > 0) clearHistoryEntries(input);
}

export interface PendingHistoryInput<T> extends HistoryPlace<T> {
  readonly limit: number;
  readonly currentMessage: string;
  readonly formatEntry: (entry: T) => string;
  readonly lineBreak?: string | undefined;
}

/** The current message with what was said before it; alone when nothing was. */
export function buildPendingHistoryContextFromMap<T extends HistoryEntry>(input: PendingHistoryInput<T>): string {
  const { historyMap, historyKey, limit, currentMessage, formatEntry, lineBreak = "\n" } = input;
  const lines = limit > 0 ? (historyMap.get(historyKey) ?? []) : [];
  if (lines.length === 0) return currentMessage;
  return [HISTORY_CONTEXT_MARKER, ...lines.map(formatEntry), "", CURRENT_MESSAGE_MARKER, currentMessage].join(lineBreak);
}
