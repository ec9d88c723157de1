import { parseDurationMs } from "../../infra/duration.ts";
import type { ConfigPath } from "../config-path.ts";
import { isPlainObject } from "../json-value.ts";
import { nearestKey } from "./nearest.ts";
import { isContainer, type KeyNode, type TypeAlt } from "./table.ts";

export interface SchemaFinding {
  /** Of the value, or of the parent for an unknown key. */
  readonly path: ConfigPath;
  readonly message: string;
  /** The unknown key, for such a finding. */
  readonly unknownKey?: string | undefined;
  /** An unknown key where a mistake could open a door; it refuses the configuration. */
  readonly isSecurityRelevant?: boolean | undefined;
}

const GUARDED_ROOTS: ReadonlySet<string> = new Set(["gateway", "tools", "hooks", "plugins", "approvals"]);

/** Whether an unknown key in the object at `path` must refuse the configuration (spec: decisions §1.3). */
export function isSecurityRelevantObject(path: ConfigPath, siblings: readonly string[]): boolean {
  if (GUARDED_ROOTS.has(String(path[0]))) return true;
  // `tools` of agents, groups and guilds, and every object made to allow or deny something.
  if (
    path.some(
      (segment) =>
        typeof segment === "string" &&
        /^(?:tools|toolsBySender|elevated|sandbox|approvals|execApprovals|ssrfPolicy|sendPolicy)$|allow|deny|policy/i.test(
          segment,
        ),
    )
  )
    return true;
  return siblings.length > 0 && siblings.every((key) => /^(?:allow|deny|alsoAllow|profile|byProvider)$/.test(key));
}

/** Compares a value with the key table. Everything found is reported; nothing throws. */
export function validateValue(root: unknown, node: KeyNode): SchemaFinding[] {
  const findings: SchemaFinding[] = [];
  validateNode(root, node, [], findings);
  return findings;
}

function validateNode(value: unknown, node: KeyNode, path: ConfigPath, findings: SchemaFinding[]): void {
  const alt = node.types.find((candidate) => matches(value, candidate));
  if (alt === undefined) {
    findings.push({ path, message: mismatchText(value, node) });
    return;
  }
  if (alt.array) {
    for (const [i, item] of (value as unknown[]).entries()) validateItem(item, alt, node, [...path, i], findings);
  } else if (isContainer(alt)) validateObject(value as Record<string, unknown>, node, alt, path, findings);
  else {
    const fault = constraintFault(value, node);
    if (fault !== undefined) findings.push({ path, message: fault });
  }
}

function validateItem(item: unknown, alt: TypeAlt, node: KeyNode, path: ConfigPath, findings: SchemaFinding[]): void {
  const single: TypeAlt = { ...alt, array: false };
  if (!matches(item, single)) findings.push({ path, message: `${expectedText([single])}, received ${typeName(item)}` });
  else if (alt.kind === "obj") validateObject(item as Record<string, unknown>, node, single, path, findings);
}

function validateObject(
  value: Record<string, unknown>,
  node: KeyNode,
  alt: TypeAlt,
  path: ConfigPath,
  findings: SchemaFinding[],
): void {
  const { children, rest } = node;
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const child = children.get(key) ?? rest;
    if (child) validateNode(item, child, [...path, key], findings);
    else if (alt.kind !== "open") findings.push(unknownKey(key, value, node, path));
  }
  for (const child of children.values()) {
    if (child.required && value[child.name] === undefined) {
      findings.push({
        path: [...path, child.name],
        message: `${expectedText(child.types)}, received undefined (the key is required)`,
      });
    }
  }
}

function unknownKey(key: string, value: Record<string, unknown>, node: KeyNode, path: ConfigPath): SchemaFinding {
  const known = [...node.children.keys()];
  const nearest =
    nearestKey(
      key,
      known.filter((name) => value[name] === undefined),
    ) ?? nearestKey(key, known);
  return {
    path,
    message: `Unrecognized key: "${key}"${nearest === undefined ? "" : ` (did you mean "${nearest}"?)`}`,
    unknownKey: key,
    isSecurityRelevant: isSecurityRelevantObject(path, known),
  };
}

