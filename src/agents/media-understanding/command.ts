import { execFile } from "node:child_process";
import { access, constants, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, extname, join } from "node:path";
import { ifExists } from "../../infra/atomic-file.ts";
import type { MediaCandidate, ReceivedFile } from "./types.ts";

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Runs a program on a file; what it prints, or writes into `{{OutputDir}}`, is the text. @throws Error with its complaint */
export async function runMediaCommand(candidate: MediaCandidate, file: ReceivedFile, signal: AbortSignal): Promise<string> {
  const outputDir = await mkdtemp(join(tmpdir(), "openclaw-media-"));
  try {
    const values: Readonly<Record<string, string>> = {
      MediaPath: file.path, MediaDir: dirname(file.path), OutputDir: outputDir, OutputBase: join(outputDir, basename(file.path, extname(file.path))), Prompt: candidate.prompt, MaxChars: String(candidate.maxChars ?? ""),
    };
    const fill = (text: string): string => text.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => values[name] ?? whole);
    const stdout = await run(fill(candidate.command), candidate.args.map(fill), candidate.timeoutMs, signal);
    const written = await ifExists(readFile(`${values["OutputBase"]}.txt`, "utf8"));
    const text = (written ?? stdout).trim();
    if (text === "") throw new Error(`${candidate.command} said nothing`);
    return text;
  } finally {
    await rm(outputDir, { recursive: true, force: true });
  }
}

/** No shell: a file's name cannot become a command. */
function run(command: string, args: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, [...args], { timeout: timeoutMs, signal, maxBuffer: MAX_OUTPUT_BYTES, killSignal: "SIGKILL" }, (err, stdout, stderr) => {
      if (!err) return resolve(stdout);
      reject(new Error(`${command} failed: ${(stderr.trim() || err.message).slice(0, 300)}`, { cause: err }));
    });
  });
}

/** Whether a program of that name is on PATH. */
export async function isInstalled(command: string, path: string | undefined): Promise<boolean> {
  for (const dir of (path ?? "").split(delimiter).filter((entry) => entry !== "")) {
    if (await access(join(dir, command), constants.X_OK).then(() => true, () => false)) return true;
  }
  return false;
}
