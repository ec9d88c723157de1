import { asFields, entriesOf } from "../plugins/runtime/helpers/index.ts";

/** Lists of who may write. Source: spec plugin-sdk §14, channels §2.3. */

type Entry = string | number;
type Entries = readonly Entry[] | null | undefined;

/** Trimmed texts, `*` added once. */
export function addWildcardAllowFrom(list?: Entries): string[] {
  const entries = entriesOf(list);
  return entries.includes("*") ? entries : [...entries, "*"];
}

export const mergeAllowFromEntries = (current: Entries, additions: Entries): string[] => [...new Set([...entriesOf(current), ...entriesOf(additions)])];

/** Union of two lists that keeps the first spelling of what differs in case only. */
export function mergeAllowlist({ existing, additions }: { readonly existing?: Entries; readonly additions: readonly string[] }): string[] {
  const seen = new Map<string, string>();
  for (const entry of [...entriesOf(existing), ...entriesOf(additions)]) if (!seen.has(entry.toLowerCase())) seen.set(entry.toLowerCase(), entry);
  return [...seen.values()];
}

export interface NormalizedAllowFrom {
  readonly entries: string[];
  readonly entriesLower: string[];
  readonly hasWildcard: boolean;
  readonly hasEntries: boolean;
}

export function normalizeAllowFrom(list?: Entries): NormalizedAllowFrom {
  const all = entriesOf(list);
  const entries = all.filter((entry) => entry !== "*");
  return { entries, entriesLower: entries.map((entry) => entry.toLowerCase()), hasWildcard: all.includes("*"), hasEntries: all.length > 0 };
}

export function formatAllowFromLowercase({ allowFrom, stripPrefixRe }: { readonly allowFrom: Entries; readonly stripPrefixRe?: RegExp | undefined }): string[] {
  return entriesOf(allowFrom).map((entry) => (stripPrefixRe ? entry.replace(stripPrefixRe, "") : entry).toLowerCase());
}

/** Case does not matter; an empty list admits nobody, `*` everybody. */
export function isNormalizedSenderAllowed(input: { readonly senderId: Entry; readonly allowFrom: Entries; readonly stripPrefixRe?: RegExp | undefined }): boolean {
  const list = formatAllowFromLowercase(input);
  const sender = String(input.senderId).trim();
  const id = (input.stripPrefixRe ? sender.replace(input.stripPrefixRe, "") : sender).toLowerCase();
  return list.includes("*") || (id !== "" && list.includes(id));
}

export interface AllowlistMatch {
  readonly allowed: boolean;
  readonly matchKey?: string | undefined;
  readonly matchSource?: string | undefined;
}

/** By id; by name only where `allowNameMatching` says so, since names can be chosen freely. */
export function resolveAllowlistMatchSimple(input: { readonly allowFrom: Entries; readonly senderId: string; readonly senderName?: string | null | undefined; readonly allowNameMatching?: boolean | undefined }): AllowlistMatch {
  const list = formatAllowFromLowercase({ allowFrom: input.allowFrom });
  if (list.includes("*")) return { allowed: true, matchKey: "*", matchSource: "wildcard" };
  const id = input.senderId.trim().toLowerCase();
  if (id !== "" && list.includes(id)) return { allowed: true, matchKey: id, matchSource: "id" };
  const name = input.senderName?.trim().toLowerCase() ?? "";
  return input.allowNameMatching === true && name !== "" && list.includes(name) ? { allowed: true, matchKey: name, matchSource: "name" } : { allowed: false };
}

/** `matchKey=… matchSource=…` for a log line. */
export const formatAllowlistMatchMeta = (match?: { readonly matchKey?: string | undefined; readonly matchSource?: string | undefined } | null): string =>
  `matchKey=${match?.matchKey ?? "none"} matchSource=${match?.matchSource ?? "none"}`;

/** An outer list (a server) and one inside it (its channels): both must agree where they are configured. */
export function resolveNestedAllowlistDecision(input: { readonly outerConfigured: boolean; readonly outerMatched: boolean; readonly innerConfigured: boolean; readonly innerMatched: boolean }): boolean {
  return !input.outerConfigured || (input.outerMatched && (!input.innerConfigured || input.innerMatched));
}

export const isDangerousNameMatchingEnabled = (section: unknown): boolean => asFields(section)["dangerouslyAllowNameMatching"] === true;

