import { ChannelError, type ChannelPlugin, defineChannel, type Logger, type OpenClawConfig, type OutboundTarget, silentLogger, type StreamHandle } from "openclaw/plugin-sdk";
import { collectWarnings, resolveAccess, resolveToolPolicy, dmRules } from "./access.ts";
import { type AppApi, createAppApi } from "./agent/api-client.ts";
import { APP_MEDIA_PREFIX } from "./agent/inbound.ts";
import { createSentCards, type SentCards } from "./bot/cards.ts";
import { CONNECTION_TIMINGS, type ConnectionTimings } from "./bot/connection.ts";
import type { BotLink } from "./bot/link.ts";
import { type BotStreams, createBotStreams } from "./bot/streams.ts";
import { defaultAccountId, type Env, listAccountIds, resolveAccount, unconfiguredReason, type WecomAccount } from "./config.ts";
import { WecomError } from "./errors.ts";
import { BOT_TEXT_BYTES } from "./format.ts";
import { createMcpTool } from "./mcp-tool.ts";
import { downloadBotMedia, PLATFORM_HOSTS, store, tooLarge } from "./media.ts";
import { sendMessage, type SendDeps } from "./outbound.ts";
import { readReplyData } from "./reply-data.ts";
import { createResponder } from "./response-url.ts";
import { runAccount } from "./run-account.ts";
import { setup } from "./setup.ts";
import { describeAccount, probe } from "./status.ts";
import { formatTarget, normalizeEntry, normalizeTarget, parseTarget, TARGET_HINT } from "./targets.ts";
import { createCallbackRouter } from "./webhook/router.ts";
import { createStreamStates, type StreamStates } from "./webhook/stream-states.ts";

export interface WecomPluginOptions {
  /** Where OPENCLAW_WECOM_* and the proxy variables are looked up. */
  readonly env: Env;
  readonly log?: Logger | undefined;
  readonly now?: (() => number) | undefined;
  readonly timings?: Partial<ConnectionTimings> | undefined;
  /** ms between two texts of a growing answer, and for the platform to take a finished one; for tests. */
  readonly streamIntervalMs?: number | undefined;
  readonly pollWaitMs?: number | undefined;
}

/** What one account keeps between calls; replaced when its credentials or addresses change. */
interface AccountState {
  readonly key: string;
  link: BotLink | undefined;
  readonly streams: BotStreams;
  readonly states: StreamStates;
  readonly cards: SentCards;
  readonly app: AppApi | undefined;
  readonly respond: SendDeps["respond"];
}

