import { isPlainObject } from "../json-value.ts";

/**
 * Prefixes of the keys that the product honours. A known key outside of them is accepted and does nothing yet: one warning at
 * start, and a line in `doctor` (spec: decisions §1.3).
 */
export const HONOURED_PREFIXES: readonly string[] = [
  "$schema",
  "meta",
  "env",
  "wizard",
  "logging",
  "auth",
  "models",
  "heartbeat",
  "agents",
  "tools",
  "bindings",
  "messages",
  "commands",
  "session",
  "gateway",
  "channels",
  "skills",
];

/** Keys of a configuration that nothing honours yet: the topmost ones, dotted. */
export function findUnusedKeys(config: unknown, honoured: readonly string[] = HONOURED_PREFIXES): string[] {
  const unused: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (honoured.some((prefix) => path === prefix || path.startsWith(`${prefix}.`))) return;
    if (isPlainObject(value) && honoured.some((prefix) => path === "" || prefix.startsWith(`${path}.`))) {
      for (const [key, item] of Object.entries(value)) visit(item, path === "" ? key : `${path}.${key}`);
    } else unused.push(path);
  };
  visit(config, "");
  return unused;
}
