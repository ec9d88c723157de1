import { randomUUID } from "node:crypto";
import { z } from "zod";
import { toOutboundMedia } from "../../auto-reply/index.ts";
import type { OutboundMedia } from "../../channels/contract/index.ts";
import { resolveDefaultAgentId } from "../../routing/index.ts";
import type { GatewayContext } from "../context.ts";
import { fetchMedia } from "../media-fetch.ts";
import { approvePairing } from "../owner.ts";
import { defineMethod, GatewayError, invalidRequest, unavailable, type GatewayMethod } from "../protocol/index.ts";
import { empty, nes } from "./schemas.ts";

const status = defineMethod({
  name: "channels.status",
  scope: "operator.read",
  params: z.strictObject({ probe: z.boolean().optional(), timeoutMs: z.number().int().min(0).optional() }),
  handle: async ({ probe, timeoutMs }, ctx: GatewayContext) => ({ ...(await ctx.channels.status({ probe, timeoutMs })), channelIssues: ctx.channels.issues() }),
});

const logout = defineMethod({
  name: "channels.logout",
  scope: "operator.admin",
  params: z.strictObject({ channel: nes, accountId: z.string().optional() }),
  async handle({ channel, accountId }, ctx: GatewayContext) {
    const plugin = ctx.channels.find(channel);
    if (!plugin?.gateway?.logoutAccount) throw invalidRequest("invalid channels.logout channel");
    const result = await ctx.channels.logout(plugin.id, accountId);
    return { channel: plugin.id, accountId: accountId ?? plugin.config.defaultAccountId(ctx.config()), cleared: result?.cleared ?? false, ...result };
  },
});

const pairingList = defineMethod({
  name: "channels.pairing.list",
  scope: "operator.pairing",
  params: empty,
  advertised: true,
  handle(_params, ctx: GatewayContext) {
    const requests = ctx.channels.plugins.flatMap((plugin) =>
      ctx.pairing.list(plugin.id).map((request) => ({ channel: plugin.id, accountId: request.meta?.["accountId"] ?? "default", ...request })),
    );
    return { requests };
  },
});

const pairingApprove = defineMethod({
  name: "channels.pairing.approve",
  scope: "operator.pairing",
  params: z.strictObject({ channel: nes, code: nes, accountId: z.string().optional(), owner: z.boolean().optional(), notify: z.boolean().optional() }),
  advertised: true,
  handle: (params, ctx: GatewayContext) => approvePairing(ctx, params),
});

const pairingReject = defineMethod({
  name: "channels.pairing.reject",
  scope: "operator.pairing",
  params: z.strictObject({ channel: nes, code: nes, accountId: z.string().optional() }),
  advertised: true,
  async handle({ channel, code, accountId }, ctx: GatewayContext) {
    const rejected = await ctx.pairing.reject(channel, code, accountId);
    if (!rejected) throw invalidRequest(`No pending pairing request with code ${code} on ${channel}.`);
    return { ok: true, channel };
  },
});

const send = defineMethod({
  name: "send",
  scope: "operator.write",
  params: z.strictObject({
    to: nes, message: z.string().optional(), mediaUrl: z.string().optional(), mediaUrls: z.array(z.string()).optional(), gifPlayback: z.boolean().optional(),
    channel: z.string().optional(), accountId: z.string().optional(), agentId: z.string().optional(), threadId: z.string().optional(),
    sessionKey: z.string().optional(), idempotencyKey: nes,
  }),
  handle(params, ctx: GatewayContext) {
    return ctx.idempotency.once(`send:${params.idempotencyKey}`, async () => {
      const mediaUrls = [...(params.mediaUrl ? [params.mediaUrl] : []), ...(params.mediaUrls ?? [])];
      const text = params.message?.trim() ?? "";
      if (text === "" && mediaUrls.length === 0) throw invalidRequest("invalid send params: text or media is required");
      const plugin = resolveChannel(ctx, params.channel);
      const accountId = params.accountId ?? plugin.config.defaultAccountId(ctx.config());
      const target = plugin.outbound?.resolveTarget?.(ctx.config(), params.to, accountId) ?? { ok: true as const, to: params.to };
      if (!target.ok) throw invalidRequest(target.error);
      const agentId = params.agentId ?? resolveDefaultAgentId(ctx.config());
      const media: OutboundMedia[] = [];
      for (const source of mediaUrls) {
        const resolved = await toOutboundMedia({ stateDir: ctx.paths.stateDir, fetchUrl: (url, maxBytes) => fetchMedia(ctx.fetch, url, maxBytes) }, { workspaceDir: ctx.agents.agent(agentId).workspaceDir }, source, false);
        if ("error" in resolved) throw invalidRequest(`invalid send params: ${source}: ${resolved.error}`);
        media.push(resolved);
      }
      const result = await ctx.outbox.deliver({
        id: `send:${params.idempotencyKey}`, channel: plugin.id,
        message: { accountId, to: target.to, threadId: params.threadId ?? ("threadId" in target ? target.threadId : undefined), text, ...(media.length > 0 ? { media } : {}) },
      });
      if (result.kind === "failed") throw unavailable(result.reason);
      if (params.sessionKey) await mirror(ctx, ctx.sessions.canonicalKey(params.sessionKey), text, media);
      return { runId: params.idempotencyKey, messageId: result.messageIds.at(-1) ?? randomUUID(), channel: plugin.id, chatId: result.chatId ?? target.to };
    });
  },
});

function resolveChannel(ctx: GatewayContext, wanted: string | undefined): GatewayContext["channels"]["plugins"][number] {
  if (wanted === "webchat") throw invalidRequest("unsupported channel: webchat (internal-only; use chat.inject)");
  if (wanted !== undefined) {
    const plugin = ctx.channels.find(wanted);
    if (!plugin?.outbound) throw invalidRequest(`unsupported channel: ${wanted}`);
    return plugin;
  }
  const configured = ctx.channels.configured();
  const [only] = configured;
  if (!only) throw new GatewayError("INVALID_REQUEST", "Error: Channel is required (no configured channels detected).");
  if (configured.length > 1) throw invalidRequest(`Channel is required (configured: ${configured.map((plugin) => plugin.id).join(", ")}).`);
  return only;
}

async function mirror(ctx: GatewayContext, sessionKey: string, text: string, media: readonly OutboundMedia[]): Promise<void> {
  const body = [text, media.map((item) => item.fileName).join(", ")].filter(Boolean).join("\n");
  await ctx.sessions.appendMessage(sessionKey, {
    role: "assistant", content: [{ type: "text", text: body }], api: "openclaw", provider: "openclaw", model: "delivery-mirror", stopReason: "stop", timestamp: ctx.clock.now(),
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  });
}

export const channelMethods: readonly GatewayMethod<GatewayContext>[] = [status, logout, pairingList, pairingApprove, pairingReject, send];