/** WeCom as a channel: the AI bot by long connection or callback, and the self-built app. */
export function createWecomPlugin(options: WecomPluginOptions): ChannelPlugin<WecomAccount> {
  const { env, log = silentLogger, now = Date.now } = options;
  const timings = { ...CONNECTION_TIMINGS, ...options.timings };
  const accounts = new Map<string, AccountState>();
  const router = createCallbackRouter();
  const accountOf = (cfg: OpenClawConfig, accountId: string): WecomAccount => resolveAccount(cfg, accountId, env);

  function stateOf(account: WecomAccount): AccountState {
    const key = JSON.stringify([account.bot, account.app, account.apiRoot, account.proxyUrl, account.timeoutMs]);
    const known = accounts.get(account.accountId);
    if (known?.key === key) return known;
    const state: AccountState = {
      key, link: undefined, streams: createBotStreams({ link: () => state.link, log, now, intervalMs: options.streamIntervalMs }),
      states: createStreamStates({ placeholder: account.bot?.placeholder ?? "1", now, pollWaitMs: options.pollWaitMs }), cards: createSentCards(), app: account.app && createAppApi(account, account.app, now), respond: createResponder(account),
    };
    accounts.set(account.accountId, state);
    return state;
  }

  /** @throws ChannelError `config` when the account cannot send */
  function ready(cfg: OpenClawConfig, accountId: string): { readonly account: WecomAccount; readonly state: AccountState } {
    const account = accountOf(cfg, accountId);
    if (account.problem !== undefined) throw new ChannelError("config", account.problem, `See ${account.configPath}.`);
    return { account, state: stateOf(account) };
  }

  function open(cfg: OpenClawConfig, target: OutboundTarget): StreamHandle | undefined {
    const account = accountOf(cfg, target.accountId);
    const data = readReplyData(target);
    if (account.problem !== undefined || account.config.blockStreaming === true || data === undefined || data.via === "app") return undefined;
    const state = stateOf(account);
    if (data.via === "bot-webhook") return state.states.isAnswerable(data.streamId) ? state.states.open(data.streamId) : undefined;
    return data.reqId !== "" && state.streams.isAnswerable(data.reqId) ? state.streams.open(data.reqId, { showsThinking: account.bot?.showsThinking === true }) : undefined;
  }

  return defineChannel<WecomAccount>({
    id: "wecom",
    meta: {
      id: "wecom", label: "WeCom", selectionLabel: "WeCom (企业微信)", detailLabel: "WeCom Bot", docsPath: "/channels/wecom", blurb: "an AI bot with a long connection, no public address needed; or callbacks and a self-built app.",
      order: 61, aliases: ["wework", "qywx", "wechatwork"], systemImage: "building.2",
    },
    capabilities: { chatTypes: ["direct", "group"], media: true, blockStreaming: true },
    reload: { configPrefixes: ["channels.wecom"] },
    platformHosts: PLATFORM_HOSTS,
    config: {
      listAccountIds, resolveAccount: accountOf, defaultAccountId,
      isEnabled: (account) => account.enabled,
      unconfiguredReason: (account, cfg) => unconfiguredReason(account, cfg, env),
      describeAccount: (account, cfg) => describeAccount(account, unconfiguredReason(account, cfg, env)),
      resolveAllowFrom: (account) => dmRules(account).allowFrom,
      resolveDefaultTo: (account) => account.config.defaultTo,
    },
    setup,
    pairing: { idLabel: "wecomUserId", idLine: (senderId) => `Your WeCom user id: ${senderId}`, normalizeAllowEntry: normalizeEntry },
    security: { resolveAccess, normalizeEntry, collectWarnings },
    groups: { resolveToolPolicy: (ctx) => resolveToolPolicy(accountOf(ctx.cfg, ctx.accountId), ctx) },
    outbound: {
      textLimit: { max: BOT_TEXT_BYTES, unit: "utf8-bytes" },
      async send(cfg, message, sendOptions) {
        const account = accountOf(cfg, message.accountId);
        if (account.problem !== undefined) return { kind: "rejected", reason: account.problem };
        const { streams, states, cards, app, respond, ...state } = stateOf(account);
        return sendMessage({ account, log, link: () => accounts.get(account.accountId)?.link ?? state.link, streams, states, cards, app, respond }, message, sendOptions);
      },
      resolveTarget(_cfg, to) {
        const target = parseTarget(to);
        return target ? { ok: true, to: formatTarget(target) } : { ok: false, error: `"${to}" is no WeCom address: use ${TARGET_HINT}.` };
      },
    },
    streaming: {
      blockStreamingCoalesceDefaults: { minChars: 1500, idleMs: 1000 },
      open,
      async closeOrphan(cfg, accountId, ref) {
        const { streams, states } = ready(cfg, accountId).state;
        streams.adoptOrphan(ref);
        states.adoptOrphan(ref);
      },
    },
    threading: { resolveReplyToMode: () => "off" },
    messaging: { normalizeTarget, hint: TARGET_HINT },
    agentPrompt: { messageToolHints: () => ["WeCom: a line `MEDIA:<absolute path>` sends a file. A template card is written as JSON, `{\"template_card\":{\"card_type\":…}}`, alone or in a json code block. `wecom-agent:user:<userid>` sends through the self-built app."] },
    agentTools: createMcpTool({ accountOf, accountIds: listAccountIds, defaultAccountId, link: (accountId) => accounts.get(accountId)?.link, now }),
    status: { probeAccount: (account, _cfg, timeoutMs) => probe(account, stateOf(account).app, stateOf(account).link, timeoutMs, now) },
    gateway: {
      async startAccount(ctx) {
        const state = stateOf(ctx.account);
        try {
          await runAccount({ ctx, states: state.states, cards: state.cards, app: state.app, router, timings, onLink: (link) => void (state.link = link), link: () => state.link });
        } finally {
          await state.streams.close();
          state.states.close();
        }
      },
      async downloadMedia(cfg, accountId, media, downloadOptions) {
        const { account, state } = ready(cfg, accountId);
        const maxBytes = Math.min(downloadOptions.maxBytes, account.maxBytes);
        if (!media.ref.startsWith(APP_MEDIA_PREFIX)) return downloadBotMedia(account, media, { ...downloadOptions, maxBytes });
        if (!state.app) throw new ChannelError("config", "⚠️ Failed to download media. Please try again.", `The app is gone from ${account.configPath}.`);
        try {
          const { bytes, fileName, mimeType } = await state.app.download(media.ref.slice(APP_MEDIA_PREFIX.length), maxBytes, downloadOptions.signal);
          return await store(bytes, { kind: media.kind, fileName: media.fileName ?? fileName, mimeType }, downloadOptions);
        } catch (err) {
          if (err instanceof WecomError && err.kind === "too-large") throw tooLarge(maxBytes);
          throw new ChannelError("unreachable", "⚠️ Failed to download media. Please try again.", err instanceof Error ? err.message : "Check the connection to WeCom.", { cause: err });
        }
      },
      async logoutAccount(cfg, accountId) {
        const account = accountOf(cfg, accountId);
        accounts.delete(account.accountId);
        const forget = account.configPath.split(".").reduceRight<Record<string, unknown>>((inner, key) => ({ [key]: inner }), { secret: null, token: null, bot: null, agent: null });
        return { cleared: account.bot !== undefined || account.app !== undefined, loggedOut: true, forget };
      },
    },
  });
}
