import { execFile } from "node:child_process";
import { isPlainObject } from "./json-value.ts";
import type { EnvRecord } from "./paths.ts";

/** The only names a login shell may contribute (spec: cli-and-ui §1.2). */
export const SHELL_ENV_NAMES: readonly string[] = [
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_OAUTH_TOKEN",
  "GEMINI_API_KEY",
  "ZAI_API_KEY",
  "OPENROUTER_API_KEY",
  "AI_GATEWAY_API_KEY",
  "MINIMAX_API_KEY",
  "SYNTHETIC_API_KEY",
  "KILOCODE_API_KEY",
  "ELEVENLABS_API_KEY",
  "TELEGRAM_BOT_TOKEN",
  "DISCORD_BOT_TOKEN",
  "SLACK_BOT_TOKEN",
  "SLACK_APP_TOKEN",
  "OPENCLAW_GATEWAY_TOKEN",
  "OPENCLAW_GATEWAY_PASSWORD",
];

export const DEFAULT_SHELL_ENV_TIMEOUT_MS = 15_000;

export interface ShellEnvSettings {
  readonly enabled: boolean;
  readonly timeoutMs: number;
}

/** Whether and how long to ask the login shell: the environment's switches, then `env.shellEnv`. */
export function resolveShellEnvSettings(config: unknown, env: EnvRecord): ShellEnvSettings {
  const block = isPlainObject(config) && isPlainObject(config["env"]) ? config["env"]["shellEnv"] : undefined;
  const settings = isPlainObject(block) ? block : {};
  const fromEnv = Number(env["OPENCLAW_SHELL_ENV_TIMEOUT_MS"] || Number.NaN);
  const configured = settings["timeoutMs"];
  return {
    enabled: env["OPENCLAW_LOAD_SHELL_ENV"] === "1" || settings["enabled"] === true,
    timeoutMs:
      Number.isFinite(fromEnv) && fromEnv >= 0
        ? fromEnv
        : typeof configured === "number"
          ? configured
          : DEFAULT_SHELL_ENV_TIMEOUT_MS,
  };
}

/** Asks a login shell for its environment. @throws Error when the shell fails or takes too long */
export type ReadShellEnv = (timeoutMs: number) => Promise<EnvRecord>;

/** Runs `$SHELL -l -c 'env -0'` once and picks the known names. */
export function createShellEnvReader(env: EnvRecord): ReadShellEnv {
  let running: Promise<EnvRecord> | undefined;
  return (timeoutMs) => (running ??= readLoginShell(env, timeoutMs));
}

function readLoginShell(env: EnvRecord, timeoutMs: number): Promise<EnvRecord> {
  const shell = env["SHELL"]?.trim() || "/bin/sh";
  return new Promise((resolve, reject) => {
    const options = { timeout: timeoutMs, killSignal: "SIGKILL" as const, maxBuffer: 4 << 20, env: { ...env } };
    const child = execFile(shell, ["-l", "-c", "env -0"], options, (err, stdout) => {
      if (err) {
        const why = err.killed ? `took longer than ${timeoutMs} ms (env.shellEnv.timeoutMs)` : "failed";
        reject(new Error(`The login shell ${shell} ${why}; its variables are not imported`, { cause: err }));
      } else resolve(pickNames(stdout));
    });
    child.stdin?.end();
  });
}

function pickNames(output: string): Record<string, string> {
  const known = new Set(SHELL_ENV_NAMES);
  const vars: Record<string, string> = {};
  for (const entry of output.split("\0")) {
    const equals = entry.indexOf("=");
    // A profile script may print before `env`: what it printed sticks to the first entry.
    const name = entry.slice(0, equals).split("\n").at(-1) ?? "";
    if (equals > 0 && known.has(name)) vars[name] = entry.slice(equals + 1);
  }
  return vars;
}
