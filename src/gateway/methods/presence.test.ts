import { expect, it } from "vitest";
import { createMethodRouter } from "../protocol/index.ts";
import type { MethodCall } from "../protocol/index.ts";
import { createPresenceStore, createPresenceTracker, presenceText } from "../ws/index.ts";
import type { Connection } from "../ws/index.ts";
import { presenceMethods } from "./presence.ts";

function setup() {
  const now = { ms: 1000 };
  const queued: string[] = [];
  let broadcasts = 0;
  const presence = createPresenceStore({ clock: { now: () => now.ms }, self: { host: "gw", mode: "gateway", reason: "self" } });
  const router = createMethodRouter(presenceMethods, { presence, enqueueSystemEvent: (text) => void queued.push(text), broadcastPresence: () => void broadcasts++ });
  const call: MethodCall = {
    requestId: "1",
    caller: { connId: "c", role: "operator", scopes: ["operator.admin"], isOwner: true, caps: [], client: { id: "test", mode: "test", version: "1", platform: "x" } },
    signal: new AbortController().signal,
    respond: () => undefined,
    afterResponse: () => undefined,
  };
  return { now, queued, presence, broadcasts: () => broadcasts, event: (params: object) => router.call("system-event", params, call), list: () => router.call("system-presence", {}, call) };
}

it("a node's event updates its presence, and reaches the model only when something changed", async () => {
  const t = setup();
  const line = (reason: string) => `Node: box (10.0.0.5) · app 2.1 · last input 12s ago · mode ui · reason ${reason}`;
  expect(await t.event({ text: line("launch"), deviceId: "D1" })).toEqual({ ok: true });
  t.now.ms = 2000;
  await t.event({ text: line("periodic"), deviceId: "d1" });
  await t.event({ text: "Water the plants" });
  expect(t.queued).toEqual([line("launch"), "Water the plants"]);
  expect(await t.list()).toMatchObject([{ mode: "gateway" }, { host: "box", ip: "10.0.0.5", version: "2.1", lastInputSeconds: 12, mode: "ui", ts: 2000 }]);
  expect(t.broadcasts()).toBe(3);
  await expect(t.event({ text: "  " })).rejects.toThrow("text required");
});

it("presence forgets after five minutes and holds two hundred at most", () => {
  const t = setup();
  for (let i = 0; i < 250; i++) t.presence.upsert(`k${i}`, { host: `h${i}` });
  expect(t.presence.list()).toHaveLength(201);
  expect(t.presence.list().some((e) => e.host === "h0")).toBe(false);
  t.now.ms += 5 * 60_000 + 1;
  expect(t.presence.list()).toHaveLength(1);
  expect(presenceText("Gateway", { host: "gw", ip: "1.2.3.4", version: "9", mode: "gateway", reason: "self" })).toBe("Gateway: gw (1.2.3.4) · app 9 · mode gateway · reason self");
});

it("a node that reconnects stays present when its old socket closes", () => {
  const t = setup();
  const tracker = createPresenceTracker(t.presence);
  const conn = (connId: string): Connection => ({
    connId, role: "node", scopes: [], isOwner: false, caps: [], commands: [], deviceId: "D", connectedAtMs: 0, isLocal: true, hostHeader: undefined,
    client: { id: "node-host", mode: "node", version: "1", platform: "linux" },
    params: { minProtocol: 3, maxProtocol: 3, client: { id: "node-host", mode: "node", version: "1", platform: "linux" } },
  });
  tracker.connected(conn("old"));
  tracker.connected(conn("new"));
  expect(tracker.disconnected(conn("old"))).toBe(false);
  expect(t.presence.list()[1]).toMatchObject({ reason: "connect", deviceId: "D" });
  expect(tracker.disconnected(conn("new"))).toBe(true);
  expect(t.presence.list()[1]).toMatchObject({ reason: "disconnect" });
});
