import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { identityFromSeed } from "../../pairing/index.ts";
import { announceDevices, deviceMethods } from "../methods/devices.ts";
import { silentLogger } from "../../infra/log.ts";
import { ALL_SCOPES, startTestGateway, TOKEN } from "./test-support.ts";
import type { TestClient, TestGateway } from "./test-support.ts";

const seq = (client: TestClient): (number | undefined)[] => client.frames.filter((f) => f.type === "event" && f.event !== "connect.challenge").map((f) => f.seq);

describe("requests", () => {
  it("are answered by id, role and scope before existence before params", async () => {
    await using gateway = await startTestGateway();
    const admin = await gateway.connect();
    const reader = await gateway.connect({ device: identityFromSeed(Buffer.alloc(32, 2)), scopes: ["operator.read"] });
    const message = async (client: TestClient, method: string, params?: unknown) => (await client.call(method, params)).error?.message;
    expect(await message(reader, "no.such")).toBe("missing scope: operator.admin");
    expect(await message(reader, "agent", { bad: 1 })).toBe("missing scope: operator.write");
    expect(await message(reader, "skills.bins")).toBe("unauthorized role: operator");
    expect(await message(admin, "no.such")).toBe("unknown method: no.such");
    expect(await message(admin, "__proto__")).toBe("unknown method: __proto__");
    expect(await message(admin, "agent", { message: 1, zzz: 1 })).toBe(
      "invalid agent params: at /message: must be string; at root: unexpected property 'zzz'",
    );
    expect(await message(admin, "agent")).toBe("invalid agent params: must have required property 'message'");
    expect(await message(admin, "connect", {})).toBe("connect is only valid as the first request");
    expect((await admin.call("wake")).error).toEqual({ code: "UNAVAILABLE", message: "Error: boom" });
  });

  it("may get two responses under one id", async () => {
    await using gateway = await startTestGateway();
    const client = await gateway.connect();
    client.sendRaw(JSON.stringify({ type: "req", id: "two", method: "agent", params: { message: "hi" } }));
    await client.until(() => client.frames.filter((f) => f.id === "two")[1]);
    expect(client.frames.filter((f) => f.id === "two").map((f) => f.payload)).toEqual([{ status: "accepted" }, { status: "ok", message: "hi" }]);
  });

  it("that are malformed leave the socket open", async () => {
    await using gateway = await startTestGateway();
    const client = await gateway.connect();
    client.sendRaw("no json");
    client.sendRaw("[".repeat(200_000));
    client.sendRaw("null");
    expect((await client.response("invalid")).error?.message).toBe("invalid request frame: must be object");
    client.sendRaw(JSON.stringify({ type: "req", id: "bad", method: "", q: 1 }));
    expect((await client.response("bad")).error?.message).toBe(
      "invalid request frame: at /method: must NOT have fewer than 1 characters; at root: unexpected property 'q'",
    );
    const hostile = JSON.stringify({ type: "req", id: "p", method: "agent", params: { message: "x" } }).replace('"message"', '"__proto__":{"a":1},"message"');
    client.sendRaw(hostile);
    expect((await client.response("p")).error?.message).toContain("unexpected property '__proto__'");
    expect((await client.call("status")).ok).toBe(true);
  });

  it("close the socket when too big, or too often of the wrong role", async () => {
    await using gateway = await startTestGateway({ limits: { maxPayloadBytes: 100_000 } });
    const big = await gateway.connect();
    big.sendRaw(JSON.stringify({ type: "req", id: "b", method: "status", params: "x".repeat(200_000) }));
    expect(await big.close()).toEqual({ code: 1009, reason: "" });
    const wrong = await gateway.connect();
    for (let i = 0; i < 11; i++) wrong.sendRaw(JSON.stringify({ type: "req", id: `w${i}`, method: "skills.bins" }));
    expect(await wrong.close()).toEqual({ code: 1008, reason: "repeated unauthorized calls" });
    expect(wrong.frames.filter((f) => f.id?.startsWith("w"))).toHaveLength(11);
  });

  it("beyond the bound of one socket are answered UNAVAILABLE", async () => {
    await using gateway = await startTestGateway({ limits: { maxInFlight: 2 } });
    const client = await gateway.connect();
    for (const id of ["a", "b", "c"]) client.sendRaw(JSON.stringify({ type: "req", id, method: "agent.wait", params: {} }));
    expect((await client.response("c")).error).toMatchObject({ code: "UNAVAILABLE", retryable: true });
  });
});

