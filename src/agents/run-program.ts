import { execFile } from "node:child_process";

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** What a configured program prints. No shell: an argument cannot become a command. @throws Error with its complaint */
export function runProgram(command: string, args: readonly string[], { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, [...args], { timeout: timeoutMs, signal, maxBuffer: MAX_OUTPUT_BYTES, killSignal: "SIGKILL" }, (err, stdout, stderr) => {
      if (!err) return resolve(stdout);
      reject(new Error(`${command} failed: ${(stderr.trim() || err.message).slice(0, 300)}`, { cause: err }));
    });
  });
}

/** Puts values in place of `{{Name}}`; what is not known stays as written. */
export const fillPlaceholders = (values: Readonly<Record<string, string>>) => (text: string): string => text.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? whole) : whole));
