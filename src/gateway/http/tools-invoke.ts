import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { AgentTool } from "../../agents/index.ts";
import type { GatewayContext } from "../context.ts";
import { usableSessionKey } from "../session-key.ts";
import { HttpError, readJsonBody } from "./body.ts";
import { SURFACE_ORDER, type HttpSurface } from "./front-door.ts";
import { sendJson } from "./respond.ts";
import { isHttpOwner } from "./v1-common.ts";

const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** Not of the gateway itself, but of a run in a workspace. */
const RUN_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit", "apply_patch", "exec", "process"]);
/** Refused here unless `gateway.tools.allow` names them. */
const DENIED: ReadonlySet<string> = new Set(["sessions_spawn", "sessions_send", "cron", "gateway", "whatsapp_login"]);

const body = z.looseObject({ tool: z.string().optional(), action: z.string().optional(), args: z.record(z.string(), z.unknown()).optional(), sessionKey: z.string().optional() });

/** POST /tools/invoke: one tool, behind the same policy as in a run. Source: spec tools-and-automation §1.1. */
export function createToolsInvokeSurface(ctx: GatewayContext): HttpSurface {
  return {
    name: "tools-invoke", order: SURFACE_ORDER.toolsInvoke, auth: "bearer", methods: ["POST"],
    matches: (path) => path === "/tools/invoke",
    async handle({ req, res, auth }) {
      const parsed = body.safeParse(await readJsonBody(req, { maxBytes: MAX_BODY_BYTES }));
      const name = parsed.success ? parsed.data.tool?.trim() : undefined;
      if (!parsed.success || !name) throw new HttpError(400, "invalid_request_error", "tools.invoke requires body.tool");
      const { action, args = {}, sessionKey = "main" } = parsed.data;
      const tool = await findTool(ctx, name, usableSessionKey(ctx, sessionKey, (reason) => new HttpError(400, "invalid_request_error", reason)), req, isHttpOwner(auth));
      if (!tool) return void sendJson(res, 404, { ok: false, error: { type: "not_found", message: `Tool not available: ${name}` } });
      const stop = new AbortController();
      res.once("close", () => stop.abort());
      const input = action === undefined ? args : { ...args, action };
      try {
        const result = await tool.execute(tool.prepare?.(input) ?? input, { toolCallId: `http_${randomUUID()}`, signal: stop.signal, onUpdate: () => undefined });
        if (result.isError) return void sendJson(res, 400, { ok: false, error: { type: "tool_error", message: result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n") } });
        sendJson(res, 200, { ok: true, result: { content: result.content, ...(result.details === undefined ? {} : { details: result.details }) } });
      } catch (err) {
        const isInput = err instanceof Error && /^(?:Missing required parameter|.+ must |Invalid |Give |There is no |.+ is required)/.test(err.message);
        if (isInput) return void sendJson(res, /owner/i.test(err.message) ? 403 : 400, { ok: false, error: { type: "tool_error", message: err.message } });
        ctx.log.warn("a tool called over HTTP failed", { tool: name, err });
        sendJson(res, 500, { ok: false, error: { type: "tool_error", message: "tool execution failed" } });
      }
    },
  };
}

const header = (req: IncomingMessage, name: string): string | undefined => {
  const value = req.headers[name];
  const text = Array.isArray(value) ? value[0] : value;
  return text?.trim() ? text.trim() : undefined;
};

async function findTool(ctx: GatewayContext, name: string, sessionKey: string, req: IncomingMessage, isOwner: boolean): Promise<AgentTool | undefined> {
  const lists = ctx.config().gateway?.tools;
  const allowed = (lists?.allow ?? []).includes(name);
  if (RUN_TOOLS.has(name) || (lists?.deny ?? []).includes(name) || (DENIED.has(name) && !allowed)) return undefined;
  const agentId = ctx.sessions.agentIdOf(sessionKey);
  const entry = await ctx.sessions.get(sessionKey);
  const channel = header(req, "x-openclaw-message-channel");
  const { offered } = ctx.agents.tools({
    runId: `http_${randomUUID()}`, agentId, sessionKey, sessionId: entry?.sessionId ?? "http", sessionFile: "", model: (await ctx.agents.models.selectDefault(agentId)).ref, fallbacks: [], thinking: "off", reasoning: "off",
    verbose: "off", timeoutMs: 0, lane: "main", isOwner, ownerIds: [],
    channel: channel === undefined ? undefined : {
      channel, chatType: "direct", accountId: header(req, "x-openclaw-account-id"), to: header(req, "x-openclaw-message-to"), threadId: header(req, "x-openclaw-thread-id"), messageId: undefined, capabilities: [],
    },
  });
  return offered.find((tool) => tool.name === name);
}
