import { entriesOf } from "../plugins/runtime/helpers/index.ts";
import { normalizeE164 } from "./text.ts";
import { missingTargetError } from "./values.ts";

/** How the channels spell a chat or a person. undefined: not an address of this channel. Source: spec channels §4–10. */

type Outcome = { readonly ok: true; readonly to: string } | { readonly ok: false; readonly error: Error };

const withoutPrefix = (raw: string, prefixes: RegExp): string => {
  let text = raw.trim();
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(prefixes, "").trim();
  }
  return text;
};

// Telegram

const TELEGRAM_PREFIX = /^(?:telegram|tg):/i;

export function normalizeTelegramMessagingTarget(raw: string): string | undefined {
  const text = withoutPrefix(raw, TELEGRAM_PREFIX);
  const link = /^(?:https?:\/\/)?(?:www\.)?t\.me\/([A-Za-z0-9_]+)$/i.exec(text);
  const target = link ? `@${link[1]}` : text;
  return target === "" ? undefined : `telegram:${target}`.toLowerCase();
}

export const looksLikeTelegramTargetId = (raw: string): boolean => TELEGRAM_PREFIX.test(raw.trim()) || /^@|^-?\d{6,}$|t\.me\//i.test(raw.trim());

const wholeNumber = (raw: string | number | null | undefined): number | undefined => {
  const match = /^\s*(-?\d+)/.exec(String(raw ?? ""));
  return match ? Number.parseInt(match[1] as string, 10) : undefined;
};
export const parseTelegramReplyToMessageId = (raw: string | null | undefined): number | undefined => wholeNumber(raw);

/** A topic's id, alone or at the end of `<chat>:topic:<n>` or `<chat>:<n>`. */
export function parseTelegramThreadId(raw: string | number | null | undefined): number | undefined {
  if (typeof raw === "number") return Number.isFinite(raw) ? Math.trunc(raw) : undefined;
  const tail = /:(?:topic:)?(\d+)\s*$/.exec(raw ?? "")?.[1];
  return wholeNumber(tail ?? raw);
}

// Discord and Slack: people and channels by kind

interface KindSyntax {
  readonly mention: RegExp;
  /** `discord:<id>`: a person. */
  readonly channelPrefix: RegExp;
  readonly idPattern: RegExp;
}

const DISCORD: KindSyntax = { mention: /^<@!?(\d+)>$/, channelPrefix: /^discord:/i, idPattern: /^\d{6,}$/ };
const SLACK: KindSyntax = { mention: /^<@([A-Z0-9]+)>$/i, channelPrefix: /^slack:/i, idPattern: /^[CUWGD][A-Z0-9]{8,}$/i };

