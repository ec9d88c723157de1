import { type ChannelActionContext, ChannelError } from "openclaw/plugin-sdk";
import { z } from "zod";
import type { DingTalkApi } from "./api.ts";
import type { DingTalkAccount } from "./config.ts";
import { DingTalkError } from "./errors.ts";
import type { Reactions } from "./reactions.ts";
import { parseTarget, TARGET_HINT } from "./targets.ts";

export const ACTIONS = ["react", "unsend"] as const;

const id = z.union([z.string(), z.number()]).transform(String).pipe(z.string().min(1));
const params = z.object({ to: id.optional(), target: id.optional(), messageId: id.optional(), emoji: z.string().default(""), remove: z.boolean().optional() });
const recalled = z.looseObject({ failedResult: z.record(z.string(), z.unknown()).nullish() });

/** Reactions, and taking back what the robot sent by itself. @throws ChannelError `rejected` with the reason */
export async function handleAction(deps: { readonly account: DingTalkAccount; readonly api: DingTalkApi; readonly reactions: Reactions }, ctx: ChannelActionContext): Promise<unknown> {
  const { account, api } = deps;
  const given = params.safeParse(ctx.params);
  if (!given.success) throw new ChannelError("rejected", `${ctx.action}: ${z.prettifyError(given.error)}`, "Correct the named parameter.");
  const messageId = given.data.messageId ?? ctx.current?.messageId;
  if (messageId === undefined) throw new ChannelError("rejected", `${ctx.action} needs messageId`, "Give messageId, as shown in the conversation info.");
  try {
    if (ctx.action === "react") {
      const emoji = given.data.remove === true ? "" : given.data.emoji;
      await deps.reactions.set(api, account, messageId, emoji);
      return emoji === "" ? { ok: true, removed: true } : { ok: true, added: emoji };
    }
    if (ctx.action !== "unsend") throw new ChannelError("rejected", `Action "${ctx.action}" is not supported by dingtalk`, `Use one of ${ACTIONS.join(", ")}.`);
    const to = given.data.to ?? given.data.target ?? ctx.current?.to;
    const target = to === undefined ? undefined : parseTarget(to);
    if (!target) throw new ChannelError("rejected", "unsend needs the chat of the message", `Give to: ${TARGET_HINT}.`);
    const common = { robotCode: account.clientId, processQueryKeys: [messageId] };
    const options = { what: "take a message back", signal: ctx.signal };
    const answer = target.kind === "group"
      ? await api.call("POST", "/v1.0/robot/groupMessages/recall", { ...common, openConversationId: target.id }, options)
      : await api.call("POST", "/v1.0/robot/otoMessages/batchRecall", common, options);
    const failed = recalled.safeParse(answer).data?.failedResult?.[messageId];
    return failed === undefined ? { ok: true, deleted: true } : { ok: false, error: `DingTalk did not take the message back: ${JSON.stringify(failed)}` };
  } catch (err) {
    if (err instanceof DingTalkError) throw new ChannelError("rejected", err.message, "See DingTalk's reason.", { cause: err });
    throw err;
  }
}
