import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AgentMessage } from "@mariozechner/pi-agent-core";
import { silentLogger } from "../infra/log.ts";
import { createAgentHooks } from "./agent-hooks.ts";
import { awaitEvent, createHookRunner, eventHook, fireEvent, MODIFYING_LIMIT_MS, VOID_LIMIT_MS, type HookRunner } from "./hooks.ts";

let hooks: HookRunner;
let faults: string[];
beforeEach(() => {
  faults = [];
  hooks = createHookRunner(silentLogger, (id, text) => faults.push(`${id}: ${text}`));
});
afterEach(() => vi.useRealTimers());

const on = (hook: string, pluginId: string, handler: (event: never, ctx: never) => unknown, priority = 0): void => hooks.add(hook, { pluginId, priority, handler: handler as (event: unknown, ctx: unknown) => unknown });
const never = (): Promise<never> => new Promise(() => undefined);
const agent = { agentId: "main", sessionKey: "agent:main:main" };

describe("handlers", () => {
  it("of a hook that asks come by priority, equal ones as they were registered, each with the event as it was", async () => {
    const seen: string[] = [];
    for (const [id, priority] of [["a", 0], ["b", 5], ["c", 0], ["d", -1]] as const) {
      on("h", id, (event: { n: number }) => {
        seen.push(`${id}${event.n}`);
        return { from: id };
      }, priority);
    }
    const given: string[] = [];
    await hooks.ask<{ from: string }>("h", { n: 1 }, {}, ({ from }, id) => given.push(from + id));
    expect([seen, given]).toEqual([["b1", "a1", "c1", "d1"], ["bb", "aa", "cc", "dd"]]);
  });

  it("that only look on run side by side, and all are waited for", async () => {
    const seen: string[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    on("h", "slow", () => gate.then(() => seen.push("slow")));
    on("h", "quick", () => {
      seen.push("quick");
      open();
    });
    await hooks.notify("h", {}, {});
    expect(seen).toEqual(["quick", "slow"]);
  });

  it("that throw, reject or give nonsense are passed over and named", async () => {
    on("h", "throws", () => {
      throw new Error("one");
    });
    on("h", "rejects", () => Promise.reject(new Error("two")));
    on("h", "text", () => "nonsense");
    on("h", "fine", () => ({ ok: true }));
    const given: unknown[] = [];
    await hooks.ask("h", {}, {}, (result) => given.push(result));
    await hooks.notify("h", {}, {});
    expect(given).toEqual([{ ok: true }]);
    expect(faults).toEqual(["throws: hook h: one", "rejects: hook h: two", "throws: hook h: one", "rejects: hook h: two"]);
  });

  it("that must answer at once hand the message on; a promise is passed over, and its failure named", async () => {
    on("h", "first", (event: { text: string }) => ({ text: `${event.text}1` }));
    on("h", "late", () => Promise.reject(new Error("too late")));
    on("h", "second", (event: { text: string }) => ({ text: `${event.text}2` }));
    let text = "";
    hooks.askSync<{ text: string }>("h", { text: "0" }, {}, (result) => ({ text: (text = result.text) }));
    expect(text).toBe("012");
    await vi.waitFor(() => expect(faults).toEqual(["late: hook h: too late"]));
  });

  it("have their time: 15 s where they decide, 30 s where they look on", async () => {
    expect([MODIFYING_LIMIT_MS, VOID_LIMIT_MS]).toEqual([15_000, 30_000]);
    vi.useFakeTimers();
    on("h", "hangs", never);
    on("h", "fine", () => ({ ok: true }));
    const given: unknown[] = [];
    const late: string[] = [];
    const asked = hooks.ask("h", {}, {}, (result) => given.push(result), (id) => late.push(id));
    await vi.advanceTimersByTimeAsync(MODIFYING_LIMIT_MS);
    await asked;
    expect([given, late]).toEqual([[{ ok: true }], ["hangs"]]);
    const told = hooks.notify("h", {}, {});
    await vi.advanceTimersByTimeAsync(VOID_LIMIT_MS);
    await told;
    expect(faults).toEqual(["hangs: hook h: hook h of plugin hangs did not finish within 15 s", "hangs: hook h: hook h of plugin hangs did not finish within 30 s"]);
  });

  it("of internal events are asked by type, then by type and action", async () => {
    const seen: string[] = [];
    on(eventHook("command:new"), "b", (event: { context: object }) => seen.push(`new ${JSON.stringify(event.context)}`));
    on(eventHook("command"), "a", (event: { action: string; sessionKey: string; messages: unknown[] }) => seen.push(`command ${event.action} ${event.sessionKey} ${event.messages.length}`));
    fireEvent(hooks, { type: "command", action: "new", sessionKey: "s", context: { x: 1 } });
    await vi.waitFor(() => expect(seen).toEqual(["command new s 0", 'new {"x":1}']));
    expect(await awaitEvent(hooks, { type: "agent", action: "bootstrap", context: {} })).toBe(false);
  });
});

describe("answers of handlers are joined", () => {
  const api = () => createAgentHooks(hooks);

  it("model: the first of each field, so that of highest priority", async () => {
    on("before_model_resolve", "low", () => ({ providerOverride: "p-low", modelOverride: "m-low" }));
    on("before_model_resolve", "high", () => ({ modelOverride: "m-high", providerOverride: 7 }), 10);
    on("before_agent_start", "old", () => ({ modelOverride: "m-old", prependContext: "OLD" }));
    expect(await api().beforeModel("hi", async () => [], agent)).toEqual({ providerOverride: "p-low", modelOverride: "m-high", prompt: { systemPrompt: undefined, prependContext: "OLD" } });
  });

  it("prompt: a later system prompt replaces an earlier one, contexts stand below each other", async () => {
    on("before_prompt_build", "a", () => ({ systemPrompt: "A", prependContext: "one" }), 2);
    on("before_prompt_build", "b", () => ({ systemPrompt: "B" }), 1);
    on("before_prompt_build", "c", () => ({ prependContext: "two" }));
    expect(await api().beforePrompt({ prompt: "hi", messages: [] }, { systemPrompt: "EARLY", prependContext: "three" }, agent)).toEqual({ systemPrompt: "B", prependContext: "one\n\ntwo\n\nthree" });
  });

  it("tool call: parameters are laid over each other, the last word on blocking counts, silence blocks", async () => {
    on("before_tool_call", "a", () => ({ params: { x: 2 }, block: true, blockReason: "no" }), 1);
    on("before_tool_call", "b", (event: { params: { x: number } }) => ({ params: { seen: event.params.x }, block: false }));
    expect(await api().beforeToolCall({ toolName: "t", params: { x: 1, y: 1 } }, { toolName: "t", ...agent })).toEqual({ params: { x: 2, y: 1, seen: 1 }, blocked: undefined });
    on("before_tool_call", "c", () => ({ block: true }), -1);
    expect((await api().beforeToolCall({ toolName: "t", params: {} }, { toolName: "t", ...agent })).blocked).toBe("Tool call blocked by plugin hook");
    vi.useFakeTimers();
    on("before_tool_call", "mute", never, -2);
    const asked = api().beforeToolCall({ toolName: "t", params: {} }, { toolName: "t", ...agent });
    await vi.advanceTimersByTimeAsync(MODIFYING_LIMIT_MS);
    expect((await asked).blocked).toBe("Tool call blocked: plugin mute did not decide about it in time.");
  });

  it("what is written: the result of a tool first, then every message; one can be kept out", () => {
    const result = { role: "toolResult", toolCallId: "c", toolName: "t", content: [], isError: false, timestamp: 0 } as unknown as AgentMessage;
    on("tool_result_persist", "a", (event: { message: object; toolName: string }) => ({ message: { ...event.message, a: event.toolName } }));
    on("before_message_write", "b", (event: { message: object }) => ({ message: { ...event.message, b: Object.keys(event.message).includes("a") } }));
    expect(api().beforeWrite(result, agent)).toMatchObject({ a: "t", b: true });
    on("before_message_write", "c", (event: { message: { role: string } }) => ({ block: event.message.role === "user" }));
    expect(api().beforeWrite({ role: "user", content: "x", timestamp: 0 } as unknown as AgentMessage, agent)).toBeUndefined();
  });
});
