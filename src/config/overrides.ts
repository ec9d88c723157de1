import { formatConfigPath, getAtPath, parseConfigPath, setAtPath, unsetAtPath } from "./config-path.ts";
import { isPlainObject, type PlainObject } from "./json-value.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { keyTable } from "./schema/table.ts";
import { validateValue } from "./schema/validate.ts";
import type { OpenClawConfig } from "./types.generated.ts";

/** Values kept in memory that win over the configuration files until the process ends (`/debug`). */
export interface ConfigOverrides {
  /** The same object again while neither side has changed. */
  apply(config: OpenClawConfig): OpenClawConfig;
  values(): Readonly<Record<string, unknown>>;
  /** @throws Error naming the key when it is unknown or the value does not fit */
  set(path: string, value: unknown): void;
  /** false when the path was not overridden. */
  unset(path: string): boolean;
  reset(): void;
}

export function createConfigOverrides(): ConfigOverrides {
  let values: PlainObject = {};
  let applied: { from: OpenClawConfig; values: PlainObject; result: OpenClawConfig } | undefined;

  return {
    apply(config) {
      if (Object.keys(values).length === 0) return config;
      if (applied?.from !== config || applied.values !== values) applied = { from: config, values, result: applyMergePatch(config, values) as OpenClawConfig };
      return applied.result;
    },
    values: () => values,
    set(path, value) {
      const next = setAtPath(values, parseConfigPath(path), value);
      const [finding] = validateValue(next, keyTable());
      if (finding) throw new Error(`${formatConfigPath(finding.path) || "configuration"}: ${finding.message}`);
      if (isPlainObject(next)) values = next;
    },
    unset(path) {
      const keys = parseConfigPath(path);
      if (getAtPath(values, keys) === undefined) return false;
      const next = unsetAtPath(values, keys);
      if (isPlainObject(next)) values = next;
      return true;
    },
    reset() {
      values = {};
    },
  };
}
