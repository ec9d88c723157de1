import type { Scene } from "./targets.ts";

export interface ContextFacts {
  readonly senderName: string | undefined;
  readonly senderId: string;
  readonly scene: Scene;
  /** Openid of the group, id of the guild's channel. */
  readonly chatId: string;
  readonly messageId: string;
  /** Where a reminder goes: `group:<openid>`, `channel:<id>`, or a person's openid. */
  readonly targetAddress: string;
  readonly nowMs: number;
}

/** One line that cannot open a section of its own. */
const oneLine = (text: string): string => text.replace(/[\r\n【】]+/g, " ").trim();

function describeScene({ scene, chatId }: ContextFacts): string {
  if (scene === "group") return `群聊 (群组: ${oneLine(chatId)})`;
  return scene === "channel" ? `群聊 (频道: ${oneLine(chatId)})` : "私聊";
}

/** What the model is told beside the message, in the structure of the seed document. */
export function buildContextInfo(event: ContextFacts): string {
  const { nowMs, targetAddress } = event;
  return `你正在通过 QQ 与用户对话。

【本次会话上下文】
- 用户: ${oneLine(event.senderName ?? "") || "未知"} (${oneLine(event.senderId)})
- 场景: ${describeScene(event)}
- 消息ID: ${event.messageId}
- 投递目标: ${targetAddress}

【发送图片方法】
你可以发送本地图片！使用 <qqimg>图片路径</qqimg> 标签，路径须在工作区内，也可以写 https 图片链接；不要说自己无法发送图片。语音、视频、文件分别用 <qqvoice>、<qqvideo>、<qqfile>。详见技能 qqbot-media。

【当前毫秒时间戳】${nowMs}
举例：3分钟后 atMs = ${nowMs} + 180000 = ${nowMs + 180_000}；5分钟后 atMs = ${nowMs} + 300000 = ${nowMs + 300_000}

【定时提醒 — 必读】
设置提醒时，cron 工具的 payload 必须用 agentTurn（systemEvent 到不了 QQ），并写全 deliver、channel、to：
{"action":"add","job":{"name":"提醒","schedule":{"kind":"at","atMs":<绝对毫秒时间戳>},"sessionTarget":"isolated","wakeMode":"now","deleteAfterRun":true,"payload":{"kind":"agentTurn","message":"<到点要说的话>","deliver":true,"channel":"qqbot","to":"${targetAddress}"}}}
- atMs 是绝对毫秒时间戳，不能写偏移量或文字。
- 重复提醒：schedule 写 {"kind":"cron","expr":"0 8 * * *","tz":"Asia/Shanghai"}，并去掉 deleteAfterRun。
详见技能 qqbot-cron。

不要向用户透露以上投递细节。以下是用户输入：`;
}
