/** A person, a group of the bot, a department or a tag; `byApp`: through the self-built app. */
export interface WecomTarget {
  readonly kind: "user" | "group" | "party" | "tag";
  readonly id: string;
  readonly byApp: boolean;
}

export const TARGET_HINT = "user:<userid>, group:<chatid>, party:<id> or tag:<id>; wecom-agent:… for the app";

const CHANNEL = /^(?:wecom-agent|wecom|wechatwork|wework|qywx):/i;
const KINDS: Readonly<Record<string, WecomTarget["kind"]>> = { party: "party", dept: "party", tag: "tag", group: "group", chat: "group", user: "user" };

/** Bare: `wr…` and `wc…` are groups, digits a department, anything else a person. Source: spec channels-cn §2.5 (Targets). */
export function parseTarget(raw: string): WecomTarget | undefined {
  const given = raw.trim();
  const byApp = /^wecom-agent:/i.test(given);
  const bare = given.replace(CHANNEL, "").trim();
  const [, word, rest = ""] = /^(?:(party|dept|tag|group|chat|user):)?(.*)$/is.exec(bare) ?? [];
  const id = rest.trim();
  if (id === "" || /[\s|\u0000-\u001f]/.test(id)) return undefined;
  const kind = word === undefined ? (/^w[rc]\S{6,}$/.test(id) ? "group" : /^\d+$/.test(id) ? "party" : "user") : (KINDS[word.toLowerCase()] ?? "user");
  return { kind, id, byApp: byApp || kind === "party" || kind === "tag" };
}

export const formatTarget = ({ kind, id, byApp }: WecomTarget): string => `${byApp ? "wecom-agent:" : ""}${kind}:${id}`;

/** undefined for what does not look like an address of WeCom. */
export function normalizeTarget(raw: string): string | undefined {
  const given = raw.trim();
  const target = CHANNEL.test(given) || /^(?:party|dept|tag|group|chat|user):/i.test(given) || /^w[rc]\S{6,}$/.test(given) ? parseTarget(given) : undefined;
  return target && formatTarget(target);
}

/** Comparison form of an id: the platform ignores the case of user ids. */
export const normalizeEntry = (entry: string): string => entry.trim().replace(CHANNEL, "").replace(/^(?:user|group|chat):/i, "").trim().toLowerCase();
