import { randomUUID } from "node:crypto";
import type { GatewayActions } from "../agents/index.ts";
import type { GatewayContext } from "./context.ts";
import type { MethodRouter } from "./protocol/index.ts";

/** What the agent's gateway tool may ask: the same methods as any client, in the name of the owner who asked the agent. */
export function createGatewayActions(deps: { readonly router: () => MethodRouter; readonly context: () => GatewayContext }): GatewayActions {
  return {
    config(method, params) {
      const { version } = deps.context();
      return deps.router().call(`config.${method}`, params, {
        requestId: randomUUID(), signal: new AbortController().signal, respond: () => undefined, afterResponse: (effect) => void setImmediate(effect),
        caller: {
          role: "operator", scopes: ["operator.admin"], isOwner: true, connId: "agent", caps: [],
          client: { id: "gateway-client", version, platform: process.platform, mode: "backend" },
        },
      });
    },
    async restart({ reason, delayMs, sessionKey, note }) {
      const ctx = deps.context();
      const entry = await ctx.sessions.get(sessionKey);
      return ctx.restart.schedule({ kind: "restart", reason, delayMs, sessionKey, note, deliveryContext: entry?.deliveryContext });
    },
    mayRestart: () => deps.context().config().commands?.restart !== false,
  };
}
