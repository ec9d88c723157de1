import type { Message, MessageEntity, User } from "grammy/types";
import type { InboundForward, InboundLocation, InboundMediaRef, InboundMentions, InboundReply } from "../contract/index.ts";

export interface BotIdentity {
  readonly id: number;
  readonly username: string;
}

export const userName = (user: User): string => [user.first_name, user.last_name].filter(Boolean).join(" ") || user.username || String(user.id);

const entitiesOf = (message: Message): readonly MessageEntity[] => message.entities ?? message.caption_entities ?? [];

/** Text or caption; labelled links become `[label](address)`, and `/cmd@thisbot` becomes `/cmd`. */
export function readText(message: Message, bot: BotIdentity): string {
  const text = message.text ?? message.caption ?? "";
  let out = "";
  let at = 0;
  for (const entity of entitiesOf(message).toSorted((a, b) => a.offset - b.offset)) {
    if (entity.offset < at) continue;
    const end = entity.offset + entity.length;
    const label = text.slice(entity.offset, end);
    let replaced: string | undefined;
    if (entity.type === "text_link" && label.trim() !== "") replaced = `[${label}](${entity.url})`;
    else if (entity.type === "bot_command" && label.toLowerCase().endsWith(`@${bot.username.toLowerCase()}`)) replaced = label.slice(0, label.indexOf("@"));
    if (replaced === undefined) continue;
    out += text.slice(at, entity.offset) + replaced;
    at = end;
  }
  return out + text.slice(at);
}

/** The command at the very start of the text, lower-cased and without slash, when it is meant for this bot. */
export function leadingCommand(message: Message, bot: BotIdentity): string | undefined {
  const entity = entitiesOf(message).find((e) => e.type === "bot_command" && e.offset === 0);
  if (!entity) return undefined;
  const [name = "", at] = (message.text ?? message.caption ?? "").slice(1, entity.length).split("@");
  return at === undefined || at.toLowerCase() === bot.username.toLowerCase() ? name.toLowerCase() : undefined;
}

export function readMentions(message: Message, bot: BotIdentity): InboundMentions {
  const text = message.text ?? message.caption ?? "";
  const own = `@${bot.username.toLowerCase()}`;
  let named = false;
  let anyone = false;
  for (const entity of entitiesOf(message)) {
    const label = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
    if (entity.type === "mention") {
      anyone = true;
      named ||= label === own;
    } else if (entity.type === "text_mention") {
      anyone = true;
      named ||= entity.user.id === bot.id;
    } else if (entity.type === "bot_command" && label.includes("@")) {
      anyone = true;
      named ||= label.endsWith(own);
    }
  }
  const repliedTo = message.reply_to_message;
  // In a topic every message "replies" to the service message that opened the topic.
  const implicit = repliedTo?.from?.id === bot.id && repliedTo.forum_topic_created === undefined;
  return { bot: named, anyone, implicit };
}

export function readReply(message: Message): InboundReply | undefined {
  const { quote, external_reply: external } = message;
  const original = message.reply_to_message;
  if (original && original.forum_topic_created === undefined) {
    const body = quote?.text ?? original.text ?? original.caption ?? placeholder(original);
    const sender = original.from ? userName(original.from) : original.sender_chat && "title" in original.sender_chat ? original.sender_chat.title : undefined;
    return { id: String(original.message_id), body, sender, ...(quote ? { isQuote: true } : {}) };
  }
  if (!external) return undefined;
  return { id: String(external.message_id ?? ""), body: quote?.text, sender: originName(external.origin), ...(quote ? { isQuote: true } : {}) };
}

type Origin = NonNullable<Message["forward_origin"]>;

function originName(origin: Origin): string {
  switch (origin.type) {
    case "user":
      return userName(origin.sender_user);
    case "hidden_user":
      return origin.sender_user_name;
    case "chat":
      return "title" in origin.sender_chat ? (origin.sender_chat.title ?? "chat") : "chat";
    case "channel":
      return "title" in origin.chat ? (origin.chat.title ?? "channel") : "channel";
  }
}

