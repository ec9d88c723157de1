import type { DeliveryResult, Outbox, OutboxRequest } from "../delivery/index.ts";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import { fireEvent, type HookRunner } from "./hooks.ts";

/**
 * The outbox with the eyes of plugins on it: `message_sending` runs once, before a message is journaled, for answers too; it
 * may change the text or cancel. Source: spec plugin-sdk §7, decisions §9.4.
 */
export function hookOutbox(outbox: Outbox, hooks: HookRunner): Outbox {
  const inOrder = createKeyedQueue();

  /** A string says who cancelled. */
  async function looked(request: OutboxRequest): Promise<OutboxRequest | string> {
    const { channel, message } = request;
    let content = message.text;
    let cancelledBy: string | undefined;
    await hooks.ask<{ content?: unknown; cancel?: unknown }>(
      "message_sending",
      { to: message.to, content, metadata: { channel, accountId: message.accountId, mediaUrls: (message.media ?? []).map(({ path }) => path) } },
      { channelId: channel, accountId: message.accountId },
      (result, pluginId) => {
        if (typeof result.content === "string") content = result.content;
        if (typeof result.cancel === "boolean") cancelledBy = result.cancel ? pluginId : undefined;
      },
    );
    return cancelledBy ?? { ...request, message: { ...message, text: content } };
  }

  return {
    ...outbox,
    async deliver(request, firstAttempt) {
      // One that was taken in before was seen then.
      if (!hooks.has("message_sending") || outbox.lookup(request.id) !== undefined) return outbox.deliver(request, firstAttempt);
      const { channel, message } = request;
      // The chat keeps the order of the calls, however long a plugin thinks; the sending itself holds nobody up.
      const { fate } = await inOrder(`${channel}|${message.accountId}|${message.to}`, async (): Promise<{ fate: Promise<DeliveryResult> }> => {
        const next = await looked(request);
        return { fate: typeof next === "string" ? Promise.resolve({ kind: "failed", reason: `cancelled by plugin ${next}` }) : outbox.deliver(next, firstAttempt) };
      });
      return fate;
    },
  };
}

/** `message_sent`, once the fate of a message is known. */
export function tellSent(hooks: HookRunner, { channel, message }: OutboxRequest, result: DeliveryResult): void {
  fireEvent(hooks, { type: "message", action: "sent", context: { to: message.to, content: message.text, channelId: channel, accountId: message.accountId, success: result.kind === "sent" } });
  if (!hooks.has("message_sent")) return;
  void hooks.notify(
    "message_sent",
    { to: message.to, content: message.text, success: result.kind === "sent", ...(result.kind === "failed" ? { error: result.reason } : {}) },
    { channelId: channel, accountId: message.accountId, conversationId: message.to },
  );
}
