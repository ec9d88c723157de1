import { type ConfigPath, formatConfigPath, getAtPath } from "./config-path.ts";
import type { ConfigIssue } from "./issues.ts";
import { locateJson5, type ValueSpan } from "./json5-text.ts";
import { isPlainObject } from "./json-value.ts";
import type { ConfigSnapshot } from "./load.ts";
import { type KeyNode, keyTable } from "./schema/table.ts";
import { hasEnvReference } from "./substitute.ts";

/** Stands for a secret in what clients read; in what they write it means: keep the present value. */
export const REDACTED = "__OPENCLAW_REDACTED__";

const NOT_SECRET =
  /(?:maxtokens|maxoutputtokens|maxinputtokens|maxcompletiontokens|contexttokens|totaltokens|tokencount|tokenlimit|tokenbudget|passwordfile|tokenfile)$/i;
const SECRET_NAME = /token$|password|secret|api.?key/i;
/** For names the table does not know: rather one too many. */
const MAYBE_SECRET_NAME = /token|key$|keys$|secret|passw|private|credential|authorization|cookie|webhook.?url/i;

/** Whether the value at a path is a secret: flagged in the table, or named like one (spec: cli-and-ui §1.8, security-record C1). */
export function isSecretPath(path: ConfigPath): boolean {
  let node: KeyNode | undefined = keyTable();
  let isNamed = true;
  let name = "";
  for (const segment of path) {
    if (typeof segment === "number") continue;
    name = segment;
    const child: KeyNode | undefined = node?.children.get(segment);
    isNamed = child !== undefined;
    node = child ?? node?.rest;
    if (node?.secret) return true;
  }
  if (NOT_SECRET.test(name)) return false;
  return (isNamed ? SECRET_NAME : MAYBE_SECRET_NAME).test(name);
}

const isRedactable = (value: unknown): value is string | number =>
  (typeof value === "string" && value !== "") || typeof value === "number";

const hasUrlPassword = (value: unknown): boolean => typeof value === "string" && /:\/\/[^/\s:@]*:[^/\s@]+@/.test(value);

function mustHide(value: unknown, path: ConfigPath, written: unknown, underSecret: boolean): boolean {
  if (!isRedactable(value)) return false;
  if (typeof value === "string" && hasEnvReference(value)) return false;
  if (underSecret || isSecretPath(path) || hasUrlPassword(value)) return true;
  // A secret that came in through ${VAR}, at a place that is none by itself.
  return (
    typeof written === "string" &&
    written !== value &&
    [...written.matchAll(/\$\{([A-Z0-9_]+)\}/g)].some((match) => MAYBE_SECRET_NAME.test(match[1] ?? ""))
  );
}

/** A copy with every secret replaced. `written` is the same configuration before substitution, if there is one. */
export function redactConfigValue(value: unknown, written?: unknown): unknown {
  const walk = (node: unknown, source: unknown, path: ConfigPath, underSecret: boolean): unknown => {
    if (Array.isArray(node)) {
      const hidden = underSecret || isSecretPath(path);
      return node.map((item: unknown, i) =>
        walk(item, Array.isArray(source) ? source[i] : undefined, [...path, i], hidden),
      );
    }
    if (isPlainObject(node)) {
      const hidden = underSecret || (path.length > 0 && isFlaggedObject(path));
      return Object.fromEntries(
        Object.entries(node).map(([key, item]) => [
          key,
          walk(item, isPlainObject(source) ? source[key] : undefined, [...path, key], hidden),
        ]),
      );
    }
    return mustHide(node, path, source, underSecret) ? REDACTED : node;
  };
  return walk(value, written, [], false);
}

/** An object that is a secret as a whole, e.g. a service account. */
function isFlaggedObject(path: ConfigPath): boolean {
  const last = path.at(-1);
  return typeof last === "string" && /serviceaccount|credentials?$/i.test(last);
}

/** The text of a file with its secrets replaced in place; nothing else changes, however short a secret is. */
export function redactConfigText(text: string, value: unknown): string {
  const cuts: ValueSpan[] = [];
  visitScalars(locateJson5(text), [], false, (span, path, underSecret) => {
    if (mustHide(getAtPath(value, path), path, undefined, underSecret)) cuts.push(span);
  });
  return replaceSpans(text, cuts, () => JSON.stringify(REDACTED));
}

function replaceSpans(text: string, spans: readonly ValueSpan[], by: (span: ValueSpan) => string): string {
  return spans
    .toSorted((a, b) => b.start - a.start)
    .reduce((current, span) => current.slice(0, span.start) + by(span) + current.slice(span.end), text);
}

