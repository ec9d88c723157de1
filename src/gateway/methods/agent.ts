import { z } from "zod";
import { agentIdOfKey, isKnownAgentId, mainSessionKey, resolveDefaultAgentId } from "../../routing/index.ts";
import { resolveSendPolicy } from "../../sessions/index.ts";
import { SessionBusyError, type ReplyRoute } from "../../auto-reply/index.ts";
import type { GatewayContext } from "../context.ts";
import { defineMethod, GatewayError, invalidRequest, type GatewayMethod } from "../protocol/index.ts";
import { attachmentsSchema, cleanMessage, isOwnerCaller, storeAttachments } from "./chat.ts";
import { usableSessionKey } from "../session-key.ts";
import { nes } from "./schemas.ts";

const agentParams = z.strictObject({
  message: nes, idempotencyKey: nes, agentId: z.string().optional(), sessionKey: z.string().optional(), sessionId: z.string().optional(),
  to: z.string().optional(), replyTo: z.string().optional(), channel: z.string().optional(), replyChannel: z.string().optional(),
  accountId: z.string().optional(), replyAccountId: z.string().optional(), threadId: z.string().optional(), groupId: z.string().optional(),
  groupChannel: z.string().optional(), groupSpace: z.string().optional(), thinking: z.string().optional(), deliver: z.boolean().optional(),
  bestEffortDeliver: z.boolean().optional(), attachments: attachmentsSchema, timeout: z.number().int().min(0).optional(), lane: z.string().optional(),
  extraSystemPrompt: z.string().optional(),
  inputProvenance: z.strictObject({
    kind: z.enum(["external_user", "inter_session", "internal_system"]), sourceSessionKey: z.string().optional(), sourceChannel: z.string().optional(), sourceTool: z.string().optional(),
  }).optional(),
  label: z.string().max(64).optional(), spawnedBy: z.string().optional(),
});
type AgentParams = z.infer<typeof agentParams>;

const agent = defineMethod({
  name: "agent",
  scope: "operator.write",
  params: agentParams,
  async handle(params, ctx: GatewayContext, call) {
    const runId = params.idempotencyKey;
    const cacheKey = `agent:${runId}`;
    const known = ctx.idempotency.get(cacheKey);
    if (known instanceof Promise) return { runId, status: "accepted", acceptedAt: ctx.clock.now() };
    if (known !== undefined) return known;
    const attachments = await storeAttachments(ctx, params.attachments);
    checkChannels(ctx, params);
    const message = cleanMessage(params.message);
    const sessionKey = await resolveTarget(ctx, params);
    const reset = /^\/(?:new|reset)(?:\s+([\s\S]*))?$/i.exec(message.trim());
    if (reset) {
      if (!isOwnerCaller(call.caller)) throw invalidRequest("missing scope: operator.admin");
      await settleSession(ctx, sessionKey);
      await ctx.sessions.reset(sessionKey);
    }
    if (resolveSendPolicy(ctx.config(), sessionKey, await ctx.sessions.get(sessionKey)) === "deny") throw invalidRequest("send blocked by session policy");
    const deliver = params.deliver ? await deliveryRoute(ctx, params, sessionKey) : undefined;
    if (params.label || params.spawnedBy) await ctx.sessions.update(sessionKey, { ...(params.label ? { label: params.label } : {}), ...(params.spawnedBy ? { spawnedBy: params.spawnedBy } : {}) });
    call.respond({ runId, status: "accepted", acceptedAt: ctx.clock.now() });
    const work = ctx.conversation.runAgent({
      runId, sessionKey, message: reset ? (reset[1]?.trim() || "A new session was started. Greet the person briefly.") : message, isOwner: isOwnerCaller(call.caller), attachments, deliver,
      thinking: asLevel(params.thinking), timeoutMs: params.timeout === undefined ? undefined : params.timeout * 1000,
      extraSystemPrompt: params.extraSystemPrompt, provenance: params.inputProvenance, lane: params.lane === "subagent" || params.lane === "cron" || params.lane === "nested" ? params.lane : "main",
    });
    ctx.idempotency.set(cacheKey, work);
    try {
      const { result } = await work;
      const answer = {
        runId, status: "ok", summary: "completed",
        result: {
          payloads: result.payloads.map((payload) => ({ text: payload.text ?? null, mediaUrl: payload.mediaUrls?.[0] ?? null, ...(payload.mediaUrls && payload.mediaUrls.length > 1 ? { mediaUrls: payload.mediaUrls } : {}) })),
          meta: result.meta,
        },
      };
      ctx.idempotency.set(cacheKey, answer);
      return answer;
    } catch (err) {
      const summary = err instanceof Error ? err.message : String(err);
      ctx.idempotency.set(cacheKey, { runId, status: "error", summary });
      throw new GatewayError("UNAVAILABLE", `Error: ${summary}`, { payload: { runId, status: "error", summary } });
    }
  },
});

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
const asLevel = (value: string | undefined): (typeof LEVELS)[number] | undefined => LEVELS.find((level) => level === value);

