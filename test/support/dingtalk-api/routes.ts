import { randomUUID } from "node:crypto";
import { parseMultipart } from "../telegram-api/multipart.ts";
import type { Recorded } from "./index.ts";

/** What the platform knows; each emulator has its own. */
export interface Platform {
  readonly apps: ReadonlyMap<string, string>;
  readonly tokens: Set<string>;
  readonly oldTokens: Set<string>;
  /** Tickets not used yet, with the app that asked. */
  readonly tickets: Map<string, string>;
  /** Session → when it ends, ms. */
  readonly sessions: Map<string, number>;
  /** processQueryKeys of what robots sent. */
  readonly sent: Set<string>;
  /** Topics of the last connection. */
  readonly subscribed: Set<string>;
  readonly staff: Set<string>;
  readonly groups: Set<string>;
  readonly files: Map<string, { readonly bytes: Buffer; readonly mimeType: string }>;
  readonly media: Map<string, { readonly type: string; readonly fileName: string; readonly bytes: Buffer }>;
  readonly cards: Map<string, { content: string; flowStatus: string; isFinalized: boolean; isError: boolean; updates: number }>;
  readonly url: () => string;
  readonly tokenSeconds: number;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly raw?: Buffer;
  readonly headers?: Record<string, string>;
}

const ok = (body: unknown): Answer => ({ status: 200, body });
const refuse = (status: number, code: string, message: string): Answer => ({ status, body: { requestid: randomUUID(), code, message } });
const old = (errcode: number, errmsg: string): Answer => ok({ errcode, errmsg });

/** Answers as the platform does; a field that is missing or wrong is refused with its codes. */
export function answer(platform: Platform, call: Recorded): Answer {
  const { path, method } = call;
  const body = call.body as Record<string, never> & Record<string, unknown>;
  if (path === "/v1.0/oauth2/accessToken") {
    if (platform.apps.get(String(body["appKey"])) !== body["appSecret"]) return refuse(400, "invalidClientIdOrSecret", "无效的clientId或者clientSecret");
    const accessToken = randomUUID();
    platform.tokens.add(accessToken);
    return ok({ accessToken, expireIn: platform.tokenSeconds });
  }
  if (path === "/gettoken") {
    if (method !== "GET" || platform.apps.get(call.query.get("appkey") ?? "") !== call.query.get("appsecret")) return old(40089, "不合法的corpid或corpsecret");
    const token = randomUUID();
    platform.oldTokens.add(token);
    return ok({ errcode: 0, access_token: token, expires_in: 7200 });
  }
  if (path === "/v1.0/gateway/connections/open") return openConnection(platform, call, body);
  if (path === "/media/upload") return upload(platform, call);
  if (path.startsWith("/files/")) {
    const file = platform.files.get(path.slice("/files/".length));
    return file ? { status: 200, raw: file.bytes, headers: { "content-type": file.mimeType } } : { status: 404, body: {} };
  }
  if (path === "/robot/sendBySession") return bySession(platform, call, body);
  if (!path.startsWith("/v1.0/")) return { status: 404, body: {} };
  if (!platform.tokens.has(String(call.headers["x-acs-dingtalk-access-token"]))) return refuse(401, "InvalidAuthentication", "不合法的access_token");
  return withToken(platform, call, body);
}