describe("broadcasts", () => {
  it("reach who may hear them, numbered from 1 without gaps for everyone", async () => {
    await using gateway = await startTestGateway();
    const reader = await gateway.connect({ device: identityFromSeed(Buffer.alloc(32, 2)), scopes: ["operator.read"] });
    const bare = await gateway.connect({ device: null });
    const pairing = await gateway.connect({ device: identityFromSeed(Buffer.alloc(32, 3)), scopes: ["operator.pairing"] });
    gateway.ws.broadcast("chat", { n: 1 });
    gateway.ws.broadcast("device.pair.requested", { n: 2 });
    gateway.ws.broadcast("health", { n: 3 }, { stateVersion: { presence: 1, health: 2 } });
    gateway.ws.broadcast("chat", { n: 4 }, { filter: (conn) => conn.deviceId === undefined });
    gateway.ws.broadcast("tick", { ts: 1 });
    for (const client of [reader, bare, pairing]) await client.event("tick");
    const names = (client: TestClient) => client.frames.filter((f) => f.type === "event").map((f) => f.event);
    expect(names(reader)).toEqual(["connect.challenge", "chat", "health", "tick"]);
    expect(names(bare)).toEqual(["connect.challenge", "tick"]);
    expect(names(pairing)).toEqual(["connect.challenge", "device.pair.requested", "tick"]);
    expect([seq(reader), seq(bare), seq(pairing)]).toEqual([[1, 2, 3], [1], [1, 2]]);
    expect(reader.frames.find((f) => f.event === "health")).toMatchObject({ stateVersion: { presence: 1, health: 2 } });
  });

  it("that are targeted carry no number, and tool events go to the capable only", async () => {
    await using gateway = await startTestGateway();
    const plain = await gateway.connect();
    const capable = await gateway.connect({ params: { caps: ["tool-events"] } });
    gateway.ws.sendToolEvent({ stream: "tool" });
    const first = gateway.ws.connections()[0];
    expect(gateway.ws.sendTo(first?.connId ?? "", "node.invoke.request", { id: "i" })).toBe(true);
    expect(gateway.ws.sendTo("nobody", "x", {})).toBe(false);
    expect((await capable.event("agent")).seq).toBeUndefined();
    expect((await plain.event("node.invoke.request")).seq).toBeUndefined();
    expect(plain.frames.some((f) => f.event === "agent")).toBe(false);
  });

  it("skip a client that does not read when they may be dropped, and close it when not", async () => {
    await using gateway = await startTestGateway({ limits: { maxBufferedBytes: 200_000 } });
    const slow = await gateway.connect();
    slow.socket.pause();
    const payload = { text: "x".repeat(4_000_000) };
    for (let i = 0; i < 5; i++) gateway.ws.broadcast("presence", payload, { dropIfSlow: true });
    expect(gateway.ws.connections()).toHaveLength(1);
    gateway.ws.broadcast("chat", payload);
    slow.socket.resume();
    expect(await slow.close()).toEqual({ code: 1008, reason: "slow consumer" });
    expect(seq(slow)).toEqual(seq(slow).map((_, i) => i + 1));
  });

  it("tick regularly, and end with shutdown and 1012", async () => {
    const gateway = await startTestGateway({ limits: { tickIntervalMs: 20 } });
    const client = await gateway.connect();
    await client.event("tick");
    await gateway[Symbol.asyncDispose]();
    expect(await client.close()).toEqual({ code: 1012, reason: "service restart" });
    expect(client.frames.find((f) => f.event === "shutdown")?.payload).toEqual({ reason: "gateway stopping", restartExpectedMs: null });
  });
});

it("a client that vanished without closing is cut after a few silent ticks", async () => {
  await using gateway = await startTestGateway({ limits: { tickIntervalMs: 15 } });
  const alive = await gateway.connect();
  const dead = await gateway.connect({ device: identityFromSeed(Buffer.alloc(32, 6)) });
  dead.socket.pause();
  const id = identityFromSeed(Buffer.alloc(32, 6)).deviceId;
  const ticks = () => alive.frames.filter((f) => f.event === "tick").length;
  await alive.until(() => (ticks() >= 8 && gateway.disconnected.length === 1 ? true : undefined));
  expect(gateway.disconnected[0]?.deviceId).toBe(id);
  expect((await alive.call("status")).ok).toBe(true);
});

