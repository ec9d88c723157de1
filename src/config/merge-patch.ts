import { isUnsafeKey } from "./config-path.ts";
import { isPlainObject, type PlainObject } from "./json-value.ts";

/**
 * JSON merge patch (RFC 7396) with one addition: a list whose present items all have a string `id` is merged by id, items with
 * new ids are appended (spec: gateway-methods §4.4). `null` deletes; prototype names are passed over.
 */
export function applyMergePatch(base: unknown, patch: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(patch) && base.length > 0 && base.every(hasId))
    return mergeById(base, patch);
  if (!isPlainObject(patch)) return patch;
  const merged: PlainObject = isPlainObject(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (isUnsafeKey(key) || value === undefined) continue;
    if (value === null) delete merged[key];
    else merged[key] = applyMergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, value);
  }
  return merged;
}

const hasId = (item: unknown): item is PlainObject & { id: string } =>
  isPlainObject(item) && typeof item["id"] === "string";

function mergeById(base: readonly (PlainObject & { id: string })[], patch: readonly unknown[]): unknown[] {
  const merged: unknown[] = [...base];
  for (const item of patch) {
    const at = hasId(item) ? base.findIndex((entry) => entry.id === item.id) : -1;
    if (at < 0) merged.push(applyMergePatch(undefined, item));
    else merged[at] = applyMergePatch(merged[at], item);
  }
  return merged;
}