function withToken(platform: Platform, { path, method }: Recorded, body: Record<string, unknown>): Answer {
  if (path.startsWith("/v1.0/robot/") && !platform.apps.has(String(body["robotCode"]))) return refuse(400, "invalidParameter.robotCode", "robotCode is not valid");
  switch (`${method} ${path}`) {
    case "POST /v1.0/robot/oToMessages/batchSend": {
      const users = body["userIds"] as string[] | undefined;
      if (!users?.length || users.length > 20) return refuse(400, "invalidParameter.userIds", "userIds");
      const invalidStaffIdList = users.filter((id) => !platform.staff.has(id));
      return checkMessage(platform, body) ?? ok({ processQueryKey: newMessage(platform), invalidStaffIdList, flowControlledStaffIdList: [] });
    }
    case "POST /v1.0/robot/groupMessages/send":
      if (!platform.groups.has(String(body["openConversationId"]))) return refuse(400, "invalidParameter.openConversationId", "openConversationId");
      return checkMessage(platform, body) ?? ok({ processQueryKey: newMessage(platform) });
    case "POST /v1.0/robot/otoMessages/batchRecall":
    case "POST /v1.0/robot/groupMessages/recall": {
      const keys = body["processQueryKeys"] as string[] | undefined;
      if (!keys?.length || (path.includes("group") && !body["openConversationId"])) return refuse(400, "invalidParameter.processQueryKeys", "processQueryKeys");
      const failed = keys.filter((key) => !platform.sent.has(key));
      return ok({ successResult: keys.filter((key) => platform.sent.has(key)), failedResult: Object.fromEntries(failed.map((key) => [key, "not found"])) });
    }
    case "POST /v1.0/robot/messageFiles/download": {
      const code = String(body["downloadCode"]);
      return platform.files.has(code) ? ok({ downloadUrl: `${platform.url()}/files/${code}` }) : refuse(400, "invalidParameter.downloadCode", "downloadCode");
    }
    case "POST /v1.0/robot/emotion/reply":
    case "POST /v1.0/robot/emotion/recall": {
      const emotion = body["textEmotion"] as Record<string, string> | undefined;
      if (!body["openMsgId"] || !body["openConversationId"] || body["emotionType"] !== 2 || !emotion?.["emotionId"] || !emotion["backgroundId"]) return refuse(400, "invalidParameter", "emotion");
      return ok({ success: true });
    }
    case "POST /v1.0/card/instances/createAndDeliver":
    case "PUT /v1.0/card/streaming":
    case "PUT /v1.0/card/instances":
      return card(platform, path, body);
    default:
      return refuse(404, "InvalidAction.NotFound", path);
  }
}

function newMessage(platform: Platform): string {
  const key = randomUUID();
  platform.sent.add(key);
  return key;
}

/** undefined when it may be sent. */
function checkMessage(platform: Platform, body: Record<string, unknown>): Answer | undefined {
  const { msgKey, msgParam } = body;
  if (typeof msgParam !== "string" || Buffer.byteLength(msgParam) > 15_000) return refuse(400, "invalidParameter.msgParam", "msgParam too long");
  const param = JSON.parse(msgParam) as Record<string, unknown>;
  const needed: Record<string, string[]> = { sampleText: ["content"], sampleMarkdown: ["title", "text"], sampleImageMsg: ["photoURL"], sampleAudio: ["mediaId", "duration"], sampleFile: ["mediaId", "fileName", "fileType"] };
  const names = needed[String(msgKey)];
  if (!names || names.some((name) => typeof param[name] !== "string" || param[name] === "")) return refuse(400, "invalidParameter.msgKey", String(msgKey));
  const id = param["mediaId"] ?? param["photoURL"];
  return id === undefined || platform.media.has(String(id)) ? undefined : refuse(400, "invalidParameter.mediaId", String(id));
}

function openConnection(platform: Platform, call: Recorded, body: Record<string, unknown>): Answer {
  if (platform.apps.get(String(body["clientId"])) !== body["clientSecret"]) return refuse(401, "authFailed", "鉴权失败");
  if (!String(call.headers["accept"]).includes("application/json") || !Array.isArray(body["subscriptions"])) return refuse(400, "invalidParameter", "subscriptions");
  const ticket = randomUUID();
  platform.subscribed.clear();
  for (const { topic } of body["subscriptions"] as { topic?: string }[]) platform.subscribed.add(String(topic));
  platform.tickets.set(ticket, String(body["clientId"]));
  return ok({ endpoint: `${platform.url().replace("http", "ws")}/connect`, ticket });
}

