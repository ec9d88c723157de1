/** Everything of the SDK that needs no gateway. */
export * from "./channel.ts";
export * from "./access.ts";
export * from "./accounts.ts";
export {
  addWildcardAllowFrom, buildChannelKeyCandidates, formatAllowFromLowercase, formatAllowlistMatchMeta, isDangerousNameMatchingEnabled, isNormalizedSenderAllowed,
  mergeAllowFromEntries, mergeAllowlist, normalizeAllowFrom, resolveAllowlistMatchSimple, resolveChannelEntryMatch, resolveChannelEntryMatchWithFallback,
  resolveDmAllowState, resolveNestedAllowlistDecision,
} from "./allow-from.ts";
export {
  applyAccountNameToChannelSection, deleteAccountFromConfigSection, migrateBaseNameToDefaultAccount, resolveChannelAccountConfigBasePath, resolveChannelMediaMaxBytes,
  setAccountEnabledInConfigSection,
} from "./config-section.ts";
export * from "./dedupe.ts";
export * from "./directory.ts";
export * from "./environment.ts";
export * from "./files.ts";
export * from "./groups.ts";
export * from "./history.ts";
export * from "./line.ts";
export * from "./location.ts";
export * from "./onboarding.ts";
export * from "./params.ts";
export * from "./plugin-entry.ts";
export * from "./reply-payload.ts";
export * from "./request-body.ts";
export * from "./schemas.ts";
export * from "./slack.ts";
export * from "./ssrf.ts";
export * from "./status.ts";
export * from "./targets.ts";
export * from "./text.ts";
export * from "./typing.ts";
export * from "./values.ts";
export * from "./webhooks.ts";
export {
  createReplyPrefixContext, createReplyPrefixOptions, detectMime, extensionForMime, removeAckReactionAfterReply, resolveAckReaction, resolveToolsBySender, shouldAckReaction,
} from "../plugins/runtime/helpers/index.ts";
