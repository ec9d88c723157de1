import { z } from "zod";

/** Optional fields that are null or of another type count as absent: they lose no message. */
const word = z.string().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);
const list = <T extends z.ZodType>(item: T) => z.array(z.unknown()).catch([]).transform((items) => items.flatMap((one) => item.safeParse(one).data ?? []));
const time = z.union([z.string(), z.number()]).optional().catch(undefined);

/** Event payloads of the platform. Source: spec channels-cn §1.4. */
const attachment = z.object({
  content_type: z.string().catch("file"), filename: word, url: z.string().catch(""), size: z.coerce.number().optional().catch(undefined), voice_wav_url: word, asr_refer_text: word,
});
const mention = z.object({ is_you: flag, id: word, member_openid: word, username: word, nickname: word, bot: flag });
const common = {
  id: z.string().min(1), content: z.string().catch(""), timestamp: time, attachments: list(attachment), mentions: list(mention),
  message_scene: z.object({ ext: list(z.string()) }).optional().catch(undefined),
  /** What is quoted, as far as QQ tells. */
  msg_elements: list(z.object({ msg_idx: word, content: z.string().catch(""), attachments: list(attachment) })),
};
export const c2cMessage = z.object({ ...common, author: z.object({ user_openid: z.string().min(1), username: word }) });
export const groupMessage = z.object({ ...common, author: z.object({ member_openid: z.string().min(1), username: word, bot: flag }), group_openid: z.string().min(1) });
export const guildMessage = z.object({
  ...common, channel_id: z.string().min(1), guild_id: z.string().min(1), author: z.object({ id: z.string().min(1), username: word, bot: flag }),
  member: z.object({ nick: word, roles: z.array(z.string()).optional().catch(undefined) }).optional().catch(undefined),
});
export const interaction = z.object({
  id: z.string().min(1), group_openid: word, group_member_openid: word, user_openid: word, channel_id: word, guild_id: word, timestamp: time,
  data: z.object({ resolved: z.object({ button_data: word, user_id: word }).optional().catch(undefined) }).optional().catch(undefined),
});

export type C2CMessageEvent = z.infer<typeof c2cMessage>;
export type GroupMessageEvent = z.infer<typeof groupMessage>;
export type GuildMessageEvent = z.infer<typeof guildMessage>;
export type InteractionEvent = z.infer<typeof interaction>;
export type Attachment = z.infer<typeof attachment>;
/** What all messages have in common, pressed buttons included. */
export type SpokenEvent = Pick<C2CMessageEvent, keyof typeof common>;
