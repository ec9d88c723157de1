import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

export interface RunCommandOptions {
  readonly timeoutMs: number;
  readonly cwd?: string | undefined;
  readonly input?: string | undefined;
  /** Added to the environment of the gateway. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Ends a program that has said nothing for so long. */
  readonly noOutputTimeoutMs?: number | undefined;
  readonly windowsVerbatimArguments?: boolean | undefined;
}

export interface CommandOutcome {
  readonly pid?: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly killed: boolean;
  readonly termination: "exit" | "timeout" | "no-output-timeout" | "signal";
  readonly noOutputTimedOut?: boolean | undefined;
}

/** Kept of each stream; the rest is dropped. */
const MAX_OUTPUT_CHARS = 10 * 1024 * 1024;

/** Runs a program to its end, or to one of the limits. @throws ErrnoException when it cannot be started */
export function runCommand(argv: readonly string[], limits: number | RunCommandOptions): Promise<CommandOutcome> {
  const options: RunCommandOptions = typeof limits === "number" ? { timeoutMs: limits } : limits;
  const [file, ...args] = argv;
  if (!file) return Promise.reject(new Error("command is required: argv has no program"));
  if (options.cwd !== undefined && !existsSync(options.cwd)) return Promise.reject(new Error(`working directory not found: ${options.cwd}`));
  const env = Object.fromEntries(Object.entries({ ...process.env, ...options.env }).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env, stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"], windowsVerbatimArguments: options.windowsVerbatimArguments === true,
      detached: process.platform !== "win32", ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    let cause: "timeout" | "no-output-timeout" | undefined;
    let quiet: NodeJS.Timeout | undefined;
    const output = { stdout: "", stderr: "" };
    const end = (why: "timeout" | "no-output-timeout"): void => {
      cause ??= why;
      killTree(child.pid);
    };
    const listen = (): void => {
      clearTimeout(quiet);
      if (options.noOutputTimeoutMs !== undefined && options.noOutputTimeoutMs > 0) quiet = setTimeout(() => end("no-output-timeout"), options.noOutputTimeoutMs);
    };
    const limit = setTimeout(() => end("timeout"), options.timeoutMs);
    const settle = (): void => {
      clearTimeout(limit);
      clearTimeout(quiet);
    };
    for (const name of ["stdout", "stderr"] as const) {
      const stream = child[name];
      stream?.setEncoding("utf8").on("data", (text: string) => {
        listen();
        if (output[name].length < MAX_OUTPUT_CHARS) output[name] += text.slice(0, MAX_OUTPUT_CHARS - output[name].length);
      });
    }
    listen();
    child.on("error", (err) => {
      settle();
      reject(err);
    });
    child.stdin?.on("error", () => undefined); // it ended without reading; its exit says why
    child.stdin?.end(options.input);
    child.on("close", (code, signal) => {
      settle();
      const termination = cause ?? (signal === null ? "exit" : "signal");
      resolve({ pid: child.pid, ...output, code, signal, killed: child.killed || cause !== undefined, termination, noOutputTimedOut: cause === "no-output-timeout" });
    });
  });
}

/** The program and what it started. */
function killTree(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

/** What to tell people when a native package is not there. */
export function formatNativeDependencyHint(query: { readonly packageName: string; readonly manager?: "pnpm" | "npm" | "yarn" | undefined; readonly approveCommand?: string | undefined; readonly rebuildCommand?: string | undefined; readonly downloadCommand?: string | undefined }): string {
  const manager = query.manager ?? "pnpm";
  const approve = query.approveCommand ?? (manager === "pnpm" ? `pnpm approve-builds (select ${query.packageName})` : undefined);
  const rebuild = query.rebuildCommand ?? (manager === "yarn" ? "yarn rebuild" : `${manager} rebuild ${query.packageName}`);
  const steps = [approve, rebuild, query.downloadCommand].filter(Boolean);
  return `Install steps for ${query.packageName}: ${steps.join(", then ")}.`;
}
