import { createHash, randomUUID } from "node:crypto";

export interface Command {
  readonly cmd: string;
  readonly headers: { readonly req_id: string };
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

export interface StreamView {
  readonly reqId: string;
  readonly updates: number;
  readonly content: string;
  readonly finish: boolean;
  /** What an opinion of it will be known by. */
  readonly feedbackId: string | undefined;
}

/** What the platform knows of AI bots; each emulator has its own. */
export interface BotPlatform {
  readonly bots: ReadonlyMap<string, string>;
  /** Callbacks that were sent, by request id. */
  readonly requests: Map<string, { readonly cmd: string; readonly body: Readonly<Record<string, unknown>>; answers: number }>;
  readonly streams: Map<string, StreamView>;
  readonly uploads: Map<string, { readonly type: string; readonly fileName: string; readonly size: number; readonly chunks: (Buffer | undefined)[]; readonly md5: string }>;
  readonly media: Map<string, { readonly type: string; readonly fileName: string; readonly bytes: Buffer }>;
  readonly sent: { readonly chatid: string; readonly msgtype: string; readonly markdown?: { readonly content: string }; readonly [part: string]: unknown }[];
  readonly greetings: string[];
  /** Cards as they stand after a choice. */
  readonly cardUpdates: Readonly<Record<string, unknown>>[];
  mcpUrl: string | undefined;
}

type Ack = { readonly errcode?: number; readonly errmsg?: string; readonly body?: unknown };

const MAX_TEXT_BYTES = 20_480;
const refuse = (errcode: number, errmsg: string): Ack => ({ errcode, errmsg });

/** The acknowledgement of a command, refused as the platform refuses. Source: spec channels-cn §2.2. */
export function answerFrame(platform: BotPlatform, botId: string | undefined, { cmd, headers: { req_id: reqId }, body = {} }: Command): Ack {
  if (!/^\S{8,}$/.test(reqId)) return refuse(40058, "invalid req_id");
  if (botId === undefined) return refuse(846609, cmd === "aibot_subscribe" ? "invalid bot_id or secret" : "not subscribed");
  switch (cmd) {
    case "aibot_subscribe":
    case "ping":
      return {};
    case "aibot_respond_msg":
      return respond(platform, reqId, body);
    case "aibot_respond_welcome_msg": {
      if (platform.requests.get(reqId)?.cmd !== "aibot_event_callback") return refuse(846605, "invalid req_id");
      platform.greetings.push(String((body["text"] as { content?: string } | undefined)?.content));
      return {};
    }
    case "aibot_respond_update_msg": {
      const event = (platform.requests.get(reqId)?.body["event"] ?? {}) as { eventtype?: string; template_card_event?: { task_id?: string } };
      if (event.eventtype !== "template_card_event") return refuse(846605, "invalid req_id");
      const card = body["template_card"] as { card_type?: string; task_id?: string } | undefined;
      if (body["response_type"] !== "update_template_card" || !card?.card_type || card.task_id !== event.template_card_event?.task_id) return refuse(40008, "invalid template_card");
      platform.cardUpdates.push(card);
      return {};
    }
    case "aibot_send_msg":
      return send(platform, body);
    case "aibot_upload_media_init": {
      const { type, filename, total_size: size, total_chunks: total, md5 } = body;
      if (!["image", "voice", "video", "file"].includes(String(type)) || typeof filename !== "string" || typeof size !== "number" || typeof total !== "number" || total < 1 || total > 100 || typeof md5 !== "string") return refuse(40058, "bad upload");
      const uploadId = randomUUID();
      platform.uploads.set(uploadId, { type: String(type), fileName: filename, size, chunks: Array.from({ length: total }, () => undefined), md5 });
      return { body: { upload_id: uploadId } };
    }
    case "aibot_upload_media_chunk": {
      const upload = platform.uploads.get(String(body["upload_id"]));
      const index = Number(body["chunk_index"]);
      const bytes = Buffer.from(String(body["base64_data"]), "base64");
      if (!upload || !(index in upload.chunks) || bytes.length === 0 || bytes.length > 512 * 1024) return refuse(40058, "bad chunk");
      upload.chunks[index] = bytes;
      return {};
    }
    case "aibot_upload_media_finish": {
      const upload = platform.uploads.get(String(body["upload_id"]));
      const chunks = upload?.chunks.filter((chunk) => chunk !== undefined) ?? [];
      const bytes = Buffer.concat(chunks);
      if (!upload || chunks.length !== upload.chunks.length || bytes.length !== upload.size || createHash("md5").update(bytes).digest("hex") !== upload.md5) return refuse(40009, "incomplete file");
      const mediaId = randomUUID();
      platform.media.set(mediaId, { type: upload.type, fileName: upload.fileName, bytes });
      return { body: { type: upload.type, media_id: mediaId, created_at: Date.now() } };
    }
    case "aibot_get_mcp_config":
      return platform.mcpUrl === undefined ? refuse(846610, "no permission") : { body: { url: platform.mcpUrl, biz_type: body["biz_type"] } };
    default:
      return refuse(40058, `unknown cmd ${cmd}`);
  }
}

function respond(platform: BotPlatform, reqId: string, body: Readonly<Record<string, unknown>>): Ack {
  const request = platform.requests.get(reqId);
  if (request?.cmd !== "aibot_msg_callback") return refuse(846605, "invalid req_id");
  if (body["msgtype"] !== "stream") return refuse(40008, "invalid msgtype");
  const { id, finish, content, feedback } = (body["stream"] ?? {}) as { id?: string; finish?: boolean; content?: string; feedback?: { id?: string } };
  if (feedback !== undefined && (!feedback.id || Buffer.byteLength(feedback.id) > 256)) return refuse(40058, "bad feedback id");
  if (!id || typeof finish !== "boolean" || typeof content !== "string" || content === "") return refuse(40058, "bad stream");
  if (Buffer.byteLength(content) > MAX_TEXT_BYTES) return refuse(45002, "content size out of limit");
  const known = platform.streams.get(id);
  if (known && known.reqId !== reqId) return refuse(846605, "stream of another message");
  if (known?.finish && (!finish || known.content !== content)) return refuse(846608, "stream finished");
  if (!known && request.answers > 0) return refuse(846605, "answered already");
  if (!known) request.answers++;
  platform.streams.set(id, { reqId, updates: (known?.updates ?? 0) + 1, content, finish, feedbackId: known ? known.feedbackId : feedback?.id });
  return {};
}

function send(platform: BotPlatform, body: Readonly<Record<string, unknown>>): Ack {
  const { chatid, msgtype } = body;
  if (typeof chatid !== "string" || chatid === "" || typeof msgtype !== "string") return refuse(40058, "bad message");
  const part = body[msgtype] as { content?: string; media_id?: string; card_type?: string } | undefined;
  if (msgtype === "markdown" && (!part?.content || Buffer.byteLength(part.content) > MAX_TEXT_BYTES)) return refuse(45002, "content size out of limit");
  if (["image", "file", "voice", "video"].includes(msgtype) && platform.media.get(part?.media_id ?? "")?.type !== msgtype) return refuse(40007, "invalid media_id");
  if (msgtype === "template_card" && !part?.card_type) return refuse(40008, "invalid template_card");
  if (!["markdown", "image", "file", "voice", "video", "template_card"].includes(msgtype)) return refuse(40008, "invalid msgtype");
  platform.sent.push(body as BotPlatform["sent"][number]);
  return {};
}
