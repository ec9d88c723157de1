import { z } from "zod";
import { ChannelError } from "../contract/index.ts";
import { type LarkApi, read } from "./api.ts";
import { reactionName } from "./emoji.ts";

const MAX_REMEMBERED = 1000;
export const TYPING = "Typing";

const created = z.looseObject({ reaction_id: z.string().min(1) });
const listed = z.looseObject({
  items: z.array(z.looseObject({ reaction_id: z.string(), operator: z.looseObject({ operator_id: z.string().default(""), operator_type: z.string().default("") }), reaction_type: z.looseObject({ emoji_type: z.string() }) })).default([]),
});

export interface LarkReaction {
  readonly id: string;
  readonly name: string;
  readonly operatorId: string;
  readonly isApp: boolean;
}

/** The bot's own reactions on messages. Every method @throws LarkError. */
export interface Reactions {
  add(messageId: string, name: string): Promise<void>;
  remove(messageId: string, name: string): Promise<void>;
  /** Shows `emoji` instead of what the bot showed before, signs of typing apart; "" takes it back. @throws ChannelError for an unknown emoji */
  set(messageId: string, emoji: string): Promise<void>;
  list(messageId: string): Promise<readonly LarkReaction[]>;
}

export function createReactions(api: LarkApi, appId: string): Reactions {
  /** Message → name → id of the reaction. */
  const own = new Map<string, Map<string, string>>();

  const pathOf = (messageId: string): string => `/im/v1/messages/${encodeURIComponent(messageId)}/reactions`;

  async function list(messageId: string): Promise<readonly LarkReaction[]> {
    const { items } = read(listed, await api.call("GET", pathOf(messageId), { what: "list reactions", query: { page_size: 50 } }), "reactions");
    return items.map((item) => ({ id: item.reaction_id, name: item.reaction_type.emoji_type, operatorId: item.operator.operator_id, isApp: item.operator.operator_type === "app" }));
  }

  /** Those of this process, else those the platform knows. */
  async function ownOn(messageId: string): Promise<Map<string, string>> {
    const known = own.get(messageId);
    if (known) return known;
    return new Map((await list(messageId)).filter((one) => one.isApp && one.operatorId === appId).map(({ name, id }) => [name, id]));
  }

  async function add(messageId: string, name: string): Promise<void> {
    const { reaction_id } = read(created, await api.call("POST", pathOf(messageId), { what: "set a reaction", body: { reaction_type: { emoji_type: name } } }), "reaction_id");
    const names = own.get(messageId) ?? new Map<string, string>();
    names.set(name, reaction_id);
    own.delete(messageId);
    own.set(messageId, names);
    const oldest = own.keys().next().value;
    if (own.size > MAX_REMEMBERED && oldest !== undefined) own.delete(oldest);
  }

  async function drop(messageId: string, name: string, id: string): Promise<void> {
    own.get(messageId)?.delete(name);
    await api.call("DELETE", `${pathOf(messageId)}/${encodeURIComponent(id)}`, { what: "take back a reaction" });
  }

  return {
    add,
    list,
    async remove(messageId, name) {
      const id = (await ownOn(messageId)).get(name);
      if (id !== undefined) await drop(messageId, name, id);
    },
    async set(messageId, emoji) {
      const name = emoji === "" ? undefined : reactionName(emoji);
      if (emoji !== "" && name === undefined) throw new ChannelError("rejected", `Feishu has no reaction ${emoji}`, "Use one of its names, such as THUMBSUP, DONE or HEART.");
      for (const [before, id] of [...((emoji === "" || own.has(messageId)) ? await ownOn(messageId) : [])]) if (before !== TYPING && before !== name) await drop(messageId, before, id);
      if (name !== undefined && !own.get(messageId)?.has(name)) await add(messageId, name);
    },
  };
}
