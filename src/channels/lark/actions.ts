import { z } from "zod";
import { type ChannelActionContext, ChannelError } from "../contract/index.ts";
import type { LarkApi } from "./api.ts";
import type { LarkAccount } from "./config.ts";
import { readContent } from "./content.ts";
import { reactionEmoji } from "./emoji.ts";
import { LarkError } from "./errors.ts";
import { postContent, toTextParts } from "./format.ts";
import { resolveDestination } from "./messages.ts";
import type { Reactions } from "./reactions.ts";
import { TARGET_HINT } from "./targets.ts";

export const ACTIONS = ["react", "reactions", "read", "edit", "unsend", "delete", "pin", "unpin", "list-pins", "channel-info", "channel-list", "member-info"] as const;
type ActionName = (typeof ACTIONS)[number];

const id = z.union([z.string(), z.number()]).transform(String).pipe(z.string().min(1));
const params = z.object({
  to: id.optional(), target: id.optional(), chatId: id.optional(), channelId: id.optional(), messageId: id.optional(), userId: id.optional(), emoji: z.string().default(""), remove: z.boolean().optional(),
  message: z.string().optional(), text: z.string().optional(), limit: z.coerce.number().int().min(1).max(50).default(20),
});
type Params = z.infer<typeof params>;

const listed = z.looseObject({ items: z.array(z.looseObject({
  message_id: z.string().default(""), msg_type: z.string().default(""), create_time: z.string().optional(), sender: z.looseObject({ id: z.string().optional(), sender_type: z.string().optional() }).optional(), body: z.looseObject({ content: z.string().default("") }).optional(),
})).default([]) });

interface ActionDeps {
  readonly account: LarkAccount;
  readonly api: LarkApi;
  readonly reactions: Reactions;
}

/** @throws ChannelError `rejected` with the reason and what to do */
export async function handleAction(deps: ActionDeps, ctx: ChannelActionContext): Promise<unknown> {
  const name = ACTIONS.find((action) => action === ctx.action);
  if (!name) throw new ChannelError("rejected", `Action "${ctx.action}" is not supported by feishu`, `Use one of ${ACTIONS.join(", ")}.`);
  const given = params.safeParse(ctx.params);
  if (!given.success) throw new ChannelError("rejected", `feishu ${name}: ${z.prettifyError(given.error)}`, "Correct the named parameter.");
  try {
    return await run(name, given.data, deps, ctx);
  } catch (err) {
    if (err instanceof LarkError) throw new ChannelError("rejected", `feishu ${name} failed: ${err.message}`, "Check the chat, the message and the permissions of the app.", { cause: err });
    throw err;
  }
}

async function run(name: ActionName, given: Params, { account, api, reactions }: ActionDeps, ctx: ChannelActionContext): Promise<unknown> {
  const call = (method: string, path: string, what: string, rest: { query?: Record<string, string | number>; body?: object } = {}): Promise<unknown> => api.call(method, path, { what, ...rest, signal: ctx.signal, patient: true });
  const messageId = (): string => {
    const found = given.messageId ?? ctx.current?.messageId;
    if (found === undefined) throw new ChannelError("rejected", `feishu ${name} needs messageId`, "Give messageId, as shown in the conversation info.");
    return found;
  };
  const chatId = async (): Promise<string> => {
    const to = given.chatId ?? given.channelId ?? given.to ?? given.target ?? ctx.current?.to;
    const { target } = to === undefined ? { target: undefined } : await resolveDestination(api, { accountId: account.accountId, to }, ctx.signal);
    if (target?.type !== "chat_id") throw new ChannelError("rejected", `feishu ${name} needs a group`, `Give to: ${TARGET_HINT}.`);
    return target.id;
  };
  const message = (): string => `/im/v1/messages/${encodeURIComponent(messageId())}`;
  switch (name) {
    case "react": {
      const emoji = given.remove === true ? "" : given.emoji;
      await reactions.set(messageId(), emoji);
      return emoji === "" ? { ok: true, removed: true } : { ok: true, added: emoji };
    }
    case "reactions":
      return { ok: true, reactions: (await reactions.list(messageId())).map((one) => ({ emoji: reactionEmoji(one.name), name: one.name, by: one.operatorId, isBot: one.isApp })) };
    case "read": {
      const answer = given.messageId === undefined
        ? await call("GET", "/im/v1/messages", "read a chat", { query: { container_id_type: "chat", container_id: await chatId(), sort_type: "ByCreateTimeDesc", page_size: given.limit } })
        : await call("GET", message(), "read a message");
      return { ok: true, messages: listed.parse(answer ?? {}).items.map((item) => describeMessage(item)) };
    }
    case "edit": {
      const [part, ...more] = toTextParts(given.message ?? given.text ?? "", account.config, "post");
      if (!part || more.length > 0) throw new ChannelError("rejected", "The new text does not fit into one message", "Keep it short; only texts of the last 24 hours can be changed.");
      await call("PUT", message(), "change a message", { body: { msg_type: "post", content: postContent(part.text) } });
      return { ok: true, messageId: messageId() };
    }
    case "unsend":
    case "delete":
      await call("DELETE", message(), "take back a message");
      return { ok: true, deleted: true };
    case "pin":
      await call("POST", "/im/v1/pins", "pin a message", { body: { message_id: messageId() } });
      return { ok: true, pinned: true };
    case "unpin":
      await call("DELETE", `/im/v1/pins/${encodeURIComponent(messageId())}`, "unpin a message");
      return { ok: true, pinned: false };
    case "list-pins":
      return { ok: true, pins: await call("GET", "/im/v1/pins", "list pinned messages", { query: { chat_id: await chatId(), page_size: given.limit } }) };
    case "channel-info":
      return { ok: true, channel: await call("GET", `/im/v1/chats/${encodeURIComponent(await chatId())}`, "describe a group") };
    case "channel-list":
      return { ok: true, channels: await call("GET", "/im/v1/chats", "list the groups of the bot", { query: { page_size: given.limit } }) };
    case "member-info": {
      const userId = given.userId ?? given.to ?? given.target;
      if (userId === undefined) throw new ChannelError("rejected", "feishu member-info needs userId", "Give the open_id (ou_…) of the person.");
      return { ok: true, user: await call("GET", `/contact/v3/users/${encodeURIComponent(userId.replace(/^user:/, ""))}`, "describe a person", { query: { user_id_type: "open_id" } }) };
    }
  }
}

function describeMessage(item: z.infer<typeof listed>["items"][number]): object {
  const { text, media } = readContent({ messageId: item.message_id, type: item.msg_type, content: item.body?.content ?? "", mentions: [], botOpenId: "" });
  return { id: item.message_id, from: item.sender?.id, isBot: item.sender?.sender_type === "app", at: item.create_time, text: text || `<media:${media[0]?.kind ?? item.msg_type}>` };
}
