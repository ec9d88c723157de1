import type { OpenClawConfig } from "../../config/index.ts";
import type { ChannelAccountSnapshot, ChannelPlugin } from "../contract/index.ts";

/** Result of RPC `channels.status`. Source: spec channels §2.2. */
export interface ChannelsStatusResult {
  readonly ts: number;
  readonly channelOrder: readonly string[];
  readonly channelLabels: Readonly<Record<string, string>>;
  readonly channelDetailLabels: Readonly<Record<string, string>>;
  readonly channelSystemImages: Readonly<Record<string, string>>;
  readonly channelMeta: readonly { readonly id: string; readonly label: string; readonly detailLabel: string; readonly systemImage?: string }[];
  readonly channels: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly channelAccounts: Readonly<Record<string, readonly ChannelAccountSnapshot[]>>;
  readonly channelDefaultAccountId: Readonly<Record<string, string>>;
}

export function buildStatusResult(plugins: readonly ChannelPlugin[], cfg: OpenClawConfig, accounts: (channel: string) => readonly ChannelAccountSnapshot[], ts: number): ChannelsStatusResult {
  const table = <T>(value: (plugin: ChannelPlugin) => T): Record<string, T> => Object.fromEntries(plugins.map((plugin) => [plugin.id, value(plugin)]));
  const detail = (plugin: ChannelPlugin): string => plugin.meta.detailLabel ?? plugin.meta.label;
  return {
    ts,
    channelOrder: plugins.map((plugin) => plugin.id),
    channelLabels: table((plugin) => plugin.meta.label),
    channelDetailLabels: table(detail),
    channelSystemImages: Object.fromEntries(plugins.flatMap(({ id, meta }) => (meta.systemImage === undefined ? [] : [[id, meta.systemImage]]))),
    channelMeta: plugins.map((plugin) => ({
      id: plugin.id,
      label: plugin.meta.label,
      detailLabel: detail(plugin),
      ...(plugin.meta.systemImage === undefined ? {} : { systemImage: plugin.meta.systemImage }),
    })),
    channels: table((plugin) => summarize(accounts(plugin.id), defaultId(plugin, cfg))),
    channelAccounts: table((plugin) => accounts(plugin.id)),
    channelDefaultAccountId: table((plugin) => defaultId(plugin, cfg)),
  };
}

export function defaultId(plugin: ChannelPlugin, cfg: OpenClawConfig): string {
  try {
    return plugin.config.defaultAccountId(cfg);
  } catch {
    // A broken plugin must not take the status of the others with it.
    return "default";
  }
}

const OPTIONAL = ["tokenSource", "mode", "baseUrl", "linked", "connected"] as const;

/** The default account, in the form that a channel's card shows. */
function summarize(accounts: readonly ChannelAccountSnapshot[], id: string): Record<string, unknown> {
  const account = accounts.find((entry) => entry.accountId === id) ?? accounts[0];
  return {
    configured: accounts.some((entry) => entry.configured === true),
    running: account?.running ?? false,
    lastStartAt: account?.lastStartAt ?? null,
    lastStopAt: account?.lastStopAt ?? null,
    lastError: account?.lastError ?? null,
    ...Object.fromEntries(OPTIONAL.flatMap((key) => (account?.[key] === undefined ? [] : [[key, account[key]]]))),
    ...(account?.probe === undefined ? {} : { probe: account.probe }),
    lastProbeAt: account?.lastProbeAt ?? null,
  };
}
