import type { OpenClawConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import { type Logger, silentLogger } from "../../infra/log.ts";
import { ChannelError, type ChannelPlugin, type OutboundTarget } from "../contract/index.ts";
import { ACTIONS, handleAction } from "./actions.ts";
import { collectWarnings, normalizeEntry, resolveAccess, resolveToolPolicy } from "./access.ts";
import { createLarkApi, type LarkApi } from "./api.ts";
import { createCardStore } from "./card-store.ts";
import { type ChatLog, createChatLog } from "./chat-log.ts";
import { defaultAccountId, enabledAccounts, type Env, type LarkAccount, listAccountIds, resolveAccount, unconfiguredReason } from "./config.ts";
import { CONNECTION_TIMINGS, type ConnectionTimings } from "./connection.ts";
import { DEFAULT_TEXT_LIMIT } from "./format.ts";
import { downloadMedia, PLATFORM_HOSTS } from "./media.ts";
import { type Destination, readReplyData } from "./messages.ts";
import { sendMessage } from "./outbound.ts";
import { createReactions, type Reactions } from "./reactions.ts";
import { resolveTargets } from "./resolve.ts";
import { runAccount } from "./run-account.ts";
import { setup } from "./setup.ts";
import { collectStatusIssues, describeAccount, probe } from "./status.ts";
import { closeOrphan, openStreamCard } from "./stream-card.ts";
import { formatTarget, normalizeTarget, parseTarget, TARGET_HINT, unknownTarget } from "./targets.ts";
import { createLarkTools } from "./tools/index.ts";
import { createTypingSigns, type TypingSigns } from "./typing.ts";
import { createWebhookServers } from "./webhook-server.ts";

export interface LarkPluginOptions {
  /** Where OPENCLAW_FEISHU_API_ROOT is looked up. */
  readonly env: Env;
  /** Where cards that are open are remembered; unset: only while the process lives. */
  readonly stateDir?: string | undefined;
  /** People whom pairing let in. */
  readonly pairedIds?: ((accountId: string) => readonly string[]) | undefined;
  readonly log?: Logger | undefined;
  readonly now?: (() => number) | undefined;
  readonly timings?: Partial<ConnectionTimings> | undefined;
  /** Of one call, and between two updates of a card, ms; for tests. */
  readonly callTimeoutMs?: number | undefined;
  readonly cardIntervalMs?: number | undefined;
}

/** What one account keeps between calls; replaced when its credentials or addresses change. */
interface AccountState {
  readonly key: string;
  readonly api: LarkApi;
  readonly reactions: Reactions;
  readonly typing: TypingSigns;
  readonly log: ChatLog;
}

/** Feishu and Lark as a channel: long connection or webhook in; messages, cards that grow and the tools of the platform out. */
export function createLarkPlugin(options: LarkPluginOptions): ChannelPlugin<LarkAccount> {
  const { env, log = silentLogger, now = Date.now } = options;
  const timings = { ...CONNECTION_TIMINGS, ...options.timings };
  const states = new Map<string, AccountState>();
  const cards = createCardStore(options.stateDir, log);
  const servers = createWebhookServers({ now });
  const accountOf = (cfg: OpenClawConfig, accountId: string): LarkAccount => resolveAccount(cfg, accountId, env);
  const openIdOf = (accountId: string) => (entry: string): string => states.get(accountId)?.log.openIdOf(entry) ?? entry;

  function stateOf(account: LarkAccount): AccountState {
    const key = JSON.stringify([account.appId, account.appSecret, account.apiRoot]);
    const known = states.get(account.accountId);
    if (known?.key === key) return known;
    const api = createLarkApi(account, { now, timeoutMs: options.callTimeoutMs });
    const reactions = createReactions(api, account.appId);
    const state: AccountState = { key, api, reactions, typing: createTypingSigns(reactions, log), log: createChatLog() };
    states.set(account.accountId, state);
    return state;
  }

  /** @throws ChannelError `config` when the account cannot send */
  function ready(cfg: OpenClawConfig, accountId: string): { readonly account: LarkAccount; readonly state: AccountState } {
    const account = accountOf(cfg, accountId);
    if (account.problem !== undefined) throw new ChannelError("config", account.problem, `See ${account.configPath}.`);
    return { account, state: stateOf(account) };
  }

  const remember = (state: AccountState) => ({ type, id }: Destination["target"], messageId: string): void => {
    if (type === "chat_id" || type === "open_id") state.log.add(messageId, { isBot: true, chat: { id, type: type === "chat_id" ? "group" : "direct" } });
  };

  /** The sign of typing goes; nobody waits for it. */
  function answered(state: AccountState, target: OutboundTarget): void {
    const messageId = readReplyData(target)?.messageId;
    if (messageId !== undefined) void state.typing.done(messageId);
  }

  return {
    id: "feishu",
    meta: {
      id: "feishu", label: "Feishu", selectionLabel: "Feishu/Lark (飞书)", detailLabel: "Feishu Bot", docsPath: "/channels/feishu", blurb: "飞书/Lark enterprise messaging: long connection, cards, documents.", order: 35, aliases: ["lark"], systemImage: "message",
    },
    capabilities: { chatTypes: ["direct", "group", "thread"], reactions: true, edit: true, reply: true, threads: true, media: true },
    reload: { configPrefixes: ["channels.feishu"] },
    platformHosts: PLATFORM_HOSTS,
    config: {
      listAccountIds,
      resolveAccount: accountOf,
      defaultAccountId,
      isEnabled: (account) => account.enabled,
      unconfiguredReason: (account, cfg) => unconfiguredReason(account, cfg, env),
      describeAccount: (account, cfg) => describeAccount(account, unconfiguredReason(account, cfg, env)),
      resolveAllowFrom: (account) => (account.config.allowFrom ?? []).map((entry) => openIdOf(account.accountId)(normalizeEntry(String(entry)))),
      resolveDefaultTo: (account) => account.config.defaultTo,
    },
    setup,
    pairing: { idLabel: "feishuUserId", idLine: (senderId) => `Your Feishu user id: ${senderId}`, normalizeAllowEntry: normalizeEntry },
    security: { resolveAccess: (account, cfg, chat) => resolveAccess(account, cfg, chat, openIdOf(account.accountId)), normalizeEntry, collectWarnings },
    groups: { resolveToolPolicy: (ctx) => resolveToolPolicy(accountOf(ctx.cfg, ctx.accountId), ctx) },
    outbound: {
      textLimit: { max: DEFAULT_TEXT_LIMIT, unit: "utf16" },
      async send(cfg, message, sendOptions) {
        const account = accountOf(cfg, message.accountId);
        if (account.problem !== undefined) return { kind: "rejected", reason: account.problem };
        const state = stateOf(account);
        const outcome = await sendMessage({ account, api: state.api, log, onSent: remember(state) }, message, sendOptions);
        if (message.kind === undefined || message.kind === "final") answered(state, message);
        return outcome;
      },
      resolveTarget(_cfg, to) {
        const target = parseTarget(to);
        return target ? { ok: true, to: formatTarget(target) } : { ok: false, error: unknownTarget(to) };
      },
      async sendTyping(cfg, target) {
        const { account, state } = ready(cfg, target.accountId);
        const messageId = readReplyData(target)?.messageId;
        if (account.config.typingIndicator !== false && messageId !== undefined) await state.typing.signal(messageId);
      },
      async react(cfg, target, messageId, emoji) {
        await ready(cfg, target.accountId).state.reactions.set(messageId, emoji);
      },
    },
    streaming: {
      blockStreamingCoalesceDefaults: { minChars: 1500, idleMs: 1000 },
      open(cfg, target) {
        const account = accountOf(cfg, target.accountId);
        const { streaming = true, renderMode, blockStreaming } = account.config;
        if (account.problem !== undefined || !streaming || renderMode === "raw" || blockStreaming === true || !parseTarget(target.to)) return undefined;
        const state = stateOf(account);
        return openStreamCard({ account, api: state.api, store: cards, log, now, minIntervalMs: options.cardIntervalMs, onSent: remember(state), onFinished: () => answered(state, target) }, target);
      },
      async closeOrphan(cfg, accountId, ref) {
        await closeOrphan({ api: ready(cfg, accountId).state.api, store: cards, log }, ref);
      },
    },
    threading: { resolveReplyToMode: (cfg, accountId) => accountOf(cfg, accountId).config.replyToMode ?? "all", allowExplicitReplyTagsWhenOff: true },
    messaging: { normalizeTarget, hint: TARGET_HINT },
    resolver: { resolveTargets: async (cfg, accountId, query) => resolveTargets(ready(cfg, accountId).state.api, accountId, query) },
    agentPrompt: { messageToolHints: () => ["Feishu: omit `target` to answer in the current chat; other targets are `chat:<oc_…>`, `user:<ou_…>` or the name of a group."] },
    agentTools: createLarkTools({ env, accountOf, apiOf: (account) => stateOf(account).api }),
    actions: {
      listActions: (cfg) => (enabledAccounts(cfg, env).length > 0 ? ACTIONS : []),
      async handleAction(ctx) {
        const { account, state } = ready(ctx.cfg, ctx.accountId);
        return handleAction({ account, api: state.api, reactions: state.reactions }, ctx);
      },
    },
    status: { probeAccount: (account, _cfg, timeoutMs) => probe(stateOf(account).api, account, timeoutMs, now), collectStatusIssues },
    gateway: {
      async startAccount(ctx) {
        const state = stateOf(ctx.account);
        try {
          await runAccount({ ctx, api: state.api, log: state.log, timings, servers, pairedIds: options.pairedIds ?? (() => []) });
        } finally {
          await state.typing.stop().catch((err: unknown) => ctx.log.debug("signs of typing not taken back", { error: errorText(err) }));
        }
      },
      downloadMedia: async (cfg, accountId, media, downloadOptions) => downloadMedia(ready(cfg, accountId).state.api, media, downloadOptions),
      async logoutAccount(cfg, accountId) {
        const account = accountOf(cfg, accountId);
        states.delete(account.accountId);
        const forget = account.configPath.split(".").reduceRight<Record<string, unknown>>((inner, key) => ({ [key]: inner }), { appSecret: null });
        return { cleared: account.appSecret !== "", loggedOut: true, forget };
      },
    },
  };
}
