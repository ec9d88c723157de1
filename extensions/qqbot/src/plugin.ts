import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  type ChannelAccountContext, type ChannelPlugin, createGuardedFetch, defineChannel, errorText, type GuardedFetch, type Logger, type OpenClawConfig, silentLogger, sleep,
} from "openclaw/plugin-sdk";
import { collectWarnings, normalizeEntry, resolveAccess, resolveToolPolicy } from "./access.ts";
import { createApi, type QQApi } from "./api.ts";
import { defaultAccountId, type Env, listAccountIds, type QQBotAccount, resolveAccount, unconfiguredReason } from "./config.ts";
import { PLATFORM_HOSTS } from "./download.ts";
import { convertSilkToWav, downloadFile, handleEvent } from "./gateway.ts";
import { type SendDeps, sendMessage, sendTyping, type Shown, TEXT_LIMIT } from "./outbound.ts";
import { takeMediaTags } from "./parts.ts";
import { createQuoteIndex, type QuoteIndex } from "./quotes.ts";
import { createSessionStore } from "./session-store.ts";
import { setup } from "./setup.ts";
import { runSocket, SOCKET_TIMINGS, type SocketTimings, type WSPayload } from "./socket.ts";
import { closeOrphan, openStream } from "./stream.ts";
import { formatTarget, normalizeTarget, parseTarget, TARGET_HINT } from "./targets.ts";
import { createTokenSource } from "./token.ts";
import { createUploader, type Uploader } from "./upload.ts";
import { hasFormat } from "./voice.ts";
import { runWebhook } from "./webhook.ts";
import { answersMessage, createWindows, type Windows } from "./windows.ts";

export interface QQBotPluginOptions {
  /** Where QQBOT_* and the OPENCLAW_QQBOT_* names are looked up. */
  readonly env: Env;
  readonly log?: Logger | undefined;
  readonly now?: (() => number) | undefined;
  readonly timings?: Partial<SocketTimings> | undefined;
  /** Pause between tries of a refused call, ms; for tests. */
  readonly retryMs?: number | undefined;
  /** Where streams and quotes are kept over a restart; without it they are not. */
  readonly stateDir?: (() => string) | undefined;
  readonly streamIntervalMs?: number | undefined;
  /** Larger files go in parts; for tests. */
  readonly oneShotBytes?: number | undefined;
}

const RETRY_MS = 1000;
const STREAM_INTERVAL_MS = 500;
const RECONNECT_WAIT_MS = 10_000;
const MAX_SHOWN = 500;
/** From here on QQ sends a bot neither private nor group messages. */
const GUILD_ONLY_LEVEL = 3;
const GUILD_ONLY = "QQ grants this bot only the messages of guilds";
const MAX_TYPED = 500;

/** What one bot keeps between calls; replaced when its credentials or addresses change. */
interface BotState {
  readonly key: string;
  readonly api: QQApi;
  readonly uploader: Uploader;
  readonly windows: Windows;
  readonly quotes: QuoteIndex;
  readonly fetch: GuardedFetch;
  /** Messages that have been answered with "is typing". */
  readonly typed: Set<string>;
  readonly shown: Map<string, Shown>;
  link: { reconnect(reason: string): void } | undefined;
  /** Called at the next connection. */
  readonly awaiting: Set<() => void>;
  botId: string | undefined;
}

