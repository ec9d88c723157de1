import type { SubagentOrigin, SubagentRun, SubagentService } from "../agents/index.ts";
import type { HookRunner } from "./hooks.ts";

type Fate = "ok" | "error" | "timeout" | "killed";

/** The sub-agents with the eyes of plugins on them. Source: spec plugin-sdk §7. */
export function hookSubagents(service: SubagentService, hooks: HookRunner): SubagentService {
  return {
    ...service,
    async spawn(request) {
      if (!hooks.has("subagent_spawning") && !hooks.has("subagent_spawned")) return service.spawn(request);
      const { requesterSessionKey, requesterAgentId, agentId, label, mode = "run", origin } = request;
      const fields = { agentId: agentId ?? requesterAgentId, label, mode, requester: origin, threadRequested: false };
      let refused: string | undefined;
      await hooks.ask<{ status?: unknown; error?: unknown }>("subagent_spawning", { childSessionKey: "", ...fields }, { requesterSessionKey }, (result) => {
        if (result.status === "error") refused ??= typeof result.error === "string" ? result.error : "a plugin refused it";
      });
      if (refused !== undefined) return { status: "error", error: refused };
      const result = await service.spawn(request);
      if (result.status === "accepted") {
        const { childSessionKey, runId } = result;
        void hooks.notify("subagent_spawned", { childSessionKey, runId, ...fields }, { runId, childSessionKey, requesterSessionKey });
      }
      return result;
    },
  };
}

/** `subagent_ended`. */
export function tellSubagentEnded(hooks: HookRunner, run: SubagentRun): void {
  if (!hooks.has("subagent_ended")) return;
  const status = run.outcome?.status;
  const outcome: Fate = run.endedReason === "subagent-killed" ? "killed" : status === "ok" || status === "timeout" ? status : "error";
  const { childSessionKey, requesterSessionKey, runId } = run;
  void hooks.notify(
    "subagent_ended",
    { targetSessionKey: childSessionKey, targetKind: "subagent", reason: run.endedReason, accountId: run.requesterOrigin?.accountId, runId, endedAt: run.endedAt, outcome, error: run.outcome?.error },
    { runId, childSessionKey, requesterSessionKey },
  );
}

/** `subagent_delivery_target`: where a plugin wants the result told, else where it was asked for. */
export async function deliveryOrigin(hooks: HookRunner, run: SubagentRun): Promise<SubagentOrigin | undefined> {
  let chosen: SubagentOrigin | undefined;
  const { childSessionKey, requesterSessionKey, requesterOrigin, runId, spawnMode } = run;
  await hooks.ask<{ origin?: unknown }>(
    "subagent_delivery_target",
    { childSessionKey, requesterSessionKey, requesterOrigin, childRunId: runId, spawnMode, expectsCompletionMessage: true },
    { runId, childSessionKey, requesterSessionKey },
    ({ origin }) => {
      const { channel, to, accountId, threadId } = (typeof origin === "object" && origin !== null ? origin : {}) as Record<string, unknown>;
      if (typeof channel !== "string" || typeof to !== "string") return;
      chosen ??= { channel, to, ...(typeof accountId === "string" ? { accountId } : {}), ...(threadId === undefined ? {} : { threadId: String(threadId) }) };
    },
  );
  return chosen ?? requesterOrigin;
}
