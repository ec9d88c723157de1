import type { ChannelPlugin } from "../contract/index.ts";

/** Where a channel comes from; the first that offers an id owns it. Source: spec decisions §6. */
export type ChannelOrigin = "config" | "workspace" | "global" | "bundled" | "builtin";

const RANK: readonly ChannelOrigin[] = ["config", "workspace", "global", "bundled", "builtin"];

export interface ChannelRegistration {
  readonly plugin: ChannelPlugin;
  readonly origin: ChannelOrigin;
  /** Who provides it, as shown to people: a plugin's id, or the channel's own. */
  readonly provider: string;
}

export interface ChannelConflict {
  readonly channel: string;
  readonly loser: ChannelRegistration;
  /** `channel <id> provided by <plugin>`: why the loser is disabled. */
  readonly reason: string;
}

/** One owner per channel id, in display order (meta.order, then label). Ids are compared in lower case. */
export function selectOwners(registrations: readonly ChannelRegistration[]): { owners: ChannelRegistration[]; conflicts: ChannelConflict[] } {
  const owners = new Map<string, ChannelRegistration>();
  const conflicts: ChannelConflict[] = [];
  for (const next of [...registrations].toSorted((a, b) => RANK.indexOf(a.origin) - RANK.indexOf(b.origin))) {
    const id = next.plugin.id.toLowerCase();
    const owner = owners.get(id);
    if (owner) conflicts.push({ channel: id, loser: next, reason: `channel ${id} provided by ${owner.provider}` });
    else owners.set(id, next);
  }
  const order = (r: ChannelRegistration): number => r.plugin.meta.order ?? Number.MAX_SAFE_INTEGER;
  return { owners: [...owners.values()].toSorted((a, b) => order(a) - order(b) || a.plugin.meta.label.localeCompare(b.plugin.meta.label)), conflicts };
}
