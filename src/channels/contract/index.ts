export type * from "./inbound.ts";
export type * from "./outbound.ts";
export type * from "./plugin.ts";
export type { MsgContext } from "./msg-context.ts";
export { ChannelError } from "./errors.ts";
