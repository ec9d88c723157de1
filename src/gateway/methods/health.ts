import { summarizeHeartbeats } from "../../heartbeat/index.ts";
import { listAgentIds, resolveDefaultAgentId } from "../../routing/index.ts";
import type { SessionEntry } from "../../sessions/index.ts";
import { z } from "zod";
import type { GatewayContext } from "../context.ts";
import { defineMethod, type GatewayMethod } from "../protocol/index.ts";
import { empty } from "./schemas.ts";
import { kindOf } from "./sessions.ts";

const health = defineMethod({
  name: "health",
  scope: "none",
  params: z.looseObject({ probe: z.boolean().optional() }),
  handle: ({ probe }, ctx: GatewayContext) => ctx.health.get({ probe }),
});

const status = defineMethod({
  name: "status",
  scope: "operator.read",
  params: empty,
  async handle(_params, ctx: GatewayContext, { caller }) {
    const cfg = ctx.config();
    const isAdmin = caller.scopes.includes("operator.admin");
    const now = ctx.clock.now();
    const all = await ctx.sessions.all();
    const rows = all.toSorted((a, b) => b.entry.updatedAt - a.entry.updatedAt);
    const choice = await ctx.agents.models.selectDefault(resolveDefaultAgentId(cfg));
    const recent = (list: typeof rows): unknown[] => (isAdmin ? list.slice(0, 10).map((row) => statusRow(row.agentId, row.key, row.entry, now)) : []);
    const error = ctx.source.lastError();
    return {
      version: ctx.version,
      uptimeMs: now - ctx.startedAt,
      heartbeat: { defaultAgentId: resolveDefaultAgentId(cfg), agents: summarizeHeartbeats(cfg) },
      channelSummary: ctx.channels.summaryLines(),
      plugins: pluginsOf(ctx),
      channelIssues: ctx.channels.issues(),
      queuedSystemEvents: isAdmin ? ctx.systemEvents.list() : [],
      model: { ref: `${choice.ref.provider}/${choice.ref.modelId}`, source: choice.source, reason: choice.reason },
      delivery: { open: ctx.outbox.countOpen(), failed: isAdmin ? ctx.outbox.failures(10) : [] },
      ...(error ? { configError: { path: error.path, message: error.message } } : {}),
      ...(isAdmin ? { configWarnings: ctx.source.snapshot().warnings.slice(0, 20) } : {}),
      sessions: {
        paths: isAdmin ? [...new Set(listAgentIds(cfg).map((id) => ctx.sessions.storeFor(id).path))] : [],
        count: all.length,
        defaults: isAdmin ? { model: choice.ref.modelId, contextTokens: cfg.agents?.defaults?.contextTokens ?? 200_000 } : { model: null, contextTokens: null },
        recent: recent(rows),
        byAgent: listAgentIds(cfg).map((agentId) => {
          const own = rows.filter((row) => row.agentId === agentId);
          return { agentId, path: isAdmin ? ctx.sessions.storeFor(agentId).path : "[redacted]", count: own.length, recent: recent(own) };
        }),
      },
    };
  },
});

/** Those that run, and those with which something is wrong. */
function pluginsOf({ plugins }: GatewayContext): unknown {
  const all = plugins.list().plugins;
  const faulty = all.filter(({ status, faults }) => status === "error" || faults !== undefined);
  return { loaded: all.filter((plugin) => plugin.status === "loaded").map(({ id }) => id), faulty: faulty.map(({ id, status, error, faults, lastFault }) => ({ id, status, error: error ?? lastFault, faults })) };
}

function statusRow(agentId: string, key: string, entry: Readonly<SessionEntry>, now: number): unknown {
  const total = entry.totalTokens ?? null;
  const context = entry.contextTokens ?? null;
  return {
    agentId, key, kind: kindOf(key),
    sessionId: entry.sessionId, updatedAt: entry.updatedAt, age: now - entry.updatedAt, thinkingLevel: entry.thinkingLevel, verboseLevel: entry.verboseLevel,
    inputTokens: entry.inputTokens, outputTokens: entry.outputTokens, totalTokens: total, totalTokensFresh: entry.totalTokensFresh === true,
    remainingTokens: total !== null && context !== null ? Math.max(0, context - total) : null,
    percentUsed: total !== null && context ? Math.min(999, Math.round((total / context) * 100)) : null,
    model: entry.model ?? null, contextTokens: context, flags: [entry.abortedLastRun ? "aborted" : "", entry.sendPolicy === "deny" ? "muted" : ""].filter(Boolean),
  };
}

export const healthMethods: readonly GatewayMethod<GatewayContext>[] = [health, status];
