import { Type } from "typebox";
import { formatRuntime, firstLine } from "../../subagents/texts.ts";
import type { SubagentRun } from "../../subagents/types.ts";
import { optionalNumber, optionalString, requireString } from "../arguments.ts";
import { toolJson, type AgentTool } from "../contract.ts";
import type { SessionToolScope } from "./contract.ts";
import { forbidden } from "./visibility.ts";

const DEFAULT_RECENT_MIN = 30;
const MAX_RECENT_MIN = 1440;
const MAX_MESSAGE_CHARS = 4000;

const SPAWN_PARAMETERS = Type.Object({
  task: Type.String({ description: "all that it must know" }), label: Type.Optional(Type.String()), agentId: Type.Optional(Type.String()), model: Type.Optional(Type.String()),
  thinking: Type.Optional(Type.String()), runTimeoutSeconds: Type.Optional(Type.Number()), mode: Type.Optional(Type.Unsafe<string>({ type: "string", enum: ["run", "session"] })),
  cleanup: Type.Optional(Type.Unsafe<string>({ type: "string", enum: ["delete", "keep"] })),
});

export function createSessionsSpawnTool(scope: SessionToolScope): AgentTool {
  return {
    name: "sessions_spawn",
    label: "Sessions Spawn",
    summary: "Give a task to a sub-agent in a session of its own",
    description: "Give a task to a sub-agent. It works in the background in a session of its own; its result comes back by itself when it is done.",
    parameters: SPAWN_PARAMETERS,
    prepare: ({ timeoutSeconds, ...args }) => ({ ...args, runTimeoutSeconds: args["runTimeoutSeconds"] ?? timeoutSeconds }),
    describe: (args) => optionalString(args, "label") ?? firstLine(String(args["task"] ?? "")),
    async execute(args) {
      const { chat } = scope;
      const childAgent = optionalString(args, "agentId") ?? scope.agentId;
      if (scope.sandbox && !scope.sandbox.isAgentSandboxed(childAgent)) return toolJson(forbidden(`A sandboxed session cannot start an agent that is not: agents.list[${childAgent}].sandbox.mode must cover its sub-agents.`));
      return toolJson(await scope.actions.spawn({
        requesterSessionKey: scope.sessionKey, requesterAgentId: scope.agentId, isOwner: scope.isOwner, senderId: scope.senderId, task: requireString(args, "task"),
        origin: chat?.to === undefined || chat.channel === "webchat" ? undefined : { channel: chat.channel, accountId: chat.accountId, to: chat.to, threadId: chat.threadId },
        label: optionalString(args, "label")?.slice(0, 64), agentId: optionalString(args, "agentId"), model: optionalString(args, "model"), thinking: optionalString(args, "thinking")?.toLowerCase(),
        runTimeoutSeconds: optionalNumber(args, "runTimeoutSeconds"), mode: args["mode"] === "session" ? "session" : "run", cleanup: args["cleanup"] === "delete" ? "delete" : "keep",
      }));
    },
  };
}

const SUBAGENTS_PARAMETERS = Type.Object({
  action: Type.Unsafe<string>({ type: "string", enum: ["list", "kill", "steer"] }), target: Type.Optional(Type.String()), message: Type.Optional(Type.String()), recentMinutes: Type.Optional(Type.Number()),
});

export function createSubagentsTool(scope: SessionToolScope): AgentTool {
  return {
    name: "subagents",
    label: "Subagents",
    summary: "Look at, stop or redirect sub-agents of this session",
    description: "list, kill or steer the sub-agents that this session has started. target: number of the list, label, run id, session key, last, or all (kill).",
    parameters: SUBAGENTS_PARAMETERS,
    describe: (args) => [optionalString(args, "action"), optionalString(args, "target")].filter(Boolean).join(" "),
    async execute(args) {
      const minutes = Math.min(MAX_RECENT_MIN, Math.max(1, optionalNumber(args, "recentMinutes") ?? DEFAULT_RECENT_MIN));
      const runs = scope.actions.subagents(scope.sessionKey, minutes * 60_000);
      const action = optionalString(args, "action") ?? "list";
      if (action === "list") return toolJson({ count: runs.length, subagents: runs.map((run, index) => toShown(run, index, scope.now())) });
      const target = requireString(args, "target").trim();
      if (action === "kill") {
        const chosen = target === "all" ? runs.filter((run) => run.endedAt === undefined) : [findSubagent(runs, target)];
        let stopped = 0;
        for (const run of chosen) stopped += await scope.actions.kill(run.runId);
        return toolJson({ status: "ok", stopped });
      }
      const message = requireString(args, "message");
      if (message.length > MAX_MESSAGE_CHARS) throw new Error(`message has at most ${MAX_MESSAGE_CHARS} characters.`);
      const result = await scope.actions.steer(findSubagent(runs, target).runId, message);
      return toolJson(result.status === "accepted" ? { ...result, mode: "restart" } : result);
    },
  };
}

function toShown(run: SubagentRun, index: number, nowMs: number): object {
  return {
    index: index + 1, runId: run.runId, sessionKey: run.childSessionKey, label: run.label, task: firstLine(run.task), status: run.endedAt === undefined ? "running" : (run.outcome?.status ?? "ended"),
    runtime: formatRuntime((run.endedAt ?? nowMs) - (run.startedAt ?? run.createdAt)), model: run.model,
  };
}

/** Number of the list, label or its beginning, run id or its beginning, session key, or `last`. @throws Error */
export function findSubagent(runs: readonly SubagentRun[], target: string): SubagentRun {
  const wanted = target.replace(/^#/, "");
  // A number means the list: one that is not in it must not hit an id that happens to begin so.
  const isIndex = /^\d{1,3}$/.test(wanted);
  const byIndex = isIndex ? runs[Number(wanted) - 1] : undefined;
  const found = byIndex ?? (wanted === "last" ? runs[0] : undefined)
    ?? runs.find((run) => run.childSessionKey === wanted || run.runId === wanted || run.label === wanted)
    ?? (isIndex ? undefined : only(runs.filter((run) => run.runId.startsWith(wanted) || run.label?.toLowerCase().startsWith(wanted.toLowerCase())), target));
  if (!found) throw new Error(`There is no sub-agent "${target}". See the list.`);
  return found;
}

function only(runs: readonly SubagentRun[], target: string): SubagentRun | undefined {
  if (runs.length > 1) throw new Error(`"${target}" fits ${runs.length} sub-agents; be more precise.`);
  return runs[0];
}
