import { z } from "zod";
import type { DingTalkApi } from "./api.ts";
import type { DingTalkAccount } from "./config.ts";
import { DingTalkError } from "./errors.ts";
import { replyData, type ReplyData } from "./inbound.ts";
import { type DingTalkTarget, isOpaqueId } from "./targets.ts";

/** A webhook is not used in its last moments: the answer would come too late. */
const WEBHOOK_MARGIN_MS = 2000;

const sendAnswer = z.looseObject({ processQueryKey: z.string().optional(), invalidStaffIdList: z.array(z.string()).nullish(), flowControlledStaffIdList: z.array(z.string()).nullish() });

/** The robot's own message to a person or a group; its processQueryKey. @throws DingTalkError */
export async function sendByRobot(
  api: DingTalkApi, account: DingTalkAccount, target: DingTalkTarget, msg: { readonly msgKey: string; readonly param: object }, signal: AbortSignal,
): Promise<string> {
  const common = { robotCode: account.clientId, msgKey: msg.msgKey, msgParam: JSON.stringify(msg.param) };
  if (target.kind === "group") {
    const answer = await api.call("POST", "/v1.0/robot/groupMessages/send", { ...common, openConversationId: target.id }, { what: "send to a group", signal });
    return sendAnswer.safeParse(answer).data?.processQueryKey ?? "";
  }
  if (isOpaqueId(target.id)) throw new DingTalkError("window", "This person is not of the company and has no staffId: DingTalk lets the bot only answer them, while the message's webhook is valid");
  const answer = sendAnswer.safeParse(await api.call("POST", "/v1.0/robot/oToMessages/batchSend", { ...common, userIds: [target.id] }, { what: "send to a person", signal })).data;
  if (answer?.flowControlledStaffIdList?.includes(target.id)) throw new DingTalkError("rate-limited", "DingTalk limits messages to this person");
  if (answer?.invalidStaffIdList?.includes(target.id)) throw new DingTalkError("refused", `DingTalk knows no staffId ${target.id} in this company`);
  return answer?.processQueryKey ?? "";
}

/** The message that is being answered, while its webhook is good and the answer goes to the same chat. */
export function liveSession(context: { readonly data: unknown; readonly expiresAtMs?: number | undefined } | undefined, target: DingTalkTarget, nowMs: number): (ReplyData & { readonly webhook: string }) | undefined {
  const data = replyData.safeParse(context?.data).data;
  if (!data?.webhook || (context?.expiresAtMs !== undefined && context.expiresAtMs - WEBHOOK_MARGIN_MS <= nowMs)) return undefined;
  const chatId = data.isGroup ? data.conversationId : data.senderId;
  return (target.kind === "group") === data.isGroup && target.id === chatId ? { ...data, webhook: data.webhook } : undefined;
}
