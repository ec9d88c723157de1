import type { SubagentRun } from "./types.ts";

/** For the child's system prompt. Source: spec agent-pipeline-output §9. */
export function subagentSystemPrompt(run: Pick<SubagentRun, "task" | "label" | "requesterSessionKey" | "childSessionKey">, depth: number, maxDepth: number): string {
  return [
    "You are a sub-agent: another agent has given you one task.",
    "",
    "### Your task",
    ...run.task.split("\n").map((line) => `> ${line}`),
    "",
    "### Rules",
    "- Do this task and nothing else. Do not start conversations, make jobs or speak as the main agent.",
    "- Nobody can answer questions while you work: decide sensibly, and say in the end what you assumed.",
    "- Your last message is the result. It is passed on by itself: make it complete, and short. Do not send it anywhere yourself.",
    ...(depth < maxDepth ? ["- You may delegate parts with sessions_spawn; their results come to you by themselves."] : []),
    "",
    "### Session",
    ...(run.label ? [`- Label: ${run.label}`] : []),
    `- Asked by: ${run.requesterSessionKey}`,
    `- Yours: ${run.childSessionKey}`,
  ].join("\n");
}

export function subagentMessage(task: string, depth: number, maxDepth: number): string {
  return `[Subagent Context] You are running as a subagent (depth ${depth}/${maxDepth}). Your result is passed on to the agent that asked by itself; do not look for it or wait for answers.\n\n[Subagent Task]: ${task}`;
}

/** For the requester's agent, which passes it on in its own words. */
export function announcement(run: SubagentRun, sessionId: string | undefined): string {
  const name = run.label ?? firstLine(run.task);
  return [
    `[System Message] [sessionId: ${sessionId ?? "unknown"}] A subagent task "${name}" ${endedAs(run)}.`,
    "", "Result:", run.resultText?.trim() || "(no output)", "", `Stats: ${statsOf(run)}`, "",
    "Pass the result on to the person in your own words, as far as they need it, without these headings. If it needs no word now, answer NO_REPLY.",
  ].join("\n");
}

/** For a chat, as it is. */
export function chatNotice(run: SubagentRun, agentId: string): string {
  const mark = { ok: "✅", error: "❌", timeout: "⏱️", unknown: "❔" }[run.outcome?.status ?? "unknown"];
  const how = { ok: "finished", error: "failed", timeout: "timed out", unknown: "ended" }[run.outcome?.status ?? "unknown"];
  const body = run.resultText?.trim() || run.outcome?.error || "(no output)";
  return `${mark} Subagent ${run.label ?? agentId} ${how}\n\n${body}`;
}

function endedAs(run: SubagentRun): string {
  switch (run.outcome?.status) {
    case "ok":
      return "just completed successfully";
    case "timeout":
      return "timed out";
    case "error":
      return `failed: ${run.outcome.error ?? "unknown error"}`;
    default:
      return run.endedReason === "subagent-killed" ? "was stopped" : "ended, and nobody knows how";
  }
}

export function statsOf(run: SubagentRun): string {
  const parts = [`runtime ${formatRuntime((run.endedAt ?? run.createdAt) - (run.startedAt ?? run.createdAt))}`];
  if (run.usage) parts.push(`tokens ${short(run.usage.total)} (in ${short(run.usage.input)} / out ${short(run.usage.output)})`);
  return parts.join(" • ");
}

export function formatRuntime(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m${seconds % 60 ? `${seconds % 60}s` : ""}` : `${Math.floor(minutes / 60)}h${minutes % 60 ? `${minutes % 60}m` : ""}`;
}

const short = (tokens: number): string => (tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`);

export const firstLine = (text: string): string => {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};
