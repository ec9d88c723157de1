import { access, constants, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, extname, join } from "node:path";
import { ifExists } from "../../infra/atomic-file.ts";
import { fillPlaceholders, runProgram } from "../run-program.ts";
import type { MediaCandidate, ReceivedFile } from "./types.ts";

/** Runs a program on a file; what it prints, or writes into `{{OutputDir}}`, is the text. @throws Error with its complaint */
export async function runMediaCommand(candidate: MediaCandidate, file: ReceivedFile, signal: AbortSignal): Promise<string> {
  const outputDir = await mkdtemp(join(tmpdir(), "openclaw-media-"));
  try {
    const outputBase = join(outputDir, basename(file.path, extname(file.path)));
    const fill = fillPlaceholders({ MediaPath: file.path, MediaDir: dirname(file.path), OutputDir: outputDir, OutputBase: outputBase, Prompt: candidate.prompt, MaxChars: String(candidate.maxChars ?? "") });
    const stdout = await runProgram(fill(candidate.command), candidate.args.map(fill), { timeoutMs: candidate.timeoutMs, signal });
    const written = await ifExists(readFile(`${outputBase}.txt`, "utf8"));
    const text = (written ?? stdout).trim();
    if (text === "") throw new Error(`${candidate.command} said nothing`);
    return text;
  } finally {
    await rm(outputDir, { recursive: true, force: true });
  }
}

/** Whether a program of that name is on PATH. */
export async function isInstalled(command: string, path: string | undefined): Promise<boolean> {
  for (const dir of (path ?? "").split(delimiter).filter((entry) => entry !== "")) {
    if (await access(join(dir, command), constants.X_OK).then(() => true, () => false)) return true;
  }
  return false;
}
