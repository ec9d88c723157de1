import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { createWaiting } from "../waiting.ts";
import { answer, type Platform } from "./routes.ts";

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly bytes: Buffer;
}

export interface Fault {
  readonly status?: number | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string> | undefined;
  /** Only calls whose path contains this. */
  readonly path?: string | undefined;
  /** Held until `release`, then answered as usual. */
  readonly hold?: boolean | undefined;
}

export interface Acked {
  readonly messageId: string;
  readonly code: number;
}

export interface FakeMessage {
  readonly staffId?: string | undefined;
  readonly nick?: string | undefined;
  readonly msgId?: string | undefined;
  readonly clientId?: string | undefined;
  /** ms until the session webhook ends; default two hours. */
  readonly webhookMs?: number | undefined;
  /** Fields over those of a text message. */
  readonly extra?: Record<string, unknown> | undefined;
}

export const ALICE = "manager123";
export const GROUP = "cidGroupA+/x==";

/** DingTalk on loopback: both APIs and the Stream gateway on one port. */
export async function startFakeDingTalk(options: { readonly apps?: Readonly<Record<string, string>>; readonly tokenSeconds?: number } = {}) {
  const waiting = createWaiting(() => JSON.stringify(calls.map(({ method, path }) => `${method} ${path}`).slice(-30)));
  let port = 0;
  const url = (): string => `http://127.0.0.1:${port}`;
  const platform: Platform = {
    apps: new Map(Object.entries(options.apps ?? { app1: "secret1" })), tokens: new Set(), oldTokens: new Set(), tickets: new Map(), sessions: new Map(), sent: new Set(), subscribed: new Set(), staff: new Set([ALICE, "bob"]), groups: new Set([GROUP]),
    files: new Map(), media: new Map(), cards: new Map(), url, tokenSeconds: options.tokenSeconds ?? 7200,
  };
  const calls: Recorded[] = [];
  const faults: (Fault & { left: number })[] = [];
  const refused = new Set<Recorded>();
  const held: (() => void)[] = [];
  const sockets = new Map<WebSocket, string>();
  const acks: Acked[] = [];
  const pongs: unknown[] = [];
  let connections = 0;
  let isMute = false;
  let sendsAway = false;

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const at = new URL(req.url ?? "/", url());
    const isJson = String(req.headers["content-type"]).includes("json");
    const call: Recorded = { method: req.method ?? "GET", path: at.pathname, query: at.searchParams, headers: req.headers, bytes, body: isJson ? (JSON.parse(bytes.toString("utf8")) as unknown) : {} };
    calls.push(call);
    waiting.changed();
    const fault = faults.find((one) => one.left > 0 && (one.path === undefined || call.path.includes(one.path)));
    if (fault) fault.left--;
    if (fault && !fault.hold) refused.add(call);
    if (fault?.hold) await new Promise<void>((resolve) => held.push(resolve));
    const given = fault && !fault.hold ? { status: fault.status ?? 500, body: fault.body ?? {}, headers: fault.headers } : answer(platform, call);
    if (res.destroyed) return;
    const raw = "raw" in given ? given.raw : undefined;
    res.writeHead(given.status, { ...(raw ? {} : { "content-type": "application/json" }), ...given.headers });
    res.end(raw ?? JSON.stringify(given.body ?? {}));
  }

  const server = createServer((req, res) => void serve(req, res).catch((err: unknown) => res.destroy(err instanceof Error ? err : undefined)));
  const streams = new WebSocketServer({ noServer: true });
  server.on("upgrade", (req, socket, head) => {
    const ticket = new URL(req.url ?? "/", url()).searchParams.get("ticket") ?? "";
    const app = platform.tickets.get(ticket);
    platform.tickets.delete(ticket);
    if (app === undefined) return void socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    streams.handleUpgrade(req, socket, head, (ws) => {
      ws.on("message", (raw: Buffer) => {
        const frame = JSON.parse(raw.toString("utf8")) as { code: number; headers: { messageId: string; topic?: string }; data: string };
        if (frame.headers.topic === "ping") pongs.push(JSON.parse(frame.data));
        else acks.push({ messageId: frame.headers.messageId, code: frame.code });
        waiting.changed();
      });
      ws.on("close", () => {
        sockets.delete(ws);
        waiting.changed();
      });
      if (isMute) ws.pong = () => undefined;
      sockets.set(ws, app);
      connections++;
      if (sendsAway) sendFrame("SYSTEM", "disconnect", {}, app);
      waiting.changed();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;

  /** To the newest connection of the app; the id by which it is acknowledged. */
  function sendFrame(type: string, topic: string, data: unknown, clientId = "app1"): string {
    const messageId = randomUUID();
    const ws = [...sockets].filter(([, app]) => app === clientId).at(-1)?.[0];
    if (!ws) throw new Error(`${clientId} is not connected`);
    ws.send(JSON.stringify({ specVersion: "1.0", type, headers: { topic, messageId, contentType: "application/json", time: String(Date.now()) }, data: JSON.stringify(data) }));
    return messageId;
  }

  function robotMessage(message: FakeMessage, fields: Record<string, unknown>): Record<string, unknown> {
    const session = randomUUID();
    const endsAt = Date.now() + (message.webhookMs ?? 7_200_000);
    platform.sessions.set(session, endsAt);
    const staffId = message.staffId ?? ALICE;
    const isOutside = staffId.startsWith("$:");
    return {
      chatbotCorpId: "corp", chatbotUserId: "$:LWCP_v1:bot", msgId: message.msgId ?? `msg-${randomUUID()}`, senderNick: message.nick ?? "Alice", isAdmin: false, ...(isOutside ? {} : { senderStaffId: staffId }),
      senderId: isOutside ? staffId : `$:LWCP_v1:${staffId}`, robotCode: message.clientId ?? "app1", createAt: Date.now(), sessionWebhook: `${url()}/robot/sendBySession?session=${session}`, sessionWebhookExpiredTime: endsAt,
      msgtype: "text", ...fields, ...message.extra,
    };
  }
  const inject = (data: Record<string, unknown>, clientId?: string): { msgId: string; ackId: string; data: Record<string, unknown> } => ({ msgId: String(data["msgId"]), data, ackId: sendFrame("CALLBACK", "/v1.0/im/bot/messages/get", data, clientId) });

  const textsOf = (list: readonly Recorded[]): string[] => list.flatMap(({ path, body }) => {
    const sent = body as { msgParam?: string; markdown?: { text: string }; text?: { content: string } };
    if (path === "/robot/sendBySession") return [sent.markdown?.text ?? sent.text?.content ?? ""];
    if (!/batchSend$|groupMessages\/send$/.test(path)) return [];
    const param = JSON.parse(sent.msgParam ?? "{}") as { text?: string; content?: string };
    return [param.text ?? param.content ?? ""];
  });

  return {
    url: url(), env: { OPENCLAW_DINGTALK_API_ROOT: url(), OPENCLAW_DINGTALK_OAPI_ROOT: url() }, platform, acks, pongs, waitUntil: waiting.until,
    calls: (path = ""): Recorded[] => calls.filter((call) => call.path.includes(path)),
    /** Of all messages sent, refused ones as well. */
    texts: () => textsOf(calls),
    /** Of those that were taken. */
    standing: () => textsOf(calls.filter((call) => !refused.has(call))),
    connections: () => connections,
    open: () => sockets.size,
    connected: (count = 1) => waiting.until(() => sockets.size > 0 && connections >= count, `connection ${count}`),
    acked: (ackId: string) => waiting.until(() => acks.find((ack) => ack.messageId === ackId), "acknowledgement"),
    /** A button of a card. */
    press: (outTrackId: string, params: Record<string, unknown>, { userId = ALICE, actionId = "b1" }: { readonly userId?: string; readonly actionId?: string } = {}): string => {
      if (!platform.subscribed.has("/v1.0/card/instances/callback")) throw new Error("nobody subscribed to cards");
      const content = JSON.stringify({ cardPrivateData: { actionIds: [actionId], params } });
      return sendFrame("CALLBACK", "/v1.0/card/instances/callback", { type: "actionCallback", corpId: "corp", outTrackId, userId, userIdType: 1, spaceType: "IM", content, value: content });
    },
    /** A frame as it is, to every connection. */
    sendRaw: (frame: string | Buffer): void => {
      for (const ws of sockets.keys()) ws.send(frame);
    },
    sendFrame,
    injectDirect: (text: string, message: FakeMessage = {}) => inject(robotMessage(message, { conversationId: `cidDm${message.staffId ?? ALICE}`, conversationType: "1", text: { content: text } }), message.clientId),
    injectGroup: (text: string, message: FakeMessage & { readonly mention?: boolean; readonly cid?: string } = {}) =>
      inject(robotMessage(message, { conversationId: message.cid ?? GROUP, conversationType: "2", conversationTitle: "Team", isInAtList: message.mention !== false, atUsers: [{ dingtalkId: "$:LWCP_v1:bot" }], text: { content: ` ${text}` } }), message.clientId),
    injectAgain: (data: Record<string, unknown>, clientId?: string) => inject(data, clientId),
    file(bytes: Buffer, mimeType: string): string {
      const code = randomUUID();
      platform.files.set(code, { bytes, mimeType });
      return code;
    },
    failNext: (count: number, fault: Fault) => void faults.push({ ...fault, left: count }),
    release(): void {
      for (const go of held.splice(0)) go();
    },
    expireTokens(): void {
      platform.tokens.clear();
      platform.oldTokens.clear();
    },
    expireSessions(): void {
      for (const session of platform.sessions.keys()) platform.sessions.set(session, 0);
    },
    dropSockets(): void {
      for (const ws of sockets.keys()) ws.terminate();
    },
    /** Each new connection is told at once to go. */
    sendAway: (value: boolean) => void (sendsAway = value),
    /** New connections answer no ping. */
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
export type FakeDingTalk = Awaited<ReturnType<typeof startFakeDingTalk>>;
