import type { OpenClawConfig } from "../../config/index.ts";
import { sleep } from "../../infra/backoff.ts";
import type { Clock } from "../../infra/clock.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import {
  type ChannelAccountContext,
  type ChannelAccountSnapshot,
  type ChannelHttp,
  type ChannelPlugin,
  type ChannelStatusIssue,
  type InboundMessage,
  type InboundSystemEvent,
  isGroupConfigDrop,
  type ReceiveOutcome,
} from "../contract/index.ts";
import { type AccountRunner, createAccountRunner, RESTART_POLICY, type RestartPolicy } from "./account-runner.ts";
import { createHealthMonitor, HEALTH_POLICY, type HealthPolicy } from "./health-monitor.ts";
import { type ChannelConflict, type ChannelRegistration, selectOwners } from "./owners.ts";
import { pathsTouch } from "./reload-paths.ts";
import { buildStatusResult, type ChannelsStatusResult, defaultId } from "./status-result.ts";

export interface ChannelManagerOptions {
  readonly channels: readonly ChannelRegistration[];
  readonly config: () => OpenClawConfig;
  readonly log: Logger;
  readonly clock: Clock;
  readonly stateDir: string;
  /** Takes over one message: dedupe, gate, journal. Must not reject for a message's content. */
  receive(message: InboundMessage): Promise<ReceiveOutcome>;
  receiveEvent(event: InboundSystemEvent): Promise<ReceiveOutcome>;
  /** Commands for the menu of one account. */
  nativeCommands?(channel: string, accountId: string): readonly { readonly name: string; readonly description: string }[];
  patchConfig?(patch: Readonly<Record<string, unknown>>, reason: string): Promise<void>;
  /** Serves a path of the gateway's port; the result withdraws it. */
  readonly route?: ((owner: string, path: string, handler: Parameters<ChannelHttp["route"]>[2]) => () => void) | undefined;
  /** Called after any change that a status view would show; cheap and never twice in one tick. */
  onChange?(): void;
  readonly restart?: Partial<RestartPolicy> | undefined;
  readonly health?: Partial<HealthPolicy> | undefined;
}

export interface ChannelManager {
  /** Owners of their ids, in display order. */
  readonly plugins: readonly ChannelPlugin[];
  readonly conflicts: readonly ChannelConflict[];
  /** Channels that came later, of plugins; to be called before `startAll`. */
  add(channels: readonly ChannelRegistration[]): void;
  /** Those with an account that has what it needs. */
  configured(): readonly ChannelPlugin[];
  /** What each of them gives; one that throws gives nothing, and the log says so. */
  collect<T>(what: string, read: (plugin: ChannelPlugin) => readonly T[]): T[];
  /** By id or alias, in any case. */
  find(idOrAlias: string): ChannelPlugin | undefined;
  /** Starts every enabled and configured account and the health monitor. Never rejects. */
  startAll(): Promise<void>;
  /** Starts one account, or all of a channel; lifts a manual stop. @throws Error for an unknown channel */
  start(channel: string, accountId?: string): Promise<void>;
  /** Stops by hand: not started again until `start`. @throws Error for an unknown channel */
  stop(channel: string, accountId?: string): Promise<void>;
  stopAll(): Promise<void>;
  /** Restarts the accounts that a config change concerns; `changed` holds dotted paths. Returns `<channel>:<account>`. */
  reload(changed: readonly string[]): Promise<string[]>;
  /** Stops, then signs out. undefined when the channel cannot. @throws Error for an unknown channel */
  logout(channel: string, accountId?: string): Promise<{ cleared: boolean; loggedOut?: boolean | undefined } | undefined>;
  /** Result of `channels.status`; with `probe`, each configured account is asked, at most `timeoutMs` (least 1000). */
  status(options?: { readonly probe?: boolean | undefined; readonly timeoutMs?: number | undefined }): Promise<ChannelsStatusResult>;
  probeAll(timeoutMs?: number): Promise<void>;
  snapshot(): Readonly<Record<string, readonly ChannelAccountSnapshot[]>>;
  issues(): readonly ChannelStatusIssue[];
  /** One line per configured account, for `status` and the log. */
  summaryLines(): string[];
  /** To be called when something was delivered to a chat of this account. */
  noteOutbound(channel: string, accountId: string): void;
  /** One round of the health monitor, for tests; startAll runs it by itself. */
  checkHealth(): Promise<void>;
}