describe("revocation", () => {
  const withDevices = async (): Promise<TestGateway> => {
    const gateway = await startTestGateway();
    announceDevices(gateway.devices, (event, payload, options) => gateway.ws.broadcast(event, payload, options));
    for (const method of deviceMethods) gateway.router.register(method, { devices: gateway.devices, log: silentLogger });
    return gateway;
  };
  const B = identityFromSeed(Buffer.alloc(32, 9));

  it("of the shared token closes the sockets it let in, at once", async () => {
    await using gateway = await startTestGateway();
    const client = await gateway.connect();
    gateway.ws.revalidate();
    expect((await client.call("status")).ok).toBe(true);
    gateway.config = { gateway: { auth: { mode: "token", token: "T2" } } };
    gateway.ws.revalidate();
    expect(await client.close()).toEqual({ code: 1008, reason: "gateway auth changed" });
    expect((await (await gateway.open()).hello({ auth: { token: TOKEN } })).ok).toBe(false);
    expect((await (await gateway.open()).hello({ auth: { token: "T2" } })).ok).toBe(true);
  });

  it.each(["device.pair.remove", "device.token.revoke", "device.token.rotate"])("by %s closes the device's sockets", async (method) => {
    await using gateway = await withDevices();
    const admin = await gateway.connect();
    const victim = await gateway.connect({ device: B });
    const result = await admin.call(method, method.includes("token") ? { deviceId: B.deviceId, role: "operator" } : { deviceId: B.deviceId });
    expect(result.ok).toBe(true);
    expect((await victim.close()).code).toBe(1008);
    expect((await admin.call("status")).ok).toBe(true);
  });

  it("of one's own token is answered first, then closes", async () => {
    await using gateway = await withDevices();
    const client = await gateway.connect({ device: B });
    expect((await client.call("device.token.rotate", { deviceId: B.deviceId, role: "operator" })).ok).toBe(true);
    expect((await client.close()).code).toBe(1008);
  });

  it("cannot be turned into a promotion: nobody grants more than they hold", async () => {
    await using gateway = await withDevices();
    await gateway.connect({ device: B });
    const pairer = await gateway.connect({ device: identityFromSeed(Buffer.alloc(32, 4)), scopes: ["operator.pairing"] });
    const error = async (method: string, params: object) => (await pairer.call(method, params)).error?.message;
    const target = { deviceId: B.deviceId, role: "operator" };
    expect(await error("device.token.rotate", { ...target, scopes: ["operator.admin"] })).toBe("missing scope: operator.admin");
    expect(await error("device.token.rotate", target)).toBe("missing scope: operator.admin");
    expect(await error("device.token.rotate", { ...target, role: "node" })).toBe("unknown deviceId/role");
    const remote = await gateway.open({ "x-forwarded-for": "203.0.113.9" });
    const hello = await remote.hello({ device: identityFromSeed(Buffer.alloc(32, 5)), scopes: ["operator.admin"] });
    const requestId = gateway.devices.list().pending[0]?.requestId;
    expect(hello.error).toMatchObject({ details: { requestId } });
    expect((await pairer.event("device.pair.requested")).payload).toMatchObject({ requestId, silent: false, role: "operator" });
    expect(await error("device.pair.approve", { requestId })).toBe("missing scope: operator.admin");
    expect((await pairer.call("device.pair.list")).payload).toMatchObject({ pending: [{ requestId, scopes: ["operator.admin"] }] });
  });

  it("shows no token secret in the list of devices", async () => {
    await using gateway = await withDevices();
    const admin = await gateway.connect({ device: B, scopes: ALL_SCOPES });
    const token = gateway.devices.get(B.deviceId)?.tokens["operator"]?.token ?? "?";
    const listed = await admin.call("device.pair.list");
    expect(listed.payload).toMatchObject({ paired: [{ deviceId: B.deviceId, tokens: [{ role: "operator" }] }] });
    expect(JSON.stringify(listed)).not.toContain(token);
  });
});

describe("a flood", () => {
  it("of idle upgrades leaves room for an honest client", async () => {
    await using gateway = await startTestGateway({ limits: { maxPending: 20 } });
    const idle = await Promise.all(Array.from({ length: 60 }, () => gateway.open()));
    const client = await gateway.connect();
    expect((await client.call("status")).ok).toBe(true);
    await Promise.all(idle.slice(0, 30).map((c) => c.close()));
  });

  it("of raw bytes after the upgrade ends that socket only", async () => {
    await using gateway = await startTestGateway();
    const socket = connect(gateway.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
    await once(socket, "data");
    socket.write(Buffer.alloc(10_000, 0xff));
    socket.resume();
    await once(socket, "close");
    expect((await (await gateway.connect()).call("status")).ok).toBe(true);
  });

  it("refuses an upgrade of a page under a foreign name", async () => {
    await using gateway = await startTestGateway();
    await expect(gateway.open({ host: "attacker.test", origin: "http://attacker.test" })).rejects.toThrow("421");
  });
});
