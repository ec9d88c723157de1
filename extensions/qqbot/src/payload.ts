import { z } from "zod";

const PAYLOAD = "QQBOT_PAYLOAD:";
const CRON = "QQBOT_CRON:";
const TAG = { image: "qqimg", audio: "qqvoice", video: "qqvideo", file: "qqfile" } as const;
const payload = z.discriminatedUnion("type", [
  z.object({ type: z.literal("media"), mediaType: z.enum(["image", "audio", "video", "file"]), path: z.string().min(1), caption: z.string().optional() }),
  z.object({ type: z.literal("cron_reminder"), content: z.string().min(1) }),
]);

/**
 * A structured answer as an ordinary one with tags; other text as it is. A reminder goes where it is sent anyway: the
 * address inside is the model's word. Source: spec channels-cn §1.7 (structured payload).
 */
export function readPayload(text: string): string {
  const bare = text.trim();
  const json = bare.startsWith(PAYLOAD) ? bare.slice(PAYLOAD.length) : bare.startsWith(CRON) ? Buffer.from(bare.slice(CRON.length), "base64").toString("utf8") : undefined;
  if (json === undefined) return text;
  const parsed = payload.safeParse(parseJson(json)).data;
  if (!parsed) return "[QQBot] 载荷解析失败: 不是完整的 JSON 载荷";
  if (parsed.type === "cron_reminder") return parsed.content;
  const tag = TAG[parsed.mediaType];
  return `<${tag}>${parsed.path}</${tag}>${parsed.caption ? `\n${parsed.caption}` : ""}`;
}

/** An answer that is still being written and may become a structured one. */
export function mayBePayload(text: string): boolean {
  const bare = text.trimStart();
  return [PAYLOAD, CRON].some((mark) => bare.startsWith(mark) || mark.startsWith(bare));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The person is told.
    return undefined;
  }
}
