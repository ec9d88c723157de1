import { copyFile } from "node:fs/promises";
import { z } from "zod";
import { stripPromptScaffolding } from "../../auto-reply/index.ts";
import { writeFileAtomic } from "../../infra/atomic-file.ts";
import { isCronRunKey, mainSessionKey, resolveDefaultAgentId, sessionKeyKind, subagentDepth } from "../../routing/index.ts";
import { archiveStamp, isTranscriptMessage, loadTranscript, readRecentMessages, type SessionEntry, type SessionPatch, type TranscriptEntry } from "../../sessions/index.ts";
import type { GatewayContext } from "../context.ts";
import { defineMethod, invalidRequest, isWebchatClient, type GatewayMethod, type MethodCall } from "../protocol/index.ts";
import { settleSession } from "./agent.ts";
import { usableSessionKey } from "../session-key.ts";
import { nes } from "./schemas.ts";

const positive = z.number().int().min(1);

export function kindOf(key: string): "direct" | "group" | "global" | "unknown" {
  switch (sessionKeyKind(key)) {
    case "group":
    case "channel":
      return "group";
    case "global":
      return "global";
    default:
      return "direct";
  }
}

function toRow(ctx: GatewayContext, key: string, entry: Readonly<SessionEntry>, fallbackModel: string): Record<string, unknown> {
  return {
    key, kind: kindOf(key), label: entry.label, displayName: entry.displayName ?? entry.origin?.label, channel: entry.channel, subject: entry.subject,
    groupChannel: entry.groupChannel, space: entry.space, chatType: entry.chatType, origin: entry.origin, updatedAt: entry.updatedAt, sessionId: entry.sessionId,
    systemSent: entry.systemSent, abortedLastRun: entry.abortedLastRun, thinkingLevel: entry.thinkingLevel, verboseLevel: entry.verboseLevel,
    reasoningLevel: entry.reasoningLevel, elevatedLevel: entry.elevatedLevel, sendPolicy: entry.sendPolicy, inputTokens: entry.inputTokens,
    outputTokens: entry.outputTokens, totalTokens: entry.totalTokens, totalTokensFresh: entry.totalTokensFresh === true, responseUsage: entry.responseUsage,
    modelProvider: entry.providerOverride ?? entry.modelProvider, model: entry.modelOverride ?? entry.model ?? fallbackModel, contextTokens: entry.contextTokens,
    deliveryContext: entry.deliveryContext, lastChannel: entry.lastChannel, lastTo: entry.lastTo, lastAccountId: entry.lastAccountId,
    spawnedBy: entry.spawnedBy, active: ctx.agents.runs.bySession(key).length > 0,
  };
}

async function lastTexts(ctx: GatewayContext, key: string, entry: Readonly<SessionEntry>): Promise<{ title: string | undefined; last: string | undefined }> {
  const entries = await readRecentMessages(ctx.sessions.transcriptPath(key, entry), { limit: 30, maxBytes: 256 * 1024 });
  const messages = entries.filter(isTranscriptMessage);
  const firstUser = messages.find((item) => item.message.role === "user");
  const last = messages.findLast((item) => plainText(item) !== "");
  return { title: firstUser && plainText(firstUser).slice(0, 60), last: last && plainText(last).slice(0, 200) };
}

function plainText(entry: TranscriptEntry): string {
  const content = entry.message?.content;
  const text = typeof content === "string" ? content : Array.isArray(content) ? content.map((block: unknown) => (typeof block === "object" && block !== null && "text" in block ? String(block.text) : "")).join(" ") : "";
  return (entry.message?.role === "user" ? stripPromptScaffolding(text) : text).replace(/\s+/g, " ").trim();
}

