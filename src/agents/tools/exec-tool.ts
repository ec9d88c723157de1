import { stat } from "node:fs/promises";
import { isAbsolute, join, delimiter } from "node:path";
import { Type } from "typebox";
import type { OpenClawConfig } from "../../config/index.ts";
import { sleep } from "../../infra/backoff.ts";
import { expandPath } from "../../routing/index.ts";
import { optionalNumber, optionalString, prepareFileArguments, requireString } from "./arguments.ts";
import { toolError, toolText, type AgentTool, type ToolResult } from "./contract.ts";
import type { Job, ProcessJobs } from "./process-jobs.ts";

export interface ExecToolOptions {
  readonly jobs: ProcessJobs;
  readonly scope: string;
  readonly workspaceDir: string;
  readonly settings: NonNullable<OpenClawConfig["tools"]>["exec"];
  /** Environment of the gateway; only an allow-list of it reaches a child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configEnv: Readonly<Record<string, string>>;
}

const DEFAULT_BACKGROUND_MS = 10_000;
const DEFAULT_TIMEOUT_SEC = 1800;
const TAIL_CHARS = 2000;

const INHERITED = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z_]+|TERM|TZ|TMPDIR|XDG_[A-Z_]+|SSH_AUTH_SOCK|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY)$/;
const BLOCKED =
  /^(NODE_OPTIONS|NODE_PATH|PYTHONHOME|PYTHONPATH|PERL5LIB|PERL5OPT|RUBYLIB|RUBYOPT|BASH_ENV|ENV|SHELL|SHELLOPTS|PS4|GCONV_PATH|IFS|SSLKEYLOGFILE|HOME|ZDOTDIR|(DYLD_|LD_|BASH_FUNC_|OPENCLAW_).*)$/i;

export function createExecTool(options: ExecToolOptions): AgentTool {
  return {
    name: "exec",
    label: "Exec",
    summary: "Run a shell command",
    description: "Run a shell command in the workspace. Output of stdout and stderr together. Long commands go on in the background; follow them with process.",
    parameters: Type.Object({
      command: Type.String({ description: "Shell command" }),
      workdir: Type.Optional(Type.String()),
      env: Type.Optional(Type.Record(Type.String(), Type.String())),
      yieldMs: Type.Optional(Type.Number({ description: "Wait this long, then continue in the background" })),
      background: Type.Optional(Type.Boolean()),
      timeout: Type.Optional(Type.Number({ description: "Seconds, then the command is killed" })),
    }),
    prepare: (args) => {
      const out = prepareFileArguments(args);
      out["command"] ??= out["cmd"] ?? out["input"];
      return out;
    },
    describe: (args) => String(args["command"] ?? "").split("\n")[0]?.slice(0, 120) ?? "",
    async execute(args, { signal, onUpdate }) {
      const refused = refusal(options.settings, args);
      if (refused) return toolError(refused);
      const command = requireString(args, "command");
      const cwd = await resolveWorkdir(options.workspaceDir, optionalString(args, "workdir"));
      const background = args["background"] === true;
      const yieldMs = optionalNumber(args, "yieldMs");
      const timeoutSec = optionalNumber(args, "timeout") ?? (background || yieldMs !== undefined ? undefined : (options.settings?.timeoutSec ?? DEFAULT_TIMEOUT_SEC));
      const job = options.jobs.start({
        scope: options.scope, command, cwd, shell: shellOf(options.env),
        env: childEnvironment(options, args["env"]), timeoutMs: timeoutSec === undefined ? undefined : timeoutSec * 1000,
      });
      const waitMs = background ? 0 : Math.min(120_000, Math.max(10, yieldMs ?? options.settings?.backgroundMs ?? DEFAULT_BACKGROUND_MS));
      const abort = (): void => job.kill();
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort(); // it was told to stop while the call was being prepared
      const progress = setInterval(() => {
        if (job.output !== "") onUpdate(toolText(job.output.slice(-TAIL_CHARS)));
      }, 1000);
      try {
        await Promise.race([job.done, sleep(waitMs, signal)]);
        if (signal.aborted) await job.done;
      } finally {
        clearInterval(progress);
        signal.removeEventListener("abort", abort);
      }
      if (job.endedAt !== undefined) {
        options.jobs.remove(options.scope, job.slug);
        return finished(job, timeoutSec);
      }
      job.backgrounded = true;
      job.unread = "";
      return toolText(
        `Command still running (session ${job.slug}, pid ${job.pid ?? "?"}). Use process (list/poll/log/write/kill/clear/remove) for follow-up.${job.output === "" ? "" : `\n\n${job.output.slice(-TAIL_CHARS)}`}`,
        { status: "running", sessionId: job.slug, pid: job.pid, startedAt: job.startedAt, cwd: job.cwd, tail: job.output.slice(-TAIL_CHARS) },
      );
    },
  };
}

/** Modes that need the approval room are refused, not ignored: an unanswered question is a no. */
function refusal(settings: ExecToolOptions["settings"], args: Record<string, unknown>): string | undefined {
  const configured = settings?.host ?? "sandbox";
  const host = optionalString(args, "host");
  if (host !== undefined && host !== configured && !(configured === "sandbox" && host === "gateway")) {
    return `exec host not allowed (requested ${host}; configure tools.exec.host=${host} to allow).`;
  }
  if (settings?.host === "sandbox") {
    return "exec host=sandbox is configured, but sandbox runtime is unavailable for this session. Remove tools.exec.host to run on the gateway host.";
  }
  if (configured === "node") return "exec host=node is configured, but no node can run commands for this session.";
  if (settings?.security === "deny") return "exec is denied by tools.exec.security=deny.";
  const wantsApproval = settings?.security === "allowlist" || settings?.ask === "always" || (settings?.host === "gateway" && settings.security !== "full");
  if (wantsApproval) return "This command needs an approval (tools.exec.security/ask), and nobody can be asked from here. Set tools.exec.security=full and ask=off to run without.";
  return undefined;
}

async function resolveWorkdir(workspaceDir: string, workdir: string | undefined): Promise<string> {
  const dir = workdir === undefined ? workspaceDir : isAbsolute(workdir) || workdir.startsWith("~") ? expandPath(workdir) : join(workspaceDir, workdir);
  const info = await stat(dir).catch(() => undefined);
  if (!info?.isDirectory()) throw new Error(`The working directory ${dir} does not exist.`);
  return dir;
}

/** @throws Error naming the variable that a call may not set */
function childEnvironment(options: ExecToolOptions, fromCall: unknown): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(options.env)) if (value !== undefined && INHERITED.test(key)) env[key] = value;
  for (const [key, value] of Object.entries(options.configEnv)) if (!BLOCKED.test(key)) env[key] = value;
  for (const [key, value] of Object.entries(typeof fromCall === "object" && fromCall !== null ? fromCall : {})) {
    if (key.toUpperCase() === "PATH") throw new Error("Security Violation: Custom 'PATH' variable is forbidden during host execution.");
    if (BLOCKED.test(key)) throw new Error(`Security Violation: Environment variable '${key}' is forbidden during host execution.`);
    env[key] = String(value);
  }
  const prepend = options.settings?.pathPrepend ?? [];
  if (prepend.length > 0) env["PATH"] = [...prepend, env["PATH"] ?? ""].filter(Boolean).join(delimiter);
  return env;
}

