import type { Api, AssistantMessage, Model, ToolResultMessage, Usage, UserMessage } from "@mariozechner/pi-ai";
import { createMessageWriter } from "../models/message-stream.ts";
import type { PreparedModel } from "../models/types.ts";
import type { PiModules } from "../pi.ts";
import type { OpenTranscript } from "./session-manager-init.ts";

/** Messages for tests, as Pi stores them. */
export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };

export const user = (content: UserMessage["content"], more: Partial<UserMessage> = {}): UserMessage => ({ role: "user", content, timestamp: 1, ...more });

export const answer = (text: string, more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant", api: "openai-completions", provider: "test", model: "m", usage: NO_USAGE, stopReason: "stop", timestamp: 1, content: [{ type: "text", text }], ...more,
});

export const callTool = (id: string, name = "read", args: Record<string, unknown> = { path: "a.txt" }): AssistantMessage =>
  answer("", { stopReason: "toolUse", content: [{ type: "toolCall", id, name, arguments: args }] });

export const toolResult = (id: string, text = "r", more: Partial<ToolResultMessage> = {}): ToolResultMessage => ({
  role: "toolResult", toolCallId: id, toolName: "read", content: [{ type: "text", text }], isError: false, timestamp: 1, ...more,
});

/** What the model would see, one text per message. */
export const textsOf = (transcript: OpenTranscript): string[] =>
  transcript.manager.buildSessionContext().messages.map((m) => {
    if ("content" in m) return typeof m.content === "string" ? m.content : m.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return "summary" in m ? `summary: ${m.summary}` : m.role;
  });

export const TEST_MODEL: Model<Api> = {
  id: "m", name: "m", api: "openai-completions", provider: "test", baseUrl: "http://127.0.0.1:9", reasoning: false, input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 20_000, maxTokens: 1000,
};

export type ScriptedReply = (prompt: string) => string | Error;

/** A model that answers from `reply`; `prompts` are what it was asked, the text of all messages joined. */
export function scriptedModel(pi: PiModules, reply: ScriptedReply, prompts: string[] = []): PreparedModel {
  return {
    ref: { provider: "test", modelId: "m" }, model: TEST_MODEL, contextTokens: TEST_MODEL.contextWindow, authMode: "none", profileId: undefined, apiKey: undefined,
    headers: undefined, params: {}, priced: false,
    stream: (_model, context) => {
      const prompt = context.messages.map((m) => (typeof m.content === "string" ? m.content : m.content.map((block) => (block.type === "text" ? block.text : "")).join(""))).join("\n");
      prompts.push(prompt);
      const writer = createMessageWriter(pi.ai, TEST_MODEL, 1);
      const said = reply(prompt);
      if (said instanceof Error) writer.fail(said.message, false);
      else {
        writer.text(said);
        writer.done("stop");
      }
      return writer.stream;
    },
  };
}
