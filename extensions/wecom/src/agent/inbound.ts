import type { InboundMediaRef, InboundMessage } from "openclaw/plugin-sdk";
import type { WecomAccount } from "../config.ts";
import type { ReplyData } from "../reply-data.ts";

/** Media of apps live three days. */
const MEDIA_LIFE_MS = 3 * 24 * 3_600_000;
export const APP_MEDIA_PREFIX = "app:";

/** A message to the self-built app; undefined for events and for what is from nobody. Source: spec channels-cn §2.4 (App XML). */
export function toInbound(xml: Readonly<Record<string, string>>, { account, now }: { readonly account: WecomAccount; readonly now: () => number }): InboundMessage | undefined {
  const userId = xml["FromUserName"]?.trim() ?? "";
  const type = xml["MsgType"] ?? "";
  const messageId = xml["MsgId"] ?? "";
  if (userId === "" || userId === "sys" || type === "event" || type === "" || messageId === "") return undefined;
  const { text, media } = readBody(type, xml, now());
  const seconds = Number(xml["CreateTime"]);
  const location = type === "location" ? readLocation(xml) : undefined;
  const data: ReplyData = { via: "app", userId };
  return {
    channel: "wecom", accountId: account.accountId, messageId, chat: { id: userId, type: "direct" }, sender: { id: userId },
    text, timestampMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : now(), to: `wecom-agent:user:${userId}`, from: `wecom:${userId}`,
    ...(media.length > 0 ? { media } : {}), ...(location ? { location } : {}), replyContext: { data },
  };
}

function readBody(type: string, xml: Readonly<Record<string, string>>, nowMs: number): { readonly text: string; readonly media: readonly InboundMediaRef[] } {
  const medium = (kind: InboundMediaRef["kind"]): InboundMediaRef[] => (xml["MediaId"] ? [{ kind, ref: `${APP_MEDIA_PREFIX}${xml["MediaId"]}`, expiresAtMs: nowMs + MEDIA_LIFE_MS }] : []);
  switch (type) {
    case "text":
      return { text: xml["Content"]?.trim() ?? "", media: [] };
    case "image":
      return medium("image").length > 0 ? { text: "", media: medium("image") } : { text: `[图片] ${xml["PicUrl"] ?? ""}`.trim(), media: [] };
    case "voice":
      return xml["Recognition"]?.trim() ? { text: xml["Recognition"].trim(), media: [] } : medium("voice").length > 0 ? { text: "", media: medium("voice") } : { text: "[语音消息]", media: [] };
    case "video":
      return medium("video").length > 0 ? { text: "", media: medium("video") } : { text: "[视频]", media: [] };
    case "location":
      return { text: `[位置] ${xml["Label"] ?? ""}`.trim(), media: [] };
    case "link":
      return { text: ["[链接]", xml["Title"], xml["Description"], xml["Url"]].filter(Boolean).join(" "), media: [] };
    default:
      return { text: `[${type}]`, media: [] };
  }
}

function readLocation(xml: Readonly<Record<string, string>>): InboundMessage["location"] {
  const [lat, lon] = [Number(xml["Location_X"]), Number(xml["Location_Y"])];
  return Number.isFinite(lat) && Number.isFinite(lon) ? { lat, lon, name: xml["Label"], source: "wecom" } : undefined;
}
