import { randomUUID } from "node:crypto";
import { isKnownAgentId, resolveDefaultAgentId } from "../../routing/index.ts";
import type { AgentEvent, ReplyPayload } from "../../agents/index.ts";
import type { AuthResult } from "../../security/index.ts";
import { httpAuthority } from "../auth/index.ts";
import type { GatewayContext } from "../context.ts";
import { firstHeader } from "../../security/index.ts";
import type { IncomingMessage } from "node:http";
import { usableSessionKey } from "../session-key.ts";
import { HttpError } from "./body.ts";

/** Agent and session of an OpenAI-style request. @throws HttpError 400 for an agent that does not exist */
export function resolveHttpTarget(ctx: GatewayContext, req: IncomingMessage, model: string, user: string | undefined, prefix: string): { agentId: string; sessionKey: string } {
  const cfg = ctx.config();
  const header = firstHeader(req.headers, "x-openclaw-agent-id") ?? firstHeader(req.headers, "x-openclaw-agent");
  const named = header ?? /^(?:openclaw[:/]|agent:)([^:/\s]+)$/i.exec(model)?.[1];
  const agentId = named ?? resolveDefaultAgentId(cfg);
  if (!isKnownAgentId(cfg, agentId)) throw new HttpError(400, "invalid_request_error", `Unknown agent "${agentId}". GET /v1/models lists the agents of this gateway.`);
  const wanted = firstHeader(req.headers, "x-openclaw-session-key");
  if (wanted) return { agentId, sessionKey: usableSessionKey(ctx, wanted, (reason) => new HttpError(400, "invalid_request_error", `${reason} in x-openclaw-session-key`)) };
  const id = agentId.toLowerCase();
  return { agentId: id, sessionKey: user ? `agent:${id}:${prefix}-user:${user.toLowerCase()}` : `agent:${id}:${prefix}:${randomUUID()}` };
}

export function isHttpOwner(auth: Extract<AuthResult, { ok: true }> | undefined): boolean {
  return auth !== undefined && httpAuthority(auth).isOwner;
}

const NO_RESPONSE = "No response from OpenClaw.";

/** The whole answer in one text; thoughts are no part of it. */
export function answerText(payloads: readonly ReplyPayload[]): string {
  return payloads.filter((payload) => !payload.isReasoning).map((payload) => payload.text ?? "").filter(Boolean).join("\n\n") || NO_RESPONSE;
}

/** What an event of the run adds to the streamed answer; undefined when nothing. A further message of the model begins a paragraph. */
export function streamedDelta({ stream, data, runId }: AgentEvent, ofRun: string, isBegun: boolean): string | undefined {
  const { delta, text } = data;
  if (runId !== ofRun || stream !== "assistant" || typeof delta !== "string" || delta === "") return undefined;
  return isBegun && text === delta ? `\n\n${delta}` : delta;
}
