import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { Type } from "typebox";
import type { OpenClawConfig } from "../../../config/index.ts";
import { ensureDir } from "../../../infra/atomic-file.ts";
import { sleep } from "../../../infra/backoff.ts";
import { expandPath } from "../../../routing/index.ts";
import { DEFAULT_SAFE_BINS } from "../../exec-approvals/index.ts";
import type { SandboxSession } from "../../sandbox/index.ts";
import { optionalNumber, optionalString, prepareFileArguments, requireString } from "../arguments.ts";
import { toolError, toolText, type AgentTool, type ToolCallContext, type ToolResult } from "../contract.ts";
import { askToRun, type ExecApprovalActions, type ExecCall } from "./approval-run.ts";
import { callVariables, childEnvironment, shellOf } from "./environment.ts";
import { judgeCall } from "./gate.ts";
import { chooseHost } from "./host.ts";
import { preflightScript } from "./preflight.ts";
import { yieldMs } from "./limits.ts";
import type { ProcessJobs } from "./process-jobs.ts";
import { finishedResult, runningResult, TAIL_CHARS } from "./results.ts";

type ExecSettings = NonNullable<NonNullable<OpenClawConfig["tools"]>["exec"]> & { readonly approvalRunningNoticeMs?: number | undefined };

export interface ExecToolOptions {
  readonly jobs: ProcessJobs;
  /** Session key: whose jobs these are. */
  readonly scope: string;
  readonly agentId: string;
  readonly workspaceDir: string;
  readonly settings: ExecSettings | undefined;
  /** Environment of the gateway; only an allow-list of it reaches a child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configEnv: Readonly<Record<string, string>>;
  /** Variables that the skills of the agent were given. */
  readonly skillEnv?: (() => Promise<Readonly<Record<string, string>>>) | undefined;
  readonly loginPath?: (() => Promise<string | undefined>) | undefined;
  /** The sender may run commands on the gateway host whatever host is configured. */
  readonly elevated: boolean;
  readonly approvals: ExecApprovalActions;
  /** Of a session that must not run commands on the host. */
  readonly sandbox?: SandboxSession | undefined;
}

const DEFAULT_TIMEOUT_SEC = 1800;
const RUNNING_NOTICE_MS = 10_000;

const EXEC_PARAMETERS = Type.Object({
  command: Type.String({ description: "Shell command" }),
  workdir: Type.Optional(Type.String()),
  env: Type.Optional(Type.Record(Type.String(), Type.String())),
  yieldMs: Type.Optional(Type.Number({ description: "Wait this long, then continue in the background" })),
  background: Type.Optional(Type.Boolean()),
  timeout: Type.Optional(Type.Number({ description: "Seconds, then the command is killed" })),
  pty: Type.Optional(Type.Boolean({ description: "Run in a terminal, for interactive programs" })),
  elevated: Type.Optional(Type.Boolean()),
  host: Type.Optional(Type.String({ description: "sandbox|gateway|node" })),
  security: Type.Optional(Type.String({ description: "deny|allowlist|full" })),
  ask: Type.Optional(Type.String({ description: "off|on-miss|always" })),
  node: Type.Optional(Type.String()),
});

/** Source: spec tools-and-automation §3.1. */
export function createExecTool(options: ExecToolOptions): AgentTool {
  const settings = options.settings ?? {};
  return {
    name: "exec",
    label: "Exec",
    summary: "Run a shell command",
    description: "Run a shell command in the workspace. Output of stdout and stderr together. Long commands go on in the background; follow them with process.",
    parameters: EXEC_PARAMETERS,
    prepare: (args) => {
      const out = prepareFileArguments(args);
      out["command"] ??= out["cmd"] ?? out["input"];
      return out;
    },
    describe: (args) => String(args["command"] ?? "").split("\n")[0]?.slice(0, 120) ?? "",
    async execute(args, ctx) {
      const command = requireString(args, "command");
      const choice = chooseHost(settings, args, options.elevated, options.sandbox !== undefined);
      if (choice.kind === "refused") return toolError(choice.text);
      if (choice.kind === "sandbox") return runInSandbox(options, command, args, ctx);
      const call = await prepareCall(options, command, args);
      await preflightScript(command, call.cwd);
      const gate = await judgeCall({
        choice, command, shell: call.shell, place: call.place, agentId: options.agentId, beyondList: call.beyondList, store: options.approvals.store,
        safeBins: { bins: settings.safeBins ?? DEFAULT_SAFE_BINS, trustedDirs: settings.safeBinTrustedDirs ?? [], profiles: settings.safeBinProfiles ?? {} },
        isElevatedFull: options.elevated && settings.security === "full" && settings.ask === "off",
      });
      const timing = timingOf(options, args);
      const launch = { scope: options.scope, command, cwd: call.cwd, env: call.env, timeoutMs: timing.timeoutSec === undefined ? undefined : timing.timeoutSec * 1000, pty: args["pty"] === true };
      const runNow = (argv: readonly string[]): Promise<ToolResult> => runInForeground(options.jobs, { ...launch, argv }, timing, ctx);
      switch (gate.kind) {
        case "denied":
          return toolError(gate.text);
        case "run":
          return runNow(gate.argv);
        case "ask":
          return askToRun({
            actions: options.approvals, runningNoticeMs: settings.approvalRunningNoticeMs ?? RUNNING_NOTICE_MS,
            start: (argv, onExit) => options.jobs.start({ ...launch, argv, onExit, timeoutMs: launch.timeoutMs ?? (settings.timeoutSec ?? DEFAULT_TIMEOUT_SEC) * 1000 }),
          }, call, gate, runNow);
      }
    },
  };
}

