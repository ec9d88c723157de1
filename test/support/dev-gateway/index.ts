import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { createControlUiSurface, createFrontServer, createHttpFrontDoor } from "../../../src/gateway/http/index.ts";
import { announceDevices, deviceMethods } from "../../../src/gateway/methods/devices.ts";
import { createMethodRouter, defineMethod, EVENTS } from "../../../src/gateway/protocol/index.ts";
import type { GatewayMethod } from "../../../src/gateway/protocol/index.ts";
import { createWsServer } from "../../../src/gateway/ws/index.ts";
import type { WsServer } from "../../../src/gateway/ws/index.ts";
import { silentLogger } from "../../../src/infra/log.ts";
import { createDeviceStore } from "../../../src/pairing/index.ts";
import type { DeviceStore } from "../../../src/pairing/index.ts";
import { createAuthGate } from "../../../src/security/index.ts";
import type { SecurityConfig } from "../../../src/security/index.ts";
import { FakeChat } from "./chat.ts";

export const TOKEN = "dev-gateway-token";

/** What the pretended gateway tells; tests change it at will. */
export interface DevState {
  status: Record<string, unknown>;
  sessions: Record<string, unknown>[];
  channels: Record<string, unknown>;
  pairings: { channel: string; accountId: string; id: string; code: string; createdAt: string; meta?: Record<string, unknown> }[];
}

export interface DevGateway extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** With the token in its fragment. */
  readonly dashboard: string;
  readonly chat: FakeChat;
  readonly ws: WsServer;
  readonly devices: DeviceStore;
  readonly calls: { readonly method: string; readonly params: unknown }[];
  readonly state: DevState;
  config: SecurityConfig;
}

const MAIN = "agent:main:main";
const builtUi = fileURLToPath(new URL("../../../dist/control-ui", import.meta.url));

