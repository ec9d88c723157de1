import {
  filesOf, pathsToRemember, showCommand, showOnOneLine, takeFingerprint, type ApprovalOutcome, type ApprovalRequest, type ApprovalsStore, type PendingApproval, type Surroundings,
} from "../../exec-approvals/index.ts";
import { errorText } from "../../../infra/errors.ts";
import { toolError, type ToolResult } from "../contract.ts";
import { analyze, type Gate } from "./gate.ts";
import type { Job } from "./process-jobs.ts";
import { pendingResult, quoteOutput } from "./results.ts";

/** What the exec tool needs of the room where people decide. */
export interface ExecApprovalActions {
  readonly store: ApprovalsStore;
  /** `isAnswerable` false: no client and no chat could be asked, and the question has ended already. */
  ask(request: ApprovalRequest, timeoutMs: number): { readonly pending: PendingApproval; readonly outcome: Promise<ApprovalOutcome>; readonly isAnswerable: boolean };
  /** A line for the session, which is woken to read it. */
  notify(sessionKey: string, approvalId: string, text: string): void;
}

/** One call of the tool as it would run. */
export interface ExecCall {
  readonly command: string;
  readonly shell: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Why no allow-list can pass the call: its variables may change what a program does, and into a terminal anything can be typed later. */
  readonly beyondList: string | undefined;
  readonly place: Surroundings;
  readonly sessionKey: string;
  readonly agentId: string;
}

export interface ApprovalRunDeps {
  readonly actions: ExecApprovalActions;
  /** Starts the command in the background. */
  readonly start: (argv: readonly string[], onExit: (job: Job) => void) => Promise<Job>;
  /** After this many ms of running the session is told once; 0: never. */
  readonly runningNoticeMs: number;
}

type Question = Extract<Gate, { readonly kind: "ask" }>;

/** Time to answer. Source: spec tools-and-automation §3.5. */
const APPROVAL_TIMEOUT_MS = 120_000;
const FINISHED_TAIL_CHARS = 400;

/**
 * Asks, and answers the model at once: the command runs when somebody allows it, exactly as it was when it was asked about.
 * `runNow` serves the case that nobody can be asked and the allow-list may decide instead.
 */
export async function askToRun(deps: ApprovalRunDeps, call: ExecCall, question: Question, runNow: (argv: readonly string[]) => Promise<ToolResult>): Promise<ToolResult> {
  const fingerprint = await fingerprintOf(call);
  const { pending, outcome, isAnswerable } = deps.actions.ask({
    command: showCommand(call.command), cwd: call.cwd, nodeId: null, host: "gateway", security: question.security, ask: question.ask, agentId: call.agentId,
    resolvedPath: mainProgram(question), sessionKey: call.sessionKey,
  }, APPROVAL_TIMEOUT_MS);
  if (!isAnswerable) {
    if (question.fallbackArgv) return runNow(question.fallbackArgv);
    return toolError(`exec denied: this needs an approval (${question.reason}), and nobody can be asked: no client that may approve is connected, and approvals.exec forwards nowhere.`);
  }
  const denied = (reason: string): void => deps.actions.notify(call.sessionKey, pending.id, `Exec denied (gateway id=${pending.id}, ${reason}): ${showOnOneLine(call.command)}`);
  void followDecision(deps, call, question, { pending, outcome, fingerprint, denied }).catch((err: unknown) => denied(`spawn-failed: ${errorText(err)}`));
  return pendingResult({ approvalId: pending.id, expiresAtMs: pending.expiresAtMs, command: call.command, cwd: call.cwd });
}

interface Asked {
  readonly pending: PendingApproval;
  readonly outcome: Promise<ApprovalOutcome>;
  readonly fingerprint: string;
  readonly denied: (reason: string) => void;
}

async function followDecision(deps: ApprovalRunDeps, call: ExecCall, question: Question, { pending, outcome, fingerprint, denied }: Asked): Promise<void> {
  const { decision } = await outcome;
  if (decision === "deny") return denied("user-denied");
  if (decision === null && !question.fallbackArgv) return denied(timeoutReason(question));
  if ((await fingerprintOf(call).catch(() => undefined)) !== fingerprint) return denied("changed-since-asked: a file, folder or program is not the one that was asked about");
  if (decision === "allow-always") {
    const paths = pathsToRemember(call.command, call.place);
    if (paths.length > 0) await deps.actions.store.allow(call.agentId, paths);
  }
  await runApproved(deps, call, pending.id, decision === null ? (question.fallbackArgv ?? []) : [...call.shell, call.command]);
}

async function runApproved({ actions, start, runningNoticeMs }: ApprovalRunDeps, { sessionKey, command }: ExecCall, id: string, argv: readonly string[]): Promise<void> {
  let notice: NodeJS.Timeout | undefined;
  const job = await start(argv, (ended) => {
    clearTimeout(notice);
    const how = ended.timedOut ? "timed out" : ended.exitSignal ? `signal ${ended.exitSignal}` : `code ${ended.exitCode}`;
    const tail = quoteOutput(ended.output, FINISHED_TAIL_CHARS);
    actions.notify(sessionKey, id, `Exec finished (gateway id=${id}, session=${ended.slug}, ${how})${ended.output.trim() === "" ? "" : `\n${tail}`}`);
  });
  job.backgrounded = true;
  if (runningNoticeMs > 0 && job.endedAt === undefined) {
    notice = setTimeout(() => actions.notify(sessionKey, id, `Exec running (gateway id=${id}, session=${job.slug}, >${Math.round(runningNoticeMs / 1000)}s): ${showOnOneLine(command)}`), runningNoticeMs);
    notice.unref();
  }
}

function timeoutReason(question: Question): string {
  if (question.isObfuscated) return "approval-timeout (obfuscation-detected)";
  return question.missReason === undefined ? "approval-timeout" : `approval-timeout (${question.missReason})`;
}

/** Analysed anew each time: what a word means depends on the files that are there. */
function fingerprintOf(call: ExecCall): Promise<string> {
  const { programs, operands } = filesOf(analyze(call));
  return takeFingerprint({ command: call.command, shell: call.shell, cwd: call.cwd, env: call.env, host: "gateway", sessionKey: call.sessionKey, agentId: call.agentId, programs, operands });
}

function mainProgram({ analysis }: Question): string | null {
  return analysis.kind === "parts" ? (analysis.parts[0]?.programs.at(-1)?.executable.path ?? null) : null;
}
