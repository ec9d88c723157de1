import type { z } from "zod";

type Issue = z.core.$ZodIssue;

/** A hostile frame may hold thousands of bad properties; nobody reads more than this. */
const MAX_DETAILS = 32;
const MAX_NAME_CHARS = 120;

/**
 * Renders zod issues in the grammar of the wire (spec: gateway-protocol §1): all faults, de-duplicated, joined by `; `:
 * `must have required property 'x'` · `at /a/b: must be string` · `at root: unexpected property 'zzz'`.
 * `input` is what was parsed; it tells a missing property from one of the wrong type.
 */
export function formatIssues(issues: readonly Issue[], input: unknown): string {
  const details = new Set<string>();
  for (const issue of issues) addDetails(details, issue, issue.path, input);
  const all = [...details];
  const shown = all.slice(0, MAX_DETAILS);
  if (all.length > shown.length) shown.push(`${all.length - shown.length} more`);
  return shown.join("; ") || "must be valid";
}

function addDetails(out: Set<string>, issue: Issue, path: readonly PropertyKey[], input: unknown): void {
  if (out.size > MAX_DETAILS * 2) return;
  const key = path.at(-1);
  if (key !== undefined && isMissing(input, path)) {
    out.add(`${at(path.slice(0, -1))}must have required property '${shorten(String(key))}'`);
    return;
  }
  switch (issue.code) {
    case "unrecognized_keys":
      for (const name of issue.keys.slice(0, MAX_DETAILS * 2)) {
        out.add(`at ${path.length === 0 ? "root" : pointer(path)}: unexpected property '${shorten(name)}'`);
      }
      return;
    case "invalid_union":
      for (const branch of issue.errors) for (const sub of branch) addDetails(out, sub, [...path, ...sub.path], input);
      out.add(`${at(path)}must match a schema in anyOf`);
      return;
    case "invalid_value":
      out.add(`${at(path)}must be equal to constant`);
      if (issue.values.length > 1) out.add(`${at(path)}must match a schema in anyOf`);
      return;
    case "invalid_key":
      out.add(`${at(path.slice(0, -1))}property name must be valid`);
      return;
    default:
      out.add(`${at(path)}${describe(issue)}`);
  }
}

function describe(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case "too_small":
      return describeBound(issue.origin, Number(issue.minimum), issue.inclusive !== false ? ">=" : ">", "fewer");
    case "too_big":
      return describeBound(issue.origin, Number(issue.maximum), issue.inclusive !== false ? "<=" : "<", "more");
    case "invalid_format":
      return issue.format === "regex" && issue.pattern !== undefined
        ? `must match pattern "${issue.pattern.replace(/^\/|\/[a-z]*$/g, "")}"`
        : `must match format "${issue.format}"`;
    case "not_multiple_of":
      return `must be multiple of ${issue.divisor}`;
    case "custom":
      return issue.message || "must be valid";
    default:
      return "must be valid";
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: "integer",
  record: "object",
  map: "object",
  tuple: "array",
  set: "array",
};

function describeBound(origin: string, limit: number, sign: string, word: "fewer" | "more"): string {
  const unit = origin === "string" ? "characters" : ["array", "set", "tuple"].includes(origin) ? "items" : undefined;
  return unit ? `must NOT have ${word} than ${limit} ${unit}` : `must be ${sign} ${limit}`;
}

function isMissing(input: unknown, path: readonly PropertyKey[]): boolean {
  let value = input;
  for (const key of path.slice(0, -1)) {
    if (typeof value !== "object" || value === null) return false;
    value = Reflect.get(value, key);
  }
  const last = path.at(-1);
  if (last === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !Object.hasOwn(value, last) || Reflect.get(value, last) === undefined;
}

const at = (path: readonly PropertyKey[]): string => (path.length === 0 ? "" : `at ${pointer(path)}: `);

/** JSON pointer (RFC 6901). */
const pointer = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${shorten(String(key)).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Cut, and without control characters: the text goes to logs, terminals and close reasons. */
function shorten(name: string): string {
  const plain = name.slice(0, MAX_NAME_CHARS).replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "\uFFFD");
  return name.length > MAX_NAME_CHARS ? `${plain}…` : plain;
}
