import type { ChannelPlugin } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Logger } from "../../infra/log.ts";
import type { ReplyRoute } from "./channel-sink.ts";
import { createStatusReactions, type StatusReactions } from "./status-reactions.ts";

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
 * Shows by a reaction on the message that it was taken, and with `messages.statusReactions` what becomes of it.
 * undefined where there are no reactions, or out of `messages.ackReactionScope`. Source: spec agent-pipeline-output §6.7.
 */
export function acknowledge(input: AckInput): StatusReactions | undefined {
  const { cfg, plugin, route, section, log } = input;
  const react = plugin.outbound?.react;
  const configured = typeof section["ackReaction"] === "string" ? section["ackReaction"] : cfg.messages?.ackReaction;
  const emoji = configured ?? input.identityEmoji ?? DEFAULT_EMOJI;
  const { messageId } = route;
  if (!react || emoji === "" || messageId === undefined || !isInScope(cfg.messages?.ackReactionScope ?? "group-mentions", input)) return undefined;
  const set = (value: string): Promise<void> => react(cfg, { accountId: route.accountId, to: route.to, threadId: route.threadId }, messageId, value);
  const removeAtEnd = cfg.messages?.removeAckAfterReply === true;
  const status = cfg.messages?.statusReactions;
  if (status?.enabled) return createStatusReactions({ config: status, queuedEmoji: emoji, removeAtEnd, set, log });

  const trySet = (value: string): void => void set(value).catch((err: unknown) => log.debug("acknowledging reaction failed", { err }));
  trySet(emoji);
  const nothing = (): void => undefined;
  return { alive: nothing, thinking: nothing, tool: nothing, clear: nothing, end: () => (removeAtEnd ? trySet("") : undefined) };
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
