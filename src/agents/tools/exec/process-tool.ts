import { Type } from "typebox";
import { sleep } from "../../../infra/backoff.ts";
import { optionalNumber, optionalString } from "../arguments.ts";
import { toolError, toolText, type AgentTool, type ToolResult } from "../contract.ts";
import type { Job, ProcessJobs } from "./process-jobs.ts";
import { encodeHex, encodeKeys, encodePaste } from "./terminal-keys.ts";

const MAX_POLL_MS = 120_000;
const DEFAULT_LOG_LINES = 200;
const KILL_WAIT_MS = 5000;
/** Advice for the next poll, the longer the quieter a command is. */
const RETRY_MS = [5000, 10_000, 30_000, 60_000];

const PROCESS_PARAMETERS = Type.Object({
  action: Type.String({ description: "list|poll|log|write|send-keys|submit|paste|kill|clear|remove" }),
  sessionId: Type.Optional(Type.String()),
  timeout: Type.Optional(Type.Number({ description: "poll: wait up to this many ms for output" })),
  data: Type.Optional(Type.String({ description: "write: text for stdin" })),
  eof: Type.Optional(Type.Boolean()),
  keys: Type.Optional(Type.Array(Type.String(), { description: "send-keys: enter, up, C-c, …" })),
  hex: Type.Optional(Type.Array(Type.String())),
  literal: Type.Optional(Type.String()),
  text: Type.Optional(Type.String({ description: "paste" })),
  bracketed: Type.Optional(Type.Boolean()),
  offset: Type.Optional(Type.Number()),
  limit: Type.Optional(Type.Number()),
});

/** Follows what exec left running, of this session only. Source: spec tools-and-automation §3.2. */
export function createProcessTool({ jobs, scope, now }: { readonly jobs: ProcessJobs; readonly scope: string; readonly now: () => number }): AgentTool {
  return {
    name: "process",
    label: "Process",
    summary: "Follow background commands",
    description: "Background commands of exec: list, poll (new output), log (by line), write (stdin), send-keys, submit (enter), paste, kill, clear (finished), remove. Input needs exec pty=true.",
    parameters: PROCESS_PARAMETERS,
    prepare(args) {
      const out = { ...args };
      for (const key of ["timeout", "offset", "limit"]) if (typeof out[key] === "string" && /^\d+$/.test(out[key])) out[key] = Number(out[key]);
      for (const key of ["keys", "hex"]) if (typeof out[key] === "string") out[key] = out[key].split(/\s+/).filter(Boolean);
      return out;
    },
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
          return send(job, String(args["data"] ?? ""), args["eof"] === true);
        case "submit":
          return send(job, `${optionalString(args, "data") ?? ""}\r`, false);
        case "send-keys":
          return sendKeys(job, args);
        case "paste": {
          const text = optionalString(args, "text") ?? optionalString(args, "data");
          return text === undefined ? toolError("text is required for paste.") : send(job, encodePaste(text, args["bracketed"] !== false), false);
        }
        case "kill":
          if (job.endedAt !== undefined) return toolError(`Session ${id} is not running.`);
          job.kill();
          await Promise.race([job.done, sleep(KILL_WAIT_MS, signal)]);
          return toolText(`Termination requested for session ${id}.`);
        case "clear":
          if (job.endedAt === undefined) return toolError(`Session ${id} is still running; kill it first.`);
          jobs.remove(scope, id);
          return toolText(`Cleared session ${id}.`);
        case "remove":
          return remove(jobs, scope, job);
        default:
          return toolError(`Unknown action ${action}`);
      }
    },
  };
}

/** A command that is removed while it runs is ended, and gone only when it is. */
async function remove(jobs: ProcessJobs, scope: string, job: Job): Promise<ToolResult> {
  if (job.endedAt === undefined) {
    job.backgrounded = false; // its end is nobody's news any more
    job.kill();
    await job.done;
  }
  jobs.remove(scope, job.slug);
  return toolText(`Removed session ${job.slug}.`);
}

function send(job: Job, data: string, eof: boolean): ToolResult {
  if (!job.write(data, eof)) return toolError(`Session ${job.slug} stdin is not writable.`);
  return toolText(`Wrote ${Buffer.byteLength(data)} bytes to session ${job.slug}`);
}

function sendKeys(job: Job, args: Readonly<Record<string, unknown>>): ToolResult {
  const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
  const data = encodeKeys(list(args["keys"])) + encodeHex(list(args["hex"])) + (typeof args["literal"] === "string" ? args["literal"] : "");
  return data === "" ? toolError("send-keys needs keys, hex or literal.") : send(job, data, false);
}

function listJobs(list: readonly Job[], nowMs: number): ToolResult {
  if (list.length === 0) return toolText("No running or recent sessions.");
  const rows = list.map((job) => `${job.slug} ${statusOf(job).padEnd(9)} ${runtime((job.endedAt ?? nowMs) - job.startedAt)} :: ${nameOf(job.command)}`);
  return toolText(rows.join("\n"), {
    sessions: list.map((job) => ({ sessionId: job.slug, status: statusOf(job), pid: job.pid, startedAt: job.startedAt, endedAt: job.endedAt, command: job.command, cwd: job.cwd, exitCode: job.exitCode })),
  });
}

const statusOf = (job: Job): string => (job.endedAt === undefined ? "running" : job.exitCode === 0 ? "completed" : "failed");
const nameOf = (command: string): string => command.split("\n")[0]?.slice(0, 80) ?? "";

function runtime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
}

async function poll(job: Job, timeoutMs: number, signal: AbortSignal): Promise<ToolResult> {
  const until = performance.now() + timeoutMs;
  while (job.unread === "" && job.endedAt === undefined && performance.now() < until && !signal.aborted) {
    await Promise.race([job.done, sleep(Math.min(200, timeoutMs), signal)]);
  }
  const fresh = job.unread.trim();
  job.unread = "";
  job.idlePolls = fresh === "" ? job.idlePolls + 1 : 0;
  const text = fresh || "(no new output)";
  const details = { status: statusOf(job), sessionId: job.slug };
  if (job.endedAt === undefined) {
    const retryInMs = RETRY_MS[Math.min(Math.max(0, job.idlePolls - 1), RETRY_MS.length - 1)];
    return toolText(`${text}\n\nProcess still running.`, { ...details, retryInMs });
  }
  const end = job.exitSignal ? `signal ${job.exitSignal}` : `code ${job.exitCode}`;
  return toolText(`${text}\n\nProcess exited with ${end}.`, { ...details, exitCode: job.exitCode });
}

function log(job: Job, offset: number | undefined, limit: number | undefined): ToolResult {
  const lines = job.output === "" ? [] : job.output.replace(/\n$/, "").split("\n");
  const count = Math.max(1, limit ?? DEFAULT_LOG_LINES);
  const from = offset === undefined ? Math.max(0, lines.length - count) : Math.max(0, offset - 1);
  const shown = lines.slice(from, from + count);
  const hint = offset === undefined && limit === undefined && from > 0 ? `\n\n[showing the last ${shown.length} of ${lines.length} lines; use offset and limit for others]` : "";
  return toolText(`${shown.join("\n") || "(no output)"}${hint}`, { status: statusOf(job), totalLines: lines.length });
}