function matches(value: unknown, alt: TypeAlt): boolean {
  if (alt.array) return Array.isArray(value);
  switch (alt.kind) {
    case "any":
      return true;
    case "str":
      return typeof value === "string";
    case "id":
      return typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
    case "num":
      return typeof value === "number" && Number.isFinite(value);
    case "int":
      return Number.isSafeInteger(value);
    case "bool":
      return typeof value === "boolean";
    case "false":
      return value === false;
    case "enum":
      return typeof value === "string" && alt.values.includes(value);
    case "obj":
    case "map":
    case "open":
      return isPlainObject(value);
  }
}

function mismatchText(value: unknown, node: KeyNode): string {
  const enums = node.types.filter((alt) => alt.kind === "enum" && !alt.array);
  if (enums.length > 0 && typeof value === "string") {
    const options = enums.flatMap((alt) => alt.values);
    const nearest = nearestKey(value, options);
    return `${expectedText(node.types)}${nearest === undefined ? "" : ` (did you mean "${nearest}"?)`}`;
  }
  return `${expectedText(node.types)}, received ${typeName(value)}`;
}

function expectedText(types: readonly TypeAlt[]): string {
  const [only] = types;
  if (types.length === 1 && only?.kind === "enum" && !only.array) {
    return `Invalid option: expected one of ${only.values.map((value) => JSON.stringify(value)).join("|")}`;
  }
  return `Invalid input: expected ${types.map(altName).join(" or ")}`;
}

function altName(alt: TypeAlt): string {
  const name = {
    str: "string",
    int: "int",
    num: "number",
    bool: "boolean",
    any: "any value",
    false: "false",
    enum: alt.values.map((value) => JSON.stringify(value)).join("|"),
    obj: "object",
    map: "object",
    open: "object",
    id: "string or number",
  }[alt.kind];
  return alt.array ? `array of ${name}` : name;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" && !Number.isSafeInteger(value))
    return Number.isFinite(value) ? `number ${value}` : String(value);
  return typeof value;
}

function constraintFault(value: unknown, node: KeyNode): string | undefined {
  const c = node.constraints;
  if (typeof value === "number") {
    if (c.min !== undefined && value < c.min) return `Too small: expected number to be >=${c.min}`;
    if (c.above !== undefined && value <= c.above) return `Too small: expected number to be >${c.above}`;
    if (c.max !== undefined && value > c.max) return `Too big: expected number to be <=${c.max}`;
    if (c.below !== undefined && value >= c.below) return `Too big: expected number to be <${c.below}`;
  }
  if (typeof value !== "string") return undefined;
  if (c.minLength !== undefined && value.length < c.minLength)
    return `Too small: expected string to have >=${c.minLength} characters`;
  if (c.maxLength !== undefined && value.length > c.maxLength)
    return `Too big: expected string to have <=${c.maxLength} characters`;
  if (c.pattern !== undefined && !new RegExp(c.pattern).test(value))
    return `Invalid string: must match pattern /${c.pattern}/`;
  if (c.uri && !URL.canParse(value)) return "Invalid URL";
  if (c.duration && value.trim() !== "" && parseDurationMs(value) === undefined) return 'Invalid duration: write it like "30s", "5m", "1h30m" or "7d"';
  if (c.age && value.trim() !== "" && !/^\s*\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|w)?\s*$/i.test(value)) return 'Invalid duration: write it like "12h", "30d" or "4w"';
  if (c.bytes && value.trim() !== "" && !/^\d+(?:\.\d+)?\s*(?:[kmgt]?b?)$/i.test(value.trim())) return 'Invalid size: write it like "500kb", "10mb" or "2gb"';
  return undefined;
}
