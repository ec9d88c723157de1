import { parseMultipart } from "../telegram-api/multipart.ts";
import { type Answer, newId, ok, type Platform, type Recorded, refuse, type StoredMessage } from "./platform.ts";

type Fields = Record<string, unknown>;
const REACTIONS = new Set(["Typing", "THUMBSUP", "GLANCE", "DONE", "HEART", "OK", "Fire", "THINKING", "ANGRY", "TERROR", "OnIt"]);
const MAX_POST_BYTES = 150 * 1024;
const MAX_CARD_BYTES = 30 * 1024;

/** Messages, reactions, files and groups, as the platform answers for one app. */
export function answerIm(platform: Platform, app: string, call: Recorded): Answer {
  const path = call.path.replace("/open-apis/im/v1", "");
  const body = call.body as Fields;
  const [, , id = "", part, sub] = path.split("/");
  if (path === "/messages" && call.method === "POST") return send(platform, app, body, { type: call.query.get("receive_id_type") ?? "", id: String(body["receive_id"]) });
  if (path === "/messages") return ok({ items: [...platform.messages.values()].filter((one) => one.chatId === call.query.get("container_id")).map(show), has_more: false });
  if (path === "/images") return uploadImage(platform, call);
  if (path === "/files") return uploadFile(platform, call);
  if (path.startsWith("/chats")) return chats(platform, call, id, part);
  if (path.startsWith("/pins")) return call.method === "POST" && !platform.messages.has(String(body["message_id"])) ? refuse(231003, "message not found") : ok({ items: [] });
  const message = platform.messages.get(id);
  if (part === "resources") return resource(platform, id, sub ?? "", call.query.get("type"));
  if (!message) return refuse(231003, "The message is not found");
  if (part === "reply") return message.isRecalled ? refuse(230011, "The message was withdrawn.") : send(platform, app, body, { type: "chat_id", id: message.chatId }, message);
  if (part === "reactions") return reactions(platform, app, call, id, sub);
  if (call.method === "GET") return message.isRecalled ? refuse(230110, "deleted") : ok({ items: [message, ...[...platform.messages.values()].filter((one) => one.upperId === id)].map(show) });
  if (message.sender.id !== app) return refuse(230026, "No permission to change this message");
  if (call.method === "DELETE") message.isRecalled = true;
  else message.content = String(body["content"]);
  return ok({});
}

const show = (one: StoredMessage): object => ({ message_id: one.id, msg_type: one.type, chat_id: one.chatId, upper_message_id: one.upperId, sender: { ...one.sender, id_type: one.sender.sender_type === "app" ? "app_id" : "open_id" }, body: { content: one.content }, mentions: [] });

function send(platform: Platform, app: string, body: Fields, to: { type: string; id: string }, parent?: StoredMessage): Answer {
  const uuid = String(body["uuid"] ?? "");
  const known = platform.uuids.get(`${app} ${uuid}`);
  if (uuid !== "" && known !== undefined) return ok({ message_id: known, chat_id: platform.messages.get(known)?.chatId });
  if (uuid.length > 50) return refuse(230001, "uuid too long");
  if (!["chat_id", "open_id", "user_id", "union_id"].includes(to.type)) return refuse(99992402, "field validation failed: receive_id_type");
  if (to.type === "chat_id" && !platform.chats.has(to.id) && !to.id.startsWith("oc_dm")) return refuse(230002, "Bot is NOT in the chat.");
  if (to.type === "open_id" && !platform.users.has(to.id)) return refuse(230001, "Your request contains an invalid request parameter, ext=invalid receive_id");
  const problem = contentProblem(platform, String(body["msg_type"]), body["content"]);
  if (problem) return problem;
  const chatId = to.type === "chat_id" ? to.id : `oc_dm${to.id}`;
  const message: StoredMessage = { id: newId("om"), chatId, type: String(body["msg_type"]), content: String(body["content"]), sender: { id: app, sender_type: "app" }, parentId: parent?.id, inThread: body["reply_in_thread"] === true };
  platform.messages.set(message.id, message);
  if (uuid !== "") platform.uuids.set(`${app} ${uuid}`, message.id);
  return ok({ message_id: message.id, chat_id: chatId, msg_type: message.type, body: { content: message.content } });
}