/** The sandbox is the limit: nothing is asked, and of the environment only what the call gives goes in. */
async function runInSandbox(options: ExecToolOptions, command: string, args: Readonly<Record<string, unknown>>, ctx: ToolCallContext): Promise<ToolResult> {
  const pty = args["pty"] === true;
  const runtime = await options.sandbox?.ready();
  if (!runtime) throw new Error("There is no sandbox for this session.");
  const { argv, env, cwd, workdir, stop } = await runtime.wrap({ command, workdir: optionalString(args, "workdir"), env: textVariables(args["env"]), pty });
  const timing = timingOf(options, args);
  return runInForeground(options.jobs, { scope: options.scope, command, argv, env, cwd, shownCwd: workdir, stop, pty, timeoutMs: timing.timeoutSec === undefined ? undefined : timing.timeoutSec * 1000 }, timing, ctx);
}

const textVariables = (env: unknown): Record<string, string> =>
  typeof env === "object" && env !== null ? Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])) : {};

async function prepareCall(options: ExecToolOptions, command: string, args: Readonly<Record<string, unknown>>): Promise<ExecCall> {
  const cwd = await resolveWorkdir(options.workspaceDir, optionalString(args, "workdir"));
  const [loginPath, skillEnv] = await Promise.all([options.loginPath?.(), options.skillEnv?.() ?? {}]);
  const env = childEnvironment({ env: options.env, configEnv: options.configEnv, skillEnv, callEnv: args["env"], loginPath, pathPrepend: options.settings?.pathPrepend ?? [] });
  return {
    command, cwd, env, shell: shellOf(options.env), beyondList: beyondList(args), sessionKey: options.scope, agentId: options.agentId,
    place: { cwd, path: env["PATH"] ?? "", home: env["HOME"] ?? "/", platform: process.platform },
  };
}

function beyondList(args: Readonly<Record<string, unknown>>): string | undefined {
  if (Object.keys(callVariables(args["env"])).length > 0) return "the call sets variables";
  return args["pty"] === true ? "a terminal can be typed into" : undefined;
}

interface Timing {
  readonly timeoutSec: number | undefined;
  readonly waitMs: number;
}

/** A call that asks for the background has no time limit of its own. */
function timingOf({ settings = {}, env }: ExecToolOptions, args: Readonly<Record<string, unknown>>): Timing {
  const background = args["background"] === true;
  const wanted = optionalNumber(args, "yieldMs");
  return {
    timeoutSec: optionalNumber(args, "timeout") ?? (background || wanted !== undefined ? undefined : (settings.timeoutSec ?? DEFAULT_TIMEOUT_SEC)),
    waitMs: background ? 0 : yieldMs(wanted ?? settings.backgroundMs, env),
  };
}

async function runInForeground(jobs: ProcessJobs, start: Parameters<ProcessJobs["start"]>[0], timing: Timing, { signal, onUpdate }: ToolCallContext): Promise<ToolResult> {
  const job = await jobs.start(start);
  const abort = (): void => job.kill();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort(); // it was told to stop while the call was being prepared
  const progress = setInterval(() => {
    if (job.output !== "") onUpdate(toolText(job.output.slice(-TAIL_CHARS)));
  }, 1000);
  try {
    await Promise.race([job.done, sleep(timing.waitMs, signal)]);
    if (signal.aborted) await job.done;
  } finally {
    clearInterval(progress);
    signal.removeEventListener("abort", abort);
  }
  if (job.endedAt !== undefined) {
    jobs.remove(start.scope, job.slug);
    return finishedResult(job, timing.timeoutSec);
  }
  job.backgrounded = true;
  job.unread = "";
  return runningResult(job);
}

async function resolveWorkdir(workspaceDir: string, workdir: string | undefined): Promise<string> {
  const dir = workdir === undefined ? workspaceDir : isAbsolute(workdir) || workdir.startsWith("~") ? expandPath(workdir) : join(workspaceDir, workdir);
  if (workdir === undefined) await ensureDir(dir); // the first command may come before the first run
  const info = await stat(dir).catch(() => undefined);
  if (!info?.isDirectory()) throw new Error(`The working directory ${dir} does not exist.`);
  return dir;
}
