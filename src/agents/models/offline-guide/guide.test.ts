import type { AssistantMessage, AssistantMessageEvent, Context, Message } from "@mariozechner/pi-ai";
import { describe, expect, it } from "vitest";
import { loadPi } from "../../pi.ts";
import { createOfflineGuide, offlineModel } from "./index.ts";

const user = (content: string): Message => ({ role: "user", content, timestamp: 0 });
const tools = (...names: string[]): NonNullable<Context["tools"]> => names.map((name) => ({ name, description: name, parameters: { type: "object" } }));

async function ask(messages: Message[], toolNames: string[] = [], signal?: AbortSignal): Promise<{ events: AssistantMessageEvent[]; message: AssistantMessage; text: string }> {
  const { ai } = await loadPi();
  const stream = createOfflineGuide(ai, () => 0)(offlineModel, { messages, tools: tools(...toolNames) }, signal ? { signal } : {});
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) events.push(event);
  const message = await stream.result();
  return { events, message, text: message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("") };
}

const callOf = (message: AssistantMessage): unknown => message.content.flatMap((block) => (block.type === "toolCall" ? [{ name: block.name, arguments: block.arguments }] : []))[0];

describe("the offline guide", () => {
  it("says that it is not a language model and how to connect one, in small pieces", async () => {
    const { events, text, message } = await ask([user("Write me a poem about the sea")]);
    expect(text).toMatch(/not a language model/);
    expect(text).toMatch(/ANTHROPIC_API_KEY|models\.providers|Ollama/);
    expect(events.filter((event) => event.type === "text_delta").length).toBeGreaterThan(5);
    expect(events.at(0)?.type).toBe("start");
    expect(message.stopReason).toBe("stop");
  });

  it("answers in Chinese when asked in Chinese", async () => {
    expect((await ask([user("写一首诗")])).text).toContain("不是语言模型");
    expect((await ask([user("怎么连接模型？")])).text).toMatch(/API 密钥[\s\S]*openclaw\.json[\s\S]*Ollama/);
  });

  it.each([
    ["what time is it?", { name: "session_status", arguments: {} }],
    ["现在几点了", { name: "session_status", arguments: {} }],
    ["status", { name: "session_status", arguments: {} }],
    ["list files", { name: "exec", arguments: { command: "ls -la" } }],
    ["ls", { name: "exec", arguments: { command: "ls -la" } }],
    ["ls memory", { name: "exec", arguments: { command: "ls -la -- 'memory'" } }],
    ["ls '; rm -rf /", { name: "exec", arguments: { command: "ls -la" } }],
    ["列出文件", { name: "exec", arguments: { command: "ls -la" } }],
    ["read AGENTS.md", { name: "read", arguments: { path: "AGENTS.md" } }],
    ["please read the file notes/today.txt", { name: "read", arguments: { path: "notes/today.txt" } }],
    ["读取 SOUL.md", { name: "read", arguments: { path: "SOUL.md" } }],
  ])("calls a tool for %j", async (text, expected) => {
    const { message } = await ask([user(text)], ["session_status", "exec", "read"]);
    expect(callOf(message)).toEqual(expected);
    expect(message.stopReason).toBe("toolUse");
  });

  it("uses what tools there are, and says which one is missing", async () => {
    expect(callOf((await ask([user("list files")], ["read"])).message)).toMatchObject({ name: "read" });
    const { text, message } = await ask([user("what time is it")], []);
    expect(text).toContain("session_status");
    expect(callOf(message)).toBeUndefined();
  });

  it("answers with the tool's result, and tells an error as one", async () => {
    const { message: call } = await ask([user("ls")], ["exec"]);
    const block = call.content.find((part) => part.type === "toolCall");
    const result = (isError: boolean, text: string): Message => ({ role: "toolResult", toolCallId: block?.id ?? "", toolName: "exec", content: [{ type: "text", text }], isError, timestamp: 0 });
    expect((await ask([user("ls"), call, result(false, "AGENTS.md\nSOUL.md")], ["exec"])).text).toContain("AGENTS.md\nSOUL.md");
    expect((await ask([user("ls"), call, result(true, "denied")], ["exec"])).text).toContain("reported an error");
  });

  it("keeps quiet on a heartbeat", async () => {
    expect((await ask([user("Read HEARTBEAT.md in the workspace if it is there. If nothing needs attention, answer HEARTBEAT_OK.")])).text).toBe("HEARTBEAT_OK");
  });

  it.each(["A new session was started via /new or /reset. Greet the user.", "hello", "你好"])("greets shortly for %j", async (text) => {
    const reply = await ask([user(text)]);
    expect(reply.text.length).toBeLessThan(260);
    expect(reply.text).toMatch(/not a language model|不是语言模型/);
  });

  it("keeps quiet on a heartbeat prompt that the person wrote", async () => {
    const { ai } = await loadPi();
    const stream = createOfflineGuide(ai, () => 0)(offlineModel, { systemPrompt: "## Heartbeats\nHeartbeat prompt: Check my mail\nIf it comes …", messages: [user("Check my mail\nCurrent time: noon")] });
    expect((await stream.result()).content).toEqual([{ type: "text", text: "HEARTBEAT_OK" }]);
  });

  it("looks past the metadata around a channel message", async () => {
    const text = 'Conversation info (untrusted metadata):\n```json\n{\n  "sender": "ls"\n}\n```\n\nwhat time is it?';
    expect(callOf((await ask([user(text)], ["session_status"])).message)).toMatchObject({ name: "session_status" });
  });

  it("stops when the run is aborted", async () => {
    expect((await ask([user("help")], [], AbortSignal.abort())).message).toMatchObject({ stopReason: "aborted" });
  });
});
