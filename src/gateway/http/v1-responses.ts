import { randomUUID } from "node:crypto";
import { z } from "zod";
import { saveMedia, sniffImageType } from "../../media/index.ts";
import type { GatewayContext } from "../context.ts";
import { fetchMedia } from "../media-fetch.ts";
import { HttpError, readJsonBody } from "./body.ts";
import { SURFACE_ORDER, type HttpSurface, type SurfaceRequest } from "./front-door.ts";
import { sendJson } from "./respond.ts";
import { endEventStream, startEventStream, writeEvent, type AgentEvents } from "./v1-chat.ts";
import { answerText, isHttpOwner, resolveHttpTarget, streamedDelta } from "./v1-common.ts";

const DEFAULT_MAX_BODY_BYTES = 20 * 1024 * 1024;
const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_FILE_CHARS = 200_000;
const MAX_URL_PARTS = 8;
const TEXT_TYPES = new Set(["text/plain", "text/markdown", "text/html", "text/csv", "application/json"]);

const source = z.union([
  z.strictObject({ type: z.literal("url"), url: z.string().min(1) }),
  z.strictObject({ type: z.literal("base64"), media_type: z.string().min(1), data: z.string().min(1), filename: z.string().optional() }),
]);
const part = z.union([
  z.strictObject({ type: z.enum(["input_text", "output_text"]), text: z.string() }),
  z.strictObject({ type: z.literal("input_image"), source }),
  z.strictObject({ type: z.literal("input_file"), source, filename: z.string().optional() }),
]);
const item = z.union([
  z.strictObject({ type: z.literal("message"), id: z.string().optional(), status: z.string().optional(), role: z.enum(["user", "assistant", "system", "developer"]), content: z.union([z.string(), z.array(part)]) }),
  z.strictObject({ type: z.literal("function_call"), id: z.string().optional(), status: z.string().optional(), call_id: z.string().optional(), name: z.string(), arguments: z.string() }),
  z.strictObject({ type: z.literal("function_call_output"), id: z.string().optional(), call_id: z.string(), output: z.string() }),
  z.looseObject({ type: z.literal("reasoning") }),
  z.looseObject({ type: z.literal("item_reference") }),
]);
const ignored = z.unknown().optional();
const body = z.strictObject({
  model: z.string(), input: z.union([z.string(), z.array(item)]), instructions: z.string().optional(), stream: z.boolean().optional(), user: z.string().optional(),
  max_output_tokens: z.number().int().positive().optional(), tools: z.array(z.looseObject({ type: z.literal("function") })).optional(), tool_choice: ignored,
  max_tool_calls: ignored, temperature: ignored, top_p: ignored, metadata: ignored, store: ignored, previous_response_id: ignored, reasoning: ignored, truncation: ignored,
});
type Body = z.infer<typeof body>;
type Part = z.infer<typeof part>;

/** POST /v1/responses (spec gateway-protocol §9.3). Functions of the client are not offered to the agent: they are refused by name. */
export function createResponsesSurface(ctx: GatewayContext, onAgentEvent: AgentEvents): HttpSurface {
  return {
    name: "responses", order: SURFACE_ORDER.responses, auth: "bearer", methods: ["POST"],
    matches: (path) => path === "/v1/responses" && ctx.config().gateway?.http?.endpoints?.responses?.enabled === true,
    async handle(request) {
      const maxBytes = ctx.config().gateway?.http?.endpoints?.responses?.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
      const parsed = body.safeParse(await readJsonBody(request.req, { maxBytes }));
      if (!parsed.success) throw badRequest(firstIssue(parsed.error));
      if ((parsed.data.tools?.length ?? 0) > 0) throw badRequest("tools: functions of the client are not supported by this gateway; leave them out");
      await answer(ctx, onAgentEvent, request, parsed.data);
    },
  };
}

const badRequest = (message: string): HttpError => new HttpError(400, "invalid_request_error", message);

