import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { z } from "zod";
import type { AgentEvent } from "../../agents/index.ts";
import type { GatewayContext } from "../context.ts";
import { HttpError, readJsonBody } from "./body.ts";
import { SURFACE_ORDER, type HttpSurface, type SurfaceRequest } from "./front-door.ts";
import { sendJson } from "./respond.ts";
import { answerText, isHttpOwner, resolveHttpTarget, streamedDelta } from "./v1-common.ts";

const MAX_BODY_BYTES = 1024 * 1024;

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(part), z.null()]).optional(), name: z.string().optional() });
const body = z.looseObject({ model: z.string().optional(), messages: z.array(message).optional(), stream: z.boolean().optional(), user: z.string().optional() });

type ChatMessage = z.infer<typeof message>;

export type AgentEvents = (listener: (event: AgentEvent) => void) => () => void;

/** POST /v1/chat/completions (spec gateway-protocol §9.2). */
export function createChatCompletionsSurface(ctx: GatewayContext, onAgentEvent: AgentEvents): HttpSurface {
  return {
    name: "chat-completions", order: SURFACE_ORDER.chatCompletions, auth: "bearer", methods: ["POST"],
    matches: (path) => path === "/v1/chat/completions" && ctx.config().gateway?.http?.endpoints?.chatCompletions?.enabled === true,
    async handle(request) {
      const parsed = body.safeParse(await readJsonBody(request.req, { maxBytes: MAX_BODY_BYTES }));
      if (!parsed.success) throw new HttpError(400, "invalid_request_error", `${parsed.error.issues[0]?.path.join(".") ?? "body"}: ${parsed.error.issues[0]?.message ?? "invalid"}`);
      await answer(ctx, onAgentEvent, request, parsed.data);
    },
  };
}

export function messageText(content: ChatMessage["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((item) => (item.type === "text" || item.type === "input_text" ? (item.text ?? "") : "")).filter(Boolean).join("\n");
}

/** The last user or tool message is the prompt; earlier ones go before it as history. */
function toPrompt(messages: readonly ChatMessage[]): { prompt: string; system: string | undefined } {
  const system = messages.filter((item) => item.role === "system" || item.role === "developer").map((item) => messageText(item.content)).filter(Boolean).join("\n\n");
  const turns = messages.filter((item) => item.role === "user" || item.role === "assistant" || item.role === "tool");
  const last = turns.findLastIndex((item) => item.role !== "assistant");
  const current = turns[last];
  const text = current ? messageText(current.content).trim() : "";
  if (text === "") throw new HttpError(400, "invalid_request_error", "Missing user message in `messages`.");
  const lines = turns.slice(0, last).map((item) => {
    const who = item.role === "assistant" ? "Assistant" : item.role === "tool" ? `Tool${item.name ? `:${item.name}` : ""}` : "User";
    return `${who}: ${messageText(item.content)}`;
  });
  return { prompt: lines.length > 0 ? `[Earlier messages of this conversation]\n${lines.join("\n")}\n\n[Current message]\n${text}` : text, system: system || undefined };
}

async function answer(ctx: GatewayContext, onAgentEvent: AgentEvents, { req, res, auth }: SurfaceRequest, input: z.infer<typeof body>): Promise<void> {
  const model = input.model ?? "openclaw";
  const { prompt, system } = toPrompt(input.messages ?? []);
  const { sessionKey } = resolveHttpTarget(ctx, req, model, input.user, "openai");
  const runId = `chatcmpl_${randomUUID()}`;
  const created = Math.floor(ctx.clock.now() / 1000);
  const chunk = (delta: object, finish: string | null | undefined): void => {
    writeEvent(res, { id: runId, object: "chat.completion.chunk", created, model, choices: [{ index: 0, delta, ...(finish === undefined ? {} : { finish_reason: finish }) }] });
  };
  let streamed = false;
  let off = (): void => undefined;
  if (input.stream) {
    startEventStream(res);
    chunk({ role: "assistant" }, undefined);
    off = onAgentEvent((event) => {
      const delta = streamedDelta(event, runId, streamed);
      if (delta === undefined) return;
      streamed = true;
      chunk({ content: delta }, null);
    });
  }
  try {
    const { result } = await ctx.conversation.runAgent({ runId, sessionKey, message: prompt, isOwner: isHttpOwner(auth), extraSystemPrompt: system });
    const text = answerText(result.payloads);
    const { usage } = result.meta.agentMeta;
    const counts = { prompt_tokens: usage.input + usage.cacheRead + usage.cacheWrite, completion_tokens: usage.output, total_tokens: usage.total };
    if (!input.stream) {
      sendJson(res, 200, {
        id: runId, object: "chat.completion", created, model, choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }], usage: counts,
        ...(result.meta.error ? { openclaw: { error: result.meta.error } } : {}),
      });
      return;
    }
    if (!streamed || result.meta.error) chunk({ content: text }, null);
    chunk({}, "stop");
    endEventStream(res);
  } catch (err) {
    ctx.log.error("chat completion failed", { err });
    if (!input.stream) throw new HttpError(500, "api_error", "internal error");
    writeEvent(res, { error: { message: "internal error", type: "api_error" } });
    endEventStream(res);
  } finally {
    off();
  }
}

export function startEventStream(res: ServerResponse): void {
  res.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache", Connection: "keep-alive" });
  res.flushHeaders();
}

/** A client that left is not written to; the run goes on. */
export function writeEvent(res: ServerResponse, data: unknown, event?: string): void {
  if (res.writableEnded || res.destroyed) return;
  res.write(`${event ? `event: ${event}\n` : ""}data: ${JSON.stringify(data)}\n\n`);
}

export function endEventStream(res: ServerResponse): void {
  if (res.writableEnded || res.destroyed) return;
  res.end("data: [DONE]\n\n");
}
