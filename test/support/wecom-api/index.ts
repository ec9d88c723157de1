import { createCipheriv, createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { createWaiting } from "../waiting.ts";
import { answerApp, type AppPlatform } from "./app.ts";
import { answerFrame, type BotPlatform, type Command } from "./bot.ts";

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: unknown;
}

export interface Fault {
  readonly status?: number | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string> | undefined;
  /** Only calls whose path contains this. */
  readonly path?: string | undefined;
}

export interface FrameFault {
  /** Only this command; with `finish`, only frames of a stream that end it or not. */
  readonly cmd: string;
  readonly finish?: boolean | undefined;
  readonly errcode?: number | undefined;
  /** Not acknowledged at all. */
  readonly silent?: boolean | undefined;
}

export interface FakeMessage {
  readonly userId?: string | undefined;
  readonly msgId?: string | undefined;
  readonly botId?: string | undefined;
  /** Fields over those of a text message. */
  readonly extra?: Record<string, unknown> | undefined;
}

export const ALICE = "alice";
export const GROUP = "wrGroupA0001";
export const BOT = "bot1";

/** WeCom on loopback: the socket of AI bots, the interface of apps and the file host on one port. */
export async function startFakeWecom(options: { readonly bots?: Readonly<Record<string, string>>; readonly tokenSeconds?: number } = {}) {
  const waiting = createWaiting(() => JSON.stringify(calls.map(({ method, path }) => `${method} ${path}`).slice(-30)));
  let port = 0;
  const url = (): string => `http://127.0.0.1:${port}`;
  const bots: BotPlatform = { bots: new Map(Object.entries(options.bots ?? { [BOT]: "secret1" })), requests: new Map(), streams: new Map(), uploads: new Map(), media: new Map(), sent: [], greetings: [], cardUpdates: [], mcpUrl: undefined };
  const app: AppPlatform = { corpId: "corp1", corpSecret: "corpsecret1", agentId: 1000002, tokenSeconds: options.tokenSeconds ?? 7200, tokens: new Set(), users: new Set([ALICE, "bob"]), groups: new Set(["wrOfTheApp01"]), media: new Map(), sent: [] };
  const files = new Map<string, Buffer>();
  const calls: Recorded[] = [];
  const commands: Command[] = [];
  const faults: (Fault & { left: number })[] = [];
  const frameFaults: (FrameFault & { left: number })[] = [];
  const responses: { readonly id: string; readonly text: string }[] = [];
  const responseIds = new Set<string>();
  const sockets = new Map<WebSocket, string>();
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
    const given = fault ? { status: fault.status ?? 500, body: fault.body ?? {}, headers: fault.headers } : answer(call);
    waiting.changed();
    const raw = "raw" in given ? given.raw : undefined;
    res.writeHead(given.status, { ...(raw ? {} : { "content-type": "application/json" }), ...given.headers });
    res.end(raw ?? JSON.stringify(given.body ?? {}));
  }

  function answer(call: Recorded): { readonly status: number; readonly body?: unknown; readonly raw?: Buffer; readonly headers?: Record<string, string> | undefined } {
    if (call.path.startsWith("/files/")) {
      const file = files.get(call.path);
      return file ? { status: 200, raw: file, headers: { "content-disposition": 'attachment; filename="report.pdf"' } } : { status: 404 };
    }
    if (call.path.startsWith("/response/")) {
      const id = call.path.slice("/response/".length);
      const { msgtype, markdown } = call.body as { msgtype?: string; markdown?: { content?: string } };
      if (!responseIds.delete(id) || msgtype !== "markdown") return { status: 200, body: { errcode: 846604, errmsg: "response_url invalid" } };
      responses.push({ id, text: markdown?.content ?? "" });
      return { status: 200, body: { errcode: 0, errmsg: "ok" } };
    }
    return answerApp(app, call);
  }

  const server = createServer((req, res) => void serve(req, res).catch((err: unknown) => res.destroy(err instanceof Error ? err : undefined)));
  const streams = new WebSocketServer({ noServer: true });
  server.on("upgrade", (req, socket, head) => streams.handleUpgrade(req, socket, head, (ws) => {
    ws.on("message", (raw: Buffer) => {
      const command = JSON.parse(raw.toString("utf8")) as Command;
      commands.push(command);
      waiting.changed();
      const { cmd } = command;
      if (cmd === "aibot_subscribe" && command.body?.["secret"] === bots.bots.get(String(command.body?.["bot_id"])) && command.body?.["secret"] !== undefined) {
        const botId = String(command.body["bot_id"]);
        // A bot has one connection.
        for (const [other, id] of sockets) if (id === botId) other.send(JSON.stringify({ cmd: "aibot_event_callback", headers: { req_id: randomUUID() }, body: { msgtype: "event", event: { eventtype: "disconnected_event" } } }));
        sockets.set(ws, botId);
        connections++;
      }
      if (isMute && cmd !== "aibot_subscribe") return;
      const finish = (command.body?.["stream"] as { finish?: boolean } | undefined)?.finish;
      const fault = frameFaults.find((one) => one.left > 0 && one.cmd === cmd && (one.finish === undefined || one.finish === finish));
      if (fault) fault.left--;
      if (fault?.silent) return;
      const ack = fault ? { errcode: fault.errcode ?? 40000, errmsg: "injected" } : answerFrame(bots, sockets.get(ws), command);
      ws.send(JSON.stringify({ headers: { req_id: command.headers.req_id }, errcode: 0, errmsg: "ok", ...ack }));
      waiting.changed();
    });
    ws.on("close", () => {
      sockets.delete(ws);
      waiting.changed();
    });
  }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;

  function sendFrame(cmd: string, body: Record<string, unknown>, botId = BOT): string {
    const reqId = randomUUID();
    bots.requests.set(reqId, { cmd, body, answers: 0 });
    const ws = [...sockets].find(([, id]) => id === botId)?.[0];
    if (!ws) throw new Error(`${botId} is not connected`);
    ws.send(JSON.stringify({ cmd, headers: { req_id: reqId }, body }));
    return reqId;
  }

  /** A message as both forms of the bot bring it. */
  function message(text: string, { userId = ALICE, msgId = `m-${randomUUID()}`, botId = BOT, extra = {} }: FakeMessage, place: object): Record<string, unknown> {
    const id = randomUUID();
    responseIds.add(id);
    return { msgid: msgId, aibotid: botId, from: { userid: userId }, create_time: Math.floor(Date.now() / 1000), response_url: `${url()}/response/${id}`, msgtype: "text", text: { content: text }, ...place, ...extra };
  }
  const inject = (body: Record<string, unknown>, botId?: string): { readonly reqId: string; readonly body: Record<string, unknown> } => ({ reqId: sendFrame("aibot_msg_callback", body, botId), body });

  return {
    url: url(), env: { OPENCLAW_WECOM_API_ROOT: url(), OPENCLAW_WECOM_WS_URL: `${url().replace("http", "ws")}/bot` }, bots, app, commands, responses, waitUntil: waiting.until,
    calls: (path = ""): Recorded[] => calls.filter((call) => call.path.includes(path)),
    /** Texts that stand in chats: finished streams, messages of the bot, later answers, texts of the app. */
    texts: (): string[] => [
      ...[...bots.streams.values()].filter((stream) => stream.finish).map((stream) => stream.content), ...bots.sent.flatMap((sent) => (sent.markdown ? [sent.markdown.content] : [])),
      ...responses.map(({ text }) => text), ...app.sent.flatMap((sent) => (sent.text ? [sent.text.content] : [])),
    ],
    connections: () => connections,
    connected: (count = 1) => waiting.until(() => sockets.size > 0 && connections >= count, `connection ${count}`),
    sendFrame, message,
    /** Bytes as they are, to every connection. */
    sendRaw: (bytes: Buffer | string): void => {
      for (const ws of sockets.keys()) ws.send(bytes);
    },
    injectDirect: (text: string, given: FakeMessage = {}) => inject(message(text, given, { chattype: "single" }), given.botId),
    injectGroup: (text: string, given: FakeMessage & { readonly chatId?: string } = {}) => inject(message(`@Claw ${text}`, given, { chattype: "group", chatid: given.chatId ?? GROUP }), given.botId),
    injectAgain: (body: Record<string, unknown>, botId?: string) => inject(body, botId),
    /** A file on the platform's host, encrypted as the bot gets it. */
    file(bytes: Buffer): { readonly url: string; readonly aeskey: string } {
      const key = randomBytes(32);
      const pad = 32 - (bytes.length % 32);
      const cipher = createCipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
      const path = `/files/${randomUUID()}`;
      files.set(path, Buffer.concat([cipher.update(Buffer.concat([bytes, Buffer.alloc(pad, pad)])), cipher.final()]));
      return { url: url() + path, aeskey: key.toString("base64") };
    },
    md5: (bytes: Buffer): string => createHash("md5").update(bytes).digest("hex"),
    failNext: (count: number, fault: Fault) => void faults.push({ ...fault, left: count }),
    failFrames: (count: number, fault: FrameFault) => void frameFaults.push({ ...fault, left: count }),
    expireTokens: () => app.tokens.clear(),
    dropSockets(): void {
      for (const ws of sockets.keys()) ws.terminate();
    },
    /** Nothing but subscriptions is acknowledged. */
    mute: (value: boolean) => void (isMute = value),
    async [Symbol.asyncDispose](): Promise<void> {
      for (const ws of sockets.keys()) ws.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
export type FakeWecom = Awaited<ReturnType<typeof startFakeWecom>>;
