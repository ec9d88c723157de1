import { readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Type } from "typebox";
import { ensureDir, isErrno, writeFileAtomic } from "../../../infra/atomic-file.ts";
import { requireString } from "../arguments.ts";
import { toolText, type AgentTool } from "../contract.ts";
import type { FileAccess } from "../file-access.ts";
import { applyChunks } from "./apply.ts";
import { parsePatch, type PatchHunk } from "./parse.ts";

interface Change {
  readonly mark: "A" | "M" | "D";
  readonly shown: string;
  readonly real: string;
  /** undefined: the file goes. */
  readonly content: string | undefined;
  readonly mode: number | undefined;
}

/** Changes several files by one patch: all of it is worked out before the first file is touched. */
export function createApplyPatchTool({ access }: { readonly access: FileAccess }): AgentTool {
  return {
    name: "apply_patch",
    label: "Apply Patch",
    summary: "Change several files by a patch",
    description: "Apply a patch: *** Begin Patch, then for each file *** Add File: path (+ lines), *** Delete File: path, or *** Update File: path (optional *** Move to: path, then @@ context and lines beginning with blank, + or -), then *** End Patch.",
    parameters: Type.Object({ input: Type.String({ description: "the whole patch" }) }),
    prepare: (args) => ({ input: args["input"] ?? args["patch"] }),
    describe: (args) => [...String(args["input"] ?? "").matchAll(/^\*\*\* (?:Add|Delete|Update) File: (.+)$/gm)].map((match) => match[1]).join(", "),
    async execute(args) {
      const changes = (await Promise.all(parsePatch(requireString(args, "input")).map((hunk) => plan(access, hunk)))).flat();
      checkOnce(changes);
      for (const change of changes) await carryOut(change);
      const lines = changes.map(({ mark, shown }) => `${mark} ${shown}`);
      const of = (mark: Change["mark"]): string[] => changes.filter((change) => change.mark === mark).map((change) => change.shown);
      return toolText(["Success. Updated the following files:", ...lines].join("\n"), { summary: { added: of("A"), modified: of("M"), deleted: of("D") } });
    },
  };
}

async function plan(access: FileAccess, hunk: PatchHunk): Promise<Change[]> {
  const real = await access.forWrite(hunk.path);
  if (hunk.kind === "add") return [{ mark: "A", shown: hunk.path, real, content: hunk.content, mode: undefined }];
  const { text, mode } = await read(real, hunk.path);
  if (hunk.kind === "delete") return [{ mark: "D", shown: hunk.path, real, content: undefined, mode }];
  const content = applyChunks(text, hunk.chunks, hunk.path);
  if (hunk.moveTo === undefined) return [{ mark: "M", shown: hunk.path, real, content, mode }];
  const target = await access.forWrite(hunk.moveTo);
  return [{ mark: "M", shown: hunk.moveTo, real: target, content, mode }, ...(target === real ? [] : [{ mark: "D" as const, shown: hunk.path, real, content: undefined, mode }])];
}

async function read(real: string, shown: string): Promise<{ text: string; mode: number }> {
  try {
    const [text, info] = await Promise.all([readFile(real, "utf8"), stat(real)]);
    return { text, mode: info.mode & 0o777 };
  } catch (err) {
    if (isErrno(err, "ENOENT")) throw new Error(`File not found: ${shown}`, { cause: err });
    if (isErrno(err, "EISDIR")) throw new Error(`${shown} is a directory`, { cause: err });
    throw err;
  }
}

/** Two hunks for one file would each start from the old text, and the second undo the first. */
function checkOnce(changes: readonly Change[]): void {
  const seen = new Set<string>();
  for (const { real, shown } of changes) {
    if (seen.has(real)) throw new Error(`${shown} is changed twice in the patch; put all its chunks under one header.`);
    seen.add(real);
  }
}

async function carryOut({ real, content, mode }: Change): Promise<void> {
  if (content === undefined) return rm(real);
  await ensureDir(dirname(real));
  await writeFileAtomic(real, content, mode === undefined ? {} : { mode });
}
