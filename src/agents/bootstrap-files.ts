import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import type { OpenClawConfig } from "../config/index.ts";
import { isErrno } from "../infra/atomic-file.ts";
import { readRegularFile } from "../infra/regular-file.ts";
import { truncateText } from "../infra/text/index.ts";

/** A file of the workspace that goes into the system prompt. */
export interface WorkspaceBootstrapFile {
  readonly fileName: string;
  readonly filePath: string;
  readonly content: string;
  readonly rawChars: number;
  /** Characters kept, when the file was too long. */
  readonly truncatedChars?: number | undefined;
  readonly missing: boolean;
}

/** A file before it is cut to the limits, as hooks see and change it. */
export interface BootstrapSource {
  readonly name: string;
  readonly path: string;
  /** undefined when it is missing. */
  readonly content?: string | undefined;
  readonly missing: boolean;
}

export interface EmbeddedContextFile {
  readonly path: string;
  readonly content: string;
}

export type BootstrapAudience = "full" | "reduced";

const FULL = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md"] as const;
const REDUCED = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md"] as const;
const MIN_REMAINING_CHARS = 64;

export function resolveBootstrapMaxChars(cfg?: OpenClawConfig): number {
  return cfg?.agents?.defaults?.bootstrapMaxChars ?? 20_000;
}

export function resolveBootstrapTotalMaxChars(cfg?: OpenClawConfig): number {
  return cfg?.agents?.defaults?.bootstrapTotalMaxChars ?? 150_000;
}

export interface BootstrapParams {
  readonly workspaceDir: string;
  readonly config?: OpenClawConfig | undefined;
  /** `reduced` for subagents and cron: the five files about who and how. */
  readonly audience: BootstrapAudience;
  /** MEMORY.md only in the agent's main session or a direct session of an owner (spec decisions §3.5). */
  readonly includeMemory: boolean;
  readonly warn?: ((message: string) => void) | undefined;
  /** Whoever may put other files in their place; its list is taken as it is, and then cut. */
  readonly change?: ((files: readonly BootstrapSource[]) => Promise<readonly BootstrapSource[]>) | undefined;
}

/** Reads the files in their fixed order, cut to both limits. Source: spec agent-pipeline §5.1. */
export async function resolveBootstrapFilesForRun(params: BootstrapParams): Promise<WorkspaceBootstrapFile[]> {
  const found = await readSources(params);
  const maxChars = resolveBootstrapMaxChars(params.config);
  let remaining = resolveBootstrapTotalMaxChars(params.config);
  const files: WorkspaceBootstrapFile[] = [];
  for (const { name, path, content: raw } of (await params.change?.(found)) ?? found) {
    if (raw !== undefined) {
      remaining = pushFile(files, name, path, raw, maxChars, remaining);
      continue;
    }
    const content = remaining < MIN_REMAINING_CHARS ? "" : truncateText(`[MISSING] Expected at: ${path}`, remaining);
    files.push({ fileName: name, filePath: path, content, rawChars: 0, missing: true });
    remaining -= content.length;
  }
  return files;
}

async function readSources({ workspaceDir, audience, includeMemory, warn }: BootstrapParams): Promise<BootstrapSource[]> {
  const read = async (name: string): Promise<BootstrapSource> => {
    const path = join(workspaceDir, name);
    const content = await readInside(workspaceDir, path, warn);
    return { name, path, content, missing: content === undefined };
  };
  const files: BootstrapSource[] = [];
  for (const name of audience === "full" ? FULL : REDUCED) {
    const file = await read(name);
    // Optional files are not announced as missing: HEARTBEAT.md and BOOTSTRAP.md come and go.
    if (!file.missing || (name !== "HEARTBEAT.md" && name !== "BOOTSTRAP.md")) files.push(file);
  }
  if (!includeMemory || audience !== "full") return files;
  for (const name of ["MEMORY.md", "memory.md"]) {
    const file = await read(name);
    if (!file.missing) return [...files, file];
  }
  return files;
}

export async function resolveBootstrapContextForRun(
  params: BootstrapParams,
): Promise<{ bootstrapFiles: WorkspaceBootstrapFile[]; contextFiles: EmbeddedContextFile[] }> {
  const bootstrapFiles = await resolveBootstrapFilesForRun(params);
  const contextFiles = bootstrapFiles.filter((file) => file.content !== "").map((file) => ({ path: file.filePath, content: file.content }));
  return { bootstrapFiles, contextFiles };
}

function pushFile(files: WorkspaceBootstrapFile[], fileName: string, filePath: string, raw: string, maxChars: number, remaining: number): number {
  const trimmed = raw.trimEnd();
  if (remaining < MIN_REMAINING_CHARS) {
    files.push({ fileName, filePath, content: "", rawChars: trimmed.length, truncatedChars: 0, missing: false });
    return remaining;
  }
  const content = truncateBootstrapText(trimmed, fileName, Math.min(maxChars, remaining), remaining);
  files.push({
    fileName, filePath, content, rawChars: trimmed.length, missing: false,
    ...(content.length < trimmed.length || content !== trimmed ? { truncatedChars: content.length } : {}),
  });
  return remaining - content.length;
}

/** Head 70 %, tail 20 %, a note between. A 30,000-character file at limit 20,000 keeps 14,000 + 4,000. */
export function truncateBootstrapText(text: string, name: string, limit: number, remaining: number): string {
  if (text.length <= limit) return text;
  const head = truncateText(text, Math.floor(0.7 * limit));
  const tail = text.slice(text.length - Math.floor(0.2 * limit)).replace(/^[\uDC00-\uDFFF]/, "");
  const note = [
    "",
    `[...truncated, read ${name} for full content...]`,
    `…(truncated ${name}: kept ${head.length}+${tail.length} chars of ${text.length})…`,
    "",
  ].join("\n");
  const cut = [head, note, tail].join("\n");
  return cut.length <= remaining ? cut : `${truncateText(cut, remaining - 1)}…`;
}

/** A link that leads out of the workspace is not followed. */
async function readInside(dir: string, path: string, warn: BootstrapParams["warn"]): Promise<string | undefined> {
  try {
    const [root, real] = await Promise.all([realpath(dir), realpath(path)]);
    if (relative(root, real).startsWith("..")) {
      warn?.(`${path} leads out of the workspace and is left out`);
      return undefined;
    }
    return (await readRegularFile(real)).toString("utf8");
  } catch (err) {
    if (isErrno(err, "ENOENT", "ENOTDIR", "EISDIR")) return undefined;
    warn?.(`${path} cannot be read`);
    return undefined;
  }
}
