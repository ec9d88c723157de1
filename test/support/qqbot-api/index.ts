import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { createWaiting } from "../waiting.ts";
import { type CallbackAnswer, createCallbacks } from "./callback.ts";
import { createStreams } from "./streams.ts";
import { createUploads } from "./uploads.ts";

/** A person, a group and a guild of the emulator. */
export const ALICE = "A11CE000000000000000000000000001";
export const GROUP = "6E0000000000000000000000000000AA";
export const CHANNEL = "5001";
export const GUILD = "9001";

export interface QQCall {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
}

interface Failure {
  left: number;
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The connection breaks in the middle of the answer. */
  readonly cut?: boolean | undefined;
  readonly path?: RegExp | undefined;
}

interface Link {
  readonly socket: WebSocket;
  session: string | undefined;
  /** It answers heartbeats. */
  mute: boolean;
}

const C2C_WINDOW_MS = 60 * 60_000;
const GROUP_WINDOW_MS = 5 * 60_000;
const MAX_PASSIVE = 5;

/** QQ's open platform on loopback: tokens, the event socket, messages and files. Source: spec channels-cn §1. */
export async function startFakeQQ(options: { readonly appId?: string; readonly secret?: string; readonly heartbeatMs?: number; readonly otherApps?: Readonly<Record<string, string>> } = {}) {
  const { appId = "102000001", secret = "qq-secret", heartbeatMs = 10_000 } = options;
  const calls: QQCall[] = [];
  const sent: { readonly path: string; readonly text: string; readonly body: Readonly<Record<string, unknown>> }[] = [];
  const failures: Failure[] = [];
  const apps = new Map([[appId, secret], ...Object.entries(options.otherApps ?? {})]);
  /** Token → app. */
  const tokens = new Map<string, string>();
  const received = new Map<string, { readonly atMs: number; readonly scene: "users" | "groups"; readonly seqs: Set<number> }>();
  const files = new Map<string, { readonly bytes: Buffer; readonly type: string }>();
  const sessions = new Map<string, { readonly app: string; seq: number; readonly log: { readonly s: number; readonly t: string; readonly d: unknown; readonly id?: string }[] }>();
  const links = new Set<Link>();
  const identified: { readonly op: number; readonly d: Record<string, unknown> }[] = [];
  const waiting = createWaiting(() => JSON.stringify(sent));
  const uploads = createUploads(() => origin);
  const streams = createStreams();
  const callbacks = createCallbacks(secret);
  const callbackAnswers: CallbackAnswer[] = [];
  let callbackUrl: string | undefined;
  let refusedSessions = 0;
  let ready: unknown;
  let ignored = 0;
  let origin = "";
  let active = true;

  const json = (res: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void => void res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString("utf8");
    const path = req.url ?? "/";
    if (path.startsWith("/media/")) {
      const file = files.get(path);
      return file ? void res.writeHead(200, { "content-type": file.type }).end(file.bytes) : json(res, 404, {});
    }
    if (path.startsWith("/parts/")) return void res.writeHead(uploads.put(path, Buffer.concat(chunks))).end();
    const body = (raw === "" ? {} : JSON.parse(raw)) as Record<string, unknown>;
    const token = /^QQBot (.+)$/.exec(req.headers.authorization ?? "")?.[1];
    calls.push({ method: req.method ?? "", path, body, token });
    waiting.changed();
    // "is typing" is no message: what is to fail are those.
    const failure = failures.find((one) => one.left > 0 && body["msg_type"] !== 6 && (one.path?.test(path) ?? true));
    if (failure) {
      failure.left--;
      if (failure.cut) return void res.writeHead(failure.status, { "content-type": "application/json", "content-length": "1000" }).write("{", () => res.destroy());
      return json(res, failure.status, failure.body, failure.headers);
    }
    if (path === "/app/getAppAccessToken") {
      if (body["clientSecret"] === undefined || apps.get(String(body["appId"])) !== body["clientSecret"]) return json(res, 200, { code: 100016, message: "invalid appid or secret" });
      const fresh = randomUUID();
      tokens.set(fresh, String(body["appId"]));
      return json(res, 200, { access_token: fresh, expires_in: "7200" });
    }
    if (token === undefined || !tokens.has(token)) return json(res, 401, { code: 11244, message: "token expired" });
    answer(req.method ?? "GET", path, body, res);
  }

  function answer(method: string, path: string, body: Record<string, unknown>, res: ServerResponse): void {
    if (path === "/gateway") return json(res, 200, { url: origin.replace(/^http/, "ws") });
    if (path === "/users/@me") return json(res, 200, { id: "bot-1", username: "Robot" });
    if (method === "PUT" && path.startsWith("/interactions/")) return json(res, 200, {});
    const large = uploads.answer(path, body);
    if (large) return json(res, ...large);
    const streamed = /^\/v2\/users\/([^/]+)\/stream_messages$/.exec(path)?.[1];
    if (streamed !== undefined) {
      const result = streams.answer(streamed, body, () => refusalOf(body, "users"));
      waiting.changed();
      return json(res, ...result);
    }
    const upload = /^\/v2\/(users|groups)\/[^/]+\/files$/.exec(path);
    if (upload) {
      if (typeof body["file_data"] !== "string" && typeof body["url"] !== "string") return json(res, 400, { code: 304080, message: "no file" });
      return json(res, 200, { file_uuid: randomUUID(), file_info: `info-${String(body["file_type"])}`, ttl: 3600 });
    }
    const message = /^\/(?:v2\/(users|groups)|(channels|dms))\/([^/]+)\/messages$/.exec(path);
    if (method !== "POST" || !message) return json(res, 404, { code: 404, message: "no such path" });
    const refusal = refusalOf(body, message[1] as "users" | "groups" | undefined);
    if (refusal) return json(res, 400, refusal);
    const { markdown } = body as { markdown?: { content?: string } };
    if (body["msg_type"] !== 6) sent.push({ path, text: String(markdown?.content ?? body["content"] ?? ""), body });
    waiting.changed();
    json(res, 200, { id: `sent-${sent.length}`, timestamp: new Date().toISOString(), ext_info: { ref_idx: `REFIDX_${sent.length}` } });
  }

  /** What QQ refuses: an unknown or worn out message to answer, a number used twice, unasked messages where they are off. */
  function refusalOf(body: Record<string, unknown>, scene: "users" | "groups" | undefined): object | undefined {
    const isEmpty = body["msg_type"] === 0 && body["content"] === "";
    if (isEmpty) return { code: 304061, message: "empty message" };
    if (scene === undefined) return undefined;
    const { msg_id, event_id, msg_seq: seq } = body;
    const msgId = msg_id ?? event_id;
    if (msgId === undefined) return active ? undefined : { code: 40_034_102, message: "no permission for active messages" };
    const asked = received.get(String(msgId));
    if (!asked) return { code: 304026, message: "msg_id is not valid" };
    if (Date.now() - asked.atMs > (asked.scene === "users" ? C2C_WINDOW_MS : GROUP_WINDOW_MS)) return { code: 304027, message: "msg_id expired" };
    if (typeof seq !== "number" || asked.seqs.has(seq)) return { code: 40_054_005, message: "duplicate msg_seq" };
    if (asked.seqs.size >= MAX_PASSIVE) return { code: 304027, message: "replies used up" };
    asked.seqs.add(seq);
    return undefined;
  }

  const server = createServer((req, res) => {
    serve(req, res).catch((err: unknown) => json(res, 500, { message: String(err) }));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    const link: Link = { socket, session: undefined, mute: false };
    links.add(link);
    socket.on("close", () => links.delete(link));
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as { op: number; d: Record<string, unknown> };
      if (frame.op === 1 && !link.mute) socket.send(JSON.stringify({ op: 11 }));
      if ((frame.op === 2 || frame.op === 6) && ignored-- > 0) return void identified.push(frame);
      if (frame.op === 2 || frame.op === 6) join(link, frame);
    });
    socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: heartbeatMs } }));
  });

  function join(link: Link, frame: { op: number; d: Record<string, unknown> }): void {
    identified.push(frame);
    const token = /^QQBot (.+)$/.exec(String(frame.d["token"]))?.[1];
    const app = token === undefined ? undefined : tokens.get(token);
    if (app === undefined) return link.socket.close(4004, "token");
    if (frame.op === 6) {
      const known = sessions.get(String(frame.d["session_id"]));
      if (!known) return link.socket.send(JSON.stringify({ op: 9, d: false }));
      link.session = String(frame.d["session_id"]);
      for (const event of known.log) if (event.s > Number(frame.d["seq"])) link.socket.send(JSON.stringify({ op: 0, ...event }));
      known.seq++;
      link.socket.send(JSON.stringify({ op: 0, s: known.seq, t: "RESUMED", d: "" }));
    } else if (refusedSessions > 0) {
      refusedSessions--;
      link.socket.send(JSON.stringify({ op: 9, d: false }));
    } else {
      link.session = randomUUID();
      sessions.set(link.session, { app, seq: 1, log: [] });
      link.socket.send(JSON.stringify({ op: 0, s: 1, t: "READY", d: ready ?? { session_id: link.session, user: { id: "bot-1", username: "Robot" } } }));
      ready = undefined;
    }
    waiting.changed();
  }

  function dispatch(t: string, d: Record<string, unknown>, app = appId, eventId?: string): void {
    if (callbackUrl !== undefined) {
      void callbacks.post(callbackUrl, { op: 0, id: eventId ?? `${t}:${String(d["id"])}`, s: 1, t, d }).then((answer) => {
        callbackAnswers.push(answer);
        waiting.changed();
      });
      return;
    }
    for (const [id, session] of sessions) {
      if (session.app !== app) continue;
      const event = { s: ++session.seq, t, d, ...(eventId === undefined ? {} : { id: eventId }) };
      session.log.push(event);
      for (const link of links) if (link.session === id) link.socket.send(JSON.stringify({ op: 0, ...event }));
    }
  }

  let count = 0;
  const inject = (t: string, scene: "users" | "groups", text: string, more: Record<string, unknown>, app?: string): Record<string, unknown> => {
    const d = { id: `ROBOT1.0_${++count}`, content: text, timestamp: new Date().toISOString(), ...more };
    received.set(d.id, { atMs: Date.now(), scene, seqs: new Set() });
    dispatch(t, d, app);
    return d;
  };

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: origin, appId, secret, identified,
    env: { OPENCLAW_QQBOT_API_ROOT: origin, OPENCLAW_QQBOT_TOKEN_ROOT: origin },
    calls: () => calls,
    sent: () => sent,
    texts: () => sent.map(({ text }) => text),
    injectDirect: (text: string, more: Record<string, unknown> = {}, app?: string) => inject("C2C_MESSAGE_CREATE", "users", text, { author: { user_openid: ALICE }, ...more }, app),
    injectGroup: (text: string, more: Record<string, unknown> = {}) => inject("GROUP_AT_MESSAGE_CREATE", "groups", text, { author: { member_openid: ALICE }, group_openid: GROUP, ...more }),
    injectGuild: (text: string, more: Record<string, unknown> = {}) => inject("AT_MESSAGE_CREATE", "groups", text, { author: { id: "77", username: "Ada" }, channel_id: CHANNEL, guild_id: GUILD, member: { nick: "Countess" }, ...more }),
    injectGuildDirect: (text: string, more: Record<string, unknown> = {}) => inject("DIRECT_MESSAGE_CREATE", "groups", text, { author: { id: "77", username: "Ada" }, channel_id: "7001", guild_id: "8001", ...more }),
    /** A button; the id of the event is what may be answered. */
    press: (text: string, place: Record<string, unknown>): string => {
      const eventId = `INTERACTION_CREATE:${++count}`;
      received.set(eventId, { atMs: Date.now(), scene: place["group_openid"] === undefined ? "users" : "groups", seqs: new Set() });
      dispatch("INTERACTION_CREATE", { id: `i-${count}`, type: 11, ...place, data: { type: 11, resolved: { button_data: text, ...(place["channel_id"] === undefined ? {} : { user_id: "77" }) } } }, appId, eventId);
      return eventId;
    },
    callbacks, callbackAnswers: () => callbackAnswers,
    /** Events go to this address from now on, once it has proved to be the bot's. @throws Error */
    async callAt(url: string): Promise<void> {
      await callbacks.checkAddress(url);
      callbackUrl = url;
    },
    /** A frame as it is, to every connection. */
    sendRaw: (frame: string | Buffer): void => {
      for (const { socket } of links) socket.send(frame);
    },
    /** The next so many sign-ins get no answer at all. */
    ignoreSignIns: (count: number) => void (ignored = count),
    /** New sessions begin with this instead. */
    readyWith: (d: unknown) => void (ready = d),
    streams: streams.all,
    uploadedInParts: uploads.whole,
    delayParts: uploads.delayParts,
    /** The next so many new sessions are answered with "invalid session". */
    refuseSessions: (count: number) => void (refusedSessions = count),
    /** Any event, as it is. */
    dispatch,
    failNext: (left: number, failure: Omit<Failure, "left">) => void failures.push({ left, ...failure }),
    expireTokens: () => tokens.clear(),
    /** Bots may (or may not) write without being asked. */
    allowActive: (allowed: boolean) => void (active = allowed),
    /** The same event once more, in every session. */
    repeat: () => {
      for (const { log } of sessions.values()) {
        const event = log.at(-1);
        for (const { socket } of links) if (event) socket.send(JSON.stringify({ op: 0, ...event }));
      }
    },
    forgetSessions: () => sessions.clear(),
    closeWindows: () => received.clear(),
    dropSockets: (code?: number) => {
      for (const { socket } of links) if (code === undefined) socket.terminate(); else socket.close(code);
    },
    askToReconnect: () => {
      for (const { socket } of links) socket.send(JSON.stringify({ op: 7 }));
    },
    muteHeartbeats: () => {
      for (const link of links) link.mute = true;
    },
    file: (name: string, bytes: Buffer, type: string): string => {
      files.set(`/media/${name}`, { bytes, type });
      return `${origin}/media/${name}`;
    },
    connected: () => waiting.until(() => [...links].some(({ session }) => session !== undefined), "a connection"),
    waitUntil: waiting.until,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const { socket } of links) socket.terminate();
      sockets.close();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
