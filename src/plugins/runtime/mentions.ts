import { compileMentionPatterns, deriveMentionPatterns, matchesMention } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { findAgentConfig } from "./agent-config.ts";

/** The agent's own patterns, then the general ones, then those of its name and emoji. Source: spec channels §2.4. */
export function buildMentionRegexes(cfg: OpenClawConfig | undefined, agentId?: string): RegExp[] {
  if (!cfg) return [];
  const agent = findAgentConfig(cfg, agentId);
  const configured = agent?.groupChat?.mentionPatterns ?? cfg.messages?.groupChat?.mentionPatterns;
  if (configured !== undefined) return [...compileMentionPatterns(configured).patterns];
  return deriveMentionPatterns({ name: agent?.identity?.name, emoji: agent?.identity?.emoji });
}

export const matchesMentionPatterns = (text: string, regexes: readonly RegExp[]): boolean => matchesMention(regexes, text);

export interface ExplicitMention {
  /** The message carries mentions of the platform's own kind. */
  readonly hasAnyMention: boolean;
  readonly isExplicitlyMentioned: boolean;
  /** Whether the channel can tell who is meant. */
  readonly canResolveExplicit: boolean;
}

export interface MentionQuery {
  readonly text: string;
  readonly mentionRegexes: readonly RegExp[];
  readonly explicit?: ExplicitMention | undefined;
  /** What was said in a voice note. */
  readonly transcript?: string | undefined;
}

/** A native mention of the bot, or a pattern in the text or the transcript. */
export function matchesMentionWithExplicit({ text, mentionRegexes, explicit, transcript }: MentionQuery): boolean {
  const byPattern = matchesMention(mentionRegexes, text) || (transcript !== undefined && matchesMention(mentionRegexes, transcript));
  return byPattern || (explicit?.hasAnyMention === true && explicit.canResolveExplicit && explicit.isExplicitlyMentioned);
}
