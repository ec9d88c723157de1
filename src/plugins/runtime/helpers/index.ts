/** The parts of `api.runtime` that need no gateway and load little: what the plugin SDK shares with it. */
export { accountFields, accountKey, asFields, channelFields, entriesOf, numberOf, ownAccountFields, textOf, type Fields } from "../section.ts";
export { resolveCommandAuthorizedFromAuthorizers, type CommandAuthorizer, type ModeWhenAccessGroupsOff } from "../command-rights.ts";
export { pickToolPolicy, resolveGroupPolicy, resolveRequireMention, resolveToolsBySender, type GroupSender, type ToolPolicy } from "../group-rules.ts";
export { removeAckReactionAfterReply, shouldAckReaction } from "../reactions.ts";
export { runCommand } from "../run-command.ts";
export { createPairingReply } from "../pairing.ts";
export { createReplyPrefixContext, createReplyPrefixOptions, resolveAckReaction, type ResponsePrefixContext, type SelectedModel } from "../reply-prefix.ts";
export { detectMime, extensionForMime, type MediaKind } from "../mime-kind.ts";
