import { type ChannelAccountContext, ChannelError, type ChannelPlugin, defineChannel, errorText, type Logger, type OpenClawConfig, type OutboundTarget, silentLogger } from "openclaw/plugin-sdk";
import { ACTIONS, handleAction } from "./actions.ts";
import { collectWarnings, normalizeEntry, resolveAccess, resolveToolPolicy } from "./access.ts";
import { createDingTalkApi, type DingTalkApi } from "./api.ts";
import { type CardPlaces, createCardPlaces, readCardAction } from "./card-action.ts";
import { closeOrphan, openCard } from "./card.ts";
import { defaultAccountId, type DingTalkAccount, type Env, isCardAccount, listAccountIds, resolveAccount, unconfiguredReason } from "./config.ts";
import { DEFAULT_CHUNK_CHARS } from "./format.ts";
import { parseRobotMessage, toInbound } from "./inbound.ts";
import { type Journal, openJournal } from "./journal.ts";
import type { LinkTimings } from "./link.ts";
import { downloadMedia, PLATFORM_HOSTS } from "./media.ts";
import { sendMessage, type SendDeps } from "./outbound.ts";
import { createPace, type Pace } from "./pace.ts";
import { createPermissionHint, type PermissionHint } from "./permission-hint.ts";
import { createReactions, type Reactions } from "./reactions.ts";
import { liveSession } from "./robot.ts";
import { setup } from "./setup.ts";
import { collectStatusIssues, describeAccount, probe } from "./status.ts";
import { LINK_TIMINGS, runStream } from "./stream.ts";
import { isOpaqueId, normalizeTarget, parseTarget, TARGET_HINT, formatTarget, stripChannel } from "./targets.ts";
import { runWebhook } from "./webhook.ts";

export interface DingTalkPluginOptions {
  /** Where DINGTALK_* and the OPENCLAW_DINGTALK_* names are looked up. */
  readonly env: Env;
  readonly log?: Logger | undefined;
  readonly now?: (() => number) | undefined;
  readonly timings?: Partial<LinkTimings> | undefined;
  /** Of one call, ms; for tests. */
  readonly callTimeoutMs?: number | undefined;
}

const DEFAULT_DEGRADE_MS = 1_800_000;

/** What one account keeps between calls; replaced when its credentials or addresses change. */
interface AccountState {
  readonly key: string;
  readonly api: DingTalkApi;
  readonly reactions: Reactions;
  readonly hint: PermissionHint;
  readonly pace: Pace;
  readonly cardPlaces: CardPlaces;
  /** Until then answers are Markdown. */
  cardsOffUntilMs: number;
  journal?: Journal | undefined;
  setStatus?: ChannelAccountContext["setStatus"] | undefined;
}

