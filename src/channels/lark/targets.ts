/** Where a message goes, by the kind of id as the platform names it; `name`: a group by its name, looked up when sending. */
export interface LarkTarget {
  readonly type: "chat_id" | "open_id" | "union_id" | "user_id" | "name";
  readonly id: string;
}

export const TARGET_HINT = "<chatId|user:openId|chat:chatId>";

export const unknownTarget = (raw: string): string => `Unknown target "${raw}" for Feishu. Hint: ${TARGET_HINT}`;

export const stripChannel = (text: string): string => text.trim().replace(/^(?:feishu|lark):/i, "").trim();

/** `chat:`, `user:`, `open_id:` and bare ids; what is no id is the name of a group. Source: spec channels-cn §4.5 (targets). */
export function parseTarget(raw: string): LarkTarget | undefined {
  const [, prefix = "", rest = ""] = /^(?:(chat|group|channel|user|dm|open_id|name):)?(.*)$/is.exec(stripChannel(raw)) ?? [];
  const id = rest.trim();
  if (id === "" || id.length > 200) return undefined;
  const kind = prefix.toLowerCase();
  if (kind === "name") return { type: "name", id };
  if (/^oc_\w+$/.test(id)) return { type: "chat_id", id };
  if (/^ou_\w+$/.test(id)) return { type: "open_id", id };
  if (/^on_\w+$/.test(id)) return { type: "union_id", id };
  if (kind === "chat" || kind === "group" || kind === "channel") return { type: "name", id };
  if (kind === "open_id") return undefined;
  return /^[\w-]{4,64}$/.test(id) ? { type: "user_id", id } : { type: "name", id };
}

export function formatTarget({ type, id }: LarkTarget): string {
  if (type === "name") return `name:${id}`;
  return `${type === "chat_id" ? "chat" : "user"}:${id}`;
}

/** undefined for what does not look like an address of Feishu. */
export function normalizeTarget(raw: string): string | undefined {
  const text = raw.trim();
  const isOurs = /^(?:feishu|lark|chat|user|open_id):/i.test(text) || /^o[cun]_\w+$/.test(text);
  const target = isOurs ? parseTarget(text) : undefined;
  return target && formatTarget(target);
}
