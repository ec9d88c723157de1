import { listAgentIds } from "../../routing/index.ts";
import type { GatewayContext } from "../context.ts";
import { SURFACE_ORDER, type HttpSurface } from "./front-door.ts";
import { sendJson } from "./respond.ts";

/** GET /v1/models: the agents as models (spec decisions §2.6). */
export function createModelsSurface(ctx: GatewayContext): HttpSurface {
  return {
    name: "models", order: SURFACE_ORDER.chatCompletions, auth: "bearer", methods: ["GET", "HEAD"],
    matches(path) {
      const endpoints = ctx.config().gateway?.http?.endpoints;
      return path === "/v1/models" && (endpoints?.chatCompletions?.enabled === true || endpoints?.responses?.enabled === true);
    },
    handle({ res }) {
      const created = Math.floor(ctx.startedAt / 1000);
      const ids = ["openclaw", ...listAgentIds(ctx.config()).map((id) => `openclaw:${id}`)];
      sendJson(res, 200, { object: "list", data: ids.map((id) => ({ id, object: "model", created, owned_by: "openclaw" })) });
      return Promise.resolve();
    },
  };
}
