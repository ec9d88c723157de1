import { randomUUID } from "node:crypto";
import { parseMultipart } from "../telegram-api/multipart.ts";
import type { Recorded } from "./index.ts";

/** What the platform knows of one self-built app. */
export interface AppPlatform {
  readonly corpId: string;
  readonly corpSecret: string;
  readonly agentId: number;
  readonly tokenSeconds: number;
  readonly tokens: Set<string>;
  readonly users: Set<string>;
  /** Made by the app itself. */
  readonly groups: Set<string>;
  readonly media: Map<string, { readonly type: string; readonly fileName: string; readonly bytes: Buffer; readonly mimeType: string }>;
  readonly sent: { readonly touser?: string; readonly chatid?: string; readonly msgtype: string; readonly text?: { readonly content: string }; readonly [part: string]: unknown }[];
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly raw?: Buffer;
  readonly headers?: Record<string, string>;
}

const LIMITS: Readonly<Record<string, number>> = { image: 10, voice: 2, video: 10, file: 20 };
const ok = (body: object): Answer => ({ status: 200, body: { errcode: 0, errmsg: "ok", ...body } });
const refuse = (errcode: number, errmsg: string): Answer => ({ status: 200, body: { errcode, errmsg } });

/** Source: spec channels-cn §2.5. */
export function answerApp(platform: AppPlatform, call: Recorded): Answer {
  if (call.path === "/cgi-bin/gettoken") {
    if (call.query.get("corpid") !== platform.corpId) return refuse(40013, "invalid corpid");
    if (call.query.get("corpsecret") !== platform.corpSecret) return refuse(40001, "invalid credential");
    const token = randomUUID();
    platform.tokens.add(token);
    return ok({ access_token: token, expires_in: platform.tokenSeconds });
  }
  if (!call.path.startsWith("/cgi-bin/")) return { status: 404, body: {} };
  if (!platform.tokens.has(call.query.get("access_token") ?? "")) return refuse(42001, "access_token expired");
  switch (call.path) {
    case "/cgi-bin/message/send":
      return send(platform, call.body as Record<string, unknown>);
    case "/cgi-bin/appchat/send":
      return sendToGroup(platform, call.body as Record<string, unknown>);
    case "/cgi-bin/media/upload": {
      const type = call.query.get("type") ?? "";
      const boundary = /boundary=(\S+)/.exec(String(call.headers["content-type"]))?.[1] ?? "";
      const file = parseMultipart(call.bytes, boundary).files["media"];
      if (!(type in LIMITS)) return refuse(40004, "invalid media type");
      if (!file || !/filelength=\d+/.test(call.bytes.subarray(0, 400).toString("latin1"))) return refuse(41005, "media data missing");
      if (file.bytes.length > (LIMITS[type] ?? 0) * 1024 * 1024) return refuse(45001, "media size out of limit");
      const mediaId = randomUUID();
      platform.media.set(mediaId, { type, fileName: file.fileName, bytes: file.bytes, mimeType: "application/octet-stream" });
      return ok({ type, media_id: mediaId, created_at: "1" });
    }
    case "/cgi-bin/media/get": {
      const file = platform.media.get(call.query.get("media_id") ?? "");
      return file ? { status: 200, raw: file.bytes, headers: { "content-type": file.mimeType, "content-disposition": `attachment; filename="${file.fileName}"` } } : refuse(40007, "invalid media_id");
    }
    default:
      return refuse(40066, "invalid url");
  }
}

/** Groups are the app's own; neither an agentid nor cards belong there. */
function sendToGroup(platform: AppPlatform, body: Record<string, unknown>): Answer {
  const { chatid, msgtype } = body;
  if (typeof chatid !== "string" || !platform.groups.has(chatid)) return refuse(86008, "no permission to the chat");
  if (body["agentid"] !== undefined || !["text", "markdown", "image", "voice", "video", "file"].includes(String(msgtype))) return refuse(40008, "invalid message type");
  const problem = partProblem(platform, body);
  if (problem) return problem;
  platform.sent.push(body as AppPlatform["sent"][number]);
  return ok({});
}

function partProblem(platform: AppPlatform, body: Record<string, unknown>): Answer | undefined {
  const type = String(body["msgtype"]);
  const part = body[type] as { content?: string; media_id?: string } | undefined;
  if (!part) return refuse(44004, "empty content");
  if (type === "text" && Buffer.byteLength(part.content ?? "") > 2048) return refuse(45002, "content size out of limit");
  return ["image", "voice", "video", "file"].includes(type) && platform.media.get(part.media_id ?? "")?.type !== type ? refuse(40007, "invalid media_id") : undefined;
}

function send(platform: AppPlatform, body: Record<string, unknown>): Answer {
  if (body["agentid"] !== platform.agentId) return refuse(40056, "invalid agentid");
  const problem = partProblem(platform, body);
  if (problem) return problem;
  const user = body["touser"];
  if (typeof user === "string" && !user.split("|").some((id) => platform.users.has(id))) return refuse(81013, "user & party & tag all invalid");
  if (user === undefined && body["toparty"] === undefined && body["totag"] === undefined) return refuse(81013, "no receiver");
  platform.sent.push(body as AppPlatform["sent"][number]);
  return ok({ msgid: randomUUID() });
}
