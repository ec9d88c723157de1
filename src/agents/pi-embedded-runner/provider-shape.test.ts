import type { Message } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answer, callTool, toolResult, user } from "./conversation-fixture.ts";
import { annotateInterSessionMessages, prepareHistory } from "./history.ts";
import { shapeForProvider } from "./provider-shape.ts";
import { resolveTranscriptPolicy } from "./transcript-policy.ts";

const policyOf = (api: string, provider: string = api, id = "m") => resolveTranscriptPolicy({ api, provider, id });
const shape = (messages: Message[], api: string, provider?: string, id?: string): Message[] => shapeForProvider(messages, policyOf(api, provider, id));
const idsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap((m) => (m.role === "assistant" ? m.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : m.role === "toolResult" ? [`=${m.toolCallId}`] : []));
const roles = (messages: readonly Message[]): string[] => messages.map((m) => m.role);

describe("a conversation for", () => {
  it("Anthropic: call ids of letters and digits, at most 40, unique; neighbouring user messages joined", () => {
    const long = "call_".padEnd(80, "x");
    const out = shape([user("a"), user("b"), callTool(`${long}1`), toolResult(`${long}1`), callTool(`${long}2`), toolResult(`${long}2`)], "anthropic-messages");
    expect(roles(out)).toEqual(["user", "assistant", "toolResult", "assistant", "toolResult"]);
    expect(out[0]).toMatchObject({ content: [{ text: "a" }, { text: "b" }] });
    const [first = "", firstResult, second = "", secondResult] = idsOf(out);
    expect([firstResult, secondResult]).toEqual([`=${first}`, `=${second}`]);
    expect(first).not.toBe(second);
    for (const id of [first, second]) expect(id).toMatch(/^[A-Za-z0-9]{1,40}$/);
  });

  it("Mistral: ids of exactly nine", () => {
    for (const [api, provider, id] of [["mistral-conversations", "mistral", "x"], ["openai-completions", "custom", "mistral-large"]] as const) {
      const [call = "", result] = idsOf(shape([user("a"), callTool("call_1"), toolResult("call_1")], api, provider, id));
      expect(call).toMatch(/^[A-Za-z0-9]{9}$/);
      expect(result).toBe(`=${call}`);
    }
  });

  it("a server that numbers its calls anew in each turn: every result stays with its own call", () => {
    const out = shape([user("a"), callTool("0"), toolResult("0", "one"), callTool("0"), toolResult("0", "two")], "anthropic-messages");
    const [a, ra, b, rb] = idsOf(out);
    expect([ra, rb]).toEqual([`=${a}`, `=${b}`]);
    expect(a).not.toBe(b);
  });

  it("Google: the assistant never begins, and its neighbouring messages are joined", () => {
    const out = shape([answer("hi"), answer("there"), user("x")], "google-generative-ai", "google");
    expect(roles(out)).toEqual(["user", "assistant", "user"]);
    expect(out[0]).toMatchObject({ content: [{ text: "(session bootstrap)" }] });
    expect(out[1]).toMatchObject({ content: [{ text: "hi" }, { text: "there" }] });
  });

  it("OpenAI: ids as they are; reasoning that led to nothing goes", () => {
    const thought = { type: "thinking" as const, thinking: "", thinkingSignature: "rs_1" };
    const out = shape([user("a"), user("b"), answer("", { content: [thought] }), answer("", { content: [thought, { type: "text", text: "ok" }] }), callTool("call_1|fc_1"), toolResult("call_1|fc_1")], "openai-responses", "openai");
    expect(roles(out)).toEqual(["user", "user", "assistant", "assistant", "toolResult"]);
    expect(out[2]).toMatchObject({ content: [{ type: "thinking" }, { type: "text" }] });
    expect(idsOf(out)).toEqual(["call_1|fc_1", "=call_1|fc_1"]);
  });

  it("OpenRouter and OpenAI keep neighbouring user messages apart, stricter servers of the same format get one", () => {
    for (const provider of ["openrouter", "openai", "opencode"]) expect(roles(shape([user("a"), user("b")], "openai-completions", provider))).toEqual(["user", "user"]);
    expect(roles(shape([user("a"), user("b")], "openai-completions", "vllm"))).toEqual(["user"]);
  });

  it("Copilot's Claude: no thinking", () => {
    const thinking = answer("", { content: [{ type: "thinking", thinking: "hm" }, { type: "text", text: "ok" }] });
    expect(shape([thinking], "openai-completions", "github-copilot", "claude-sonnet-4")[0]).toMatchObject({ content: [{ type: "text", text: "ok" }] });
    expect(shape([thinking], "openai-completions", "github-copilot", "gpt-5")[0]).toMatchObject({ content: [{ type: "thinking" }, { type: "text" }] });
  });

  it("anybody: a tool's details are for people only", () => {
    expect(shape([callTool("a"), toolResult("a", "r", { details: { secret: 1 } })], "openai-responses")[1]).not.toHaveProperty("details");
  });

  it("each class: a longer conversation begins as the shorter one did", () => {
    const message = fc.oneof(
      fc.constant([user("u"), answer("a")]),
      fc.string({ maxLength: 60 }).map((id) => [user("do"), callTool(`c${id}`), toolResult(`c${id}`), answer("done")]),
    );
    const api = fc.constantFrom("anthropic-messages", "google-generative-ai", "openai-responses", "openai-completions", "mistral-conversations");
    fc.assert(fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), api, (parts, name) => {
      const all = [user("first"), answer("ok"), ...parts.flat()];
      const shorter = shape(all.slice(0, 2), name);
      expect(shape(all, name).slice(0, shorter.length)).toEqual(shorter);
    }));
  });
});

describe("messages of other sessions", () => {
  it("say in their first line where they come from", () => {
    const message = { ...user("do it"), provenance: { kind: "inter_session", sourceSessionKey: "agent:main:cron:x", sourceChannel: "telegram", sourceTool: "sessions_send" } };
    expect(annotateInterSessionMessages([message])).toMatchObject([
      { content: [{ text: "[Inter-session message] sourceSession=agent:main:cron:x sourceChannel=telegram sourceTool=sessions_send" }, { text: "do it" }] },
    ]);
    const own = [{ ...user("hello"), provenance: { kind: "external_user" } }];
    expect(annotateInterSessionMessages(own)).toBe(own);
  });
});

describe("the history of a request", () => {
  it("limited to the last turns stays paired", () => {
    const list = [user("1"), callTool("a"), user("2"), toolResult("a"), answer("x"), user("3")];
    const history = prepareHistory(list, 2);
    expect(history.map((m) => m.role)).toEqual(["user", "assistant", "user"]);
  });

  it("keeps what a person read of a stopped answer, and nothing of a failed one", () => {
    const list = [user("1"), answer("half a sent", { stopReason: "aborted" }), user("2"), answer("broken", { stopReason: "error" })];
    expect(prepareHistory(list, undefined)).toMatchObject([{ role: "user" }, { role: "assistant", stopReason: "stop", content: [{ text: "half a sent" }] }, { role: "user" }]);
  });
});
