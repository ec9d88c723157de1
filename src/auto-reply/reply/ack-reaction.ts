import type { ChannelPlugin } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Logger } from "../../infra/log.ts";
import type { ReplyRoute } from "./channel-sink.ts";

export interface AckInput {
  readonly cfg: OpenClawConfig;
  readonly plugin: ChannelPlugin;
  readonly route: ReplyRoute;
  readonly isGroup: boolean;
  readonly wasMentioned: boolean;
  /** `channels.<id>` overlaid by the account. */
  readonly section: Readonly<Record<string, unknown>>;
  readonly identityEmoji: string | undefined;
  readonly log: Logger;
}

const DEFAULT_EMOJI = "👀";

/**
 * Shows that a message was taken, by a reaction on it; the result removes it when the config wants that.
 * Source: spec channels §2.6 (ack reaction).
 */
export function sendAckReaction(input: AckInput): (() => void) | undefined {
  const { cfg, plugin, route, section } = input;
  const react = plugin.outbound?.react;
  const configured = typeof section["ackReaction"] === "string" ? section["ackReaction"] : cfg.messages?.ackReaction;
  const emoji = configured ?? input.identityEmoji ?? DEFAULT_EMOJI;
  const { messageId } = route;
  if (!react || emoji === "" || messageId === undefined || !isInScope(cfg.messages?.ackReactionScope ?? "group-mentions", input)) return undefined;
  const set = (value: string): void => {
    react(cfg, { accountId: route.accountId, to: route.to, threadId: route.threadId }, messageId, value).catch((err: unknown) => input.log.debug("acknowledging reaction failed", { err }));
  };
  set(emoji);
  return cfg.messages?.removeAckAfterReply ? () => set("") : undefined;
}

function isInScope(scope: string, { isGroup, wasMentioned }: Pick<AckInput, "isGroup" | "wasMentioned">): boolean {
  switch (scope) {
    case "all":
      return true;
    case "direct":
      return !isGroup;
    case "group-all":
      return isGroup;
    case "group-mentions":
      return isGroup && wasMentioned;
    default:
      return false;
  }
}
