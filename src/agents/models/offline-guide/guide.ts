import { randomUUID } from "node:crypto";
import { setImmediate as nextTick } from "node:timers/promises";
import type { Api, AssistantMessageEventStream, Context, Message, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";
import { truncateText } from "../../../infra/text/index.ts";
import { HEARTBEAT_TOKEN } from "../../output/silent.ts";
import type { PiModules } from "../../pi.ts";
import { createMessageWriter, type MessageWriter } from "../message-stream.ts";
import type { ModelRef } from "../types.ts";
import { languageOf, lastQuestion, readIntent, type GuideIntent, type GuideLanguage } from "./question.ts";
import { guideTexts } from "./texts.ts";

export const OFFLINE_REF: ModelRef = { provider: "offline", modelId: "guide" };

export const offlineModel: Model<Api> = {
  id: OFFLINE_REF.modelId, name: "Offline guide (not a language model)", api: "openclaw-offline-guide", provider: OFFLINE_REF.provider, baseUrl: "",
  reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 200_000, maxTokens: 8192,
};

const MAX_RESULT_CHARS = 3000;
/** Code points of one streamed piece, about a word. */
const PIECE = /[\s\S]{1,12}/gu;

type Step = { readonly kind: "say"; readonly text: string } | { readonly kind: "call"; readonly text: string; readonly tool: string; readonly args: Record<string, unknown> };

/**
 * Stands in while no model is connected, through the same pipeline as any provider. It says what it is, tells how to
 * connect a model, and shows that tools work. Source: architecture, "Without a key".
 */
export function createOfflineGuide(ai: PiModules["ai"], now: () => number): (model: Model<Api>, context: Context, options?: SimpleStreamOptions) => AssistantMessageEventStream {
  return (model, context, options) => {
    const writer = createMessageWriter(ai, model, now());
    void play(writer, nextStep(context), options?.signal);
    return writer.stream;
  };
}

async function play(writer: MessageWriter, step: Step, signal: AbortSignal | undefined): Promise<void> {
  for (const piece of step.text.match(PIECE) ?? []) {
    if (signal?.aborted) return writer.fail("aborted", true);
    writer.text(piece);
    await nextTick();
  }
  if (signal?.aborted) return writer.fail("aborted", true);
  if (step.kind === "say") return writer.done("stop");
  writer.toolCall({ id: `guide_${randomUUID()}`, name: step.tool, arguments: step.args });
  writer.done("toolUse");
}

function nextStep(context: Context): Step {
  const { messages } = context;
  const question = lastQuestion(messages);
  const language = languageOf(question);
  const result = messages.at(-1)?.role === "toolResult" ? messages.at(-1) : undefined;
  if (result?.role === "toolResult") return { kind: "say", text: tellResult(result, language) };
  const intent: GuideIntent = isHeartbeat(question, context.systemPrompt) ? { kind: "heartbeat" } : readIntent(question);
  return answer(intent, language, new Set((context.tools ?? []).map((tool) => tool.name)));
}

/** A person may have written a heartbeat prompt of their own; the system prompt holds it. */
function isHeartbeat(question: string, systemPrompt: string | undefined): boolean {
  const prompt = /^Heartbeat prompt: (.+)$/m.exec(systemPrompt ?? "")?.[1]?.trim();
  return prompt !== undefined && prompt !== "" && question.startsWith(prompt);
}

function tellResult(result: Extract<Message, { role: "toolResult" }>, language: GuideLanguage): string {
  const texts = guideTexts(language);
  const full = result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n").trim();
  const shown = full.length > MAX_RESULT_CHARS ? `${truncateText(full, MAX_RESULT_CHARS)}\n${texts.more}` : full;
  const body = result.toolName === "session_status" ? shown : `\`\`\`\n${shown.replaceAll("```", "'''")}\n\`\`\``;
  return result.isError ? texts.toolFailed(result.toolName, body) : texts.toolResult(result.toolName, body);
}

function answer(intent: GuideIntent, language: GuideLanguage, tools: ReadonlySet<string>): Step {
  const texts = guideTexts(language);
  const say = (text: string): Step => ({ kind: "say", text });
  const call = (tool: string, args: Record<string, unknown>): Step => ({ kind: "call", text: texts.callingTool(tool), tool, args });
  switch (intent.kind) {
    case "heartbeat":
      return say(HEARTBEAT_TOKEN);
    case "greeting":
      return say(texts.greeting);
    case "connect":
      return say(texts.connect);
    case "help":
      return say(texts.help(abilities(language, tools)));
    case "status":
      return tools.has("session_status") ? call("session_status", {}) : say(texts.noTool("session_status"));
    case "list":
      if (tools.has("exec")) return call("exec", { command: intent.path === undefined ? "ls -la" : `ls -la -- ${shellQuote(intent.path)}` });
      if (tools.has("ls")) return call("ls", intent.path === undefined ? {} : { path: intent.path });
      return tools.has("read") ? call("read", { path: intent.path ?? "AGENTS.md" }) : say(texts.noTool("exec"));
    case "read":
      return tools.has("read") ? call("read", { path: intent.path }) : say(texts.noTool("read"));
    case "other":
      return say(texts.other);
  }
}

function abilities(language: GuideLanguage, tools: ReadonlySet<string>): string[] {
  const { abilities: all } = guideTexts(language);
  return [tools.has("session_status") && all.status, (tools.has("exec") || tools.has("ls")) && all.list, tools.has("read") && all.read].filter((line): line is string => typeof line === "string");
}

const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
