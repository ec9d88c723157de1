import { toolError, toolText, type ToolResult } from "../contract.ts";
import type { Job } from "./process-jobs.ts";

export const TAIL_CHARS = 2000;

/** Texts of exec's outcomes. Source: spec tools-and-automation §3.1. */
export function finishedResult(job: Job, timeoutSec: number | undefined): ToolResult {
  const output = job.output.trim();
  const details = { status: "completed", exitCode: job.exitCode, durationMs: (job.endedAt ?? job.startedAt) - job.startedAt, aggregated: output, cwd: job.cwd };
  const lead = output === "" ? "" : `${output}\n\n`;
  const cut = `${job.warning === undefined ? "" : `${job.warning}\n\n`}${job.dropped ? "[earlier output dropped]\n" : ""}`;
  const failed = (text: string): ToolResult => toolError(`${cut}${lead}${text}`, { ...details, status: "failed" });
  if (job.timedOut) return failed(`Command timed out after ${timeoutSec ?? 0} seconds`);
  if (job.exitSignal) return failed(`Command aborted by signal ${job.exitSignal}`);
  if (job.exitCode === 126) return failed("Command not executable (permission denied)");
  if (job.exitCode === 127) return failed("Command not found");
  if (job.exitCode !== 0) return toolText(`${cut}${lead}(Command exited with code ${job.exitCode})`, details);
  return toolText(`${cut}${output === "" ? "(no output)" : output}`, details);
}

export function runningResult(job: Job): ToolResult {
  const tail = job.output.slice(-TAIL_CHARS);
  const warning = job.warning === undefined ? "" : `${job.warning}\n\n`;
  return toolText(
    `${warning}Command still running (session ${job.slug}, pid ${job.pid ?? "?"}). Use process (list/poll/log/write/kill/clear/remove) for follow-up.${tail === "" ? "" : `\n\n${tail}`}`,
    { status: "running", sessionId: job.slug, pid: job.pid, startedAt: job.startedAt, cwd: job.cwd, tail },
  );
}

export interface PendingCall {
  readonly approvalId: string;
  readonly expiresAtMs: number;
  readonly command: string;
  readonly cwd: string;
}

export function pendingResult({ approvalId, expiresAtMs, command, cwd }: PendingCall): ToolResult {
  const approvalSlug = approvalId.slice(0, 8);
  return toolText(`Approval required (id ${approvalSlug}). Approve to run; updates will arrive after completion.`, {
    status: "approval-pending", approvalId, approvalSlug, expiresAtMs, host: "gateway", command, cwd,
  });
}

/** Output of a command as part of a notice: it cannot look like a line of its own. */
export const quoteOutput = (output: string, maxChars: number): string => output.trim().slice(-maxChars).toWellFormed().split("\n").map((line) => `> ${line}`).join("\n");
