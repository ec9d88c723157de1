export type * from "./inbound.ts";
export type * from "./outbound.ts";
export type * from "./plugin.ts";
export type { MsgContext } from "./msg-context.ts";
export { ChannelError } from "./errors.ts";
export { admit, isGroupConfigDrop, isOwnerSender } from "./ingress.ts";
export type { AdmitCommandSettings, AdmitInput, Admission, DropReason } from "./ingress.ts";
export { compileMentionPatterns, deriveMentionPatterns, matchesMention } from "./mention-patterns.ts";
export type { MentionPatterns } from "./mention-patterns.ts";
