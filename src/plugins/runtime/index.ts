export { resolveCommandAuthorizedFromAuthorizers, type CommandAuthorizer, type ModeWhenAccessGroupsOff } from "./commands.ts";
export { buildMentionRegexes, matchesMentionPatterns, matchesMentionWithExplicit } from "./mentions.ts";
export { findAgentConfig } from "./agent-config.ts";
export { pickToolPolicy, resolveGroupPolicy, resolveRequireMention, resolveToolsBySender, type GroupSender, type ToolPolicy } from "./group-rules.ts";
export { removeAckReactionAfterReply, shouldAckReaction } from "./reactions.ts";
export { accountFields, accountKey, asFields, channelFields, entriesOf, numberOf, ownAccountFields, textOf, type Fields } from "./section.ts";
export { formatNativeDependencyHint, runCommand, type CommandOutcome, type RunCommandOptions } from "./run-command.ts";
