import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { ChannelAccountContext, ChannelAccountSnapshot, ChannelAgentTool, ChannelPlugin, ChannelStatusIssue, DmPolicy } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import { callPlugin, inPlugin } from "../scope.ts";
import type { LiveReceivers } from "./live.ts";
import { foreignOutbound } from "./outbound.ts";
import type { ForeignChannel } from "./shape.ts";

/** What its own `resolveAccount` gave; compared and shown as that. */
class ForeignAccount {
  readonly value: unknown;
  readonly #cfg: OpenClawConfig;
  readonly #accountId: string;
  constructor(value: unknown, cfg: OpenClawConfig, accountId: string) {
    this.value = value;
    this.#cfg = cfg;
    this.#accountId = accountId;
  }
  get where(): { readonly cfg: OpenClawConfig; readonly accountId: string } {
    return { cfg: this.#cfg, accountId: this.#accountId };
  }
  toJSON(): unknown {
    return this.value;
  }
}

export interface ForeignChannelDeps {
  readonly pluginId: string;
  readonly live: LiveReceivers;
  readonly log: Logger;
  /** Hears of every function of it that threw. */
  onFault(text: string): void;
}

/** ms that signing an account out may take. */
const LOGOUT_LIMIT_MS = 30_000;
const DM_POLICIES: readonly string[] = ["pairing", "allowlist", "open", "disabled"] satisfies readonly DmPolicy[];
const ISSUE_KINDS: readonly string[] = ["intent", "permissions", "config", "auth", "runtime"] satisfies readonly ChannelStatusIssue["kind"][];

/**
 * A channel of the reference's shape as one of ours. It gates for itself, so that messages come in through its dispatch and
 * not through `receive`. Source: spec plugin-sdk §12, decisions §5.5 and §7.3.
 */
export function adaptForeignChannel(channel: ForeignChannel, deps: ForeignChannelDeps): ChannelPlugin<ForeignAccount> {
  const { pluginId } = deps;
  const { config = {}, meta = {}, capabilities = {} } = channel;
  const own = <T>(work: () => T): T => {
    try {
      return inPlugin(pluginId, work);
    } catch (err) {
      deps.onFault(`channel ${channel.id}: ${errorText(err)}`);
      throw err;
    }
  };
  const normalizeEntry = (entry: string): string => own(() => channel.pairing?.normalizeAllowEntry?.(entry)) ?? entry.trim().toLowerCase();
  const idLabel = channel.pairing?.idLabel ?? `${channel.id}UserId`;
  const chatTypes = (capabilities.chatTypes ?? ["direct"]).filter((type): type is "direct" | "group" | "channel" | "thread" => ["direct", "group", "channel", "thread"].includes(type));

  return {
    id: channel.id,
    meta: {
      id: channel.id, label: meta.label ?? channel.id, selectionLabel: meta.selectionLabel ?? meta.label ?? channel.id, docsPath: meta.docsPath ?? `/channels/${channel.id}`, blurb: meta.blurb ?? "",
      order: meta.order, aliases: meta.aliases, detailLabel: meta.detailLabel, systemImage: meta.systemImage,
    },
    capabilities: { ...capabilities, chatTypes },
    defaults: channel.defaults,
    reload: { configPrefixes: channel.reload?.configPrefixes ?? [`channels.${channel.id}`], noopPrefixes: channel.reload?.noopPrefixes },
    commands: channel.commands,
    config: {
      listAccountIds: (cfg) => [...(own(() => config.listAccountIds?.(cfg)) ?? [])],
      resolveAccount: (cfg, accountId) => new ForeignAccount(own(() => config.resolveAccount?.(cfg, accountId)), cfg, accountId),
      defaultAccountId: (cfg) => own(() => config.defaultAccountId?.(cfg) ?? config.listAccountIds?.(cfg)?.[0]) ?? "default",
      isEnabled: ({ value }, cfg) => own(() => config.isEnabled?.(value, cfg)) ?? (value as { enabled?: unknown } | undefined)?.enabled !== false,
      unconfiguredReason({ value }, cfg) {
        // An answer that takes time is waited for when the account starts.
        const isConfigured = own(() => config.isConfigured?.(value, cfg)) ?? true;
        return isConfigured === false ? (own(() => config.unconfiguredReason?.(value, cfg)) ?? "not configured") : undefined;
      },
      describeAccount: ({ value, where }, cfg) => ({ accountId: where.accountId, ...own(() => config.describeAccount?.(value, cfg)) }),
      resolveAllowFrom: ({ where }) => (own(() => config.resolveAllowFrom?.(where)) ?? []).map((entry) => normalizeEntry(String(entry))),
      resolveDefaultTo: ({ where }) => own(() => config.resolveDefaultTo?.(where)),
    },
    ...setupOf(channel, own),
    pairing: { idLabel, idLine: (senderId) => `Your ${idLabel}: ${senderId}`, normalizeAllowEntry: normalizeEntry },
    security: {
      resolveAccess({ value, where }, cfg, chat) {
        const dm = own(() => channel.security?.resolveDmPolicy?.({ ...where, account: value }));
        return {
          dmPolicy: DM_POLICIES.includes(dm?.policy ?? "") ? (dm?.policy as DmPolicy) : "pairing", allowFrom: (dm?.allowFrom ?? []).map((entry) => normalizeEntry(String(entry))),
          groupPolicy: "allowlist", groupAllowFrom: undefined, groupListed: true, groupEnabled: true,
          requireMention: own(() => channel.groups?.resolveRequireMention?.({ cfg, accountId: where.accountId, groupId: chat.id })) ?? true,
        };
      },
      normalizeEntry,
    },
    groups: { resolveToolPolicy: (ctx) => own(() => channel.groups?.resolveToolPolicy?.(ctx)) },
    outbound: foreignOutbound(channel, pluginId, deps.live),
    streaming: { blockStreamingCoalesceDefaults: channel.streaming?.blockStreamingCoalesceDefaults },
    threading: {
      resolveReplyToMode(cfg, accountId) {
        const mode = own(() => channel.threading?.resolveReplyToMode?.({ cfg, accountId }));
        return mode === "first" || mode === "all" ? mode : "off";
      },
      allowExplicitReplyTagsWhenOff: channel.threading?.allowExplicitReplyTagsWhenOff,
    },
    messaging: { normalizeTarget: (raw) => own(() => channel.messaging?.normalizeTarget?.(raw)), hint: channel.messaging?.targetResolver?.hint ?? "<chat id>" },
    ...(channel.resolver?.resolveTargets && {
      resolver: { resolveTargets: async (cfg, accountId, { inputs, kind }) => (await own(() => channel.resolver?.resolveTargets?.({ cfg, accountId, inputs: [...inputs], kind, runtime: runtimeEnv(deps.log, channel.id) }))) ?? [] },
    }),
    ...(channel.actions?.handleAction && {
      actions: {
        listActions: (cfg: OpenClawConfig) => own(() => channel.actions?.listActions?.({ cfg })) ?? [],
        handleAction: async ({ cfg, accountId, action, params, current }) => own(() => channel.actions?.handleAction?.({ channel: channel.id, action, cfg, params, accountId, toolContext: current && { currentChannelId: current.to, currentThreadTs: current.threadId, currentMessageId: current.messageId } })),
      },
    }),
    agentPrompt: { messageToolHints: (cfg) => own(() => channel.agentPrompt?.messageToolHints?.({ cfg })) ?? [] },
    agentTools: (cfg) => own(() => (typeof channel.agentTools === "function" ? channel.agentTools({ cfg }) : (channel.agentTools ?? []))) as readonly ChannelAgentTool[],
    status: {
      ...(channel.status?.probeAccount && { probeAccount: async ({ value }: ForeignAccount, cfg: OpenClawConfig, timeoutMs: number) => own(() => channel.status?.probeAccount?.({ account: value, timeoutMs, cfg })) }),
      collectStatusIssues: (snapshots) =>
        (own(() => channel.status?.collectStatusIssues?.(snapshots)) ?? []).map((issue) => ({ ...issue, kind: ISSUE_KINDS.includes(issue.kind) ? (issue.kind as ChannelStatusIssue["kind"]) : "runtime" })),
    },
    ...(channel.gateway?.startAccount && {
      gateway: {
        startAccount: (ctx: ChannelAccountContext<ForeignAccount>) => runAccount(channel, ctx, deps),
        ...(channel.gateway.logoutAccount && {
          async logoutAccount(cfg: OpenClawConfig, accountId: string) {
            const account = own(() => config.resolveAccount?.(cfg, accountId));
            const outcome = await callPlugin(pluginId, "logging out", LOGOUT_LIMIT_MS, () => channel.gateway?.logoutAccount?.({ cfg, accountId, account, runtime: runtimeEnv(deps.log, channel.id) }));
            const { cleared, loggedOut } = (outcome ?? {}) as { readonly cleared?: unknown; readonly loggedOut?: unknown };
            return { cleared: cleared === true, ...(typeof loggedOut === "boolean" ? { loggedOut } : {}) };
          },
        }),
        // Files lie where the plugin has put them.
        async downloadMedia(_cfg, _accountId, { ref, mimeType }) {
          return { path: ref, mimeType: mimeType ?? "application/octet-stream", fileName: basename(ref), sizeBytes: (await stat(ref)).size };
        },
      },
    }),
  };
}

function setupOf({ setup }: ForeignChannel, own: <T>(work: () => T) => T): Pick<ChannelPlugin, "setup"> {
  if (!setup?.applyAccountConfig) return {};
  return {
    setup: {
      validateInput: (input) => own(() => setup.validateInput?.({ cfg: {}, accountId: "default", input })) ?? undefined,
      applyAccountConfig: (cfg, accountId, input) => ({ channels: (own(() => setup.applyAccountConfig?.({ cfg, accountId, input })) as { channels?: unknown } | undefined)?.channels }),
    },
  };
}

/** What the reference calls a runtime environment: two lines of output, and an end that is refused. */
const runtimeEnv = (log: Logger, who: string): { log(text: unknown): void; error(text: unknown): void; exit(code: number): never } => ({
  log: (text) => log.info(String(text)),
  error: (text) => log.error(String(text)),
  exit(code) {
    throw new Error(`exit(${code}) asked for by channel ${who}`);
  },
});

/** Its promise lives as long as the account; when it ends although nobody stopped it, the manager starts it anew. */
async function runAccount({ config, gateway }: ForeignChannel, ctx: ChannelAccountContext<ForeignAccount>, { pluginId, log }: ForeignChannelDeps): Promise<void> {
  const { accountId, signal } = ctx;
  const account = ctx.account.value;
  if ((await inPlugin(pluginId, async () => config?.isConfigured?.(account, ctx.cfg()))) === false) throw new Error(config?.unconfiguredReason?.(account, ctx.cfg()) ?? "not configured");
  let status: ChannelAccountSnapshot = { accountId, enabled: true, configured: true, running: true, lastStartAt: ctx.now(), lastError: null, reconnectAttempts: 0 };
  const say = (level: "debug" | "info" | "warn" | "error") => (text: unknown): void => ctx.log[level](String(text));
  const foreign = {
    cfg: ctx.cfg(), accountId, account, abortSignal: signal,
    runtime: runtimeEnv(ctx.log, accountId),
    log: { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") },
    getStatus: () => status,
    setStatus(patch: Partial<ChannelAccountSnapshot>) {
      status = { ...status, ...patch, accountId };
      ctx.setStatus(patch);
    },
  };
  const stopped = new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
  const running = inPlugin(pluginId, async () => gateway?.startAccount?.(foreign));
  try {
    // A plugin that does not listen to its signal must not hold the stop up.
    await Promise.race([running, stopped]);
  } finally {
    await inPlugin(pluginId, async () => gateway?.stopAccount?.(foreign)).catch((err: unknown) => log.warn("account not stopped cleanly", { pluginId, accountId, reason: errorText(err) }));
  }
  if (!signal.aborted) throw new Error("the channel ended by itself");
  running.catch((err: unknown) => log.debug("account ended with an error after its stop", { pluginId, accountId, reason: errorText(err) }));
}
