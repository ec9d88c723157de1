import { z } from "zod";
import { readRawReply } from "../../agents/index.ts";
import { isAbortRequest, stripPromptScaffolding } from "../../auto-reply/index.ts";
import { isStoredMediaPath, readStoredMedia, saveMedia, sniffImageType } from "../../media/index.ts";
import { isTranscriptMessage, readRecentMessages, resolveSendPolicy, type TranscriptEntry } from "../../sessions/index.ts";
import type { GatewayContext } from "../context.ts";
import { defineMethod, invalidRequest, unavailable, type Caller, type GatewayMethod, type MethodCall } from "../protocol/index.ts";
import { usableSessionKey } from "../session-key.ts";
import { nes } from "./schemas.ts";

const MAX_ATTACHMENT_BYTES = 5_000_000;
const MAX_TEXT_CHARS = 12_000;
const MAX_MESSAGE_BYTES = 131_072;
const MAX_HISTORY_BYTES = 6 * 1024 * 1024;

const attachment = z.looseObject({
  type: z.string().optional(), mimeType: z.string().optional(), fileName: z.string().optional(), content: z.unknown().optional(),
});
export type AttachmentInput = z.infer<typeof attachment>;
export const attachmentsSchema = z.array(attachment).optional();

export interface StoredAttachment { readonly path: string; readonly mimeType: string; readonly fileName?: string | undefined }

