import { randomUUID } from "node:crypto";
import type { OutboundMessage, OutboundTarget } from "../../channels/contract/index.ts";
import type { DispatchKind, DispatchPayload } from "../runtime/index.ts";

/** Who takes the answers to one message while its plugin waits for them. */
export interface LiveReceiver {
  /** Resolves when the plugin has dealt with it. */
  deliver(payload: DispatchPayload, kind: DispatchKind): Promise<void>;
  typing?(): void | Promise<void>;
}

/** Receivers of this process; after a restart answers go through the channel's outbound side. Source: spec decisions §5.5. */
export interface LiveReceivers {
  /** The value for `ReplyContext.data` of the message. */
  open(receiver: LiveReceiver): { readonly data: { readonly dispatchId: string }; close(): void };
  of(target: Pick<OutboundTarget, "replyContext">): LiveReceiver | undefined;
}

export function createLiveReceivers(): LiveReceivers {
  const open = new Map<string, LiveReceiver>();
  return {
    open(receiver) {
      const dispatchId = randomUUID();
      open.set(dispatchId, receiver);
      return { data: { dispatchId }, close: () => void open.delete(dispatchId) };
    },
    of({ replyContext }) {
      const data = replyContext?.data;
      const id = typeof data === "object" && data !== null && "dispatchId" in data ? data.dispatchId : undefined;
      return typeof id === "string" ? open.get(id) : undefined;
    },
  };
}

export function toLivePayload(message: OutboundMessage): DispatchPayload {
  const paths = (message.media ?? []).map(({ path }) => path);
  return {
    text: message.text, replyToTag: false, replyToCurrent: false, audioAsVoice: message.media?.some(({ asVoice }) => asVoice === true) ?? false,
    ...(paths.length > 0 ? { mediaUrl: paths[0], mediaUrls: paths } : {}),
    ...(message.replyToId === undefined ? {} : { replyToId: message.replyToId }),
    ...(message.channelData === undefined ? {} : { channelData: message.channelData }),
  };
}