function visitScalars(
  span: ValueSpan,
  path: ConfigPath,
  underSecret: boolean,
  visit: (span: ValueSpan, path: ConfigPath, underSecret: boolean) => void,
): void {
  if (span.kind === "scalar") return visit(span, path, underSecret);
  const hidden = underSecret || (span.kind === "array" ? isSecretPath(path) : path.length > 0 && isFlaggedObject(path));
  for (const [i, member] of span.members.entries())
    visitScalars(member.value, [...path, member.key ?? i], hidden, visit);
}

/** A client sent the placeholder where nothing secret is stored. */
export class RedactedValueError extends Error {
  override readonly name = "RedactedValueError";
  readonly code = "redacted-unknown";
  readonly path: string;
  constructor(path: ConfigPath) {
    super(
      `${formatConfigPath(path)} holds the placeholder ${REDACTED}, but no value is stored there; write the real value`,
    );
    this.path = formatConfigPath(path);
  }
}

/**
 * The value with placeholders replaced by what is stored at their places; list items are matched by `id`, else by position.
 * Of several views of what is stored the first that has a value counts.
 * @throws RedactedValueError for a placeholder without a stored value
 */
export function restoreRedacted(value: unknown, ...stored: readonly unknown[]): unknown {
  const walk = (node: unknown, originals: readonly unknown[], path: ConfigPath): unknown => {
    if (node === REDACTED) {
      const original = originals.find((found) => typeof found === "string" || typeof found === "number");
      if (original === undefined) throw new RedactedValueError(path);
      return original;
    }
    if (Array.isArray(node))
      return node.map((item: unknown, i) =>
        walk(
          item,
          originals.map((list) => matchingItem(item, i, list)),
          [...path, i],
        ),
      );
    if (isPlainObject(node))
      return Object.fromEntries(
        Object.entries(node).map(([key, item]) => [
          key,
          walk(
            item,
            originals.map((object) => getAtPath(object, [key])),
            [...path, key],
          ),
        ]),
      );
    return node;
  };
  return walk(value, stored, []);
}

function matchingItem(item: unknown, index: number, originals: unknown): unknown {
  if (!Array.isArray(originals)) return undefined;
  const id = isPlainObject(item) ? item["id"] : undefined;
  const byId: unknown =
    typeof id === "string" ? originals.find((other) => isPlainObject(other) && other["id"] === id) : undefined;
  return byId ?? (originals[index] as unknown);
}

/** A text with its placeholders replaced in place. `value` is the parsed text. @throws RedactedValueError */
export function restoreRedactedText(text: string, value: unknown, ...stored: readonly unknown[]): string {
  if (!text.includes(REDACTED)) return text;
  const restored = restoreRedacted(value, ...stored);
  const cuts: ValueSpan[] = [];
  const values = new Map<ValueSpan, unknown>();
  visitScalars(locateJson5(text), [], false, (span, path) => {
    if (getAtPath(value, path) !== REDACTED) return;
    cuts.push(span);
    values.set(span, getAtPath(restored, path));
  });
  return replaceSpans(text, cuts, (span) => JSON.stringify(values.get(span)));
}

/** What `config.get` answers: secrets replaced; an invalid configuration shows its issues only. */
export interface RedactedSnapshot {
  readonly path: string;
  readonly exists: boolean;
  readonly raw: string | null;
  readonly parsed: unknown;
  readonly resolved: unknown;
  readonly valid: boolean;
  readonly config: unknown;
  readonly hash: string;
  readonly issues: readonly ConfigIssue[];
  readonly warnings: readonly ConfigIssue[];
  readonly legacyIssues: readonly ConfigIssue[];
}

export function redactSnapshot(snapshot: ConfigSnapshot): RedactedSnapshot {
  const { path, exists, valid, hash, issues, warnings, legacyIssues } = snapshot;
  const base = { path, exists, valid, hash, issues, warnings, legacyIssues };
  if (!valid) return { ...base, raw: null, parsed: null, resolved: {}, config: {} };
  return {
    ...base,
    raw: snapshot.raw === null ? null : redactConfigText(snapshot.raw, snapshot.parsed),
    parsed: redactConfigValue(snapshot.parsed),
    resolved: redactConfigValue(snapshot.resolved, snapshot.source),
    config: redactConfigValue(snapshot.config, snapshot.source),
  };
}