function shellOf(env: ExecToolOptions["env"]): string[] {
  const shell = env["SHELL"] ?? "/bin/sh";
  return [/fish$/.test(shell) ? "/bin/sh" : shell, "-c"];
}

function finished(job: Job, timeoutSec: number | undefined): ToolResult {
  const output = job.output.trim();
  const details = {
    status: "completed", exitCode: job.exitCode, durationMs: (job.endedAt ?? job.startedAt) - job.startedAt, aggregated: output, cwd: job.cwd,
  };
  const lead = output === "" ? "" : `${output}\n\n`;
  const cut = job.dropped ? "[earlier output dropped]\n" : "";
  if (job.timedOut) return toolError(`${cut}${lead}Command timed out after ${timeoutSec ?? 0} seconds`, { ...details, status: "failed" });
  if (job.exitSignal) return toolError(`${cut}${lead}Command aborted by signal ${job.exitSignal}`, { ...details, status: "failed" });
  if (job.exitCode === 126) return toolError(`${lead}Command not executable (permission denied)`, { ...details, status: "failed" });
  if (job.exitCode === 127) return toolError(`${lead}Command not found`, { ...details, status: "failed" });
  if (job.exitCode !== 0) return toolText(`${cut}${lead}(Command exited with code ${job.exitCode})`, details);
  return toolText(output === "" ? "(no output)" : `${cut}${output}`, details);
}
