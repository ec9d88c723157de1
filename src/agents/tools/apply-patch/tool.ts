import { Type } from "typebox";
import { isErrno } from "../../../infra/atomic-file.ts";
import { requireString } from "../arguments.ts";
import { toolText, type AgentTool } from "../contract.ts";
import type { AccessibleFile, FileAccess } from "../file-access.ts";
import { applyChunks } from "./apply.ts";
import { parsePatch, type PatchHunk } from "./parse.ts";

interface Change {
  readonly mark: "A" | "M" | "D";
  readonly shown: string;
  readonly file: AccessibleFile;
  /** undefined: the file goes. */
  readonly content: string | undefined;
  /** Of a file that moves; else it keeps its own. */
  readonly mode?: number | undefined;
}

const PARAMETERS = Type.Object({ input: Type.String({ description: "the whole patch" }) });

/** Changes several files by one patch: all of it is worked out before the first file is touched. */
export function createApplyPatchTool({ access }: { readonly access: FileAccess }): AgentTool {
  return {
    name: "apply_patch",
    label: "Apply Patch",
    summary: "Change several files by a patch",
    description: "Apply a patch: *** Begin Patch, then for each file *** Add File: path (+ lines), *** Delete File: path, or *** Update File: path (optional *** Move to: path, then @@ context and lines beginning with blank, + or -), then *** End Patch.",
    parameters: PARAMETERS,
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
  const file = await access.forWrite(hunk.path);
  if (hunk.kind === "add") return [{ mark: "A", shown: hunk.path, file, content: hunk.content }];
  const text = await read(file, hunk.path);
  if (hunk.kind === "delete") return [{ mark: "D", shown: hunk.path, file, content: undefined }];
  const content = applyChunks(text, hunk.chunks, hunk.path);
  if (hunk.moveTo === undefined) return [{ mark: "M", shown: hunk.path, file, content }];
  const target = await access.forWrite(hunk.moveTo);
  const { mode } = await file.stat();
  return [{ mark: "M", shown: hunk.moveTo, file: target, content, mode }, ...(target.real === file.real ? [] : [{ mark: "D" as const, shown: hunk.path, file, content: undefined }])];
}

async function read(file: AccessibleFile, shown: string): Promise<string> {
  try {
    return (await file.read()).toString("utf8");
  } catch (err) {
    if (isErrno(err, "ENOENT")) throw new Error(`File not found: ${shown}`, { cause: err });
    if (isErrno(err, "EISDIR")) throw new Error(`${shown} is a directory`, { cause: err });
    throw err;
  }
}

/** Two hunks for one file would each start from the old text, and the second undo the first. */
function checkOnce(changes: readonly Change[]): void {
  const seen = new Set<string>();
  for (const { file: { real }, shown } of changes) {
    if (seen.has(real)) throw new Error(`${shown} is changed twice in the patch; put all its chunks under one header.`);
    seen.add(real);
  }
}

function carryOut({ file, content, mode }: Change): Promise<void> {
  return content === undefined ? file.remove() : file.write(content, mode);
}