/** QQ Bot as a channel: people, groups, guilds and guild messages over the open platform's own gateway. */
export function createQQBotPlugin(options: QQBotPluginOptions): ChannelPlugin<QQBotAccount> {
  const { env, log = silentLogger, now = Date.now, retryMs = RETRY_MS } = options;
  const states = new Map<string, BotState>();
  const timings = { ...SOCKET_TIMINGS, ...options.timings };
  const accountOf = (cfg: OpenClawConfig, accountId: string): QQBotAccount => resolveAccount(cfg, accountId, env);

  const fileOf = (...names: string[]): string | undefined => (options.stateDir ? join(options.stateDir(), "qqbot", ...names) : undefined);

  function stateOf(account: QQBotAccount): BotState {
    const key = JSON.stringify([account.appId, account.clientSecret, account.apiRoot, account.tokenRoot]);
    const known = states.get(account.accountId);
    if (known?.key === key) return known;
    const tokens = createTokenSource({ root: account.tokenRoot, appId: account.appId ?? "", clientSecret: account.clientSecret ?? "", now });
    const api = createApi({ root: account.apiRoot, tokens });
    const quotesPath = fileOf("data", `ref-index-${account.accountId.replace(/[^\w-]/g, "_")}.jsonl`);
    const state: BotState = {
      key, api, uploader: createUploader({ api, now, retryMs, oneShotBytes: options.oneShotBytes }), windows: createWindows(now), quotes: createQuoteIndex({ path: quotesPath, now, log }),
      typed: new Set(), shown: new Map(), link: undefined, awaiting: new Set(), botId: undefined,
      fetch: createGuardedFetch({ allowOrigins: [new URL(account.apiRoot).origin], fakeIpHosts: PLATFORM_HOSTS }),
    };
    states.set(account.accountId, state);
    return state;
  }

  function sendDeps(cfg: OpenClawConfig, accountId: string): SendDeps {
    const account = accountOf(cfg, accountId);
    const state = stateOf(account);
    const { api, uploader, windows, quotes, fetch, shown } = state;
    return { account, api, uploader, windows, quotes, fetch, shown, log, retryMs, reconnect: (signal) => reconnect(state, signal) };
  }

  async function reconnect(state: BotState, signal: AbortSignal): Promise<void> {
    if (!state.link) return;
    const connected = new Promise<void>((resolve) => state.awaiting.add(resolve));
    state.link.reconnect("QQ does not know of the connection (304018)");
    await Promise.race([connected, sleep(RECONNECT_WAIT_MS, signal).catch(() => undefined)]);
  }

  async function whoAmI(account: QQBotAccount): Promise<{ readonly id: string | undefined; readonly username: string | undefined }> {
    const { id, username } = (await stateOf(account).api.call("GET", "/users/@me")) as { id?: string; username?: string };
    return { id, username };
  }

  async function startAccount(ctx: ChannelAccountContext<QQBotAccount>): Promise<void> {
    const { account } = ctx;
    const state = stateOf(account);
    const onDispatch = (event: WSPayload): Promise<boolean> => handleEvent(event, { ctx, api: state.api, quotes: state.quotes, botId: () => state.botId });
    if (account.config.connectionMode === "webhook") {
      void whoAmI(account).then((bot) => (state.botId = bot.id), (err: unknown) => ctx.log.warn("the bot's name is not known", { err }));
      await runWebhook(ctx, onDispatch);
      return state.quotes.flush();
    }
    ctx.setStatus({ mode: "websocket" });
    await runSocket({
      api: state.api, store: createSessionStore({ stateDir: ctx.stateDir, accountId: account.accountId, appId: account.appId ?? "", now: () => ctx.now(), log: ctx.log }), log: ctx.log, signal: ctx.signal, now: () => ctx.now(), timings,
      onDispatch,
      onReady({ bot, intentLevel }) {
        state.botId = bot?.id ?? state.botId;
        ctx.setStatus({ connected: true, lastConnectedAt: ctx.now(), lastError: intentLevel >= GUILD_ONLY_LEVEL ? GUILD_ONLY : null, reconnectAttempts: 0, intentLevel, ...(bot ? { bot } : {}) });
        for (const resume of state.awaiting) resume();
        state.awaiting.clear();
        ctx.log.info("QQ bot connected", { username: bot?.username });
      },
      onLink: (link) => (state.link = link),
      onDown: (reason, attempt) => ctx.setStatus({ connected: false, lastError: reason, reconnectAttempts: attempt }),
    });
    await state.quotes.flush();
  }

  return defineChannel<QQBotAccount>({
    id: "qqbot",
    meta: { id: "qqbot", label: "QQ Bot", selectionLabel: "QQ Bot (开放平台)", detailLabel: "QQ Bot", docsPath: "/channels/qqbot", blurb: "create a bot on q.qq.com and give its AppID and AppSecret.", order: 50, aliases: ["qq"], systemImage: "message" },
    capabilities: { chatTypes: ["direct", "group", "channel"], media: true, reply: true, blockStreaming: false },
    reload: { configPrefixes: ["channels.qqbot"] },
    platformHosts: PLATFORM_HOSTS,
    config: {
      listAccountIds: (cfg) => listAccountIds(cfg, env),
      resolveAccount: accountOf,
      defaultAccountId: (cfg) => defaultAccountId(cfg, env),
      isEnabled: (account) => account.enabled,
      unconfiguredReason: (account, cfg) => unconfiguredReason(account, cfg, env),
      describeAccount: (account, cfg) => ({
        accountId: account.accountId, name: account.config.name, enabled: account.enabled, configured: unconfiguredReason(account, cfg, env) === undefined, tokenSource: account.tokenSource,
        dmPolicy: account.config.dmPolicy ?? "pairing", allowFrom: account.config.allowFrom ?? [],
      }),
      resolveAllowFrom: (account) => (account.config.allowFrom ?? []).map(normalizeEntry),
      resolveDefaultTo: (account) => account.config.defaultTo,
    },
    setup,
    pairing: { idLabel: "qqbotOpenid", idLine: (senderId) => `你的 QQ openid / Your QQ openid: ${senderId}`, normalizeAllowEntry: normalizeEntry },
    security: { resolveAccess, normalizeEntry, collectWarnings },
    groups: { resolveToolPolicy: (ctx) => resolveToolPolicy(accountOf(ctx.cfg, ctx.accountId), ctx) },
    outbound: {
      textLimit: { max: TEXT_LIMIT, unit: "utf16" },
      send: (cfg, message, sendOptions) => sendMessage(sendDeps(cfg, message.accountId), message, sendOptions),
      takeMediaTags,
      resolveTarget(_cfg, to) {
        const target = parseTarget(to);
        return target ? { ok: true, to: formatTarget(target) } : { ok: false, error: `"${to}" is no QQ address: use ${TARGET_HINT}.` };
      },
      async sendTyping(cfg, target) {
        const deps = sendDeps(cfg, target.accountId);
        const { typed } = stateOf(deps.account);
        try {
          await sendTyping(deps, target, (msgId) => {
            const isFirst = !typed.has(msgId);
            typed.add(msgId);
            const oldest = typed.values().next().value;
            if (typed.size > MAX_TYPED && oldest !== undefined) typed.delete(oldest);
            return isFirst;
          });
        } catch (err) {
          log.debug("typing signal not sent", { channel: "qqbot", reason: errorText(err) });
        }
      },
    },
    streaming: {
      open(cfg, to) {
        const account = accountOf(cfg, to.accountId);
        const target = parseTarget(to.to);
        const { api, windows, shown } = stateOf(account);
        // One reply for the stream, one for what it cannot hold.
        if (!streams(account) || target?.scene !== "c2c" || !answersMessage(to.replyContext) || windows.left(to.replyContext) < 2) return undefined;
        const onShown = (msgId: string, part: Shown): void => {
          shown.set(msgId, part);
          const oldest = shown.keys().next().value;
          if (shown.size > MAX_SHOWN && oldest !== undefined) shown.delete(oldest);
        };
        return openStream({ api, windows, log, onShown, dir: fileOf("streams"), intervalMs: options.streamIntervalMs ?? STREAM_INTERVAL_MS, maxChars: account.config.textChunkLimit ?? TEXT_LIMIT }, target, to);
      },
      closeOrphan: (cfg, accountId, ref) => closeOrphan({ api: stateOf(accountOf(cfg, accountId)).api, dir: fileOf("streams"), log }, ref),
    },
    threading: { resolveReplyToMode: () => "off" },
    messaging: { normalizeTarget, hint: TARGET_HINT },
    agentPrompt: { messageToolHints: () => ["QQ: without `target` the answer goes to the current chat; others are qqbot:c2c:<openid> and qqbot:group:<group_openid>."] },
    status: {
      async probeAccount(account) {
        const started = now();
        return { ok: true, elapsedMs: now() - started, bot: await whoAmI(account) };
      },
      collectStatusIssues: (snapshots) =>
        snapshots.flatMap(({ accountId, configured, unconfiguredReason: reason, intentLevel }) => [
          ...(configured === false && typeof reason === "string" ? [{ channel: "qqbot", accountId, kind: "config" as const, message: reason, fix: "Copy AppID and AppSecret from 开发设置 of the bot on q.qq.com." }] : []),
          ...(typeof intentLevel === "number" && intentLevel >= GUILD_ONLY_LEVEL ? [{ channel: "qqbot", accountId, kind: "intent" as const, message: `${GUILD_ONLY}.`, fix: "Enable private and group chats (单聊、群聊) for the bot on q.qq.com, then restart the channel." }] : []),
        ]),
    },
    gateway: {
      startAccount,
      async downloadMedia(cfg, accountId, media, { dir, maxBytes, signal }) {
        const account = accountOf(cfg, accountId);
        const folder = join(dir, "..", "qqbot");
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const file = await downloadFile(media.ref, { fetch: stateOf(account).fetch, allowOrigin: account.apiRoot, dir: folder, fileName: media.fileName, maxBytes, signal });
        const direct = account.config.audioFormatPolicy?.sttDirectFormats ?? [];
        if (media.kind === "voice" && !hasFormat(file.path, direct)) {
          const wav = await convertSilkToWav(file.path, log);
          if (wav !== undefined) return { path: wav, mimeType: "audio/wav", fileName: basename(wav), sizeBytes: file.sizeBytes };
        }
        return { path: file.path, mimeType: media.mimeType ?? file.mimeType ?? (media.kind === "voice" ? "audio/wav" : "application/octet-stream"), fileName: media.fileName, sizeBytes: file.sizeBytes };
      },
    },
  });
}

/** Off unless asked for: QQ has to grant a bot the stream API. */
function streams({ config: { streaming, markdownSupport } }: QQBotAccount): boolean {
  if (markdownSupport === false) return false;
  return streaming === true || (typeof streaming === "object" && streaming.mode !== "off" && streaming.c2cStreamApi === true);
}
