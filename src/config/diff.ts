import type { ConfigPath } from "./config-path.ts";
import type { TextEdit } from "./edit-text.ts";
import { type ConfigDocument, type DocumentPlace, placeForNew, placesOf, placesToRemove } from "./includes.ts";
import { deepEqual, isPlainObject, type PlainObject } from "./json-value.ts";

/** An edit of one of the files of a configuration. */
export interface DocumentEdit extends TextEdit {
  readonly document: ConfigDocument;
}

/** Three views of one value: as written, with variables put in, with defaults. A target equal to any of them is no change. */
export interface Views {
  readonly source: unknown;
  readonly resolved: unknown;
  readonly effective: unknown;
}

/**
 * The edits that turn the files of a configuration into `target`. What equals the written, the resolved or (for keys nobody
 * wrote) the effective value is left alone, so `${VAR}` references stay and defaults are not written.
 */
export function diffConfig(document: ConfigDocument, views: Views, target: PlainObject): DocumentEdit[] {
  const edits: DocumentEdit[] = [];
  diffValue(views, target, { document, path: [] }, edits);
  return edits;
}

function diffValue(views: Views, target: unknown, place: DocumentPlace, edits: DocumentEdit[]): void {
  const { source } = views;
  if (source === undefined) {
    const value = withoutDefaults(target, views.effective);
    if (value !== undefined) edits.push({ op: "set", ...placeForNew(place.document, place.path), value });
  } else if (target === undefined) {
    for (const found of placesToRemove(place.document, place.path)) edits.push({ op: "unset", ...pick(found) });
  } else if (isSame(target, views)) return;
  else if (isPlainObject(source) && isPlainObject(target)) {
    for (const key of new Set([...Object.keys(source), ...Object.keys(target)])) {
      diffValue(childViews(views, key), target[key], { document: place.document, path: [...place.path, key] }, edits);
    }
  } else if (Array.isArray(source) && Array.isArray(target)) diffList(views, source, target, place, edits);
  else
    edits.push({
      op: "set",
      ...pick(placesOf(place.document, place.path).at(-1) ?? placeForNew(place.document, place.path)),
      value: target,
    });
}

const pick = (place: DocumentPlace): DocumentPlace => ({ document: place.document, path: place.path });

const isSame = (target: unknown, views: Views): boolean =>
  deepEqual(target, views.source) || deepEqual(target, views.resolved);

function childViews(views: Views, key: string | number): Views {
  const child = (value: unknown): unknown =>
    Array.isArray(value)
      ? (value as unknown[])[Number(key)]
      : isPlainObject(value) && Object.hasOwn(value, String(key))
        ? value[String(key)]
        : undefined;
  return { source: child(views.source), resolved: child(views.resolved), effective: child(views.effective) };
}

