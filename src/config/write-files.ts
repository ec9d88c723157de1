import { appendFile, chmod, copyFile, mkdir, readFile, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DIR_MODE, FILE_MODE, ifExists, isErrno, writeFileAtomic } from "../infra/atomic-file.ts";
import { redactSecrets } from "../infra/redact.ts";
import { getAtPath } from "./config-path.ts";

/** `.bak` is the newest, then `.bak.1` … `.bak.4`. */
export const MAX_NUMBERED_BACKUPS = 4;

/** Copies the present file to `.bak` after moving older copies on; all are 0600 whatever the file's mode was. */
export async function rotateBackups(path: string): Promise<void> {
  const numbered = (n: number): string => (n === 0 ? `${path}.bak` : `${path}.bak.${n}`);
  for (let n = MAX_NUMBERED_BACKUPS; n > 0; n--) await moveIfPresent(numbered(n - 1), numbered(n));
  try {
    const temp = `${path}.bak.${process.pid}.tmp`;
    await rm(temp, { force: true });
    await copyFile(path, temp);
    await chmod(temp, FILE_MODE);
    await rename(temp, numbered(0));
  } catch (err) {
    if (!isErrno(err, "ENOENT")) throw err;
  }
  for (let n = 0; n <= MAX_NUMBERED_BACKUPS; n++) await ifExists(chmod(numbered(n), FILE_MODE));
}

async function moveIfPresent(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (err) {
    ignoreMissing(err);
  }
}

function ignoreMissing(err: unknown): void {
  if (!isErrno(err, "ENOENT")) throw err;
}

/** Replaces a configuration file in one step; a symlink stays one and its target is replaced. */
export async function replaceConfigFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  await mkdir(dirname(target), { recursive: true, mode: DIR_MODE });
  await writeFileAtomic(target, text, { sync: true });
}

export interface WriteFacts {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
  readonly valueBefore: unknown;
  readonly valueAfter: unknown;
}

/** Marks of a write that may have lost something (spec: cli-and-ui §1.5). */
export function findAnomalies(facts: WriteFacts): string[] {
  if (facts.before === undefined) return [];
  const reasons: string[] = [];
  const [was, is] = [Buffer.byteLength(facts.before), Buffer.byteLength(facts.after)];
  if (was >= 512 && is < was / 2) reasons.push(`size-drop:${was}->${is}`);
  if (facts.before.trim() !== "" && getAtPath(facts.valueBefore, ["meta"]) === undefined)
    reasons.push("missing-meta-before-write");
  if (
    getAtPath(facts.valueBefore, ["gateway", "mode"]) !== undefined &&
    getAtPath(facts.valueAfter, ["gateway", "mode"]) === undefined
  ) {
    reasons.push("gateway-mode-removed");
  }
  return reasons;
}

const SECRET_FLAG = /^--?(?:.*(?:token|password|passwd|secret|key|auth|credential).*)$/i;

/** A command line fit for a log: values after flags or paths that may be secrets are masked; at most eight words. */
export function auditArgv(argv: readonly string[]): string[] {
  let hideNext = false;
  let hideValues = false;
  return argv.slice(0, 8).map((word, i) => {
    const [flag, value]: [string, string?] = word.startsWith("-") ? splitFlag(word) : [word];
    const hidden = hideNext || (hideValues && !word.startsWith("-"));
    hideNext = word.startsWith("-") && SECRET_FLAG.test(flag) && value === undefined;
    // `config set <path> <value>`: the value may be anything.
    if (argv[i - 2] === "config" && argv[i - 1] === "set") hideValues = true;
    if (hidden) return "***";
    if (value !== undefined && SECRET_FLAG.test(flag)) return `${flag}=***`;
    return redactSecrets(word);
  });
}

function splitFlag(word: string): [string, string?] {
  const equals = word.indexOf("=");
  return equals < 0 ? [word] : [word.slice(0, equals), word.slice(equals + 1)];
}

/** Appends one line to `<logs>/config-audit.jsonl`, 0600. */
export async function appendAudit(logsDir: string, line: Readonly<Record<string, unknown>>): Promise<void> {
  await mkdir(logsDir, { recursive: true, mode: DIR_MODE });
  await appendFile(join(logsDir, "config-audit.jsonl"), `${JSON.stringify(line)}\n`, { mode: FILE_MODE });
}

/** The text of a file, undefined when there is none. */
export const readTextOrUndefined = (path: string): Promise<string | undefined> => ifExists(readFile(path, "utf8"));
