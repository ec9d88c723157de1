import type { OpenClawConfig } from "../../config/index.ts";
import { type Logger, silentLogger } from "../../infra/log.ts";
import { normalizeAccountId } from "../../routing/index.ts";
import { ChannelError, type ChannelPlugin, type OutboundTarget } from "../contract/index.ts";
import { collectWarnings, normalizeEntry, resolveAccess, resolveToolPolicy } from "./access.ts";
import { allowedActions, handleAction } from "./actions.ts";
import { createTelegramClient, type TelegramClient } from "./client.ts";
import { defaultAccountId, type Env, listAccountIds, resolveAccount, type TelegramAccount, tokenRemoval, unconfiguredReason } from "./config.ts";
import { failureText, readFailure } from "./errors.ts";
import { downloadMedia } from "./media.ts";
import { DEFAULT_TEXT_LIMIT, react, sendMessage, sendPoll, sendTyping, type SendDeps, targetOf } from "./outbound.ts";
import { POLLING_TIMINGS, type PollingTimings } from "./polling.ts";
import { resolveTargets } from "./resolve.ts";
import { runAccount } from "./run-account.ts";
import { createSentLog, type SentLog } from "./sent-log.ts";
import { setup } from "./setup.ts";
import { collectStatusIssues, describeAccount, probe } from "./status.ts";
import { openPreview } from "./stream.ts";
import { normalizeTarget, parseTarget, TARGET_HINT } from "./targets.ts";

export interface TelegramPluginOptions {
  /** Where TELEGRAM_BOT_TOKEN and the OPENCLAW_TELEGRAM_* names are looked up. */
  readonly env: Env;
  readonly log?: Logger | undefined;
  readonly now?: (() => number) | undefined;
  /** Keep to Telegram's sending limits; default true. */
  readonly throttle?: boolean | undefined;
  readonly timings?: Partial<PollingTimings> | undefined;
  /** Pause between tries of a file download and between edits of a preview, ms; for tests. */
  readonly mediaRetryDelayMs?: number | undefined;
  readonly previewIntervalMs?: number | undefined;
}