/** A new value less what the effective configuration has anyway; undefined when nothing is left. */
function withoutDefaults(target: unknown, effective: unknown): unknown {
  if (deepEqual(target, effective)) return undefined;
  if (!isPlainObject(target) || !isPlainObject(effective)) return target;
  const kept = Object.entries(target).flatMap(([key, value]) => {
    const rest = withoutDefaults(value, Object.hasOwn(effective, key) ? effective[key] : undefined);
    return rest === undefined ? [] : [[key, rest] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Edits of a list, from its end to its start so that earlier indexes stay true. */
function diffList(
  views: Views,
  source: readonly unknown[],
  target: readonly unknown[],
  place: DocumentPlace,
  edits: DocumentEdit[],
): void {
  const items = source.map((_, i) => childViews(views, i));
  const pairs = alignLists(items, target);
  const where = itemPlaces(place);
  const placeOf = (index: number): DocumentPlace =>
    where(index) ?? { document: place.document, path: [...place.path, index] };
  const insertAt = (index: number): DocumentPlace => {
    const before = index > 0 ? where(index - 1) : undefined;
    if (!before) return placeOf(index);
    return { document: before.document, path: [...before.path.slice(0, -1), Number(before.path.at(-1)) + 1] };
  };
  let sourceEnd = source.length;
  let targetEnd = target.length;
  for (const [s, t] of [...pairs, [-1, -1] as const].toSorted((a, b) => b[0] - a[0])) {
    // Between two pairs: items changed in place as far as both sides have some, then the surplus.
    const removed = sourceEnd - s - 1;
    const added = targetEnd - t - 1;
    const inPlace = Math.min(removed, added);
    for (let k = added - 1; k >= inPlace; k--)
      edits.push({ op: "insert", ...insertAt(s + 1 + inPlace), value: withReferences(target[t + 1 + k], items) });
    for (let k = removed - 1; k >= inPlace; k--) edits.push({ op: "unset", ...placeOf(s + 1 + k) });
    for (let k = inPlace - 1; k >= 0; k--)
      diffItem(items[s + 1 + k], target[t + 1 + k], placeOf(s + 1 + k), items, edits);
    if (s >= 0) diffItem(items[s], target[t], placeOf(s), items, edits);
    [sourceEnd, targetEnd] = [s, t];
  }
}

function diffItem(
  views: Views | undefined,
  target: unknown,
  place: DocumentPlace,
  items: readonly Views[],
  edits: DocumentEdit[],
): void {
  if (!views || isSame(target, views)) return;
  // An item has no default of its own: compare with what is written only.
  const written = { ...views, effective: views.source };
  if (isPlainObject(views.source) && isPlainObject(target)) diffValue(written, target, place, edits);
  else if (Array.isArray(views.source) && Array.isArray(target)) diffValue(written, target, place, edits);
  else edits.push({ op: "set", ...place, value: withReferences(target, items) });
}

/** An item that moved keeps its references. */
const withReferences = (target: unknown, items: readonly Views[]): unknown =>
  items.find((views) => deepEqual(views.resolved, target))?.source ?? target;

const idOf = (value: unknown): unknown => (isPlainObject(value) ? value["id"] : undefined);

const MAX_ALIGNED = 400;

/** Pairs of equal items (or items of one id), both rising: a longest common subsequence. */
function alignLists(items: readonly Views[], target: readonly unknown[]): (readonly [number, number])[] {
  const same = (s: number, t: number): boolean => {
    const views = items[s];
    if (!views) return false;
    const id = idOf(target[t]);
    return isSame(target[t], views) || (typeof id === "string" && id === idOf(views.source));
  };
  const pairs: (readonly [number, number])[] = [];
  let start = 0;
  while (start < items.length && start < target.length && same(start, start)) pairs.push([start, start++]);
  let sEnd = items.length;
  let tEnd = target.length;
  while (sEnd > start && tEnd > start && same(sEnd - 1, tEnd - 1)) pairs.push([--sEnd, --tEnd]);
  const rows = sEnd - start;
  const columns = tEnd - start;
  if (rows === 0 || columns === 0 || rows > MAX_ALIGNED || columns > MAX_ALIGNED) return pairs;
  const lengths = Array.from({ length: rows + 1 }, () => Array.from({ length: columns + 1 }, () => 0));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const row = lengths[i];
      if (row) row[j] = same(start + i, start + j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns;) {
    if (same(start + i, start + j)) pairs.push([start + i++, start + j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

/** Where the items of a list stand: a list joined from several files has items in each. */
function itemPlaces(place: DocumentPlace): (index: number) => DocumentPlace | undefined {
  const parts = placesOf(place.document, place.path).map((part) => ({ part, length: listLength(part) }));
  return (index) => {
    let offset = index;
    for (const { part, length } of parts) {
      if (offset < length) return { document: part.document, path: [...part.path, offset] };
      offset -= length;
    }
    return undefined;
  };
}

function listLength({ document, path }: DocumentPlace): number {
  let value: unknown = document.value;
  for (const segment of path as ConfigPath)
    value = childViews({ source: value, resolved: undefined, effective: undefined }, segment).source;
  return Array.isArray(value) ? value.length : 0;
}
