import type { OutboundTarget } from "openclaw/plugin-sdk";
import { z } from "zod";

/** What an answer needs of the message that it answers; journaled with it. `chatId`: where the bot writes by itself. */
const replyData = z.discriminatedUnion("via", [
  z.object({ via: z.literal("bot-socket"), reqId: z.string(), chatId: z.string() }),
  z.object({ via: z.literal("bot-webhook"), streamId: z.string(), chatId: z.string(), isGroup: z.boolean(), userId: z.string(), responseUrl: z.string().optional() }),
  z.object({ via: z.literal("app"), userId: z.string() }),
]);
export type ReplyData = z.infer<typeof replyData>;

export function readReplyData(target: OutboundTarget): ReplyData | undefined {
  const parsed = replyData.safeParse(target.replyContext?.data);
  return parsed.success ? parsed.data : undefined;
}