/** Telegram as a channel. Loads its SDK when an account first starts or sends. */
export function createTelegramPlugin(options: TelegramPluginOptions): ChannelPlugin<TelegramAccount> {
  const { env } = options;
  const log = options.log ?? silentLogger;
  const now = options.now ?? Date.now;
  const timings = { ...POLLING_TIMINGS, ...options.timings };
  /** One client per account; replaced when its token or addresses change. */
  const clients = new Map<string, { key: string; client: Promise<TelegramClient> }>();
  const sentLogs = new Map<string, SentLog>();
  /** Old group id → the supergroup that it became, until the config says so. */
  const migrated = new Map<string, string>();

  const accountOf = (cfg: OpenClawConfig, accountId: string): TelegramAccount => resolveAccount(cfg, accountId, env);
  const sentLog = (accountId: string): SentLog => {
    const known = sentLogs.get(accountId) ?? createSentLog(now);
    sentLogs.set(accountId, known);
    return known;
  };

  async function clientOf(account: TelegramAccount): Promise<TelegramClient> {
    const { token } = account;
    if (token === undefined) throw new ChannelError("config", account.problem ?? "No bot token", `Set ${account.configPath}.botToken.`);
    const { proxy, network, timeoutSeconds } = account.config;
    const key = JSON.stringify([token, account.apiRoot, proxy, network, timeoutSeconds]);
    const known = clients.get(account.accountId);
    if (known?.key === key) return known.client;
    const client = createTelegramClient({ ...account, token }, { env, throttle: options.throttle !== false });
    clients.set(account.accountId, { key, client });
    known?.client.then((old) => old.close()).catch((err: unknown) => log.debug("old client not closed", { err }));
    return client;
  }

  async function sendDeps(cfg: OpenClawConfig, accountId: string): Promise<SendDeps> {
    const account = accountOf(cfg, accountId);
    return { account, client: await clientOf(account), onSent: (chatId, id) => sentLog(account.accountId).add(chatId, id) };
  }

  const moved = (target: OutboundTarget): string => migrated.get(parseTarget(target.to)?.chatId ?? "") ?? target.to;

  return {
    id: "telegram",
    meta: {
      id: "telegram",
      label: "Telegram",
      selectionLabel: "Telegram (Bot API)",
      detailLabel: "Telegram Bot",
      docsPath: "/channels/telegram",
      blurb: "register a bot with @BotFather and get going.",
      order: 0,
      systemImage: "paperplane",
    },
    capabilities: { chatTypes: ["direct", "group", "channel", "thread"], polls: true, reactions: true, edit: true, reply: true, threads: true, media: true, nativeCommands: true, blockStreaming: true },
    reload: { configPrefixes: ["channels.telegram"] },
    commands: { nativeAuto: true },
    config: {
      listAccountIds,
      resolveAccount: accountOf,
      defaultAccountId,
      isEnabled: (account) => account.enabled,
      unconfiguredReason: (account, cfg) => unconfiguredReason(account, cfg, env),
      describeAccount: (account, cfg) => describeAccount(account, unconfiguredReason(account, cfg, env)),
      resolveAllowFrom: (account) => (account.config.allowFrom ?? []).map((entry) => normalizeEntry(String(entry))),
      resolveDefaultTo: (account) => (account.config.defaultTo === undefined ? undefined : String(account.config.defaultTo)),
    },
    setup,
    pairing: { idLabel: "telegramUserId", idLine: (senderId) => `Your Telegram user id: ${senderId}`, normalizeAllowEntry: normalizeEntry },
    security: {
      resolveAccess(account, cfg, chat) {
        const rules = resolveAccess(account, cfg, chat);
        const previous = rules.groupListed ? undefined : [...migrated].find(([, to]) => to === chat.id)?.[0];
        return previous === undefined ? rules : resolveAccess(account, cfg, { ...chat, id: previous });
      },
      normalizeEntry,
      collectWarnings,
    },
    groups: { resolveToolPolicy: (ctx) => resolveToolPolicy(accountOf(ctx.cfg, ctx.accountId), ctx) },
    mentions: {
      stripMentions: (text, botUsername) => (botUsername ? text.replace(new RegExp(`@${botUsername.replace(/\W/g, "")}\\b`, "gi"), "") : text).replace(/[ \t]{2,}/g, " ").trim(),
    },
    outbound: {
      textLimit: { max: DEFAULT_TEXT_LIMIT, unit: "utf16" },
      showsReasoning: true,
      async send(cfg, message, sendOptions) {
        const deps = await sendDeps(cfg, message.accountId);
        return sendMessage(deps, { ...message, to: moved(message) }, sendOptions);
      },
      async sendPoll(cfg, target, poll, sendOptions) {
        return sendPoll(await sendDeps(cfg, target.accountId), { ...target, to: moved(target) }, poll, sendOptions);
      },
      resolveTarget(_cfg, to) {
        const target = parseTarget(to);
        if (!target) return { ok: false, error: `"${to}" is no Telegram address: use ${TARGET_HINT}.` };
        const address = { ok: true, to: `telegram:${target.chatId}` } as const;
        return target.threadId === undefined ? address : { ...address, threadId: String(target.threadId) };
      },
      async sendTyping(cfg, target) {
        try {
          await sendTyping(await clientOf(accountOf(cfg, target.accountId)), target);
        } catch (err) {
          log.debug("typing signal not sent", { channel: "telegram", reason: failureText(readFailure(err)) });
        }
      },
      async react(cfg, target, messageId, emoji) {
        await react(await clientOf(accountOf(cfg, target.accountId)), target, messageId, emoji);
      },
    },
    streaming: {
      open(cfg, target) {
        const account = accountOf(cfg, target.accountId);
        const { streaming = account.config.streamMode, blockStreaming } = account.config;
        const chat = targetOf(target);
        if (!streaming || streaming === "off" || blockStreaming === true || !chat || account.token === undefined) return undefined;
        return lazyPreview(async () => openPreview(await sendDeps(cfg, target.accountId), chat, { silent: target.silent, log, minIntervalMs: options.previewIntervalMs }), chat.chatId);
      },
      async closeOrphan(cfg, accountId, ref) {
        if (typeof ref !== "object" || ref === null || !("chatId" in ref) || !("messageId" in ref) || typeof ref.messageId !== "number") return;
        const client = await clientOf(accountOf(cfg, accountId));
        try {
          await client.api.deleteMessage({ chat_id: String(ref.chatId), message_id: ref.messageId });
        } catch (err) {
          log.debug("orphaned preview not deleted", { channel: "telegram", reason: failureText(readFailure(err)) });
        }
      },
    },
    threading: { resolveReplyToMode: (cfg, accountId) => accountOf(cfg, accountId).config.replyToMode ?? "off", allowExplicitReplyTagsWhenOff: true },
    messaging: { normalizeTarget, hint: TARGET_HINT },
    resolver: { resolveTargets: async (cfg, accountId, { inputs, signal }) => resolveTargets(await clientOf(accountOf(cfg, accountId)), inputs, signal) },
    actions: {
      listActions: (cfg) => [
        ...new Set(
          listAccountIds(cfg)
            .map((id) => accountOf(cfg, id))
            .filter((account) => account.enabled && account.token !== undefined)
            .flatMap(allowedActions),
        ),
      ],
      async handleAction(ctx) {
        const account = accountOf(ctx.cfg, ctx.accountId);
        return handleAction(account, await clientOf(account), ctx);
      },
    },
    status: {
      async probeAccount(account, _cfg, timeoutMs) {
        return probe(await clientOf(account), timeoutMs, now);
      },
      collectStatusIssues,
    },
    gateway: {
      async startAccount(ctx) {
        const client = await clientOf(ctx.account);
        try {
          await runAccount({
            ctx,
            client,
            timings,
            wasSentByBot: (chatId, messageId) => sentLog(ctx.account.accountId).has(chatId, messageId),
            onMigrate: (from, to) => migrated.set(from, to),
          });
        } finally {
          client.resetPolling();
        }
      },
      async downloadMedia(cfg, accountId, media, downloadOptions) {
        return downloadMedia(await clientOf(accountOf(cfg, accountId)), media, { ...downloadOptions, retryDelayMs: options.mediaRetryDelayMs });
      },
      async logoutAccount(cfg, accountId) {
        const account = accountOf(cfg, accountId);
        clients.delete(normalizeAccountId(accountId));
        // Of an empty configuration only the token of the environment is left.
        return { cleared: account.token !== undefined, loggedOut: accountOf({}, accountId).token === undefined, forget: tokenRemoval(cfg, accountId) };
      },
    },
  };
}

/** The contract opens previews synchronously, while the client may still be loading. */
function lazyPreview(open: () => Promise<ReturnType<typeof openPreview>>, chatId: string): ReturnType<typeof openPreview> {
  let handle: ReturnType<typeof openPreview> | undefined;
  let latest: string | undefined;
  const opening = open().then((opened) => {
    handle = opened;
    if (latest !== undefined) opened.update(latest);
    return opened;
  });
  // Whoever finishes the preview learns of the failure; nobody else needs to.
  opening.catch(() => undefined);
  return {
    get ref() {
      return handle?.ref ?? { chatId, messageId: undefined };
    },
    update(fullText) {
      latest = fullText;
      handle?.update(fullText);
    },
    finish: async (fullText) => (await opening).finish(fullText),
    fail: async () => (await opening).fail(),
  };
}
