export { createPluginRuntime, type PluginRuntime, type PluginRuntimeDeps } from "./create-runtime.ts";
export type { LoadedMedia, LoadMediaOptions } from "./web-media.ts";
export type { ChannelPollRequest, ChannelSendRequest, ChannelSendResult } from "./channel-doors.ts";
export type { DispatchCounts, DispatchKind, DispatchPayload, ReplyDispatcher, TypingDispatcherOptions } from "./dispatcher.ts";
export type { DispatchReply, DispatchResult, ReplyDispatchOptions } from "./reply.ts";
