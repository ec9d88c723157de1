export { adaptForeignChannel } from "./channel.ts";
export { createForeignDispatch, type ForeignDispatch } from "./dispatch.ts";
export { createLiveReceivers, type LivePayload, type LiveReceiver } from "./live.ts";

const CONTRACT = Symbol.for("openclaw.channel-contract");

/** Whether a channel was made with `defineChannel` of the plugin SDK. */
export const isOwnContract = (channel: object): boolean => CONTRACT in channel;