function contentProblem(platform: Platform, type: string, content: unknown): Answer | undefined {
  if (typeof content !== "string") return refuse(230001, "content must be a JSON string");
  const value = JSON.parse(content) as Fields;
  switch (type) {
    case "post": {
      const lines = (value["zh_cn"] as { content?: { tag: string; text?: string }[][] } | undefined)?.content;
      if (!lines?.length || lines.flat().some((part) => part.tag === "md" && !part.text)) return refuse(230001, "invalid post");
      return Buffer.byteLength(content) > MAX_POST_BYTES ? refuse(230025, "The length of the message content reaches its limit.") : undefined;
    }
    case "interactive": {
      if (Buffer.byteLength(content) > MAX_CARD_BYTES) return refuse(230025, "The length of the message content reaches its limit.");
      if (value["type"] === "card") return platform.cards.has(String((value["data"] as Fields)["card_id"])) ? undefined : refuse(230099, "Failed to create card content, ext=ErrCode: 11310; card not found");
      if (value["schema"] !== "2.0" || !(value["body"] as Fields | undefined)?.["elements"]) return refuse(230099, "Failed to create card content");
      return (content.match(/\|\s*-{3,}/g)?.length ?? 0) > 10 ? refuse(230099, "Failed to create card content, ext=ErrCode: 11310; ErrMsg: card table number over limit") : undefined;
    }
    case "image":
      return platform.images.has(String(value["image_key"])) ? undefined : refuse(230001, "invalid image_key");
    case "file":
    case "audio":
    case "media": {
      const file = platform.files.get(String(value["file_key"]));
      const wanted = { file: undefined, audio: "opus", media: "mp4" }[type];
      return file && (wanted === undefined ? file.type !== "mp4" && file.type !== "opus" : file.type === wanted) ? undefined : refuse(230055, "The type of file upload does not match the type of message being sent.");
    }
    default:
      return refuse(230001, `invalid msg_type ${type}`);
  }
}

function form(call: Recorded): ReturnType<typeof parseMultipart> | undefined {
  const boundary = /boundary=(.+)$/.exec(String(call.headers["content-type"]))?.[1];
  return boundary === undefined ? undefined : parseMultipart(call.bytes, boundary);
}

function uploadImage(platform: Platform, call: Recorded): Answer {
  const sent = form(call);
  const image = sent?.files["image"];
  if (!image || sent?.fields["image_type"] !== "message") return refuse(234001, "Invalid request param.");
  if (image.bytes.length === 0) return refuse(234010, "File's size can't be 0.");
  if (image.bytes.length > 10 * 1024 * 1024) return refuse(234006, "The file size exceed the max value.");
  const key = newId("img");
  platform.images.set(key, image.bytes);
  return ok({ image_key: key });
}

function uploadFile(platform: Platform, call: Recorded): Answer {
  const sent = form(call);
  const file = sent?.files["file"];
  const type = sent?.fields["file_type"] ?? "";
  if (!file || !sent?.fields["file_name"] || !["opus", "mp4", "pdf", "doc", "xls", "ppt", "stream"].includes(type)) return refuse(234001, "Invalid request param.");
  if (file.bytes.length > 30 * 1024 * 1024) return refuse(234006, "The file size exceed the max value.");
  const key = newId("file");
  platform.files.set(key, { type, fileName: sent.fields["file_name"], bytes: file.bytes });
  return ok({ file_key: key });
}

function resource(platform: Platform, messageId: string, key: string, type: string | null): Answer {
  const found = platform.resources.get(`${messageId} ${decodeURIComponent(key)}`);
  if (type !== "image" && type !== "file") return refuse(234001, "Invalid request param.");
  return found ? { status: 200, raw: found.bytes, headers: { "content-type": found.mimeType, ...(found.mimeType === "application/json" ? { "content-disposition": 'attachment; filename="x"' } : {}) } } : refuse(234003, "File not in msg.");
}

function reactions(platform: Platform, app: string, call: Recorded, messageId: string, reactionId: string | undefined): Answer {
  if (call.method === "POST") {
    const name = String(((call.body as Fields)["reaction_type"] as Fields | undefined)?.["emoji_type"]);
    if (!REACTIONS.has(name)) return refuse(231001, "reaction type is invalid.");
    const id = newId("re");
    platform.reactions.set(id, { messageId, name, app });
    return ok({ reaction_id: id, reaction_type: { emoji_type: name } });
  }
  if (call.method === "DELETE") return reactionId !== undefined && platform.reactions.delete(reactionId) ? ok({}) : refuse(231007, "reaction not found");
  const own = [...platform.reactions].filter(([, one]) => one.messageId === messageId);
  return ok({ items: own.map(([id, one]) => ({ reaction_id: id, operator: { operator_id: one.app, operator_type: "app" }, reaction_type: { emoji_type: one.name } })) });
}

function chats(platform: Platform, call: Recorded, id: string, part: string | undefined): Answer {
  const list = [...platform.chats].map(([chat_id, { name }]) => ({ chat_id, name }));
  if (id === "") return ok({ items: list, has_more: false });
  if (id === "search") return ok({ items: list.filter(({ name }) => name.includes(call.query.get("query") ?? "")) });
  const chat = platform.chats.get(id);
  if (!chat) return refuse(232006, "Your request specifies a chat_id which is invalid.");
  if (part === "members") return Number(call.query.get("page_size")) > 100 ? refuse(99992402, "page_size") : ok({ items: [...platform.users].map(([member_id, name]) => ({ member_id, name })) });
  return ok({ name: chat.name, chat_mode: chat.mode, chat_type: "private" });
}
