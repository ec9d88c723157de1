import { join } from "node:path";
import type { Logger } from "../infra/log.ts";
import { createJsonFile, createPathLock } from "./json-file.ts";

export interface StoredDeviceToken {
  readonly token: string;
  readonly role: string;
  /** Sorted. */
  readonly scopes: readonly string[];
  readonly updatedAtMs: number;
}

export interface DeviceAuthStore {
  /** The token kept for this device and role; undefined when the file belongs to another device. */
  get(deviceId: string, role: string): StoredDeviceToken | undefined;
  save(deviceId: string, token: StoredDeviceToken): Promise<void>;
  forget(deviceId: string, role: string): Promise<void>;
}

interface AuthFile {
  readonly deviceId: string;
  readonly tokens: Readonly<Record<string, StoredDeviceToken>>;
}

/** Client side: tokens the gateway issued, in `<state>/identity/device-auth.json` (spec: gateway-protocol §2.4). */
export function createDeviceAuthStore(deps: { readonly stateDir: string; readonly log: Logger }): DeviceAuthStore {
  const file = createJsonFile<AuthFile>({
    path: join(deps.stateDir, "identity", "device-auth.json"),
    empty: { deviceId: "", tokens: {} },
    parse: parseAuthFile,
    serialize: (content) => ({ version: 1, ...content }),
    lock: createPathLock(),
    log: deps.log,
  });
  const tokensOf = (content: AuthFile, deviceId: string) => (content.deviceId === deviceId ? content.tokens : {});
  return {
    get(deviceId, role) {
      const tokens = tokensOf(file.read(), deviceId);
      return Object.hasOwn(tokens, role) ? tokens[role] : undefined;
    },
    async save(deviceId, token) {
      const entry = { ...token, scopes: [...token.scopes].sort() };
      await file.update((current) => ({ deviceId, tokens: { ...tokensOf(current, deviceId), [token.role]: entry } }));
    },
    async forget(deviceId, role) {
      await file.update((current) => {
        const tokens = tokensOf(current, deviceId);
        if (!Object.hasOwn(tokens, role)) return current;
        return { deviceId, tokens: Object.fromEntries(Object.entries(tokens).filter(([name]) => name !== role)) };
      });
    },
  };
}

function parseAuthFile(value: unknown): AuthFile {
  if (typeof value !== "object" || value === null || !("deviceId" in value) || typeof value.deviceId !== "string") {
    throw new TypeError("expected {version, deviceId, tokens}");
  }
  const raw = "tokens" in value && typeof value.tokens === "object" && value.tokens !== null ? value.tokens : {};
  const tokens: Record<string, StoredDeviceToken> = {};
  for (const [role, entry] of Object.entries(raw) as [string, unknown][]) {
    if (typeof entry !== "object" || entry === null || !("token" in entry) || typeof entry.token !== "string") continue;
    const scopes = "scopes" in entry && Array.isArray(entry.scopes) ? entry.scopes : [];
    tokens[role] = {
      token: entry.token,
      role,
      scopes: scopes.filter((scope): scope is string => typeof scope === "string"),
      updatedAtMs: "updatedAtMs" in entry && typeof entry.updatedAtMs === "number" ? entry.updatedAtMs : 0,
    };
  }
  return { deviceId: value.deviceId, tokens };
}
