import { type ConfigPath, formatConfigPath } from "./config-path.ts";
import { isPlainObject } from "./json-value.ts";

export interface MissingVariable {
  readonly name: string;
  readonly path: ConfigPath;
}

export interface Substituted {
  readonly value: unknown;
  readonly missing: readonly MissingVariable[];
}

const REFERENCE = /\$(\$?)\{([A-Z_][A-Z0-9_]*)\}/g;

/** Whether a string holds a `${NAME}` that substitution would replace. */
export const hasEnvReference = (text: string): boolean =>
  [...text.matchAll(REFERENCE)].some((match) => match[1] === "");

/**
 * Replaces `${NAME}` in every string by the variable; `$${NAME}` becomes the literal `${NAME}`; other dollars stay.
 * A reference whose variable is unset or empty stays as text and is reported.
 */
export function substituteEnv(root: unknown, get: (name: string) => string | undefined): Substituted {
  const missing: MissingVariable[] = [];
  const walk = (value: unknown, path: ConfigPath): unknown => {
    if (typeof value === "string") {
      if (!value.includes("${")) return value;
      return value.replace(REFERENCE, (whole: string, escape: string, name: string) => {
        if (escape !== "") return whole.slice(1);
        const found = get(name);
        if (found !== undefined && found !== "") return found;
        missing.push({ name, path });
        return whole;
      });
    }
    if (Array.isArray(value)) return value.map((item: unknown, i) => walk(item, [...path, i]));
    if (isPlainObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]));
    return value;
  };
  return { value: walk(root, []), missing };
}

/** The reference's wording (spec: cli-and-ui §1.2). */
export const missingVariableText = (missing: MissingVariable): string =>
  `Missing env var "${missing.name}" referenced at config path: ${formatConfigPath(missing.path)}`;