/** The real front door, WebSocket server and device pairing over a pretended assistant: for trying the Control UI. */
export async function startDevGateway(options: { readonly port?: number; readonly config?: SecurityConfig; readonly assetsDir?: string } = {}): Promise<DevGateway> {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-dev-"));
  const clock = { now: () => Date.now() };
  const startedAt = Date.now();
  const box = { config: options.config ?? { gateway: { auth: { mode: "token", token: TOKEN } } } } as { config: SecurityConfig };
  const auth = createAuthGate({ config: () => box.config, env: {}, clock });
  const devices = createDeviceStore({ stateDir, clock, log: silentLogger });
  const calls: { method: string; params: unknown }[] = [];
  const state: DevState = {
    status: { model: { provider: "mock", model: "gpt-4o", reason: "first model of provider mock in the config" }, sessions: { count: 3 } },
    sessions: [
      { key: MAIN, kind: "direct", updatedAt: Date.now() - 60_000, lastMessagePreview: "There are three files.", totalTokens: 6300, contextTokens: 128_000 },
      { key: "agent:main:telegram:direct:4711", kind: "direct", label: "Mei", channel: "telegram", updatedAt: Date.now() - 3_600_000, lastMessagePreview: "明天上午十点提醒我。", totalTokens: 2100, contextTokens: 128_000 },
      { key: "agent:main:discord:group:990", kind: "group", displayName: "Discord · builders", channel: "discord", updatedAt: Date.now() - 90_000_000 },
    ],
    channels: {
      channelOrder: ["telegram", "discord"],
      channelLabels: { telegram: "Telegram", discord: "Discord" },
      channelAccounts: {
        telegram: [{ accountId: "default", configured: true, enabled: true, running: true, connected: true, mode: "polling", lastInboundAt: Date.now() - 240_000 }],
        discord: [{ accountId: "default", configured: true, enabled: true, running: false, connected: false, reconnectAttempts: 4, lastError: "Discord refused the bot token. Put a fresh token into channels.discord.token" }],
      },
    },
    pairings: [{ channel: "telegram", accountId: "default", id: "880099", code: "K7QX2M9P", createdAt: new Date(Date.now() - 300_000).toISOString(), meta: { name: "Ada Lovelace" } }],
  };

  const holder: { ws: WsServer | undefined } = { ws: undefined };
  const chat = new FakeChat({
    broadcast: (event, payload) => holder.ws?.broadcast(event, payload),
    tool: (payload) => holder.ws?.sendToolEvent(payload),
  });
  const simple = (name: string, scope: GatewayMethod<object>["scope"], handle: (params: Record<string, unknown>) => unknown): GatewayMethod<object> =>
    defineMethod({
      name,
      scope,
      params: z.looseObject({}),
      handle: (params: Record<string, unknown>) => {
        calls.push({ method: name, params });
        return handle(params);
      },
    });
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const router = createMethodRouter<object>(
    [
      simple("health", "none", () => ({ ok: true })),
      simple("status", "operator.read", () => state.status),
      simple("models.list", "operator.read", () => ({ models: [{ id: "gpt-4o", name: "GPT-4o", provider: "mock" }] })),
      simple("channels.status", "operator.read", () => state.channels),
      simple("channels.pairing.list", "operator.pairing", () => ({ requests: state.pairings })),
      simple("channels.pairing.approve", "operator.pairing", ({ code }) => {
        state.pairings = state.pairings.filter((request) => request.code !== code);
        return { ok: true };
      }),
      simple("channels.pairing.reject", "operator.pairing", ({ code }) => {
        state.pairings = state.pairings.filter((request) => request.code !== code);
        return { ok: true };
      }),
      simple("sessions.list", "operator.read", () => ({ ts: Date.now(), count: state.sessions.length, defaults: { modelProvider: "mock", model: "gpt-4o", contextTokens: 128_000 }, sessions: state.sessions })),
      simple("sessions.patch", "operator.admin", ({ key, label }) => {
        state.sessions = state.sessions.map((row) => (row["key"] === key ? { ...row, label } : row));
        return { ok: true };
      }),
      simple("sessions.delete", "operator.admin", ({ key }) => {
        state.sessions = state.sessions.filter((row) => row["key"] !== key);
        return { ok: true, deleted: true };
      }),
      simple("sessions.reset", "operator.admin", ({ key }) => {
        chat.reset(text(key));
        return { ok: true, key };
      }),
      simple("chat.history", "operator.read", ({ sessionKey }) => ({ sessionKey, ...chat.history(text(sessionKey)), thinkingLevel: "off" })),
      simple("chat.send", "operator.write", (params) =>
        chat.send({
          sessionKey: text(params["sessionKey"]),
          message: text(params["message"]),
          idempotencyKey: text(params["idempotencyKey"]),
          attachments: Array.isArray(params["attachments"]) ? params["attachments"] : [],
        }),
      ),
      simple("chat.abort", "operator.write", ({ sessionKey, runId }) => chat.abort(text(sessionKey), typeof runId === "string" ? runId : undefined)),
      simple("exec.approval.resolve", "operator.approvals", () => ({ ok: true })),
    ],
    {},
  );
  for (const method of deviceMethods) router.register(method, { devices, log: silentLogger });

  const door = createHttpFrontDoor({ config: () => box.config, auth, log: silentLogger, readiness: () => "ready" });
  door.register(
    createControlUiSurface({
      config: () => box.config,
      assetsDir: options.assetsDir ?? builtUi,
      identity: () => ({ assistantName: "Claw", assistantAvatar: "", assistantAgentId: "main" }),
      avatar: async () => undefined,
    }),
  );
  const server = createFrontServer({ handler: door.handler });
  const ws = createWsServer({
    server,
    router,
    auth,
    devices,
    clock,
    config: () => box.config,
    log: silentLogger,
    hello: (conn) => ({
      server: { version: "2026.2.25", connId: conn.connId },
      features: { methods: router.advertised(), events: EVENTS },
      snapshot: {
        presence: [],
        health: {},
        stateVersion: { presence: 1, health: 1 },
        uptimeMs: Date.now() - startedAt + 93_784_000,
        configPath: "~/.openclaw/openclaw.json",
        stateDir: "~/.openclaw",
        sessionDefaults: { defaultAgentId: "main", mainKey: "main", mainSessionKey: MAIN, scope: "per-sender" },
        authMode: "token",
      },
    }),
  });
  holder.ws = ws;
  const quiet = announceDevices(devices, (event, payload, how) => ws.broadcast(event, payload, how));
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    dashboard: `http://127.0.0.1:${port}/#token=${TOKEN}`,
    chat,
    ws,
    devices,
    calls,
    state,
    get config() {
      return box.config;
    },
    set config(next) {
      box.config = next;
      ws.revalidate();
    },
    async [Symbol.asyncDispose]() {
      quiet();
      await ws.shutdown({ reason: "gateway stopping", restartExpectedMs: null });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