export interface DmAllowState {
  readonly configAllowFrom: string[];
  readonly hasWildcard: boolean;
  readonly allowCount: number;
  readonly isMultiUserDm: boolean;
}

/** How many people may write: those of the config and those of the pairing store. */
export async function resolveDmAllowState(input: {
  readonly provider: string;
  readonly accountId?: string | undefined;
  readonly allowFrom?: Entries;
  readonly normalizeEntry?: ((raw: string) => string) | undefined;
  readonly readStore: (provider: string, accountId?: string) => Promise<readonly string[]>;
}): Promise<DmAllowState> {
  const configAllowFrom = [...new Set(entriesOf(input.allowFrom))];
  const stored = await input.readStore(input.provider, input.accountId).catch(() => [] as string[]); // a store that cannot be read adds nobody
  const normalize = (entry: string): string => input.normalizeEntry?.(entry) ?? entry;
  const hasWildcard = configAllowFrom.includes("*");
  const people = new Set([...configAllowFrom, ...stored].filter((entry) => entry !== "*").map((entry) => normalize(entry).trim()).filter(Boolean));
  return { configAllowFrom, hasWildcard, allowCount: people.size, isMultiUserDm: hasWildcard || people.size > 1 };
}

/** Candidates for the key of a chat in a map of settings: the texts among them, each once. */
export const buildChannelKeyCandidates = (...keys: readonly (string | null | undefined)[]): string[] =>
  [...new Set(keys.map((key) => key?.trim() ?? "").filter(Boolean))];

export interface ChannelEntryMatch<T> {
  readonly entry?: T | undefined;
  readonly key?: string | undefined;
  readonly wildcardEntry?: T | undefined;
  readonly wildcardKey?: string | undefined;
  readonly parentEntry?: T | undefined;
  readonly parentKey?: string | undefined;
  readonly matchKey?: string | undefined;
  readonly matchSource?: "direct" | "parent" | "wildcard" | undefined;
}

interface EntryQuery<T> {
  readonly entries?: Readonly<Record<string, T>> | undefined;
  readonly keys: readonly string[];
  readonly wildcardKey?: string | undefined;
}

function lookup<T>(entries: Readonly<Record<string, T>>, keys: readonly string[], normalizeKey?: (key: string) => string): { entry: T; key: string } | undefined {
  const exact = keys.find((key) => Object.hasOwn(entries, key));
  if (exact !== undefined) return { entry: entries[exact] as T, key: exact };
  if (!normalizeKey) return undefined;
  const wanted = new Set(keys.map(normalizeKey).filter(Boolean));
  const key = Object.keys(entries).find((name) => wanted.has(normalizeKey(name)));
  return key === undefined ? undefined : { entry: entries[key] as T, key };
}

/** The settings of a chat, and beside them those for all chats. */
export function resolveChannelEntryMatch<T>({ entries = {}, keys, wildcardKey }: EntryQuery<T>): ChannelEntryMatch<T> {
  const hit = lookup(entries, keys);
  const wildcard = wildcardKey !== undefined && Object.hasOwn(entries, wildcardKey) ? { wildcardEntry: entries[wildcardKey], wildcardKey } : {};
  return { ...hit, ...wildcard };
}

/** The chat's own settings, else those of the chat it belongs to, else those for all. */
export function resolveChannelEntryMatchWithFallback<T>(query: EntryQuery<T> & { readonly parentKeys?: readonly string[] | undefined; readonly normalizeKey?: ((key: string) => string) | undefined }): ChannelEntryMatch<T> {
  const { entries = {}, keys, parentKeys = [], wildcardKey, normalizeKey } = query;
  const found = resolveChannelEntryMatch({ entries, keys, wildcardKey });
  const direct = lookup(entries, keys, normalizeKey);
  if (direct) return { ...found, ...direct, matchKey: direct.key, matchSource: "direct" };
  const parent = lookup(entries, parentKeys, normalizeKey);
  if (parent) return { ...found, ...parent, parentEntry: parent.entry, parentKey: parent.key, matchKey: parent.key, matchSource: "parent" };
  if (found.wildcardEntry !== undefined && found.wildcardKey !== undefined) {
    return { ...found, entry: found.wildcardEntry, key: found.wildcardKey, matchKey: found.wildcardKey, matchSource: "wildcard" };
  }
  return found;
}
