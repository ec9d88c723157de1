import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants, realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { pipeline } from "node:stream/promises";

export interface BindingInput {
  readonly command: string;
  readonly shell: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly host: string;
  readonly sessionKey: string;
  readonly agentId: string;
  /** Real paths of the programs of the command. */
  readonly programs: readonly string[];
  /** Words that name scripts. */
  readonly operands: readonly string[];
}

/** Files beyond this many are bound by path, size and times only. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;
const MAX_OPERANDS = 32;
const SCRIPT = /\.(sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|php|lua|ps1|mk)$|^(Makefile|makefile|GNUmakefile)$/;

/**
 * Fingerprint of everything that an approval says yes to: words, shell, real working directory, environment, session, and the
 * content of the programs and scripts that are named. Taken when asking and again before running: a difference is a no.
 * Source: security-record A5. @throws Error when the working directory is gone
 */
export async function takeFingerprint(input: BindingInput): Promise<string> {
  const hash = createHash("sha256");
  const add = (...fields: readonly string[]): void => void hash.update(`${JSON.stringify(fields)}\n`);
  const cwd = await realpath(input.cwd);
  add("command", input.command, ...input.shell);
  add("place", input.host, input.sessionKey, input.agentId, input.cwd, cwd, await identity(cwd));
  for (const key of Object.keys(input.env).toSorted()) add("env", key, input.env[key] ?? "");
  for (const file of [input.shell[0] ?? "", ...input.programs].filter((path) => path !== "")) add("program", file, await content(file));
  const operands = new Set([...input.operands, ...scriptWords(input.command)]);
  for (const word of [...operands].slice(0, MAX_OPERANDS)) add("operand", word, await content(isAbsolute(word) ? word : join(cwd, word)));
  return hash.digest("hex");
}

/** Words of any command, understood or not, that look like a script. */
function scriptWords(command: string): string[] {
  return command.split(/[\s;|&<>()"'`=]+/).filter((word) => SCRIPT.test(word) || /^\.{0,2}\//.test(word));
}

async function identity(path: string): Promise<string> {
  const info = await stat(path, { bigint: true });
  return `${info.dev}:${info.ino}`;
}

/** What a path leads to now; a folder or a file that does not exist is a content of its own. */
async function content(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    const info = await stat(real, { bigint: true });
    if (!info.isFile()) return `${real}:${info.dev}:${info.ino}`;
    const isCode = SCRIPT.test(path) || (await access(real, constants.X_OK).then(() => true, () => false));
    if (!isCode) return real;
    const mark = `${real}:${info.dev}:${info.ino}:${info.size}`;
    if (info.size > BigInt(MAX_HASHED_BYTES)) return `${mark}:${info.mtimeNs}`;
    const hash = createHash("sha256");
    await pipeline(createReadStream(real), hash);
    return `${mark}:${hash.digest("hex")}`;
  } catch {
    return "none"; // not there: and if it is there later, that is a difference
  }
}