/** Ends what the session does. @throws GatewayError UNAVAILABLE, to be tried again */
export async function settleSession(ctx: GatewayContext, sessionKey: string): Promise<void> {
  try {
    await ctx.conversation.settle(sessionKey, "rpc");
  } catch (err) {
    throw err instanceof SessionBusyError ? new GatewayError("UNAVAILABLE", err.message, { retryable: true, cause: err }) : err;
  }
}

function checkChannels(ctx: GatewayContext, params: AgentParams): void {
  for (const channel of [params.channel, params.replyChannel]) {
    if (channel === undefined || channel === "last" || channel === "webchat" || ctx.channels.find(channel)) continue;
    throw invalidRequest(`invalid agent params: unknown channel: ${channel}`);
  }
}

/** Key, id, agent or address, in this order; a bare message goes to the default agent (spec decisions §2.9). */
async function resolveTarget(ctx: GatewayContext, params: AgentParams): Promise<string> {
  const cfg = ctx.config();
  if (params.agentId !== undefined && !isKnownAgentId(cfg, params.agentId)) throw invalidRequest(`unknown agent id "${params.agentId}"`);
  if (params.sessionKey !== undefined && params.sessionKey !== "") {
    if (/^agent:/i.test(params.sessionKey) && !/^agent:[^:]+:.+/i.test(params.sessionKey)) throw invalidRequest(`malformed session key "${params.sessionKey}"`);
    const key = usableSessionKey(ctx, params.sessionKey, invalidRequest);
    if (params.agentId !== undefined && agentIdOfKey(key, resolveDefaultAgentId(cfg)) !== params.agentId.toLowerCase()) {
      throw invalidRequest(`agent id "${params.agentId}" does not match session key "${params.sessionKey}"`);
    }
    return key;
  }
  if (params.sessionId) {
    const found = (await ctx.sessions.all()).find((row) => row.entry.sessionId === params.sessionId);
    if (!found) throw invalidRequest(`No session found: ${params.sessionId}`);
    return found.key;
  }
  return mainSessionKey(params.agentId ?? resolveDefaultAgentId(cfg));
}

async function deliveryRoute(ctx: GatewayContext, params: AgentParams, sessionKey: string): Promise<ReplyRoute> {
  const entry = await ctx.sessions.get(sessionKey);
  const wanted = params.replyChannel ?? params.channel ?? "last";
  const channel = wanted === "last" ? entry?.lastChannel : wanted;
  const plugin = channel === undefined ? undefined : ctx.channels.find(channel);
  const to = params.replyTo ?? params.to ?? (channel === entry?.lastChannel ? entry?.lastTo : undefined);
  if (!plugin?.outbound || !to) throw invalidRequest("delivery channel is required: pass channel and to, or use a session that has spoken on a channel before");
  const accountId = params.replyAccountId ?? params.accountId ?? (channel === entry?.lastChannel ? entry?.lastAccountId : undefined) ?? plugin.config.defaultAccountId(ctx.config());
  const resolved = plugin.outbound.resolveTarget?.(ctx.config(), to, accountId) ?? { ok: true as const, to };
  if (!resolved.ok) throw invalidRequest(resolved.error);
  return { channel: plugin.id, accountId, to: resolved.to, threadId: params.threadId ?? ("threadId" in resolved ? resolved.threadId : undefined) };
}

const wait = defineMethod({
  name: "agent.wait",
  scope: "operator.write",
  params: z.strictObject({ runId: nes, timeoutMs: z.number().int().min(0).optional() }),
  async handle({ runId, timeoutMs = 30_000 }, ctx: GatewayContext) {
    const snapshot = await ctx.agents.runs.wait(runId, Math.min(timeoutMs, 24 * 60 * 60_000));
    if (!snapshot) return { runId, status: "timeout" };
    return { runId, status: snapshot.status, startedAt: snapshot.startedAt, endedAt: snapshot.endedAt, ...(snapshot.error ? { error: snapshot.error } : {}) };
  },
});

const identity = defineMethod({
  name: "agent.identity.get",
  scope: "operator.read",
  params: z.strictObject({ agentId: z.string().optional(), sessionKey: z.string().optional() }),
  handle({ agentId, sessionKey }, ctx: GatewayContext) {
    const cfg = ctx.config();
    const id = agentId ?? (sessionKey ? ctx.sessions.agentIdOf(ctx.sessions.canonicalKey(sessionKey)) : resolveDefaultAgentId(cfg));
    const { config } = ctx.agents.agent(id);
    return { agentId: id, name: config?.identity?.name ?? "Assistant", avatar: config?.identity?.avatar ?? config?.identity?.emoji ?? "A", emoji: config?.identity?.emoji };
  },
});

const list = defineMethod({
  name: "agents.list",
  scope: "operator.read",
  params: z.strictObject({}),
  handle(_params, ctx: GatewayContext) {
    const cfg = ctx.config();
    const agents = (cfg.agents?.list ?? []).map((item) => ({ id: item.id, name: item.name, identity: item.identity }));
    return { defaultId: resolveDefaultAgentId(cfg), mainKey: "main", scope: cfg.session?.scope ?? "per-sender", agents: agents.length > 0 ? agents : [{ id: "main" }] };
  },
});

export const agentMethods: readonly GatewayMethod<GatewayContext>[] = [agent, wait, identity, list];
