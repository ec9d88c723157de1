import { addOwner, hasOwner } from "../pairing/index.ts";
import type { GatewayContext } from "./context.ts";
import { invalidRequest } from "./protocol/index.ts";

export interface ApproveParams {
  readonly channel: string;
  readonly code: string;
  readonly accountId?: string | undefined;
  /** false declines ownership, true grants it even when there is an owner. */
  readonly owner?: boolean | undefined;
  readonly notify?: boolean | undefined;
}

/**
 * Admits a sender. On an install without an owner the first one becomes it, and the answer says so.
 * Source: spec decisions §7.1.
 */
export async function approvePairing(ctx: GatewayContext, params: ApproveParams): Promise<{ ok: true; channel: string; id: string; becameOwner: boolean; notice: string }> {
  const plugin = ctx.channels.find(params.channel);
  const approved = await ctx.pairing.approve(plugin?.id ?? params.channel, params.code.trim().toUpperCase(), params.accountId);
  if (!approved) throw invalidRequest(`No pending pairing request with code ${params.code} on ${params.channel}. Codes expire after 60 minutes.`);
  const channel = plugin?.id ?? params.channel;
  const grants = params.owner ?? !hasOwner(ctx.config());
  if (grants) await addOwner(ctx.source.writer, ctx.config(), `${channel}:${approved.senderId}`);
  if (grants) await ctx.source.reload();
  if (params.notify !== false && plugin?.outbound) {
    void ctx.outbox
      .deliver({ id: `paired:${channel}:${params.code}`, channel, message: { accountId: approved.accountId, to: `${channel}:${approved.senderId}`, text: "✅ Access approved. You can chat now." } })
      .catch((err: unknown) => ctx.log.warn("approval not announced", { err }));
  }
  const notice = grants
    ? `${approved.senderId} on ${channel} may now chat and is the OWNER of this installation: commands, files and settings are open to them.`
    : `${approved.senderId} on ${channel} may now chat. They are not an owner.`;
  ctx.log.info("sender approved", { channel, senderId: approved.senderId, owner: grants });
  return { ok: true, channel, id: approved.senderId, becameOwner: grants, notice };
}
