import { z } from "zod";
import type { InboundLocation, InboundMediaRef } from "../contract/index.ts";

/** One mention of a message: the key stands in its text. */
export interface LarkMention {
  readonly key: string;
  readonly openId: string | undefined;
  readonly name: string;
}

export interface MessageContent {
  readonly text: string;
  readonly media: readonly InboundMediaRef[];
  readonly location?: InboundLocation | undefined;
}

export interface ContentInput {
  readonly messageId: string;
  /** The platform's word: `text`, `post`, `image`, … */
  readonly type: string;
  /** JSON as the platform sends it. */
  readonly content: string;
  readonly mentions: readonly LarkMention[];
  readonly botOpenId: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** What a message says and brings. Never throws: what cannot be read becomes a placeholder. Source: spec channels-cn §4.4. */
export function readContent(input: ContentInput): MessageContent {
  const fields = parseFields(input.content);
  const words = (text: string): MessageContent => ({ text, media: [] });
  const medium = (kind: InboundMediaRef["kind"], key: string | undefined, type: "image" | "file"): MessageContent => {
    const ref = key === undefined ? undefined : mediaRef(input.messageId, type, key);
    return ref === undefined ? words(`[${input.type}]`) : { text: "", media: [{ kind, ref, fileName: field(fields, "file_name") }] };
  };
  switch (input.type) {
    case "text":
      return words(replaceMentions(field(fields, "text") ?? "", input).trim());
    case "post":
      return readPost(fields, input);
    case "image":
      return medium("image", field(fields, "image_key"), "image");
    case "file":
      return medium("document", field(fields, "file_key"), "file");
    case "audio":
      return medium("voice", field(fields, "file_key"), "file");
    case "media":
      return medium("video", field(fields, "file_key"), "file");
    case "sticker":
      // The platform gives bots no stickers of people.
      return words("<media:sticker>");
    case "location":
      return readLocation(fields);
    case "share_chat":
      return words(`[Shared group: ${field(fields, "chat_id") ?? "unknown"}]`);
    case "share_user":
      return words(`[Shared contact: ${field(fields, "user_id") ?? "unknown"}]`);
    case "interactive":
      return words(readCard(fields) || "[Interactive card]");
    case "merge_forward":
      return words("[Merged and forwarded messages]");
    case "todo":
    case "vote":
    case "calendar":
    case "general_calendar":
    case "share_calendar_event":
      return words([`[${input.type}]`, field(fields, "summary") ?? field(fields, "topic")].filter(Boolean).join(" "));
    default:
      return words(`[${input.type}]`);
  }
}

const MAX_KEY_CHARS = 512;

/** `<message>|<type>|<key>`; undefined for a key that could name something else in a path. Source: spec channels-cn §4.4. */
export function mediaRef(messageId: string, type: "image" | "file", key: string): string | undefined {
  const isBad = (text: string): boolean => text === "" || text.length > MAX_KEY_CHARS || /[\u0000-\u001f\u007f/\\|]/.test(text) || text.includes("..");
  return isBad(key) || isBad(messageId) ? undefined : `${messageId}|${type}|${key}`;
}

export function parseMediaRef(ref: string): { readonly messageId: string; readonly type: "image" | "file"; readonly key: string } | undefined {
  const [messageId = "", type, key = "", ...rest] = ref.split("|");
  if (rest.length > 0 || (type !== "image" && type !== "file") || mediaRef(messageId, type, key) === undefined) return undefined;
  return { messageId, type, key };
}

/** The bot's own name goes, others stand as `@name`. */
function replaceMentions(text: string, { mentions, botOpenId }: ContentInput): string {
  // Longest key first: @_user_1 is the beginning of @_user_10.
  const known = mentions.toSorted((a, b) => b.key.length - a.key.length);
  const named = known.reduce((rest, { key, openId, name }) => (key === "" ? rest : rest.replaceAll(key, openId === botOpenId && botOpenId !== "" ? "" : `@${name}`)), text);
  return named.replaceAll("@_all", "@all").replace(/[ \t]{2,}/g, (blanks, at: number) => (at === 0 || named[at - 1] === "\n" ? blanks : " "));
}

const segment = z.looseObject({ tag: z.string() });

function readPost(fields: Fields, input: ContentInput): MessageContent {
  const post = "content" in fields ? fields : firstRecord(fields);
  const media: InboundMediaRef[] = [];
  const lines = (Array.isArray(post["content"]) ? (post["content"] as unknown[]) : []).map((line) =>
    (Array.isArray(line) ? (line as unknown[]) : []).map((part) => readSegment(part, input, media)).join(""),
  );
  const title = field(post, "title")?.trim() ?? "";
  const body = replaceMentions(lines.join("\n"), input).trim();
  const text = [title, body].filter(Boolean).join("\n\n");
  return { text: text === "" && media.length === 0 ? "[Rich text message]" : text, media };
}

function readSegment(part: unknown, input: ContentInput, media: InboundMediaRef[]): string {
  const parsed = segment.safeParse(part);
  if (!parsed.success) return "";
  const fields = parsed.data;
  const text = field(fields, "text") ?? "";
  const add = (kind: InboundMediaRef["kind"], type: "image" | "file", key: string | undefined): string => {
    const ref = key === undefined ? undefined : mediaRef(input.messageId, type, key);
    if (ref !== undefined) media.push({ kind, ref });
    return "";
  };
  switch (fields.tag) {
    case "a": {
      const href = field(fields, "href") ?? "";
      return href === "" || href === text ? text : text === "" ? href : `[${text}](${href})`;
    }
    case "at": {
      const id = field(fields, "user_id") ?? "";
      if (id === "all" || id === "@_all") return "@all";
      const mention = input.mentions.find(({ key, openId }) => key === id || openId === id);
      if (mention ? mention.openId === input.botOpenId : id === input.botOpenId) return "";
      return `@${mention?.name ?? field(fields, "user_name") ?? id}`;
    }
    case "img":
      return add("image", "image", field(fields, "image_key"));
    case "media":
      return add("video", "file", field(fields, "file_key"));
    case "emotion":
      return `:${field(fields, "emoji_type") ?? "emoji"}:`;
    case "hr":
      return "---";
    case "code_block":
      return `\n\`\`\`${(field(fields, "language") ?? "").toLowerCase()}\n${text.replace(/\n$/, "")}\n\`\`\`\n`;
    default:
      return text;
  }
}

function readLocation(fields: Fields): MessageContent {
  const lat = Number(fields["latitude"]);
  const lon = Number(fields["longitude"]);
  const name = field(fields, "name");
  if (!Number.isFinite(lat) || !Number.isFinite(lon)) return { text: `[location] ${name ?? ""}`.trim(), media: [] };
  const place = `(${lat.toFixed(6)}, ${lon.toFixed(6)})`;
  return { text: name ? `📍 ${name} ${place}` : `📍 ${lat.toFixed(6)}, ${lon.toFixed(6)}`, media: [], location: { lat, lon, name, source: name ? "place" : "pin" } };
}

const MAX_CARD_DEPTH = 8;

/** The words of a card of either schema. */
function readCard(fields: Fields): string {
  const words: string[] = [];
  const visit = (value: unknown, depth: number): void => {
    if (depth > MAX_CARD_DEPTH || typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, depth + 1);
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === "string" && (key === "content" || key === "text" || (key === "title" && depth === 0)) && inner.trim() !== "") words.push(inner.trim());
      else visit(inner, depth + 1);
    }
  };
  visit(fields, 0);
  return words.join("\n");
}

function parseFields(content: string): Fields {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
  } catch {
    // Some kinds carry a bare sentence.
    return { text: content };
  }
}

/** A post may be wrapped by language. */
const firstRecord = (fields: Fields): Fields => {
  const inner = Object.values(fields).find((value) => typeof value === "object" && value !== null && !Array.isArray(value));
  return (inner as Fields | undefined) ?? {};
};

function field(fields: Fields, key: string): string | undefined {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}
