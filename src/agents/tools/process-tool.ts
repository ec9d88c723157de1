import { Type } from "typebox";
import { sleep } from "../../infra/backoff.ts";
import { optionalNumber, optionalString } from "./arguments.ts";
import { toolError, toolText, type AgentTool, type ToolResult } from "./contract.ts";
import type { Job, ProcessJobs } from "./process-jobs.ts";

const MAX_POLL_MS = 120_000;
const DEFAULT_LOG_LINES = 200;

/** Follows what exec left running, of this session only. */
export function createProcessTool({ jobs, scope, now }: { readonly jobs: ProcessJobs; readonly scope: string; readonly now: () => number }): AgentTool {
  return {
    name: "process",
    label: "Process",
    summary: "Follow background commands",
    description: "Background commands of exec: list, poll (new output), log (by line), write (stdin), submit (enter), kill, clear, remove.",
    parameters: Type.Object({
      action: Type.String({ description: "list|poll|log|write|submit|kill|clear|remove" }),
      sessionId: Type.Optional(Type.String()),
      timeout: Type.Optional(Type.Number({ description: "poll: wait up to this many ms for output" })),
      data: Type.Optional(Type.String({ description: "write: text for stdin" })),
      eof: Type.Optional(Type.Boolean()),
      offset: Type.Optional(Type.Number()),
      limit: Type.Optional(Type.Number()),
    }),
    describe: (args) => [args["action"], args["sessionId"]].filter(Boolean).join(" "),
    async execute(args, { signal }) {
      const action = optionalString(args, "action") ?? "list";
      if (action === "list") return listJobs(jobs.list(scope), now());
      const id = optionalString(args, "sessionId");
      if (!id) return toolError("sessionId is required for this action.");
      const job = jobs.find(scope, id);
      if (!job) return toolError(`No session found for ${id}`);
      switch (action) {
        case "poll":
          return poll(job, Math.min(MAX_POLL_MS, Math.max(0, optionalNumber(args, "timeout") ?? 0)), signal);
        case "log":
          return log(job, optionalNumber(args, "offset"), optionalNumber(args, "limit"));
        case "write":
        case "submit": {
          const data = action === "submit" ? `${optionalString(args, "data") ?? ""}\n` : String(args["data"] ?? "");
          if (!job.write(data, args["eof"] === true)) return toolError(`Session ${id} stdin is not writable.`);
          return toolText(`Wrote ${Buffer.byteLength(data)} bytes to session ${id}`);
        }
        case "kill":
          job.kill();
          await Promise.race([job.done, sleep(5000, signal)]);
          return toolText(`Termination requested for session ${id}.`);
        case "clear":
        case "remove":
          if (job.endedAt === undefined && action === "clear") return toolError(`Session ${id} is still running; kill it first.`);
          if (job.endedAt === undefined) job.kill();
          jobs.remove(scope, id);
          return toolText(action === "clear" ? `Cleared session ${id}.` : `Removed session ${id}.`);
        default:
          return toolError(`Unknown action ${action}`);
      }
    },
  };
}

function listJobs(list: readonly Job[], nowMs: number): ToolResult {
  if (list.length === 0) return toolText("No running or recent sessions.");
  const rows = list.map((job) => {
    const status = job.endedAt === undefined ? "running" : job.exitCode === 0 ? "completed" : "failed";
    return `${job.slug} ${status.padEnd(9)} ${Math.round(((job.endedAt ?? nowMs) - job.startedAt) / 1000)}s :: ${job.command.split("\n")[0]?.slice(0, 80) ?? ""}`;
  });
  return toolText(rows.join("\n"), { sessions: list.map((job) => ({ sessionId: job.slug, pid: job.pid, startedAt: job.startedAt, exitCode: job.exitCode })) });
}

async function poll(job: Job, timeoutMs: number, signal: AbortSignal): Promise<ToolResult> {
  const until = performance.now() + timeoutMs;
  while (job.unread === "" && job.endedAt === undefined && performance.now() < until && !signal.aborted) {
    await Promise.race([job.done, sleep(Math.min(200, timeoutMs), signal)]);
  }
  const text = job.unread.trim() || "(no new output)";
  job.unread = "";
  if (job.endedAt === undefined) return toolText(`${text}\n\nProcess still running.`, { status: "running" });
  const end = job.exitSignal ? `signal ${job.exitSignal}` : `code ${job.exitCode}`;
  return toolText(`${text}\n\nProcess exited with ${end}.`, { status: job.exitCode === 0 ? "completed" : "failed", exitCode: job.exitCode });
}

function log(job: Job, offset: number | undefined, limit: number | undefined): ToolResult {
  const lines = job.output.split("\n");
  const count = limit ?? DEFAULT_LOG_LINES;
  const from = offset === undefined ? Math.max(0, lines.length - count) : Math.max(0, offset - 1);
  return toolText(lines.slice(from, from + count).join("\n") || "(no output)", { totalLines: lines.length });
}
