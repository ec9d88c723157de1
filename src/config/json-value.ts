export type PlainObject = Record<string, unknown>;

export const isPlainObject = (value: unknown): value is PlainObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether two JSON values are the same; the order of keys does not count. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => deepEqual(item, b[i]));
  }
  if (!isPlainObject(a) || !isPlainObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key], b[key]))
  );
}

/** Freezes a value in depth; for values nobody else holds. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}

/**
 * Paths (dotted) at which two values differ. An object that appears or goes counts by its keys, a list as one path.
 */
export function changedPaths(before: unknown, after: unknown, prefix = ""): string[] {
  if (deepEqual(before, after)) return [];
  const keys = new Set([...keysOf(before), ...keysOf(after)]);
  const areObjects = (isPlainObject(before) || before === undefined) && (isPlainObject(after) || after === undefined);
  if (!areObjects || keys.size === 0) return [prefix];
  return [...keys].flatMap((key) =>
    changedPaths(childOf(before, key), childOf(after, key), prefix === "" ? key : `${prefix}.${key}`),
  );
}

const keysOf = (value: unknown): string[] => (isPlainObject(value) ? Object.keys(value) : []);
const childOf = (value: unknown, key: string): unknown =>
  isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
