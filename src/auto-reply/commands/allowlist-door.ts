import type { ChannelPlugin, ResolvedTarget } from "../../channels/contract/index.ts";
import type { ConfigWriter, OpenClawConfig } from "../../config/index.ts";
import type { ChannelPairingStore } from "../../pairing/index.ts";
import { channelSection } from "../channel-section.ts";

export type AllowScope = "dm" | "group";

export interface AllowTarget {
  readonly channel: string;
  readonly accountId: string;
}

export interface AllowLists {
  readonly dm: readonly string[];
  readonly group: readonly string[];
  /** Senders approved by pairing. */
  readonly paired: readonly string[];
}

/** Who may write to the bot, in the configuration and by pairing. */
export interface AllowlistDoor {
  /** Whether the channel is there. */
  has(channel: string): boolean;
  read(target: AllowTarget): AllowLists;
  /** Into the configuration. @throws Error saying what is not valid. false when it stood there already */
  add(target: AllowTarget, scope: AllowScope, entry: string): Promise<boolean>;
  remove(target: AllowTarget, scope: AllowScope, entry: string): Promise<boolean>;
  addPaired(target: AllowTarget, entry: string): Promise<boolean>;
  removePaired(target: AllowTarget, entry: string): Promise<boolean>;
  /** Whose the entries are, asked of the platform; undefined when the channel cannot tell. @throws Error when it cannot be reached */
  lookUp(target: AllowTarget, entries: readonly string[]): Promise<readonly ResolvedTarget[] | undefined>;
}

const LOOK_UP_LIMIT_MS = 15_000;

export interface AllowlistDoorDeps {
  readonly config: () => OpenClawConfig;
  readonly writer: ConfigWriter;
  readonly pairing: ChannelPairingStore;
  readonly channel: (id: string) => ChannelPlugin | undefined;
}

const FIELD = { dm: "allowFrom", group: "groupAllowFrom" } as const;

export function createAllowlistDoor(deps: AllowlistDoorDeps): AllowlistDoor {
  const normalize = ({ channel }: AllowTarget, entry: string): string => deps.channel(channel)?.security?.normalizeEntry(entry) ?? entry.trim().toLowerCase();

  function read(target: AllowTarget): AllowLists {
    const section = channelSection(deps.config(), target.channel, target.accountId);
    return { dm: strings(section["allowFrom"]), group: strings(section["groupAllowFrom"]), paired: deps.pairing.allowFrom(target.channel, target.accountId) };
  }

  /** Where the list is written: the account's own when it has one, else the channel's. */
  function pathOf({ channel, accountId }: AllowTarget, scope: AllowScope): string[] {
    const accounts = channelSection(deps.config(), channel, undefined)["accounts"];
    const account = typeof accounts === "object" && accounts !== null ? (accounts as Record<string, unknown>)[accountId] : undefined;
    return typeof account === "object" && account !== null ? ["channels", channel, "accounts", accountId, FIELD[scope]] : ["channels", channel, FIELD[scope]];
  }

  /** Ids that are numbers stay numbers, as people write them. */
  const stored = (entry: string): string | number => (/^-?\d{1,15}$/.test(entry) ? Number(entry) : entry);

  async function write(target: AllowTarget, scope: AllowScope, list: readonly string[]): Promise<void> {
    await deps.writer.set(pathOf(target, scope), list.map(stored));
  }

  return {
    has: (channel) => deps.channel(channel) !== undefined,
    read,
    async add(target, scope, entry) {
      const list = read(target)[scope];
      if (list.some((known) => normalize(target, known) === normalize(target, entry))) return false;
      await write(target, scope, [...list, entry]);
      return true;
    },
    async remove(target, scope, entry) {
      const list = read(target)[scope];
      const kept = list.filter((known) => normalize(target, known) !== normalize(target, entry));
      if (kept.length === list.length) return false;
      await write(target, scope, kept);
      return true;
    },
    async addPaired(target, entry) {
      if (read(target).paired.includes(normalize(target, entry))) return false;
      await deps.pairing.addAllowFrom(target, normalize(target, entry));
      return true;
    },
    async lookUp({ channel, accountId }, entries) {
      return deps.channel(channel)?.resolver?.resolveTargets(deps.config(), accountId, { inputs: entries, kind: "user", signal: AbortSignal.timeout(LOOK_UP_LIMIT_MS) });
    },
    async removePaired(target, entry) {
      const before = read(target).paired.length;
      return (await deps.pairing.removeAllowFrom(target, normalize(target, entry))).length < before;
    },
  };
}

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
