import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { DingTalkApi } from "./api.ts";
import type { DingTalkAccount } from "./config.ts";
import { DingTalkError } from "./errors.ts";
import type { DingTalkTarget } from "./targets.ts";

/** HTTP 200 alone is no success. */
const delivered = z.looseObject({ result: z.looseObject({ deliverResults: z.array(z.looseObject({ success: z.boolean(), errorMsg: z.string().nullish() })).nullish() }).nullish() });

/** 3 finished, 5 failed. */
type FlowStatus = "3" | "5";

/** The calls for one AI card. Each @throws DingTalkError. Source: spec channels-cn §3.5 (AI card) */
export function cardCalls({ api, account }: { readonly api: DingTalkApi; readonly account: DingTalkAccount }, outTrackId: string) {
  return {
    async create(target: DingTalkTarget, content: string): Promise<void> {
      const { clientId: robotCode } = account;
      const space = target.kind === "group"
        ? { openSpaceId: `dtv1.card//IM_GROUP.${target.id}`, imGroupOpenDeliverModel: { robotCode }, imGroupOpenSpaceModel: { supportForward: true } }
        : { openSpaceId: `dtv1.card//IM_ROBOT.${target.id}`, imRobotOpenDeliverModel: { spaceType: "IM_ROBOT", robotCode }, imRobotOpenSpaceModel: { supportForward: true } };
      const cardParamMap = { content, config: JSON.stringify({ autoLayout: true }), flowStatus: "2", hasAction: "false" };
      const answer = await api.call("POST", "/v1.0/card/instances/createAndDeliver", { cardTemplateId: account.cardTemplateId, outTrackId, cardData: { cardParamMap }, callbackType: "STREAM", userIdType: 1, ...space }, { what: "deliver a card" });
      const results = delivered.safeParse(answer).data?.result?.deliverResults ?? [];
      const failed = results.find((result) => !result.success);
      if (failed || results.length === 0) throw new DingTalkError("refused", `DingTalk did not deliver the card: ${failed?.errorMsg ?? "no result"}`);
    },
    async stream(content: string, state: { readonly isFinalize: boolean; readonly isError: boolean }): Promise<void> {
      await api.call("PUT", "/v1.0/card/streaming", { outTrackId, guid: randomUUID(), key: "content", content, isFull: true, ...state }, { what: "update a card" });
    },
    async settle(content: string, flowStatus: FlowStatus): Promise<void> {
      const blockList = JSON.stringify([{ type: 0, text: content }]);
      await api.call("PUT", "/v1.0/card/instances", { outTrackId, cardData: { cardParamMap: { content, copy_content: content, blockList, flowStatus } }, cardUpdateOptions: { updateCardDataByKey: true } }, { what: "finish a card" });
    },
  };
}
