import { beforeEach, describe, expect, it, vi } from "vitest";
import type { SubagentRun, SubagentService } from "../agents/index.ts";
import type { DeliveryResult, Outbox, OutboxRequest } from "../delivery/index.ts";
import { silentLogger } from "../infra/log.ts";
import { createHookRunner, type HookRunner } from "./hooks.ts";
import { hookOutbox, tellSent } from "./message-hooks.ts";
import { deliveryOrigin, hookSubagents, tellSubagentEnded } from "./subagent-hooks.ts";

let hooks: HookRunner;
let seen: unknown[];
beforeEach(() => {
  hooks = createHookRunner(silentLogger, () => undefined);
  seen = [];
});
const on = (hook: string, pluginId: string, handler: (event: never, ctx: never) => unknown): void => hooks.add(hook, { pluginId, priority: 0, handler: handler as (event: unknown, ctx: unknown) => unknown });
const noteAll = (...names: string[]): void => names.forEach((name) => on(name, "ear", (event: object, ctx: object) => void seen.push([name, event, ctx])));

describe("messages", () => {
  const request = (id: string, text: string): OutboxRequest => ({ id, channel: "zap", message: { accountId: "a", to: "u1", text } });
  function outbox() {
    const delivered: string[] = [];
    const own = { deliver: async ({ message }: OutboxRequest): Promise<DeliveryResult> => (delivered.push(message.text), { kind: "sent", messageIds: ["1"] }), lookup: (id: string) => (id === "known" ? {} : undefined) };
    return { delivered, box: hookOutbox(own as unknown as Outbox, hooks) };
  }

  it("may be changed or held back before they are sent; the last word counts, and one taken in before is not asked again", async () => {
    on("message_sending", "a", (event: { content: string; to: string; metadata: object }, ctx: object) => {
      seen.push([event, ctx]);
      return { content: `${event.content}!` };
    });
    on("message_sending", "b", (event: { content: string }) => ({ cancel: event.content === "secret" }));
    const { box, delivered } = outbox();
    expect(await box.deliver(request("1", "hi"))).toEqual({ kind: "sent", messageIds: ["1"] });
    expect(seen).toEqual([[{ to: "u1", content: "hi", metadata: { channel: "zap", accountId: "a", mediaUrls: [] } }, { channelId: "zap", accountId: "a" }]]);
    expect(await box.deliver(request("2", "secret"))).toEqual({ kind: "failed", reason: "cancelled by plugin b" });
    await box.deliver(request("known", "again"));
    expect(delivered).toEqual(["hi!", "again"]);
  });

  it("keep their order while a plugin thinks", async () => {
    let think = (): void => undefined;
    const thought = new Promise<void>((resolve) => (think = resolve));
    on("message_sending", "a", async (event: { content: string }) => (event.content === "one" ? void (await thought) : undefined));
    const { box, delivered } = outbox();
    const both = [box.deliver(request("1", "one")), box.deliver(request("2", "two"))];
    think();
    await Promise.all(both);
    expect(delivered).toEqual(["one", "two"]);
  });

  it("are told of when their fate is known", async () => {
    noteAll("message_sent");
    tellSent(hooks, request("1", "hi"), { kind: "sent", messageIds: ["1"] });
    tellSent(hooks, request("2", "no"), { kind: "failed", reason: "gone" });
    await vi.waitFor(() => expect(seen).toHaveLength(2));
    const ctx = { channelId: "zap", accountId: "a", conversationId: "u1" };
    expect(seen).toEqual([["message_sent", { to: "u1", content: "hi", success: true }, ctx], ["message_sent", { to: "u1", content: "no", success: false, error: "gone" }, ctx]]);
  });
});

describe("sub-agents", () => {
  const run = { runId: "r", childSessionKey: "c", requesterSessionKey: "p", requesterOrigin: { channel: "zap", to: "u1", accountId: "a" }, spawnMode: "run", endedReason: "subagent-complete", endedAt: 5, outcome: { status: "ok" } } as unknown as SubagentRun;
  const spawn = { requesterSessionKey: "p", requesterAgentId: "main", task: "x" } as unknown as Parameters<SubagentService["spawn"]>[0];

  it("are told of, and may be refused: the first refusal counts", async () => {
    let spawned = 0;
    const service = hookSubagents({ spawn: async () => (spawned++, { status: "accepted", childSessionKey: "c", runId: "r" }) } as unknown as SubagentService, hooks);
    noteAll("subagent_spawned");
    expect(await service.spawn(spawn)).toMatchObject({ status: "accepted" });
    await vi.waitFor(() => expect(seen).toEqual([["subagent_spawned", expect.objectContaining({ childSessionKey: "c", runId: "r", agentId: "main", mode: "run", threadRequested: false }), { runId: "r", childSessionKey: "c", requesterSessionKey: "p" }]]));
    on("subagent_spawning", "a", () => ({ status: "ok" }));
    on("subagent_spawning", "b", () => ({ status: "error", error: "not now" }));
    on("subagent_spawning", "c", () => ({ status: "error", error: "never" }));
    expect(await service.spawn(spawn)).toEqual({ status: "error", error: "not now" });
    expect(spawned).toBe(1);
  });

  it("end with a fate, and tell their result where the first plugin says, else where it was asked for", async () => {
    noteAll("subagent_ended");
    tellSubagentEnded(hooks, run);
    tellSubagentEnded(hooks, { ...run, endedReason: "subagent-killed" } as SubagentRun);
    await vi.waitFor(() => expect(seen.map((entry) => (entry as [string, { outcome: string }])[1].outcome)).toEqual(["ok", "killed"]));
    expect(await deliveryOrigin(hooks, run)).toEqual(run.requesterOrigin);
    on("subagent_delivery_target", "a", () => ({ origin: { channel: "zap" } }));
    on("subagent_delivery_target", "b", () => ({ origin: { channel: "zap", to: "u2", threadId: 7 } }));
    on("subagent_delivery_target", "c", () => ({ origin: { channel: "zap", to: "u3" } }));
    expect(await deliveryOrigin(hooks, run)).toEqual({ channel: "zap", to: "u2", threadId: "7" });
  });
});