const list = defineMethod({
  name: "sessions.list",
  scope: "operator.read",
  params: z.strictObject({
    limit: positive.optional(), activeMinutes: positive.optional(), includeGlobal: z.boolean().optional(), includeUnknown: z.boolean().optional(),
    includeDerivedTitles: z.boolean().optional(), includeLastMessage: z.boolean().optional(), label: z.string().optional(), spawnedBy: z.string().optional(),
    agentId: z.string().optional(), search: z.string().optional(),
  }),
  async handle(params, ctx: GatewayContext) {
    const cfg = ctx.config();
    const now = ctx.clock.now();
    const choice = await ctx.agents.models.selectDefault(resolveDefaultAgentId(cfg));
    const needle = params.search?.trim().toLowerCase();
    const rows = (await ctx.sessions.all(params.agentId?.toLowerCase()))
      .filter(({ key, entry }) => {
        if (isCronRunKey(key)) return false;
        if (key === "global" && !params.includeGlobal) return false;
        if (key === "unknown" && !params.includeUnknown) return false;
        if (params.activeMinutes !== undefined && now - entry.updatedAt > params.activeMinutes * 60_000) return false;
        if (params.label !== undefined && entry.label !== params.label) return false;
        if (params.spawnedBy !== undefined && entry.spawnedBy !== params.spawnedBy) return false;
        if (!needle) return true;
        return [entry.displayName, entry.label, entry.subject, entry.sessionId, key, entry.origin?.label].some((value) => value?.toLowerCase().includes(needle));
      })
      .sort((a, b) => b.entry.updatedAt - a.entry.updatedAt);
    const shown = params.limit === undefined ? rows : rows.slice(0, params.limit);
    const sessions = await Promise.all(
      shown.map(async ({ key, entry }, index) => {
        const row = toRow(ctx, key, entry, choice.ref.modelId);
        if ((!params.includeDerivedTitles && !params.includeLastMessage) || index >= 100) return row;
        const { title, last } = await lastTexts(ctx, key, entry);
        return { ...row, ...(params.includeDerivedTitles ? { derivedTitle: title } : {}), ...(params.includeLastMessage ? { lastMessagePreview: last } : {}) };
      }),
    );
    return {
      ts: now, path: cfg.session?.store && !cfg.session.store.includes("{agentId}") ? cfg.session.store : "(multiple)", count: sessions.length,
      defaults: { modelProvider: choice.ref.provider, model: choice.ref.modelId, contextTokens: cfg.agents?.defaults?.contextTokens ?? null }, sessions,
    };
  },
});

const preview = defineMethod({
  name: "sessions.preview",
  scope: "operator.read",
  params: z.strictObject({ keys: z.array(nes).min(1), limit: positive.optional(), maxChars: z.number().int().min(20).optional() }),
  async handle(params, ctx: GatewayContext) {
    const limit = Math.min(50, params.limit ?? 12);
    const maxChars = Math.min(2000, params.maxChars ?? 240);
    const previews = await Promise.all(
      params.keys.slice(0, 64).map(async (raw) => {
        const key = ctx.sessions.canonicalKey(raw);
        try {
          const entry = await ctx.sessions.get(key);
          if (!entry) return { key: raw, status: "missing", items: [] };
          const entries = await readRecentMessages(ctx.sessions.transcriptPath(key, entry), { limit, maxBytes: 512 * 1024 });
          const items = entries.filter(isTranscriptMessage).map((item) => ({ role: previewRole(item.message.role), text: plainText(item).slice(0, maxChars) })).filter((item) => item.text !== "");
          return { key: raw, status: items.length > 0 ? "ok" : "empty", items };
        } catch (err) {
          ctx.log.warn("session preview failed", { key, err });
          return { key: raw, status: "error", items: [] };
        }
      }),
    );
    return { ts: ctx.clock.now(), previews };
  },
});

const previewRole = (role: string): string => (role === "user" || role === "assistant" || role === "system" ? role : role === "toolResult" ? "tool" : "other");

const resolve = defineMethod({
  name: "sessions.resolve",
  scope: "operator.read",
  params: z.strictObject({
    key: z.string().optional(), sessionId: z.string().optional(), label: z.string().optional(), agentId: z.string().optional(), spawnedBy: z.string().optional(),
    includeGlobal: z.boolean().optional(), includeUnknown: z.boolean().optional(),
  }),
  async handle({ key, sessionId, label, agentId, spawnedBy }, ctx: GatewayContext) {
    const given = [key, sessionId, label].filter((value) => value !== undefined && value !== "");
    if (given.length === 0) throw invalidRequest("Either key, sessionId, or label is required");
    if (given.length > 1) throw invalidRequest("Provide either key, sessionId, or label (not multiple)");
    if (key) {
      const canonical = ctx.sessions.canonicalKey(key);
      if (!(await ctx.sessions.get(canonical))) throw invalidRequest(`No session found: ${key}`);
      return { ok: true, key: canonical };
    }
    const hits = (await ctx.sessions.all(agentId)).filter(
      ({ entry }) => (spawnedBy === undefined || entry.spawnedBy === spawnedBy) && (sessionId ? entry.sessionId === sessionId : entry.label === label),
    );
    if (hits.length === 0) throw invalidRequest(sessionId ? `No session found: ${sessionId}` : `No session found with label: ${label}`);
    if (hits.length > 1) throw invalidRequest(`Multiple sessions found ${sessionId ? `for sessionId: ${sessionId}` : `with label: ${label}`} (${hits.map((hit) => hit.key).join(", ")})`);
    return { ok: true, key: hits[0]?.key };
  },
});