/** Decodes and stores images; other types are named in the log and left out. @throws GatewayError naming the attachment */
export async function storeAttachments(ctx: GatewayContext, inputs: readonly AttachmentInput[] | undefined): Promise<StoredAttachment[]> {
  const out: StoredAttachment[] = [];
  for (const [index, input] of (inputs ?? []).entries()) {
    if (typeof input.content !== "string" || input.content === "") continue;
    const label = input.fileName ?? input.type ?? `attachment-${index + 1}`;
    const base64 = input.content.replace(/^data:[^,]*;base64,/, "").replace(/\s+/g, "");
    if (base64 === "" || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw unavailable(`Error: attachment ${label}: invalid base64 content`);
    const bytes = Buffer.from(base64, "base64");
    if (bytes.length === 0) throw unavailable(`Error: attachment ${label}: invalid base64 content`);
    if (bytes.length > MAX_ATTACHMENT_BYTES) throw unavailable(`Error: attachment ${label}: exceeds size limit (${bytes.length} > ${MAX_ATTACHMENT_BYTES} bytes)`);
    const mimeType = sniffImageType(bytes);
    if (!mimeType) {
      ctx.log.warn("attachment is no image and was left out", { label });
      continue;
    }
    out.push({ path: await saveMedia(ctx.paths.stateDir, "inbound", bytes, mimeType, input.fileName), mimeType, fileName: input.fileName });
  }
  return out;
}

/** NFC, no NUL, no control characters but tab and line ends. @throws GatewayError for NUL */
export function cleanMessage(text: string): string {
  if (text.includes("\0")) throw invalidRequest("message must not contain null bytes");
  return text.normalize("NFC").replace(/[\u0001-\u0008\u000B\u000C\u000E-\u001F\u007F]/g, "");
}

const send = defineMethod({
  name: "chat.send",
  scope: "operator.write",
  params: z.strictObject({
    sessionKey: nes, message: z.string(), idempotencyKey: nes, thinking: z.string().optional(), deliver: z.boolean().optional(),
    attachments: attachmentsSchema, timeoutMs: z.number().int().min(0).optional(),
  }),
  async handle(params, ctx: GatewayContext, { caller }) {
    const sessionKey = usableSessionKey(ctx, params.sessionKey, invalidRequest);
    const text = cleanMessage(params.message);
    const attachments = await storeAttachments(ctx, params.attachments);
    if (text.trim() === "" && attachments.length === 0) throw invalidRequest("message or attachment required");
    const mayAnswer = /^\/send\b/i.test(text.trim()); // the way back out of /send off
    if (!mayAnswer && resolveSendPolicy(ctx.config(), sessionKey, await ctx.sessions.get(sessionKey)) === "deny") throw invalidRequest("send blocked by session policy");
    if (isAbortRequest(text)) {
      const { runIds } = await ctx.conversation.stop(sessionKey, "stop");
      const subagents = await ctx.subagents.killAll(sessionKey);
      return { ok: true, aborted: runIds.length > 0 || subagents > 0, runIds };
    }
    const cacheKey = `chat:${params.idempotencyKey}`;
    const ended = ctx.idempotency.get(cacheKey);
    const runId = params.idempotencyKey;
    if (ended !== undefined) {
      const snapshot = await ctx.agents.runs.wait(runId, 0);
      if (!snapshot) return { runId, status: "in_flight" };
      return snapshot.status === "error" ? { runId, status: "error", summary: snapshot.error } : { runId, status: "ok" };
    }
    try {
      ctx.conversation.sendChat({
        sessionKey, runId, text, attachments, scopes: caller.scopes, isOwner: isOwnerCaller(caller), thinking: params.thinking, timeoutMs: params.timeoutMs,
      });
    } catch (err) {
      throw unavailable(`the message could not be stored: ${err instanceof Error ? err.message : String(err)}`);
    }
    ctx.idempotency.set(cacheKey, true); // only now: what was not stored may be sent again under its key
    return { runId, status: "started" };
  },
});

export function isOwnerCaller(caller: Caller): boolean {
  return caller.scopes.includes("operator.admin");
}

const abort = defineMethod({
  name: "chat.abort",
  scope: "operator.write",
  params: z.strictObject({ sessionKey: nes, runId: nes.optional() }),
  async handle({ sessionKey: raw, runId }, ctx: GatewayContext) {
    const sessionKey = ctx.sessions.canonicalKey(raw);
    if (runId === undefined) {
      const { runIds } = await ctx.conversation.stop(sessionKey, "rpc");
      return { ok: true, aborted: runIds.length > 0, runIds };
    }
    const run = ctx.agents.runs.get(runId);
    if (run && run.sessionKey !== sessionKey) throw invalidRequest("runId does not match sessionKey");
    const runIds = ctx.conversation.abortRun(sessionKey, runId);
    return { ok: true, aborted: runIds.length > 0, runIds };
  },
});

const inject = defineMethod({
  name: "chat.inject",
  scope: "operator.admin",
  params: z.strictObject({ sessionKey: nes, message: nes, label: z.string().max(100).optional() }),
  async handle(params, ctx: GatewayContext) {
    const sessionKey = ctx.sessions.canonicalKey(params.sessionKey);
    if (!(await ctx.sessions.get(sessionKey))) throw invalidRequest("session not found");
    const text = params.label ? `[${params.label}]\n\n${params.message}` : params.message;
    const timestamp = ctx.clock.now();
    const messageId = await ctx.sessions.appendMessage(sessionKey, {
      role: "assistant", content: [{ type: "text", text }], api: "openclaw", provider: "openclaw", model: "gateway-injected", stopReason: "stop", timestamp,
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
    });
    ctx.ws().broadcast("chat", { runId: `inject-${messageId}`, sessionKey, seq: 0, state: "final", message: { role: "assistant", content: [{ type: "text", text }], timestamp } });
    return { ok: true, messageId };
  },
});

const history = defineMethod({
  name: "chat.history",
  scope: "operator.read",
  params: z.strictObject({ sessionKey: nes, limit: z.number().int().min(1).max(1000).optional() }),
  async handle({ sessionKey: raw, limit = 200 }, ctx: GatewayContext) {
    const sessionKey = ctx.sessions.canonicalKey(raw);
    const entry = await ctx.sessions.get(sessionKey);
    if (!entry) return { sessionKey: raw, messages: [], thinkingLevel: "off" };
    const path = ctx.sessions.transcriptPath(sessionKey, entry);
    const entries = await readRecentMessages(path, { limit, maxBytes: MAX_HISTORY_BYTES * 2 });
    const messages = capTotal((await Promise.all(entries.filter((item) => !isInternal(item)).map((item) => toHistoryMessage(item, ctx.paths.stateDir)))).filter((message) => !isSilent(message)));
    const active = ctx.agents.runs.bySession(sessionKey)[0];
    return {
      sessionKey: raw, sessionId: entry.sessionId, messages, thinkingLevel: entry.thinkingLevel ?? "off", verboseLevel: entry.verboseLevel,
      reasoningLevel: entry.reasoningLevel, ...(active ? { activeRun: { runId: active.runId, text: active.partialText } } : {}),
    };
  },
});

/** What the gateway itself said to the model (a reminder that is due, a sub-agent that is done); the answer to it is shown. */
const isInternal = (entry: TranscriptEntry): boolean => isTranscriptMessage(entry) && entry.message.role === "user" && (entry.message as { provenance?: { kind?: unknown } }).provenance?.kind === "internal_system";

/** An answer that said nothing to people and did nothing. */
const isSilent = ({ role, content, errorMessage }: Record<string, unknown>): boolean => role === "assistant" && errorMessage === undefined && Array.isArray(content) && content.length === 0;

async function toHistoryMessage(entry: TranscriptEntry, stateDir: string): Promise<Record<string, unknown>> {
  if (!isTranscriptMessage(entry)) {
    return { role: "system", type: "compaction", content: [{ type: "text", text: "Older messages were summarised." }], timestamp: Date.parse(entry.timestamp), id: entry.id };
  }
  const { details: _details, usage: _usage, cost: _cost, ...message } = entry.message;
  const content = typeof message.content === "string" ? [{ type: "text", text: message.content }] : Array.isArray(message.content) ? message.content : [];
  const shown = { ...message, id: entry.id, content: (await Promise.all(content.map((block: unknown) => toHistoryBlock(block, message.role, stateDir)))).flat() };
  return JSON.stringify(shown).length <= MAX_MESSAGE_BYTES
    ? shown
    : { role: message.role, id: entry.id, timestamp: message.timestamp, content: [{ type: "text", text: "[chat.history omitted: message too large]" }], __openclaw: { truncated: true, reason: "oversized" } };
}

const MEDIA_NOTE = /\[media attached(?: \d+\/\d+)?: ([^\]\n]+?) \((image\/[a-z+.-]+)\)\]\n*/g;
const MAX_THUMB_BYTES = 60_000;

