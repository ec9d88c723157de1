import { z } from "zod";

/** Event payloads of the platform. Source: spec channels-cn §1.4. */
const attachment = z.object({
  content_type: z.string().catch("file"), filename: z.string().optional(), url: z.string().catch(""), size: z.coerce.number().optional(),
  voice_wav_url: z.string().optional(), asr_refer_text: z.string().optional(),
});
const mention = z.object({ is_you: z.boolean().optional(), id: z.string().optional(), member_openid: z.string().optional(), username: z.string().optional(), nickname: z.string().optional(), bot: z.boolean().optional() });
const common = {
  id: z.string().min(1),
  content: z.string().catch(""),
  timestamp: z.union([z.string(), z.number()]).optional(),
  attachments: z.array(attachment).nullish(),
  mentions: z.array(mention).nullish(),
  message_scene: z.object({ ext: z.array(z.string()).nullish() }).nullish(),
};
export const c2cMessage = z.object({ ...common, author: z.object({ user_openid: z.string().min(1), username: z.string().optional() }) });
export const groupMessage = z.object({ ...common, author: z.object({ member_openid: z.string().min(1), username: z.string().optional(), bot: z.boolean().optional() }), group_openid: z.string().min(1) });
export const guildMessage = z.object({
  ...common, channel_id: z.string().min(1), guild_id: z.string().min(1), author: z.object({ id: z.string().min(1), username: z.string().optional(), bot: z.boolean().optional() }),
  member: z.object({ nick: z.string().nullish(), roles: z.array(z.string()).nullish() }).nullish(),
});
export const interaction = z.object({
  id: z.string().min(1), type: z.number().optional(), group_openid: z.string().optional(), group_member_openid: z.string().optional(), user_openid: z.string().optional(), timestamp: z.union([z.string(), z.number()]).optional(),
  data: z.object({ resolved: z.object({ button_data: z.string().optional() }).optional() }).nullish(),
});

export type C2CMessageEvent = z.infer<typeof c2cMessage>;
export type GroupMessageEvent = z.infer<typeof groupMessage>;
export type GuildMessageEvent = z.infer<typeof guildMessage>;
export type Attachment = z.infer<typeof attachment>;
export type MessageEvent = C2CMessageEvent | GroupMessageEvent | GuildMessageEvent;