function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.join(".") || "body"}: ${issue?.message ?? "invalid"}`;
}

interface Prompt {
  readonly text: string;
  readonly system: string | undefined;
  readonly images: readonly { readonly path: string; readonly mimeType: string }[];
}

async function toPrompt(ctx: GatewayContext, input: Body): Promise<Prompt> {
  if (typeof input.input === "string") {
    if (input.input.trim() === "") throw badRequest("input: Missing user message in `input`.");
    return { text: input.input, system: input.instructions, images: [] };
  }
  const system = [input.instructions ?? ""];
  const turns: { who: string; text: string }[] = [];
  const images: { path: string; mimeType: string }[] = [];
  let urls = 0;
  for (const entry of input.input) {
    if (entry.type === "function_call_output") turns.push({ who: `Tool:${entry.call_id}`, text: entry.output });
    if (entry.type !== "message") continue;
    const parts: Part[] = typeof entry.content === "string" ? [{ type: "input_text", text: entry.content }] : entry.content;
    const texts: string[] = [];
    for (const piece of parts) {
      if ("text" in piece) {
        texts.push(piece.text);
        continue;
      }
      if (piece.source.type === "url" && ++urls > MAX_URL_PARTS) throw badRequest("invalid request: at most 8 URL parts");
      const { bytes, mimeType } = await loadSource(ctx, piece.source, piece.type === "input_image" ? MAX_IMAGE_BYTES : MAX_FILE_BYTES);
      if (piece.type === "input_image") {
        const type = sniffImageType(bytes);
        if (!type) throw badRequest("invalid request: input_image must be JPEG, PNG, GIF or WebP");
        images.push({ path: await saveMedia(ctx.paths.stateDir, "inbound", bytes, type), mimeType: type });
      } else texts.push(fileText(("filename" in piece ? piece.filename : undefined) ?? "file", bytes, mimeType));
    }
    const text = texts.join("\n");
    if (entry.role === "system" || entry.role === "developer") system.push(text);
    else turns.push({ who: entry.role === "assistant" ? "Assistant" : "User", text });
  }
  const last = turns.findLastIndex((turn) => turn.who !== "Assistant");
  const current = turns[last];
  if (!current || (current.text.trim() === "" && images.length === 0)) throw badRequest("input: Missing user message in `input`.");
  const earlier = turns.slice(0, last).map((turn) => `${turn.who}: ${turn.text}`);
  const text = earlier.length > 0 ? `[Earlier messages of this conversation]\n${earlier.join("\n")}\n\n[Current message]\n${current.text}` : current.text;
  return { text: text || "[User sent media without caption]", system: system.filter(Boolean).join("\n\n") || undefined, images };
}

async function loadSource(ctx: GatewayContext, from: z.infer<typeof source>, maxBytes: number): Promise<{ bytes: Uint8Array; mimeType: string }> {
  if (from.type === "base64") {
    const bytes = Buffer.from(from.data, "base64");
    if (bytes.length > maxBytes) throw badRequest(`invalid request: larger than ${maxBytes} bytes`);
    return { bytes, mimeType: from.media_type };
  }
  try {
    return await fetchMedia(ctx.fetch, from.url, maxBytes);
  } catch (err) {
    throw badRequest(`invalid request: ${err instanceof Error ? err.message : String(err)}`);
  }
}

function fileText(name: string, bytes: Uint8Array, mimeType: string): string {
  if (!TEXT_TYPES.has(mimeType.split(";")[0] ?? "")) throw badRequest(`invalid request: input_file ${name}: type ${mimeType} is not supported (text, Markdown, HTML, CSV, JSON)`);
  const text = Buffer.from(bytes).toString("utf8").slice(0, MAX_FILE_CHARS).replaceAll("</file>", "<\\/file>");
  return `<file name=${JSON.stringify(name)}>\n${text}\n</file>`;
}

async function answer(ctx: GatewayContext, onAgentEvent: AgentEvents, { req, res, auth }: SurfaceRequest, input: Body): Promise<void> {
  const prompt = await toPrompt(ctx, input);
  const { sessionKey } = resolveHttpTarget(ctx, req, input.model, input.user, "openresponses");
  const id = `resp_${randomUUID()}`;
  const messageId = `msg_${randomUUID()}`;
  const createdAt = Math.floor(ctx.clock.now() / 1000);
  const zero = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  const outputItem = (text: string, status: string): object => ({ type: "message", id: messageId, role: "assistant", content: text === "" && status === "in_progress" ? [] : [{ type: "output_text", text }], status });
  const response = (status: string, output: readonly object[], usage = zero, error?: object): object => ({
    id, object: "response", created_at: createdAt, status, model: input.model, output, usage, ...(error ? { error } : {}),
  });
  const emit = (type: string, data: object): void => writeEvent(res, { type, ...data }, type);
  let streamed = "";
  let off = (): void => undefined;
  if (input.stream) {
    startEventStream(res);
    emit("response.created", { response: response("in_progress", []) });
    emit("response.in_progress", { response: response("in_progress", []) });
    emit("response.output_item.added", { output_index: 0, item: outputItem("", "in_progress") });
    emit("response.content_part.added", { item_id: messageId, output_index: 0, content_index: 0, part: { type: "output_text", text: "" } });
    off = onAgentEvent((event) => {
      const delta = streamedDelta(event, id, streamed !== "");
      if (delta === undefined) return;
      streamed += delta;
      emit("response.output_text.delta", { item_id: messageId, output_index: 0, content_index: 0, delta });
    });
  }
  try {
    const { result } = await ctx.conversation.runAgent({ runId: id, sessionKey, message: prompt.text, attachments: prompt.images, isOwner: isHttpOwner(auth), extraSystemPrompt: prompt.system });
    const text = answerText(result.payloads);
    const counts = result.meta.agentMeta.usage;
    const usage = { input_tokens: counts.input + counts.cacheRead + counts.cacheWrite, output_tokens: counts.output, total_tokens: counts.total };
    const final = response("completed", [outputItem(text, "completed")], usage);
    if (!input.stream) return sendJson(res, 200, final);
    if (streamed === "") emit("response.output_text.delta", { item_id: messageId, output_index: 0, content_index: 0, delta: text });
    emit("response.output_text.done", { item_id: messageId, output_index: 0, content_index: 0, text });
    emit("response.content_part.done", { item_id: messageId, output_index: 0, content_index: 0, part: { type: "output_text", text } });
    emit("response.output_item.done", { output_index: 0, item: outputItem(text, "completed") });
    emit("response.completed", { response: final });
    endEventStream(res);
  } catch (err) {
    ctx.log.error("response failed", { err });
    const failed = response("failed", [], zero, { code: "api_error", message: "internal error" });
    if (!input.stream) return sendJson(res, 500, failed);
    emit("response.failed", { response: failed });
    endEventStream(res);
  } finally {
    off();
  }
}