const DEFAULT_PROBE_TIMEOUT_MS = 10_000;
const MIN_PROBE_TIMEOUT_MS = 1_000;
const MAX_GROUP_HINTS = 20;

interface Entry {
  readonly plugin: ChannelPlugin;
  readonly accountId: string;
  runner: AccountRunner;
  /** Held until `start`, or until the account has no credentials left: new ones are a new beginning. */
  manualStop: boolean;
  /** The account as it was started, to tell whether a reload concerns it. */
  fingerprint: string;
  readonly groupHints: Map<string, string>;
}

export function createChannelManager(options: ChannelManagerOptions): ChannelManager {
  const { config, clock } = options;
  const log = options.log.child({ subsystem: "channels" });
  let registrations: readonly ChannelRegistration[] = [];
  let conflicts: readonly ChannelConflict[] = [];
  let plugins: readonly ChannelPlugin[] = [];
  const restart = { ...RESTART_POLICY, ...options.restart };
  const entries = new Map<string, Entry>();
  let changeQueued = false;

  function add(channels: readonly ChannelRegistration[]): void {
    registrations = [...registrations, ...channels];
    const chosen = selectOwners(registrations);
    conflicts = chosen.conflicts;
    plugins = chosen.owners.map((owner) => owner.plugin);
    for (const { channel, loser, reason } of conflicts) log.warn("channel offered twice", { channel, disabled: loser.provider, reason });
  }
  add(options.channels);

  const keyOf = (channel: string, accountId: string): string => `${channel}:${accountId}`;

  function changed(): void {
    if (changeQueued || !options.onChange) return;
    changeQueued = true;
    queueMicrotask(() => {
      changeQueued = false;
      options.onChange?.();
    });
  }

  function find(idOrAlias: string): ChannelPlugin | undefined {
    const wanted = idOrAlias.trim().toLowerCase();
    return plugins.find((plugin) => plugin.id.toLowerCase() === wanted) ?? plugins.find((plugin) => plugin.meta.aliases?.some((alias) => alias.toLowerCase() === wanted));
  }

  function need(channel: string): ChannelPlugin {
    const plugin = find(channel);
    if (!plugin) throw new Error(`Unknown channel "${channel}"; known are: ${plugins.map((p) => p.id).join(", ")}.`);
    return plugin;
  }

  /** Never throws: a plugin that fails here has no accounts, and the log says why. */
  function accountIds(plugin: ChannelPlugin): string[] {
    try {
      return plugin.config.listAccountIds(config());
    } catch (err) {
      log.error("accounts of a channel not read", { channel: plugin.id, err });
      return [];
    }
  }

  /** A broken plugin must not take the others with it. */
  function collect<T>(what: string, read: (plugin: ChannelPlugin) => readonly T[]): T[] {
    return plugins.flatMap((plugin) => {
      try {
        return read(plugin);
      } catch (err) {
        log.error("a channel did not answer", { channel: plugin.id, what, err });
        return [];
      }
    });
  }

  type Readiness = { kind: "ready"; account: unknown } | { kind: "disabled" } | { kind: "unconfigured"; reason: string };

  function readiness(plugin: ChannelPlugin, accountId: string): Readiness {
    try {
      const cfg = config();
      const account = plugin.config.resolveAccount(cfg, accountId);
      if (!plugin.config.isEnabled(account, cfg)) return { kind: "disabled" };
      const reason = plugin.config.unconfiguredReason(account, cfg);
      return reason === undefined ? { kind: "ready", account } : { kind: "unconfigured", reason };
    } catch (err) {
      return { kind: "unconfigured", reason: errorText(err) };
    }
  }

  /** What is risky or without effect in the configuration of an account that may run. Never throws. */
  function warningsOf(plugin: ChannelPlugin, accountId: string): readonly string[] {
    const ready = readiness(plugin, accountId);
    if (ready.kind !== "ready") return [];
    try {
      return plugin.security?.collectWarnings?.(ready.account, config()) ?? [];
    } catch (err) {
      log.warn("warnings of an account not collected", { channel: plugin.id, accountId, err });
      return [];
    }
  }

  function entryOf(plugin: ChannelPlugin, accountId: string): Entry {
    const key = keyOf(plugin.id, accountId);
    const known = entries.get(key);
    if (known) return known;
    const accountLog = log.child({ channel: plugin.id, accountId });
    const groupHints = new Map<string, string>();
    const entry: Entry = {
      plugin,
      accountId,
      manualStop: false,
      fingerprint: "",
      groupHints,
      runner: createAccountRunner({
        log: accountLog,
        now: () => clock.now(),
        policy: restart,
        onChange: changed,
        run: async (signal, setStatus) => {
          const ready = readiness(plugin, accountId);
          if (ready.kind !== "ready") throw new Error(ready.kind === "disabled" ? "disabled" : ready.reason);
          await plugin.gateway?.startAccount(contextOf(entry, ready.account, accountLog, signal, setStatus));
        },
      }),
    };
    entries.set(key, entry);
    return entry;
  }

  function contextOf(entry: Entry, account: unknown, accountLog: Logger, signal: AbortSignal, setStatus: ChannelAccountContext["setStatus"]): ChannelAccountContext {
    const { plugin, accountId } = entry;
    return {
      cfg: config,
      accountId,
      account,
      log: accountLog,
      signal,
      now: () => clock.now(),
      stateDir: options.stateDir,
      async receive(message) {
        entry.runner.patch({ lastInboundAt: clock.now(), lastEventAt: clock.now() });
        const outcome = await options.receive(message);
        if (outcome.kind === "dropped" && isGroupConfigDrop(outcome.reason)) noteGroupDrop(entry, message);
        return outcome;
      },
      receiveEvent: (event) => options.receiveEvent(event),
      setStatus,
      http: {
        route(path, _options, handler) {
          if (!options.route) throw new Error("This gateway serves no paths for channels.");
          const withdraw = options.route(keyOf(plugin.id, accountId), path, handler);
          signal.addEventListener("abort", withdraw, { once: true });
          return withdraw;
        },
      },
      nativeCommands: () => options.nativeCommands?.(plugin.id, accountId) ?? [],
      ...(options.patchConfig ? { patchConfig: async (patch: Readonly<Record<string, unknown>>, reason: string) => options.patchConfig?.(patch, reason) } : {}),
    };
  }

  /** The first refused message of a group tells which line of config would admit it. */
  function noteGroupDrop(entry: Entry, { chat }: InboundMessage): void {
    if (entry.groupHints.has(chat.id) || entry.groupHints.size >= MAX_GROUP_HINTS) return;
    const { plugin, accountId } = entry;
    try {
      const cfg = config();
      const hint = plugin.security?.resolveAccess(plugin.config.resolveAccount(cfg, accountId), cfg, chat).groupConfigHint;
      if (hint === undefined) return;
      entry.groupHints.set(chat.id, hint);
      log.info("group message refused; this config line would admit the group", { channel: plugin.id, accountId, chatId: chat.id, hint });
      changed();
    } catch (err) {
      log.warn("group hint not made", { channel: plugin.id, accountId, err });
    }
  }

  async function startEntry(entry: Entry): Promise<void> {
    if (entry.manualStop || entry.runner.isActive) return;
    const ready = readiness(entry.plugin, entry.accountId);
    if (ready.kind === "ready") {
      entry.fingerprint = fingerprint(ready.account);
      for (const warning of warningsOf(entry.plugin, entry.accountId)) log.warn(warning, { channel: entry.plugin.id, accountId: entry.accountId });
      if (entry.plugin.gateway) entry.runner.start();
      return;
    }
    entry.fingerprint = "";
    entry.runner.patch({ running: false, lastError: ready.kind === "disabled" ? "disabled" : "not configured" });
  }

  async function startChannel(plugin: ChannelPlugin, only?: string): Promise<void> {
    const ids = only === undefined ? accountIds(plugin) : [only];
    await Promise.all(ids.map((id) => startEntry(entryOf(plugin, id))));
  }

  function entriesOf(plugin: ChannelPlugin, accountId?: string): Entry[] {
    return [...entries.values()].filter((entry) => entry.plugin === plugin && (accountId === undefined || entry.accountId === accountId));
  }

  function snapshotOf(plugin: ChannelPlugin, accountId: string): ChannelAccountSnapshot {
    const entry = entries.get(keyOf(plugin.id, accountId));
    const ready = readiness(plugin, accountId);
    let described: ChannelAccountSnapshot = { accountId };
    try {
      const cfg = config();
      described = plugin.config.describeAccount?.(plugin.config.resolveAccount(cfg, accountId), cfg) ?? described;
    } catch (err) {
      log.warn("account not described", { channel: plugin.id, accountId, err });
    }
    const idle = ready.kind === "disabled" ? "disabled" : ready.kind === "unconfigured" ? "not configured" : null;
    return {
      ...described,
      enabled: ready.kind !== "disabled",
      configured: ready.kind === "ready" || (ready.kind === "disabled" && described.configured === true),
      running: false,
      lastStartAt: null,
      lastStopAt: null,
      lastError: idle,
      lastInboundAt: null,
      lastOutboundAt: null,
      ...entry?.runner.status,
      ...(ready.kind === "unconfigured" ? { unconfiguredReason: ready.reason } : {}),
      ...(entry && entry.groupHints.size > 0 ? { groupHints: [...entry.groupHints].map(([chatId, hint]) => ({ chatId, hint })) } : {}),
      accountId,
    };
  }

  const snapshotsOf = (plugin: ChannelPlugin): ChannelAccountSnapshot[] => accountIds(plugin).map((id) => snapshotOf(plugin, id));

  async function probeOne(plugin: ChannelPlugin, accountId: string, timeoutMs: number): Promise<void> {
    const probeAccount = plugin.status?.probeAccount?.bind(plugin.status);
    const ready = readiness(plugin, accountId);
    if (!probeAccount || ready.kind !== "ready") return;
    const late = new AbortController();
    const result = await Promise.race([
      Promise.resolve()
        .then(() => probeAccount(ready.account, config(), timeoutMs))
        .catch((err: unknown) => ({ ok: false, error: errorText(err) })),
      sleep(timeoutMs, late.signal).then(() => ({ ok: false, error: `no answer within ${timeoutMs} ms` })),
    ]);
    late.abort();
    entryOf(plugin, accountId).runner.patch({ probe: result, lastProbeAt: clock.now() });
  }

  async function probeAll(timeoutMs = DEFAULT_PROBE_TIMEOUT_MS): Promise<void> {
    const limit = Math.max(MIN_PROBE_TIMEOUT_MS, timeoutMs);
    await Promise.all(plugins.flatMap((plugin) => accountIds(plugin).map((id) => probeOne(plugin, id, limit))));
  }

  const health = createHealthMonitor({
    policy: { ...HEALTH_POLICY, ...options.health },
    now: () => clock.now(),
    log,
    accounts: () =>
      [...entries.values()]
        .filter((entry) => !entry.manualStop && entry.plugin.gateway && readiness(entry.plugin, entry.accountId).kind === "ready")
        .map((entry) => ({
          key: keyOf(entry.plugin.id, entry.accountId),
          isActive: entry.runner.isActive,
          isRunning: entry.runner.status.running === true,
          isConnected: entry.runner.status.connected !== false,
          restart: async () => {
            await entry.runner.stop();
            await startEntry(entry);
          },
        })),
  });

  return {
    get plugins() {
      return plugins;
    },
    get conflicts() {
      return conflicts;
    },
    add,
    configured() {
      const cfg = config();
      return collect("accounts", (plugin) => (plugin.config.listAccountIds(cfg).some((id) => plugin.config.unconfiguredReason(plugin.config.resolveAccount(cfg, id), cfg) === undefined) ? [plugin] : []));
    },
    collect,
    find,
    async startAll() {
      await Promise.all(plugins.map((plugin) => startChannel(plugin)));
      health.start();
    },
    async start(channel, accountId) {
      const plugin = need(channel);
      for (const id of accountId === undefined ? accountIds(plugin) : [accountId]) entryOf(plugin, id).manualStop = false;
      await startChannel(plugin, accountId);
    },
    async stop(channel, accountId) {
      const plugin = need(channel);
      for (const id of accountId === undefined ? accountIds(plugin) : [accountId]) entryOf(plugin, id).manualStop = true;
      await Promise.all(entriesOf(plugin, accountId).map((entry) => entry.runner.stop()));
    },
    async stopAll() {
      health.stop();
      await Promise.all([...entries.values()].map((entry) => entry.runner.stop()));
    },
    async reload(changedPaths) {
      const concerned = plugins.filter((plugin) => {
        const prefixes = plugin.reload?.configPrefixes ?? [`channels.${plugin.id}`];
        return changedPaths.some((path) => pathsTouch(path, prefixes, plugin.reload?.noopPrefixes ?? []));
      });
      const restarted: string[] = [];
      await Promise.all(
        concerned.map(async (plugin) => {
          const ids = accountIds(plugin);
          await Promise.all(
            [...new Set([...ids, ...entriesOf(plugin).map((entry) => entry.accountId)])].map(async (id) => {
              const entry = entryOf(plugin, id);
              const ready = ids.includes(id) ? readiness(plugin, id) : { kind: "disabled" as const };
              if (ready.kind === "unconfigured") entry.manualStop = false;
              const same = ready.kind === "ready" && entry.runner.isActive && fingerprint(ready.account) === entry.fingerprint;
              if (same || entry.manualStop) return;
              entry.groupHints.clear();
              await entry.runner.stop();
              if (!ids.includes(id)) {
                entries.delete(keyOf(plugin.id, id));
                return;
              }
              await startEntry(entry);
              restarted.push(keyOf(plugin.id, id));
            }),
          );
        }),
      );
      changed();
      return restarted;
    },
    async logout(channel, accountId) {
      const plugin = need(channel);
      const id = accountId ?? defaultId(plugin, config());
      if (!plugin.gateway?.logoutAccount) return undefined;
      const entry = entryOf(plugin, id);
      entry.manualStop = true;
      await entry.runner.stop();
      const { forget, ...result } = await plugin.gateway.logoutAccount(config(), id);
      if (forget) await options.patchConfig?.(forget, `${plugin.meta.label} account ${id} logged out`);
      if (readiness(plugin, id).kind === "unconfigured") entry.manualStop = false;
      return result;
    },
    async status({ probe = false, timeoutMs } = {}) {
      if (probe) await probeAll(timeoutMs);
      return buildStatusResult(plugins, config(), (id) => snapshotsOf(need(id)), clock.now());
    },
    probeAll,
    snapshot: () => Object.fromEntries(plugins.map((plugin) => [plugin.id, snapshotsOf(plugin)])),
    issues: () =>
      plugins.flatMap((plugin) => {
        const snapshots = snapshotsOf(plugin);
        const hints = snapshots.flatMap((snapshot) => {
          const { accountId } = snapshot;
          const about = { channel: plugin.id, accountId, kind: "config" } as const;
          return [
            ...warningsOf(plugin, accountId).map((message): ChannelStatusIssue => ({ ...about, message })),
            ...[...(entries.get(keyOf(plugin.id, accountId))?.groupHints ?? [])].map(([chatId, hint]): ChannelStatusIssue => ({ ...about, message: `Messages of group ${chatId} are refused.`, fix: `To admit it, set ${hint}` })),
          ];
        });
        try {
          return [...(plugin.status?.collectStatusIssues?.(snapshots) ?? []), ...hints];
        } catch (err) {
          log.warn("status issues not collected", { channel: plugin.id, err });
          return hints;
        }
      }),
    summaryLines: () =>
      plugins.flatMap((plugin) =>
        snapshotsOf(plugin)
          .filter((account) => account.configured === true || account.running === true)
          .map((account) => `${plugin.meta.label} ${account.accountId}: ${describeState(account)}`),
      ),
    noteOutbound(channel, accountId) {
      const plugin = find(channel);
      if (plugin) entryOf(plugin, accountId).runner.patch({ lastOutboundAt: clock.now() });
    },
    checkHealth: () => health.check(),
  };
}

function describeState(account: ChannelAccountSnapshot): string {
  if (account.enabled === false) return "disabled";
  if (account.running !== true) return account.lastError ? `stopped (${account.lastError})` : "stopped";
  const mode = account.mode === undefined ? "" : ` (${account.mode})`;
  if (account.connected === false) return `running, not connected${account.lastError ? ` (${account.lastError})` : ""}`;
  return `${account.connected === true ? "connected" : "running"}${mode}`;
}

/** Equal for accounts that would run alike. An account holds plain data only. */
const fingerprint = (account: unknown): string => JSON.stringify(account) ?? "";
