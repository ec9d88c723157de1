import { isKnownAgentId } from "../routing/index.ts";
import type { GatewayContext } from "./context.ts";

/**
 * The full key of a conversation that is to be begun or gone on with; a key never brings an agent into being.
 * @throws whatever `refuse` makes of the reason, for an agent that does not exist
 */
export function usableSessionKey(ctx: Pick<GatewayContext, "sessions" | "config">, raw: string, refuse: (reason: string) => Error): string {
  const key = ctx.sessions.canonicalKey(raw);
  const agentId = ctx.sessions.agentIdOf(key);
  if (!isKnownAgentId(ctx.config(), agentId)) throw refuse(`unknown agent id "${agentId}"`);
  return key;
}
