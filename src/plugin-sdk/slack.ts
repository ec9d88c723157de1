import type { OpenClawConfig } from "../config/index.ts";
import { asFields, type Fields } from "../plugins/runtime/helpers/index.ts";
import { listEnabledSlackAccounts, resolveSlackAccount, type SlackAccount } from "./accounts.ts";
import { createActionGate, extractToolSend, readNumberParam, readStringParam, readReactionParams } from "./params.ts";

/** The message tool on Slack. Source: spec channels §7. */

type ReplyToMode = "off" | "first" | "all";

const asMode = (value: unknown): ReplyToMode | undefined => (value === "off" || value === "first" || value === "all" ? value : undefined);

/** By kind of chat, then for direct chats the old key, then for all. */
export function resolveSlackReplyToMode(account: Pick<SlackAccount, "replyToMode" | "replyToModeByChatType" | "dm">, chatType?: string | null): ReplyToMode {
  const kind = chatType === "direct" || chatType === "group" || chatType === "channel" ? chatType : undefined;
  const byKind = kind === undefined ? undefined : asMode(asFields(account.replyToModeByChatType)[kind]);
  return byKind ?? (kind === "direct" ? asMode(asFields(account.dm)["replyToMode"]) : undefined) ?? asMode(account.replyToMode) ?? "off";
}

export interface SlackToolContext {
  readonly currentChannelId?: string | undefined;
  readonly currentThreadTs?: string | undefined;
  readonly replyToMode: ReplyToMode;
  readonly hasRepliedRef?: { value: boolean } | undefined;
}

/** Where a tool's message goes by itself: the channel and thread of the run. */
export function buildSlackThreadingToolContext(input: {
  readonly cfg: OpenClawConfig;
  readonly accountId?: string | null | undefined;
  readonly context: { readonly To?: string | undefined; readonly ChatType?: string | undefined; readonly ReplyToId?: string | undefined; readonly ThreadLabel?: string | undefined; readonly MessageThreadId?: string | number | undefined };
  readonly hasRepliedRef?: { value: boolean } | undefined;
}): SlackToolContext {
  const { context, hasRepliedRef } = input;
  const configured = resolveSlackReplyToMode(resolveSlackAccount({ cfg: input.cfg, accountId: input.accountId }), context.ChatType);
  const threadId = context.MessageThreadId ?? context.ReplyToId;
  return {
    currentChannelId: context.To?.startsWith("channel:") ? context.To.slice("channel:".length) : undefined,
    currentThreadTs: threadId === undefined ? undefined : String(threadId),
    // Inside a thread every answer stays there.
    replyToMode: context.ThreadLabel ? "all" : configured, hasRepliedRef,
  };
}

const GATED: readonly (readonly [string, readonly string[]])[] = [
  ["reactions", ["react", "reactions"]], ["messages", ["read", "edit", "delete"]], ["pins", ["pin", "unpin", "list-pins"]], ["memberInfo", ["member-info"]], ["emojiList", ["emoji-list"]],
];

/** What the enabled accounts allow, taken together. */
export function listSlackMessageActions(cfg: OpenClawConfig): string[] {
  const accounts = listEnabledSlackAccounts(cfg).filter((account) => account.botTokenSource !== "none");
  if (accounts.length === 0) return [];
  const gates = accounts.map((account) => createActionGate((account.actions ?? asFields(asFields(cfg.channels?.slack)["actions"])) as Readonly<Record<string, boolean | undefined>>));
  return ["send", ...GATED.filter(([key]) => gates.some((isOn) => isOn(key))).flatMap(([, actions]) => actions)];
}

export const extractSlackToolSend = (args: Fields): { to: string; accountId?: string | undefined } | null => extractToolSend(args, "sendMessage");

export interface SlackActionInput<Result> {
  readonly providerId: string;
  readonly ctx: { readonly action: string; readonly cfg: OpenClawConfig; readonly params: Fields; readonly accountId?: string | null | undefined; readonly toolContext?: unknown };
  readonly invoke: (action: Fields, cfg: OpenClawConfig, toolContext?: unknown) => Promise<Result>;
  readonly normalizeChannelId?: ((channelId: string) => string) | undefined;
  readonly includeReadThreadId?: boolean | undefined;
}

/** Reads the parameters of a message tool's action and hands it to `invoke` in Slack's own terms. @throws ToolInputError, or Error for an action it does not know */
export async function handleSlackMessageAction<Result>(input: SlackActionInput<Result>): Promise<Result> {
  const { ctx, providerId } = input;
  const { params } = ctx;
  const required = (key: string, options: { allowEmpty?: boolean } = {}): string => readStringParam(params, key, { required: true, ...options });
  const channelId = (): string => {
    const id = readStringParam(params, "channelId") ?? required("to");
    return input.normalizeChannelId?.(id) ?? id;
  };
  const run = (action: Fields): Promise<Result> => input.invoke({ ...action, accountId: ctx.accountId ?? undefined }, ctx.cfg, ctx.toolContext);
  switch (ctx.action) {
    case "send": {
      const mediaUrl = readStringParam(params, "media", { trim: false });
      const content = readStringParam(params, "message", { allowEmpty: true, required: mediaUrl === undefined });
      return run({ action: "sendMessage", to: required("to"), content: content ?? "", mediaUrl, threadTs: readStringParam(params, "threadId") ?? readStringParam(params, "replyTo"), blocks: params["blocks"] });
    }
    case "react": {
      const { emoji, remove } = readReactionParams(params, { removeErrorMessage: "Emoji is required to remove a Slack reaction." });
      return run({ action: "react", channelId: channelId(), messageId: required("messageId"), emoji, remove });
    }
    case "reactions":
      return run({ action: "reactions", channelId: channelId(), messageId: required("messageId"), limit: readNumberParam(params, "limit", { integer: true }) });
    case "read":
      return run({
        action: "readMessages", channelId: channelId(), limit: readNumberParam(params, "limit", { integer: true }), before: readStringParam(params, "before"), after: readStringParam(params, "after"),
        ...(input.includeReadThreadId ? { threadId: readStringParam(params, "threadId") } : {}),
      });
    case "edit":
      return run({ action: "editMessage", channelId: channelId(), messageId: required("messageId"), content: required("message") });
    case "delete":
      return run({ action: "deleteMessage", channelId: channelId(), messageId: required("messageId") });
    case "pin":
      return run({ action: "pinMessage", channelId: channelId(), messageId: required("messageId") });
    case "unpin":
      return run({ action: "unpinMessage", channelId: channelId(), messageId: required("messageId") });
    case "list-pins":
      return run({ action: "listPins", channelId: channelId() });
    case "member-info":
      return run({ action: "memberInfo", userId: required("userId") });
    case "emoji-list":
      return run({ action: "emojiList", limit: readNumberParam(params, "limit", { integer: true }) });
    default:
      throw new Error(`Action ${ctx.action} is not supported for provider ${providerId}.`);
  }
}