const LEVELS: Readonly<Record<string, readonly string[]>> = {
  thinkingLevel: ["off", "minimal", "low", "medium", "high", "xhigh"], verboseLevel: ["off", "on", "full"], reasoningLevel: ["off", "on", "stream"],
  responseUsage: ["off", "tokens", "full", "on"], elevatedLevel: ["off", "on", "ask", "full"], execHost: ["sandbox", "gateway", "node"],
  execSecurity: ["deny", "allowlist", "full"], execAsk: ["off", "on-miss", "always"], sendPolicy: ["allow", "deny"], groupActivation: ["mention", "always"],
};

const nullable = z.string().nullable().optional();

const patch = defineMethod({
  name: "sessions.patch",
  scope: "operator.admin",
  params: z.strictObject({
    key: nes, label: nullable, thinkingLevel: nullable, verboseLevel: nullable, reasoningLevel: nullable, responseUsage: nullable, elevatedLevel: nullable,
    execHost: nullable, execSecurity: nullable, execAsk: nullable, execNode: nullable, model: nullable, spawnedBy: nullable, spawnDepth: z.number().int().nullable().optional(),
    sendPolicy: nullable, groupActivation: nullable,
  }),
  async handle({ key: raw, model, ...fields }, ctx: GatewayContext, call) {
    refuseWebchat(call, "patch");
    const key = usableSessionKey(ctx, raw, invalidRequest);
    const agentId = ctx.sessions.agentIdOf(key);
    const { entry } = await ctx.sessions.ensure(key);
    const change: Record<string, unknown> = {};
    for (const [field, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      const allowed = LEVELS[field];
      if (allowed && value !== null && !allowed.includes(String(value))) throw invalidRequest(`invalid ${field} (use ${allowed.join("|")})`);
      change[field] = value;
    }
    await checkLabel(ctx, key, change);
    for (const field of ["spawnedBy", "spawnDepth"] as const) {
      if (change[field] === undefined) continue;
      if (subagentDepth(key) === 0) throw invalidRequest(`${field} is only supported for subagent sessions`);
      if (entry[field] !== undefined && entry[field] !== change[field]) throw invalidRequest(`${field} cannot be changed once set`);
    }
    if (model !== undefined) Object.assign(change, await modelPatch(ctx, agentId, model));
    const next = await ctx.sessions.update(key, change as SessionPatch);
    const choice = next.modelOverride && next.providerOverride ? { provider: next.providerOverride, modelId: next.modelOverride } : (await ctx.agents.models.selectDefault(agentId)).ref;
    return { ok: true, path: ctx.sessions.storeFor(agentId).path, key, entry: next, resolved: { modelProvider: choice.provider, model: choice.modelId } };
  },
});

async function checkLabel(ctx: GatewayContext, key: string, change: Record<string, unknown>): Promise<void> {
  const { label } = change;
  if (typeof label !== "string") return;
  const trimmed = label.trim();
  if (trimmed === "" || trimmed.length > 64) throw invalidRequest("label must have 1 to 64 characters");
  change["label"] = trimmed;
  const taken = (await ctx.sessions.all()).some((row) => row.key !== key && row.entry.label === trimmed);
  if (taken) throw invalidRequest(`label already in use: ${trimmed}`);
}

/** null or the default model clears the override. @throws GatewayError for unknown or forbidden models */
export async function modelPatch(ctx: Pick<GatewayContext, "agents">, agentId: string, model: string | null): Promise<SessionPatch> {
  if (model === null || model.trim().toLowerCase() === "default") return { providerOverride: null, modelOverride: null, authProfileOverride: null, authProfileOverrideSource: null };
  const parsed = await ctx.agents.models.parseRef(model, agentId);
  if (!parsed.ok) throw invalidRequest(`${parsed.error}${parsed.suggestions.length > 0 ? ` Did you mean ${parsed.suggestions.join(", ")}?` : ""}`);
  if (!(await ctx.agents.models.isAllowed(parsed.ref, agentId))) throw invalidRequest(`model not allowed: ${parsed.ref.provider}/${parsed.ref.modelId}`);
  return {
    providerOverride: parsed.ref.provider, modelOverride: parsed.ref.modelId,
    ...(parsed.profileId ? { authProfileOverride: parsed.profileId, authProfileOverrideSource: "user" as const } : { authProfileOverride: null, authProfileOverrideSource: null }),
  };
}

function refuseWebchat(call: MethodCall, what: "patch" | "delete"): void {
  if (isWebchatClient(call.caller.client)) throw invalidRequest(`webchat clients cannot ${what} sessions; use chat.send for session-scoped updates`);
}

const reset = defineMethod({
  name: "sessions.reset",
  scope: "operator.admin",
  params: z.strictObject({ key: nes, reason: z.enum(["new", "reset"]).optional() }),
  async handle({ key: raw, reason }, ctx: GatewayContext) {
    const key = usableSessionKey(ctx, raw, invalidRequest);
    await settleSession(ctx, key);
    const { entry } = await ctx.sessions.reset(key, { reason });
    ctx.log.info("session reset", { sessionKey: key, sessionId: entry.sessionId });
    return { ok: true, key, entry };
  },
});

const remove = defineMethod({
  name: "sessions.delete",
  scope: "operator.admin",
  params: z.strictObject({ key: nes, deleteTranscript: z.boolean().optional(), emitLifecycleHooks: z.boolean().optional() }),
  async handle({ key: raw, deleteTranscript = true }, ctx: GatewayContext, call) {
    refuseWebchat(call, "delete");
    const key = ctx.sessions.canonicalKey(raw);
    if (key === mainSessionKey(ctx.sessions.agentIdOf(key)) || key === "global") throw invalidRequest(`Cannot delete the main session (${key}).`);
    await settleSession(ctx, key);
    const { deleted, archived } = await ctx.sessions.remove(key, { deleteTranscript });
    return { ok: true, key, deleted, archived };
  },
});

const compact = defineMethod({
  name: "sessions.compact",
  scope: "operator.admin",
  params: z.strictObject({ key: nes, maxLines: positive.optional() }),
  async handle({ key: raw, maxLines = 400 }, ctx: GatewayContext) {
    const key = ctx.sessions.canonicalKey(raw);
    const entry = await ctx.sessions.get(key);
    if (!entry) return { ok: true, key, compacted: false, reason: "no sessionId" };
    if (ctx.conversation.isBusy(key)) await ctx.agents.runs.waitIdle(key, 15_000);
    const path = ctx.sessions.transcriptPath(key, entry);
    const { header, entries } = await loadTranscript(path);
    if (!header) return { ok: true, key, compacted: false, reason: "no transcript" };
    if (entries.length <= maxLines) return { ok: true, key, compacted: false, kept: entries.length };
    const archived = `${path}.bak.${archiveStamp(ctx.clock.now())}`;
    await copyFile(path, archived);
    const kept = entries.slice(-maxLines);
    const known = new Set(kept.map((item) => item.id));
    let previous: string | null = null;
    const relinked = kept.map((item) => {
      const parentId: string | null = item.parentId !== null && known.has(item.parentId) ? item.parentId : previous;
      previous = item.id;
      return { ...item, parentId };
    });
    await writeFileAtomic(path, [header, ...relinked].map((line) => `${JSON.stringify(line)}\n`));
    ctx.agents.forgetSession(entry.sessionId, path);
    await ctx.sessions.update(key, { totalTokensFresh: false });
    return { ok: true, key, compacted: true, kept: kept.length, archived };
  },
});

export const sessionMethods: readonly GatewayMethod<GatewayContext>[] = [list, preview, resolve, patch, reset, remove, compact];
