import type { ChannelPlugin } from "../channels/contract/index.ts";

/** The contract of a channel with durable sending, for plugins written for this gateway. */
export type * from "../channels/contract/index.ts";
export { ChannelError, compileMentionPatterns, deriveMentionPatterns, matchesMention } from "../channels/contract/index.ts";
export { alignTable, chunkIR, markdownToIR, markdownToText, renderMarkup } from "../channels/format/index.ts";
export type { MarkdownIR, MarkupRenderer, StyleName, StyleSpan, TableMode } from "../channels/format/index.ts";
export type { OpenClawConfig } from "../config/index.ts";
export { writeFileAtomic } from "../infra/atomic-file.ts";
export { backoffDelayMs, sleep } from "../infra/backoff.ts";
export { errorText } from "../infra/errors.ts";
export { createGuardedFetch, GuardedFetchError } from "../infra/guarded-fetch.ts";
export type { GuardedFetch } from "../infra/guarded-fetch.ts";
export { silentLogger } from "../infra/log.ts";
export type { Logger } from "../infra/log.ts";
export { parseRetryAfter } from "../infra/retry-after.ts";

const CONTRACT = Symbol.for("openclaw.channel-contract");

/**
 * Marks a channel that implements `ChannelPlugin` of this SDK: it receives through `ctx.receive` and sends through
 * `outbound.send`, so that nothing is lost over a restart. A channel without the mark is read as one of the older shape.
 */
export function defineChannel<Account>(plugin: ChannelPlugin<Account>): ChannelPlugin<Account> {
  return Object.assign(plugin, { [CONTRACT]: 1 });
}