/** What a person may see of one block of a message. */
async function toHistoryBlock(block: unknown, role: string, stateDir: string): Promise<unknown[]> {
  if (typeof block !== "object" || block === null) return [];
  const { thinkingSignature: _signature, textSignature: _text, ...rest } = block as Record<string, unknown>;
  if (rest["type"] === "image" && typeof rest["data"] === "string") return [{ type: "image", mimeType: rest["mimeType"], omitted: true, bytes: rest["data"].length }];
  for (const field of ["text", "thinking", "partialJson"]) {
    const value = rest[field];
    if (typeof value !== "string") continue;
    const plain = field === "text" ? shownText(value, role) : value;
    rest[field] = plain.length > MAX_TEXT_CHARS ? `${plain.slice(0, MAX_TEXT_CHARS)}\n...(truncated)...` : plain;
  }
  if (rest["arguments"] !== undefined && JSON.stringify(rest["arguments"]).length > MAX_TEXT_CHARS) rest["arguments"] = { truncated: true };
  if (role === "assistant" && rest["text"] === "") return [];
  if (role !== "user" || typeof rest["text"] !== "string" || !rest["text"].includes("[media attached")) return [rest];
  const images: unknown[] = [];
  for (const [, path = "", mimeType = ""] of rest["text"].matchAll(MEDIA_NOTE)) {
    if (!isStoredMediaPath(stateDir, path)) continue;
    const file = await readStoredMedia(stateDir, path, MAX_THUMB_BYTES);
    images.push({ type: "image", mimeType, omitted: true, bytes: file?.size ?? 0, ...(file?.bytes ? { omitted: false, data: file.bytes.toString("base64") } : {}) });
  }
  // A note of any other file is something that a person wrote.
  rest["text"] = rest["text"].replace(MEDIA_NOTE, (note, path: string) => (isStoredMediaPath(stateDir, path) ? "" : note)).replace(/^\[media attached: \d+ files\]\n*/, "").trim();
  return [...images, ...(rest["text"] === "" ? [] : [rest])];
}

/** The user's own words; the assistant's as the chat showed them. */
function shownText(text: string, role: string): string {
  if (role === "user") return stripPromptScaffolding(text);
  if (role !== "assistant") return text;
  const reply = readRawReply(text);
  return [reply.silent ? "" : reply.text.trim(), ...reply.mediaUrls.map((source) => `📎 ${source}`)].filter(Boolean).join("\n\n");
}

function capTotal(messages: Record<string, unknown>[]): Record<string, unknown>[] {
  let total = 0;
  let from = messages.length;
  while (from > 0) {
    total += JSON.stringify(messages[from - 1]).length;
    if (total > MAX_HISTORY_BYTES) break;
    from--;
  }
  return messages.slice(from);
}

export const chatMethods: readonly GatewayMethod<GatewayContext>[] = [send, abort, inject, history];
export type { MethodCall };
