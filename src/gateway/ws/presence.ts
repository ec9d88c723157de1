import type { Clock } from "../../infra/clock.ts";
import type { PresenceEntry } from "../protocol/index.ts";
import type { Connection } from "./connection.ts";

const TTL_MS = 5 * 60_000;
const MAX_ENTRIES = 200;

export type PresenceUpdate = Omit<PresenceEntry, "ts">;

export interface PresenceStore {
  /** Newest first, the gateway's own entry included. */
  list(): readonly PresenceEntry[];
  /** Merges into the entry of `key` (any case); the oldest entries beyond 200 are dropped. Says what it was before. */
  upsert(key: string, update: PresenceUpdate): PresenceEntry | undefined;
  /** Grows with every change; the `presence` part of stateVersion. */
  version(): number;
}

/** Who is around (spec: gateway-methods §4.1): entries live 5 minutes after their last change. */
export function createPresenceStore(deps: { readonly clock: Clock; readonly self: PresenceUpdate }): PresenceStore {
  const entries = new Map<string, PresenceEntry>();
  let version = 1;
  const prune = (): void => {
    const oldest = deps.clock.now() - TTL_MS;
    for (const [key, entry] of entries) if (entry.ts < oldest) entries.delete(key);
  };
  return {
    version: () => version,
    list() {
      prune();
      const others = [...entries.values()].sort((a, b) => b.ts - a.ts);
      return [{ ...deps.self, ts: deps.clock.now() }, ...others];
    },
    upsert(rawKey, update) {
      prune();
      const key = rawKey.toLowerCase();
      const before = entries.get(key);
      const given = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined));
      entries.delete(key);
      entries.set(key, { ...before, ...given, ts: deps.clock.now() });
      while (entries.size > MAX_ENTRIES) {
        const eldest = entries.keys().next().value;
        if (eldest === undefined) break;
        entries.delete(eldest);
      }
      version++;
      return before;
    },
  };
}

/** The line shown for an entry, e.g. `Gateway: host (ip) · app v · mode gateway · reason self`. */
export function presenceText(label: string, e: PresenceUpdate): string {
  const parts = [
    `${label}: ${e.host ?? "unknown"}${e.ip ? ` (${e.ip})` : ""}`,
    e.version && `app ${e.version}`,
    e.lastInputSeconds !== undefined && `last input ${e.lastInputSeconds}s ago`,
    e.mode && `mode ${e.mode}`,
    e.reason && `reason ${e.reason}`,
  ];
  return parts.filter(Boolean).join(" · ");
}

export interface PresenceTracker {
  /** Notes the connection; not worth a broadcast (spec §2.8). */
  connected(conn: Connection): void;
  /** Notes that it is gone. True when `presence` should be broadcast: it was tracked, and no newer socket took its place. */
  disconnected(conn: Connection): boolean;
}

/** Keeps connections in the presence list, by device, else instance, else connection; the CLI's short visits are not shown. */
export function createPresenceTracker(presence: PresenceStore): PresenceTracker {
  const latest = new Map<string, string>();
  const keyOf = (conn: Connection): string => (conn.deviceId ?? conn.client.instanceId ?? conn.connId).toLowerCase();
  const entryOf = (conn: Connection, reason: string): PresenceUpdate => {
    const { displayName, id, version, platform, deviceFamily, modelIdentifier, mode, instanceId } = conn.client;
    const host = displayName ?? id;
    const ip = conn.isLocal ? undefined : conn.clientIp;
    const entry = { host, ip, version, platform, deviceFamily, modelIdentifier, mode, instanceId, reason };
    const text = presenceText(conn.role === "node" ? "Node" : "Client", entry);
    return { ...entry, deviceId: conn.deviceId, roles: [conn.role], scopes: [...conn.scopes], text };
  };
  return {
    connected(conn) {
      if (conn.client.mode === "cli") return;
      latest.set(keyOf(conn), conn.connId);
      presence.upsert(keyOf(conn), entryOf(conn, "connect"));
    },
    disconnected(conn) {
      const key = keyOf(conn);
      if (latest.get(key) !== conn.connId) return false;
      latest.delete(key);
      presence.upsert(key, entryOf(conn, "disconnect"));
      return true;
    },
  };
}
