import { randomUUID } from "node:crypto";
import type { Api, AssistantMessageEventStream, Context, Message, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";
import { z } from "zod";
import { errorText } from "../../infra/errors.ts";
import type { PiModules } from "../pi.ts";
import { LOCAL_KEY } from "./keys.ts";
import { createMessageWriter, type MessageWriter } from "./message-stream.ts";

const chunkSchema = z.object({
  message: z
    .object({
      content: z.string().nullish(),
      thinking: z.string().nullish(),
      tool_calls: z.array(z.object({ function: z.object({ name: z.string(), arguments: z.union([z.record(z.string(), z.unknown()), z.string()]).nullish() }) })).nullish(),
    })
    .optional(),
  done: z.boolean().optional(),
  done_reason: z.string().nullish(),
  prompt_eval_count: z.number().optional(),
  eval_count: z.number().optional(),
  error: z.string().optional(),
});
type Chunk = z.infer<typeof chunkSchema>;

/** A single NDJSON line longer than this ends the answer. */
const MAX_LINE_CHARS = 4_000_000;
const MAX_ERROR_CHARS = 500;

/** Ollama's own `/api/chat`: it sets the context size, which the OpenAI-compatible route cannot. Source: spec providers §5. */
export function createOllamaStream(ai: PiModules["ai"], fetchFn: typeof fetch, now: () => number): (model: Model<Api>, context: Context, options?: SimpleStreamOptions) => AssistantMessageEventStream {
  return (model, context, options) => {
    const writer = createMessageWriter(ai, model, now());
    void run(writer, model, context, options, fetchFn).catch((err: unknown) => writer.fail(errorText(err), options?.signal?.aborted === true));
    return writer.stream;
  };
}

async function run(writer: MessageWriter, model: Model<Api>, context: Context, options: SimpleStreamOptions | undefined, fetchFn: typeof fetch): Promise<void> {
  const body = requestBody(model, context, options);
  const payload = (await options?.onPayload?.(body, model)) ?? body;
  const response = await fetchFn(`${model.baseUrl}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(options?.apiKey && options.apiKey !== LOCAL_KEY ? { authorization: `Bearer ${options.apiKey}` } : {}), ...model.headers, ...options?.headers },
    body: JSON.stringify(payload),
    ...(options?.signal ? { signal: options.signal } : {}),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status} ${await problemText(response)}`);
  let calls = 0;
  let last: Chunk | undefined;
  for await (const chunk of chunksOf(response.body)) {
    if (chunk.error !== undefined) throw new Error(chunk.error);
    if (chunk.message?.thinking) writer.thinking(chunk.message.thinking);
    if (chunk.message?.content) writer.text(chunk.message.content);
    for (const call of chunk.message?.tool_calls ?? []) {
      calls++;
      writer.toolCall({ id: `ollama_call_${randomUUID()}`, name: call.function.name, arguments: toArguments(call.function.arguments) });
    }
    if (chunk.done) last = chunk;
  }
  if (!last) throw new Error("Ollama ended the answer before it was done.");
  const { usage } = writer.message;
  usage.input = last.prompt_eval_count ?? 0;
  usage.output = last.eval_count ?? 0;
  usage.totalTokens = usage.input + usage.output;
  writer.done(calls > 0 ? "toolUse" : last.done_reason === "length" ? "length" : "stop");
}

function requestBody(model: Model<Api>, context: Context, options: SimpleStreamOptions | undefined): Record<string, unknown> {
  return {
    model: model.id,
    stream: true,
    messages: [...(context.systemPrompt ? [{ role: "system", content: context.systemPrompt }] : []), ...context.messages.map(toOllama)],
    ...(context.tools && context.tools.length > 0
      ? { tools: context.tools.map(({ name, description, parameters }) => ({ type: "function", function: { name, description, parameters } })) }
      : {}),
    ...(model.reasoning ? { think: options?.reasoning !== undefined } : {}),
    options: {
      num_ctx: model.contextWindow,
      ...(options?.temperature === undefined ? {} : { temperature: options.temperature }),
      ...(options?.maxTokens === undefined ? {} : { num_predict: options.maxTokens }),
    },
  };
}

function toOllama(message: Message): Record<string, unknown> {
  switch (message.role) {
    case "user": {
      if (typeof message.content === "string") return { role: "user", content: message.content };
      const images = message.content.flatMap((block) => (block.type === "image" ? [block.data] : []));
      return { role: "user", content: textOf(message.content), ...(images.length > 0 ? { images } : {}) };
    }
    case "assistant": {
      const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [{ function: { name: block.name, arguments: block.arguments } }] : []));
      return { role: "assistant", content: textOf(message.content), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    }
    case "toolResult":
      return { role: "tool", content: textOf(message.content), tool_name: message.toolName };
  }
}

const textOf = (blocks: readonly { readonly type: string; readonly text?: string }[]): string => blocks.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("\n");

function toArguments(value: Record<string, unknown> | string | null | undefined): Record<string, unknown> {
  if (typeof value !== "string") return value ?? {};
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  } catch {
    return {}; // the tool's own check will tell the model what is missing
  }
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Chunk> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_CHARS) throw new Error("Ollama sent a line without end.");
    for (const line of lines) if (line.trim() !== "") yield chunkSchema.parse(JSON.parse(line));
  }
  if (rest.trim() !== "") yield chunkSchema.parse(JSON.parse(rest));
}

async function problemText(response: Response): Promise<string> {
  const text = (await response.text().catch(() => "")).slice(0, MAX_ERROR_CHARS);
  try {
    const parsed = z.object({ error: z.string() }).safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.error : text;
  } catch {
    return text || response.statusText;
  }
}
