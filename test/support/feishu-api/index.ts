import { createCipheriv, createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { decodeFrame, encodeFrame, headerOf } from "../../../src/channels/lark/frames.ts";
import { createWaiting } from "../waiting.ts";
import { botOpenId, newId, type Platform, type Recorded } from "./platform.ts";
import { answer } from "./routes.ts";

export { botOpenId } from "./platform.ts";
export type { Recorded } from "./platform.ts";

export interface Fault {
  readonly status?: number | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string> | undefined;
  /** Only calls whose path contains this. */
  readonly path?: string | undefined;
  /** Held until `release`, then answered as usual. */
  readonly hold?: boolean | undefined;
  /** The platform does what it was asked, and the connection breaks before its answer. */
  readonly loseAnswer?: boolean | undefined;
}

export interface FakeMessage {
  readonly openId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly appId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly type?: string | undefined;
  readonly content?: object | string | undefined;
  /** Fields over those of `event.message`. */
  readonly extra?: Record<string, unknown> | undefined;
  readonly sender?: Record<string, unknown> | undefined;
  /** Frames that the event comes in. */
  readonly parts?: number | undefined;
}

export const APP = "cli_a1b2c3d4e5f60718";
export const APP2 = "cli_a1b2c3d4e5f60719";
export const ALICE = "ou_alice";
export const BOB = "ou_bob";
export const GROUP = "oc_team";

/** Feishu's open platform on loopback: REST, card kit and the long connection on one port. */
export async function startFakeFeishu(options: { readonly apps?: Readonly<Record<string, string>>; readonly tokenSeconds?: number } = {}) {
  const waiting = createWaiting(() => JSON.stringify(calls.map(({ method, path }) => `${method} ${path}`).slice(-30)));
  let port = 0;
  const url = (): string => `http://127.0.0.1:${port}`;
  const platform: Platform = {
    apps: new Map(Object.entries(options.apps ?? { [APP]: "secret1", [APP2]: "secret2" })), tokens: new Map(), tickets: new Map(), users: new Map([[ALICE, "Alice"], [BOB, "Bob"]]), chats: new Map([[GROUP, { name: "Team", mode: "group" }]]),
    messages: new Map(), uuids: new Map(), reactions: new Map(), cards: new Map(), images: new Map(), files: new Map(), resources: new Map(), docs: new Map(), members: new Map(), records: new Map(), tokenSeconds: options.tokenSeconds ?? 7200, url,
  };
  const calls: Recorded[] = [];
  const faults: (Fault & { left: number })[] = [];
  const held: (() => void)[] = [];
  const sockets = new Map<WebSocket, string>();
  const acks: { readonly id: string; readonly code: number; readonly data: unknown }[] = [];
  let pings = 0;
  let connections = 0;
  let isMute = false;

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const at = new URL(req.url ?? "/", url());
    const isJson = String(req.headers["content-type"]).includes("json");
    const call: Recorded = { method: req.method ?? "GET", path: at.pathname, query: at.searchParams, headers: req.headers, bytes, body: isJson ? (JSON.parse(bytes.toString("utf8")) as unknown) : {} };
    calls.push(call);
    const fault = faults.find((one) => one.left > 0 && (one.path === undefined || call.path.includes(one.path)));
    if (fault) fault.left--;
    waiting.changed();
    if (fault?.hold) await new Promise<void>((resolve) => held.push(resolve));
    const given = fault && !fault.hold && !fault.loseAnswer ? { status: fault.status ?? 500, body: fault.body ?? {}, headers: fault.headers } : answer(platform, call);
    waiting.changed();
    if (fault?.loseAnswer) return void res.destroy();
    if (res.destroyed) return;
    const raw = "raw" in given ? given.raw : undefined;
    res.writeHead(given.status, { ...(raw ? {} : { "content-type": "application/json; charset=utf-8" }), ...given.headers });
    res.end(raw ?? JSON.stringify(given.body ?? {}));
  }

  const server = createServer((req, res) => void serve(req, res).catch((err: unknown) => res.destroy(err instanceof Error ? err : undefined)));
  const streams = new WebSocketServer({ noServer: true });
  server.on("upgrade", (req, socket, head) => {
    const device = new URL(req.url ?? "/", url()).searchParams.get("device_id") ?? "";
    const app = platform.tickets.get(device);
    platform.tickets.delete(device);
    if (app === undefined) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    streams.handleUpgrade(req, socket, head, (ws) => {
      ws.on("message", (raw: Buffer) => {
        const frame = decodeFrame(raw);
        const payload = frame.payload?.length ? (JSON.parse(Buffer.from(frame.payload).toString("utf8")) as { code: number; data?: string }) : undefined;
        if (headerOf(frame, "type") === "ping") {
          pings++;
          if (frame.service === 33554678 && !isMute) ws.send(encodeFrame({ ...frame, headers: [["type", "pong"]], payload: Buffer.from(JSON.stringify({ PingInterval: 120 })) }));
        } else if (headerOf(frame, "biz_rt") !== undefined && payload) {
          acks.push({ id: headerOf(frame, "message_id") ?? "", code: payload.code, data: payload.data === undefined ? undefined : (JSON.parse(Buffer.from(payload.data, "base64").toString("utf8")) as unknown) });
        }
        waiting.changed();
      });
      ws.on("close", () => {
        sockets.delete(ws);
        waiting.changed();
      });
      sockets.set(ws, app);
      connections++;
      waiting.changed();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;

  /** To the newest connection of the app; the id by which it is acknowledged. */
  function sendEvent(event: unknown, appId = APP, parts = 1): string {
    const id = randomUUID();
    const ws = [...sockets].filter(([, app]) => app === appId).at(-1)?.[0];
    if (!ws) throw new Error(`${appId} is not connected`);
    const payload = Buffer.from(typeof event === "string" ? event : JSON.stringify(event));
    const size = Math.ceil(payload.length / parts);
    // The last part first: they come in any order.
    for (let seq = parts - 1; seq >= 0; seq--) {
      ws.send(encodeFrame({
        seqId: 1n, logId: 18_446_744_073_709_551_000n, service: 33554678, method: 1, headers: [["type", "event"], ["message_id", id], ["sum", String(parts)], ["seq", String(seq)], ["trace_id", "t"]],
        payloadEncoding: "json", payloadType: "json", payload: payload.subarray(seq * size, (seq + 1) * size), logIdNew: "log",
      }));
    }
    return id;
  }

  const envelope = (eventType: string, event: object, appId = APP): Record<string, unknown> => ({ schema: "2.0", header: { event_id: randomUUID(), token: "vtok", create_time: String(Date.now()), event_type: eventType, tenant_key: "t1", app_id: appId }, event });

  function messageEvent(message: FakeMessage, fields: Record<string, unknown>): Record<string, unknown> {
    const openId = message.openId ?? ALICE;
    const messageId = message.messageId ?? newId("om");
    const content = message.content ?? {};
    const chatId = String(fields["chat_id"]);
    const type = message.type ?? "text";
    const text = typeof content === "string" ? content : JSON.stringify(content);
    platform.messages.set(messageId, { id: messageId, chatId, type, content: text, sender: { id: openId, sender_type: "user" } });
    return envelope("im.message.receive_v1", {
      sender: { sender_id: { open_id: openId, union_id: openId.replace("ou_", "on_"), user_id: openId.replace("ou_", "uid") }, sender_type: "user", tenant_key: "t1", ...message.sender },
      message: { message_id: messageId, create_time: String(Date.now()), message_type: type, content: text, ...fields, ...message.extra },
    }, message.appId);
  }

  function inject(event: Record<string, unknown>, message: FakeMessage) {
    const { message: sent } = event["event"] as { message: { message_id: string } };
    return { messageId: sent.message_id, event, ackId: sendEvent(event, message.appId, message.parts) };
  }

  const mentionOf = (openId: string, name: string, at = 1): object => ({ key: `@_user_${at}`, id: { open_id: openId }, name, tenant_key: "t1" });
  const directEvent = (text: string, message: FakeMessage = {}): Record<string, unknown> =>
    messageEvent({ content: { text }, ...message }, { chat_id: `oc_dm${message.openId ?? ALICE}`, chat_type: "p2p" });
  const groupEvent = (text: string, message: FakeMessage & { readonly mention?: boolean } = {}): Record<string, unknown> => {
    const isNamed = message.mention !== false;
    return messageEvent({ content: { text: isNamed ? `@_user_1 ${text}` : text }, ...message }, {
      chat_id: message.chatId ?? GROUP, chat_type: "group", ...(isNamed ? { mentions: [mentionOf(botOpenId(message.appId ?? APP), "Claw")] } : {}),
    });
  };

  /** What the bot said, as people read it; recalled messages are gone. */
  const texts = (): string[] => [...platform.messages.values()].filter((one) => one.sender.sender_type === "app" && !one.isRecalled).map((one) => {
    const content = JSON.parse(one.content) as { zh_cn?: { content: { text?: string }[][] }; type?: string; data?: { card_id: string }; body?: { elements: { content?: string }[] } };
    if (content.type === "card") return platform.cards.get(content.data?.card_id ?? "")?.text ?? "";
    if (content.body) return content.body.elements[0]?.content ?? "";
    return content.zh_cn?.content.flat().map((part) => part.text).join("") ?? `[${one.type}]`;
  });

  return {
    url: url(), env: { OPENCLAW_FEISHU_API_ROOT: url() }, platform, acks, waitUntil: waiting.until, texts, envelope, directEvent, groupEvent, mentionOf, sendEvent,
    calls: (path = "", method?: string): Recorded[] => calls.filter((call) => call.path.includes(path) && (method === undefined || call.method === method)),
    sent: () => [...platform.messages.values()].filter((one) => one.sender.sender_type === "app"),
    cards: () => [...platform.cards.values()],
    reactionNames: () => [...platform.reactions.values()].map((one) => one.name),
    pings: () => pings,
    connections: () => connections,
    open: () => sockets.size,
    connected: (count = 1) => waiting.until(() => sockets.size > 0 && connections >= count, `connection ${count}`),
    acked: (ackId: string) => waiting.until(() => acks.find((ack) => ack.id === ackId), "acknowledgement"),
    injectDirect: (text: string, message: FakeMessage = {}) => inject(directEvent(text, message), message),
    injectGroup: (text: string, message: FakeMessage & { readonly mention?: boolean } = {}) => inject(groupEvent(text, message), message),
    injectAgain: (event: Record<string, unknown>, appId?: string): string => sendEvent(event, appId),
    injectEvent: (type: string, event: object, appId?: string): string => sendEvent(envelope(type, event, appId), appId),
    /** Bytes as they are, to every connection. */
    sendRaw: (bytes: Buffer | string): void => {
      for (const ws of sockets.keys()) ws.send(bytes);
    },
    /** A file of a message that somebody sends. */
    resource(messageId: string, key: string, bytes: Buffer, mimeType: string): void {
      platform.resources.set(`${messageId} ${key}`, { bytes, mimeType });
    },
    failNext: (count: number, fault: Fault) => void faults.push({ ...fault, left: count }),
    release(): void {
      for (const go of held.splice(0)) go();
    },
    expireTokens: () => platform.tokens.clear(),
    dropSockets(): void {
      for (const ws of sockets.keys()) ws.terminate();
    },
    /** Answers no ping from now on. */
    mute: (value: boolean) => void (isMute = value),
    async [Symbol.asyncDispose](): Promise<void> {
      for (const go of held.splice(0)) go();
      for (const ws of sockets.keys()) ws.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
export type FakeFeishu = Awaited<ReturnType<typeof startFakeFeishu>>;

/** A callback as the platform posts it. */
export function signedCallback(event: unknown, keys: { readonly encryptKey?: string | undefined; readonly timestamp?: number | undefined; readonly signWith?: string | undefined }) {
  const plain = JSON.stringify(event);
  if (keys.encryptKey === undefined) return { body: plain, headers: { "content-type": "application/json" } };
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-256-cbc", createHash("sha256").update(keys.encryptKey).digest(), iv);
  const body = JSON.stringify({ encrypt: Buffer.concat([iv, cipher.update(plain, "utf8"), cipher.final()]).toString("base64") });
  const timestamp = String(Math.floor((keys.timestamp ?? Date.now()) / 1000));
  const nonce = randomUUID();
  const signature = createHash("sha256").update(timestamp + nonce + (keys.signWith ?? keys.encryptKey) + body).digest("hex");
  return { body, headers: { "content-type": "application/json", "x-lark-request-timestamp": timestamp, "x-lark-request-nonce": nonce, "x-lark-signature": signature } };
}