export function readForward(message: Message): InboundForward | undefined {
  const origin = message.forward_origin;
  if (!origin) return undefined;
  const base = { type: origin.type, dateMs: origin.date * 1000 };
  switch (origin.type) {
    case "user":
      return { ...base, from: originName(origin), id: String(origin.sender_user.id), username: origin.sender_user.username };
    case "hidden_user":
      return { ...base, from: originName(origin) };
    case "chat":
    case "channel": {
      const chat = origin.type === "chat" ? origin.sender_chat : origin.chat;
      const signature = origin.author_signature;
      const title = originName(origin);
      return {
        ...base,
        from: signature ? `${title} (${signature})` : title,
        id: String(chat.id),
        username: "username" in chat ? chat.username : undefined,
        title,
        signature,
      };
    }
  }
}

export function readLocation(message: Message): { location: InboundLocation; text: string } | undefined {
  const point = message.venue?.location ?? message.location;
  if (!point) return undefined;
  const { venue } = message;
  const isLive = message.location?.live_period !== undefined;
  const accuracyM = point.horizontal_accuracy;
  const around = accuracyM === undefined ? "" : ` ±${Math.round(accuracyM)}m`;
  const place = `${point.latitude.toFixed(6)}, ${point.longitude.toFixed(6)}`;
  const text = venue ? `📍 ${venue.title} — ${venue.address} (${place}${around})` : isLive ? `🛰 Live location: ${place}${around}` : `📍 ${place}${around}`;
  return {
    text,
    location: { lat: point.latitude, lon: point.longitude, accuracyM, name: venue?.title, address: venue?.address, isLive, source: venue ? "place" : isLive ? "live" : "pin" },
  };
}

/** Things that have no file and no text of their own, told in words. */
export function readNote(message: Message): string | undefined {
  const { contact, poll, dice, sticker } = message;
  if (contact) return `[Contact: ${[contact.first_name, contact.last_name].filter(Boolean).join(" ")} ${contact.phone_number}]`;
  if (poll) return `[Poll: ${poll.question} — ${poll.options.map((option) => option.text).join(" / ")}]`;
  if (dice) return `[Dice ${dice.emoji} ${dice.value}]`;
  if (sticker) return `[Sticker${sticker.emoji ? ` ${sticker.emoji}` : ""}${sticker.set_name ? ` from "${sticker.set_name}"` : ""}]`;
  return undefined;
}

export function readMedia(message: Message): InboundMediaRef | undefined {
  const photo = message.photo?.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
  if (photo) return { kind: "image", ref: photo.file_id, mimeType: "image/jpeg", sizeBytes: photo.file_size };
  const { video, video_note: note, animation, audio, voice, document, sticker } = message;
  if (animation) return { kind: "video", ref: animation.file_id, mimeType: animation.mime_type, fileName: animation.file_name, sizeBytes: animation.file_size };
  if (video) return { kind: "video", ref: video.file_id, mimeType: video.mime_type ?? "video/mp4", fileName: video.file_name, sizeBytes: video.file_size };
  if (note) return { kind: "video", ref: note.file_id, mimeType: "video/mp4", sizeBytes: note.file_size };
  if (audio) return { kind: "audio", ref: audio.file_id, mimeType: audio.mime_type ?? "audio/mpeg", fileName: audio.file_name, sizeBytes: audio.file_size };
  if (voice) return { kind: "voice", ref: voice.file_id, mimeType: voice.mime_type ?? "audio/ogg", sizeBytes: voice.file_size };
  if (document) return { kind: "document", ref: document.file_id, mimeType: document.mime_type, fileName: document.file_name, sizeBytes: document.file_size };
  if (sticker && !sticker.is_animated && !sticker.is_video) return { kind: "sticker", ref: sticker.file_id, mimeType: "image/webp", sizeBytes: sticker.file_size };
  return undefined;
}

function placeholder(message: Message): string | undefined {
  const media = readMedia(message);
  if (media) return `<media:${media.kind === "voice" ? "audio" : media.kind}>`;
  return readLocation(message)?.text ?? readNote(message);
}