/** DingTalk as a channel: Stream mode or HTTP callbacks in, robot API, session webhooks and AI cards out. */
export function createDingTalkPlugin(options: DingTalkPluginOptions): ChannelPlugin<DingTalkAccount> {
  const { env, log = silentLogger, now = Date.now } = options;
  const states = new Map<string, AccountState>();
  const timings = { ...LINK_TIMINGS, ...options.timings };
  const accountOf = (cfg: OpenClawConfig, accountId: string): DingTalkAccount => resolveAccount(cfg, accountId, env);

  function stateOf(account: DingTalkAccount): AccountState {
    const key = JSON.stringify([account.clientId, account.clientSecret, account.apiRoot, account.oapiRoot]);
    const known = states.get(account.accountId);
    if (known?.key === key) return known;
    const state: AccountState = {
      key, api: createDingTalkApi(account, { now, timeoutMs: options.callTimeoutMs }), reactions: createReactions(), hint: createPermissionHint(log, now), pace: createPace(now), cardPlaces: createCardPlaces(), cardsOffUntilMs: 0,
    };
    states.set(account.accountId, state);
    return state;
  }

  /** @throws ChannelError `config` when the account cannot send */
  function ready(cfg: OpenClawConfig, accountId: string): { readonly account: DingTalkAccount; readonly state: AccountState } {
    const account = accountOf(cfg, accountId);
    if (account.problem !== undefined) throw new ChannelError("config", account.problem, `See ${account.configPath}.`);
    return { account, state: stateOf(account) };
  }

  function sendDeps(account: DingTalkAccount, state: AccountState): SendDeps {
    return { account, api: state.api, log, now, hint: state.hint, pace: state.pace, onSent: (id, text) => state.journal?.note(id, text, account.config.name ?? "bot") };
  }

  function open(cfg: OpenClawConfig, target: OutboundTarget): ReturnType<typeof openCard> | undefined {
    const account = accountOf(cfg, target.accountId);
    const chat = parseTarget(target.to);
    if (account.problem !== undefined || !isCardAccount(account) || !chat || (chat.kind === "user" && isOpaqueId(chat.id))) return undefined;
    const state = stateOf(account);
    if (now() < state.cardsOffUntilMs) return undefined;
    return openCard({
      account, api: state.api, log, now,
      onCreate: (outTrackId) => state.cardPlaces.add(outTrackId, chat),
      onDegrade(reason) {
        state.cardsOffUntilMs = now() + (account.config.aicardDegradeMs ?? DEFAULT_DEGRADE_MS);
        state.setStatus?.({ cardProblem: reason });
      },
      async onFinished() {
        const session = account.config.cardAtSender === true ? liveSession(target.replyContext, chat, now()) : undefined;
        if (!session?.isGroup || isOpaqueId(session.senderId)) return;
        await state.api.session(session.webhook, { msgtype: "text", text: { content: `@${session.senderId}` }, at: { atUserIds: [session.senderId], isAtAll: false } });
      },
    }, chat);
  }

  async function startAccount(ctx: ChannelAccountContext<DingTalkAccount>): Promise<void> {
    const { account } = ctx;
    const state = stateOf(account);
    const journal = await openJournal({ stateDir: ctx.stateDir, accountId: account.accountId, ttlDays: account.config.journalTTLDays, now, onProblem: (err) => ctx.log.warn("journal not written", { error: errorText(err) }) });
    state.journal = journal;
    state.setStatus = ctx.setStatus;
    const take = async (data: string): Promise<boolean> => {
      const message = parseRobotMessage(data);
      const inbound = toInbound(message, { account, now, recall: (ids) => journal.find(ids) });
      // Before the core has it: the reaction that acknowledges it may follow at once.
      state.reactions.saw(inbound.messageId, message.conversationId);
      const outcome = await ctx.receive(inbound);
      if (outcome.kind === "unavailable") return false;
      if (outcome.kind === "accepted") {
        journal.note(inbound.messageId, inbound.text, inbound.sender.name);
        journal.noteName(inbound.chat.type === "direct" ? inbound.sender.name : inbound.chat.title, inbound.to);
      }
      return true;
    };
    const takeCardAction = async (data: string, callbackId: string): Promise<boolean> =>
      (await ctx.receive(readCardAction(data, { account, callbackId, now, places: state.cardPlaces }))).kind !== "unavailable";
    ctx.setStatus({ mode: account.config.connectionMode ?? "stream" });
    try {
      if (account.config.connectionMode === "webhook") await runWebhook(ctx, take);
      else await runStream({ ctx, api: state.api, timings, take: ({ what, id, data }) => (what === "message" ? take(data) : takeCardAction(data, id)) });
    } finally {
      await journal.close();
    }
  }

  return defineChannel<DingTalkAccount>({
    id: "dingtalk",
    meta: {
      id: "dingtalk", label: "DingTalk", selectionLabel: "DingTalk (钉钉)", detailLabel: "DingTalk Bot", docsPath: "/channels/dingtalk", blurb: "an in-house app with a robot in Stream mode; no public address needed.",
      order: 62, aliases: ["dd", "ding"], systemImage: "message.badge",
    },
    capabilities: { chatTypes: ["direct", "group"], reactions: true, media: true, blockStreaming: true },
    reload: { configPrefixes: ["channels.dingtalk"] },
    platformHosts: PLATFORM_HOSTS,
    config: {
      listAccountIds: (cfg) => listAccountIds(cfg, env),
      resolveAccount: accountOf,
      defaultAccountId: (cfg) => defaultAccountId(cfg, env),
      isEnabled: (account) => account.enabled,
      unconfiguredReason: (account, cfg) => unconfiguredReason(account, cfg, env),
      describeAccount: (account, cfg) => describeAccount(account, unconfiguredReason(account, cfg, env)),
      resolveAllowFrom: (account) => (account.config.allowFrom ?? []).map(normalizeEntry),
      resolveDefaultTo: (account) => account.config.defaultTo,
    },
    setup,
    pairing: { idLabel: "dingtalkUserId", idLine: (senderId) => `Your DingTalk user id: ${senderId}`, normalizeAllowEntry: normalizeEntry },
    security: { resolveAccess, normalizeEntry, collectWarnings },
    groups: { resolveToolPolicy: (ctx) => resolveToolPolicy(accountOf(ctx.cfg, ctx.accountId), ctx) },
    outbound: {
      textLimit: { max: DEFAULT_CHUNK_CHARS, unit: "utf16" },
      async send(cfg, message, sendOptions) {
        const account = accountOf(cfg, message.accountId);
        if (account.problem !== undefined) return { kind: "rejected", reason: account.problem };
        return sendMessage(sendDeps(account, stateOf(account)), message, sendOptions);
      },
      resolveTarget(cfg, to, accountId) {
        const account = accountOf(cfg, accountId);
        const named = account.config.displayNameResolution === "all" ? states.get(account.accountId)?.journal?.address(stripChannel(to)) : undefined;
        const target = named === undefined ? parseTarget(to) : parseTarget(named);
        return target ? { ok: true, to: formatTarget(target) } : { ok: false, error: `"${to}" is no DingTalk address: use ${TARGET_HINT}.` };
      },
      async react(cfg, target, messageId, emoji) {
        const { account, state } = ready(cfg, target.accountId);
        await state.reactions.set(state.api, account, messageId, emoji);
      },
    },
    streaming: {
      blockStreamingCoalesceDefaults: { minChars: 1500, idleMs: 1000 },
      open,
      async closeOrphan(cfg, accountId, ref) {
        const { account, state } = ready(cfg, accountId);
        await closeOrphan({ account, api: state.api, log }, ref);
      },
    },
    threading: { resolveReplyToMode: () => "off" },
    messaging: { normalizeTarget, hint: TARGET_HINT },
    actions: {
      listActions: (cfg) => (listAccountIds(cfg, env).map((id) => accountOf(cfg, id)).some((account) => account.enabled && account.problem === undefined) ? ACTIONS : []),
      async handleAction(ctx) {
        const { account, state } = ready(ctx.cfg, ctx.accountId);
        return handleAction({ account, api: state.api, reactions: state.reactions }, ctx);
      },
    },
    status: {
      probeAccount: (account, _cfg, timeoutMs) => probe(stateOf(account).api, account, timeoutMs, now),
      collectStatusIssues,
    },
    gateway: {
      startAccount,
      async downloadMedia(cfg, accountId, media, downloadOptions) {
        const { account, state } = ready(cfg, accountId);
        return downloadMedia(account, state.api, media, downloadOptions);
      },
      async logoutAccount(cfg, accountId) {
        const account = accountOf(cfg, accountId);
        states.delete(account.accountId);
        const forget = account.configPath.split(".").reduceRight<Record<string, unknown>>((inner, key) => ({ [key]: inner }), { clientSecret: null });
        return { cleared: account.clientSecret !== "", loggedOut: accountOf({}, accountId).clientSecret === "", forget };
      },
    },
  });
}