const UPLOAD_LIMITS: Readonly<Record<string, number>> = { image: 20, voice: 2, video: 20, file: 20 };

function upload(platform: Platform, call: Recorded): Answer {
  if (!platform.oldTokens.has(call.query.get("access_token") ?? "")) return old(40014, "不合法的access_token");
  const type = call.query.get("type") ?? "";
  const limit = UPLOAD_LIMITS[type];
  const boundary = /boundary=(.+)$/.exec(String(call.headers["content-type"]))?.[1];
  const file = boundary === undefined ? undefined : parseMultipart(call.bytes, boundary).files["media"];
  if (limit === undefined) return old(40004, "不合法的媒体文件类型");
  if (!file) return old(41005, "缺少文件");
  if (file.bytes.length > limit * 1024 * 1024) return old(40006, "不合法的文件大小");
  const id = `@${randomUUID()}`;
  platform.media.set(id, { type, fileName: file.fileName, bytes: file.bytes });
  return ok({ errcode: 0, errmsg: "ok", media_id: id, type });
}

function bySession(platform: Platform, call: Recorded, body: Record<string, unknown>): Answer {
  const endsAt = platform.sessions.get(call.query.get("session") ?? "");
  if (endsAt === undefined || endsAt <= Date.now()) return old(300001, "session 不存在或已过期");
  const part = body[String(body["msgtype"])] as Record<string, unknown> | undefined;
  const text = body["msgtype"] === "markdown" ? part?.["text"] : part?.["content"];
  if (typeof text !== "string" || text === "" || (body["msgtype"] === "markdown" && !part?.["title"])) return old(400402, "缺少参数");
  return old(0, "ok");
}

function card(platform: Platform, path: string, body: Record<string, unknown>): Answer {
  const id = String(body["outTrackId"]);
  const params = (body["cardData"] as { cardParamMap?: Record<string, unknown> } | undefined)?.cardParamMap ?? {};
  if (Object.values(params).some((value) => typeof value !== "string")) return refuse(400, "invalidParameter.cardParamMap", "values must be strings");
  if (path.endsWith("createAndDeliver")) {
    const space = String(body["openSpaceId"]);
    const known = [...platform.groups].some((cid) => space === `dtv1.card//IM_GROUP.${cid}`) || [...platform.staff].some((user) => space === `dtv1.card//IM_ROBOT.${user}`);
    if (!body["cardTemplateId"] || body["callbackType"] !== "STREAM" || (!body["imGroupOpenDeliverModel"] && !body["imRobotOpenDeliverModel"])) return refuse(400, "invalidParameter", "card");
    if (platform.cards.has(id)) return refuse(400, "card.exists", id);
    // As the platform: 200 even where nothing was delivered.
    if (!known) return ok({ success: true, result: { outTrackId: id, deliverResults: [{ spaceId: space, success: false, errorMsg: "space not found" }] } });
    platform.cards.set(id, { content: String(params["content"]), flowStatus: String(params["flowStatus"]), isFinalized: false, isError: false, updates: 0 });
    return ok({ success: true, result: { outTrackId: id, deliverResults: [{ spaceId: space, success: true }] } });
  }
  const found = platform.cards.get(id);
  if (!found) return refuse(400, "card.notExist", id);
  if (path.endsWith("streaming")) {
    if (!body["guid"] || body["key"] !== "content" || body["isFull"] !== true) return refuse(400, "invalidParameter", "streaming");
    if (found.isFinalized) return refuse(400, "card.finalized", id);
    Object.assign(found, { content: body["content"], isFinalized: body["isFinalize"] === true, isError: body["isError"] === true, updates: found.updates + 1 });
  } else Object.assign(found, { content: params["content"], flowStatus: params["flowStatus"] });
  return ok({ success: true, result: true });
}