function kindTarget(raw: string, syntax: KindSyntax): string | undefined {
  const text = raw.trim();
  if (text === "") return undefined;
  const address = (kind: "user" | "channel", id: string): string | undefined => (id.trim() === "" ? undefined : `${kind}:${id.trim()}`.toLowerCase());
  const mention = syntax.mention.exec(text)?.[1];
  if (mention !== undefined) return address("user", mention);
  const named = /^(user|channel):(.*)$/is.exec(text);
  if (named) return address((named[1] as string).toLowerCase() as "user" | "channel", named[2] as string);
  if (syntax.channelPrefix.test(text)) return address("user", text.replace(syntax.channelPrefix, ""));
  if (text.startsWith("@")) return address("user", text.slice(1));
  return address("channel", text.replace(/^#/, ""));
}

const looksLikeKind = (raw: string, syntax: KindSyntax): boolean => {
  const text = raw.trim();
  return syntax.mention.test(text) || /^(?:user|channel):./i.test(text) || syntax.channelPrefix.test(text) || syntax.idPattern.test(text);
};

export const normalizeDiscordMessagingTarget = (raw: string): string | undefined => kindTarget(raw, DISCORD);
export const looksLikeDiscordTargetId = (raw: string): boolean => looksLikeKind(raw, DISCORD);
export const normalizeSlackMessagingTarget = (raw: string): string | undefined => kindTarget(raw, SLACK);
export const looksLikeSlackTargetId = (raw: string): boolean => /^[@#]./.test(raw.trim()) || looksLikeKind(raw, SLACK);

/** Bare digits are taken for a channel; without the kind they would be ambiguous. */
export function normalizeDiscordOutboundTarget(to?: string): Outcome {
  const text = to?.trim() ?? "";
  if (text === "") return { ok: false, error: missingTargetError("Discord", "<channelId|user:ID|channel:ID>") };
  return { ok: true, to: /^\d+$/.test(text) ? `channel:${text}` : text };
}

// Signal

export function normalizeSignalMessagingTarget(raw: string): string | undefined {
  const text = withoutPrefix(raw, /^signal:/i);
  const [, kind, rest] = /^(group|username|u):(.*)$/is.exec(text) ?? [];
  if (kind !== undefined) {
    const id = rest?.trim() ?? "";
    if (id === "") return undefined;
    // A group's id is base64: its case counts.
    return kind.toLowerCase() === "group" ? `group:${id}` : `username:${id}`.toLowerCase();
  }
  const id = text.replace(/^uuid:/i, "").trim();
  return id === "" ? undefined : id.toLowerCase();
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

export function looksLikeSignalTargetId(raw: string): boolean {
  const text = raw.trim();
  return /^(?:signal:)?(?:group:|username:|u:)./i.test(text) || UUID.test(text.replace(/^(?:signal:)?(?:uuid:)?/i, "")) || /^\+?\d{3,}$/.test(text.replace(/^signal:/i, ""));
}

// iMessage

const CHAT_PREFIXES: readonly (readonly [RegExp, string])[] = [[/^(?:chat_id|chatid|chat):/i, "chat_id"], [/^(?:chat_guid|chatguid|guid):/i, "chat_guid"], [/^(?:chat_identifier|chatidentifier|chatident):/i, "chat_identifier"]];

export function normalizeIMessageMessagingTarget(raw: string): string | undefined {
  const text = raw.trim();
  const service = /^(imessage|sms|auto):/i.exec(text)?.[1]?.toLowerCase();
  const rest = service === undefined ? text : text.slice(service.length + 1).trim();
  if (rest === "") return undefined;
  for (const [pattern, name] of CHAT_PREFIXES) {
    const id = pattern.test(rest) ? rest.replace(pattern, "").trim() : undefined;
    if (id !== undefined) return id === "" ? undefined : `${name}:${id}`;
  }
  const handle = rest.includes("@") ? rest.toLowerCase() : /^[+\d][\d\s().-]*$/.test(rest) ? `${rest.startsWith("+") ? "+" : ""}${rest.replace(/\D/g, "")}` : rest.replace(/\s+/g, "");
  return service === undefined || service === "auto" ? handle : `${service}:${handle}`;
}

export function looksLikeIMessageTargetId(raw: string): boolean {
  const text = raw.trim();
  return /^(?:imessage|sms|auto):./i.test(text) || CHAT_PREFIXES.some(([pattern]) => pattern.test(text)) || /\S@\S/.test(text) || /^\+?\d{3,}$/.test(text.replace(/[\s().-]/g, ""));
}

// WhatsApp

const GROUP_JID = /^\d+(?:-\d+)*@g\.us$/i;
const USER_JID = /^(\d+)(?::\d+)?@(?:s\.whatsapp\.net|c\.us)$/i;

export const isWhatsAppGroupJid = (raw: string): boolean => GROUP_JID.test(withoutPrefix(raw, /^whatsapp:/i));

/** A group's jid or a number as `+digits`; null when it is neither. */
export function normalizeWhatsAppTarget(raw: string): string | null {
  const text = withoutPrefix(raw, /^whatsapp:/i);
  if (text === "") return null;
  if (GROUP_JID.test(text)) return text.toLowerCase();
  const user = USER_JID.exec(text)?.[1];
  if (user !== undefined) return `+${user}`;
  if (text.includes("@")) return null;
  const number = normalizeE164(text);
  return number.length > 1 ? number : null;
}

export const normalizeWhatsAppMessagingTarget = (raw: string): string | undefined => normalizeWhatsAppTarget(raw) ?? undefined;
export const looksLikeWhatsAppTargetId = (raw: string): boolean => /^whatsapp:./i.test(raw.trim()) || raw.includes("@") || /^\+?\d{3,}$/.test(raw.trim());
export const normalizeWhatsAppAllowFromEntries = (allowFrom: readonly (string | number)[]): string[] =>
  entriesOf(allowFrom).map((entry) => (entry === "*" ? entry : normalizeWhatsAppTarget(entry))).filter((entry) => entry !== null);

/** A person must be on the list when there is one; groups are exempt. Without a target an implicit send goes to the first of the list. */
export function resolveWhatsAppOutboundTarget(query: { readonly to?: string | null | undefined; readonly allowFrom?: readonly (string | number)[] | null | undefined; readonly mode?: "explicit" | "implicit" | "heartbeat" | null | undefined }): Outcome {
  const list = entriesOf(query.allowFrom);
  const allowed = normalizeWhatsAppAllowFromEntries(list.filter((entry) => entry !== "*"));
  const missing: Outcome = { ok: false, error: missingTargetError("WhatsApp", "<E.164|group JID>") };
  const named = query.to?.trim() ?? "";
  if (named === "") return query.mode !== undefined && query.mode !== "explicit" && allowed[0] !== undefined ? { ok: true, to: allowed[0] } : missing;
  const to = normalizeWhatsAppTarget(named);
  if (to === null) return missing;
  const open = isWhatsAppGroupJid(to) || list.includes("*") || allowed.length === 0 || allowed.includes(to);
  return open ? { ok: true, to } : { ok: false, error: new Error(`WhatsApp does not send to ${to}: it is not in channels.whatsapp.allowFrom`) };
}

/** A person as the bot mentions itself in a group, to be taken out of commands. */
export function resolveWhatsAppMentionStripPatterns(ctx: { readonly To?: string | undefined }): string[] {
  const digits = (ctx.To ?? "").replace(/^whatsapp:/i, "").replace(/\D/g, "");
  return digits === "" ? [] : [digits, `@${digits}`];
}

export const resolveWhatsAppGroupIntroHint = (): string => "A WhatsApp group names its people by number; the sender's number stands in the message context.";

// Addresses with a service or a chat in front, as iMessage and BlueBubbles have them

export type ParsedChatTarget =
  | { readonly kind: "chat_id"; readonly chatId: number }
  | { readonly kind: "chat_guid"; readonly chatGuid: string }
  | { readonly kind: "chat_identifier"; readonly chatIdentifier: string };

interface ChatPrefixQuery {
  readonly trimmed: string;
  readonly lower: string;
  readonly chatIdPrefixes: readonly string[];
  readonly chatGuidPrefixes: readonly string[];
  readonly chatIdentifierPrefixes: readonly string[];
}

function readChatPrefix(query: ChatPrefixQuery): { readonly kind: ParsedChatTarget["kind"]; readonly value: string } | undefined {
  const table = [["chat_id", query.chatIdPrefixes], ["chat_guid", query.chatGuidPrefixes], ["chat_identifier", query.chatIdentifierPrefixes]] as const;
  for (const [kind, prefixes] of table) {
    const prefix = prefixes.find((candidate) => query.lower.startsWith(candidate));
    if (prefix !== undefined) return { kind, value: query.trimmed.slice(prefix.length).trim() };
  }
  return undefined;
}

function toChatTarget(kind: ParsedChatTarget["kind"], value: string): ParsedChatTarget | undefined {
  if (kind === "chat_id") {
    const chatId = Number.parseInt(value, 10);
    return Number.isFinite(chatId) ? { kind, chatId } : undefined;
  }
  if (value === "") return undefined;
  return kind === "chat_guid" ? { kind, chatGuid: value } : { kind, chatIdentifier: value };
}

/** null: no such prefix. @throws Error when the prefix is there and what follows it is no chat */
export function parseChatTargetPrefixesOrThrow(query: ChatPrefixQuery): ParsedChatTarget | null {
  const found = readChatPrefix(query);
  if (!found) return null;
  const target = toChatTarget(found.kind, found.value);
  if (!target) throw new Error(found.kind === "chat_id" ? `Invalid chat_id: ${found.value}` : `${found.kind} is required`);
  return target;
}

export function parseChatAllowTargetPrefixes(query: ChatPrefixQuery): ParsedChatTarget | null {
  const found = readChatPrefix(query);
  return (found && toChatTarget(found.kind, found.value)) ?? null;
}

interface ServicePrefixQuery {
  readonly trimmed: string;
  readonly lower: string;
}

/** `sms:+1555` as a handle of that service, or as a chat when that is what follows. null: no service in front. @throws Error on an empty rest */
export function resolveServicePrefixedTarget<Service extends string, Target>(
  query: ServicePrefixQuery & {
    readonly servicePrefixes: readonly { readonly prefix: string; readonly service: Service }[];
    readonly isChatTarget: (remainderLower: string) => boolean;
    readonly parseTarget: (remainder: string) => Target;
  },
): { kind: "handle"; to: string; service: Service } | Target | null {
  const hit = query.servicePrefixes.find(({ prefix }) => query.lower.startsWith(prefix));
  if (!hit) return null;
  const remainder = query.trimmed.slice(hit.prefix.length).trim();
  if (remainder === "") throw new Error(`${hit.prefix} target is required`);
  return query.isChatTarget(remainder.toLowerCase()) ? query.parseTarget(remainder) : { kind: "handle", to: remainder, service: hit.service };
}

export function resolveServicePrefixedAllowTarget<Target>(
  query: ServicePrefixQuery & { readonly servicePrefixes: readonly { readonly prefix: string }[]; readonly parseAllowTarget: (remainder: string) => Target },
): { kind: "handle"; handle: string } | Target | null {
  const hit = query.servicePrefixes.find(({ prefix }) => query.lower.startsWith(prefix));
  if (!hit) return null;
  const remainder = query.trimmed.slice(hit.prefix.length).trim();
  return remainder === "" ? { kind: "handle", handle: "" } : query.parseAllowTarget(remainder);
}

type AllowTarget = { readonly kind: "handle"; readonly handle: string } | ParsedChatTarget;

/** Whether the sender, or the chat it wrote in, is on the list. An empty list admits nobody. */
export function isAllowedParsedChatSender(query: {
  readonly allowFrom: readonly (string | number)[];
  readonly sender: string;
  readonly chatId?: number | null | undefined;
  readonly chatGuid?: string | null | undefined;
  readonly chatIdentifier?: string | null | undefined;
  readonly normalizeSender: (sender: string) => string;
  readonly parseAllowTarget: (entry: string) => AllowTarget;
}): boolean {
  const entries = entriesOf(query.allowFrom);
  if (entries.includes("*")) return true;
  const sender = query.normalizeSender(query.sender);
  return entries.map(query.parseAllowTarget).some((target) => {
    switch (target.kind) {
      case "chat_id":
        return query.chatId === target.chatId;
      case "chat_guid":
        return query.chatGuid === target.chatGuid;
      case "chat_identifier":
        return query.chatIdentifier === target.chatIdentifier;
      case "handle":
        return sender !== "" && target.handle !== "" && query.normalizeSender(target.handle) === sender;
    }
  });
}
