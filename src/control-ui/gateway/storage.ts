/** What this browser remembers. Keys and shapes: spec control-ui §8.1. Every read tolerates missing or foreign data. */

export const SETTINGS_KEY = "openclaw.control.settings.v1";
export const IDENTITY_KEY = "openclaw-device-identity-v1";
export const DEVICE_AUTH_KEY = "openclaw.device.auth.v1";
export const LOCALE_KEY = "openclaw.i18n.locale";

export type ThemeChoice = "system" | "light" | "dark";

export interface Settings {
  readonly gatewayUrl: string;
  readonly token: string;
  readonly sessionKey: string;
  readonly lastActiveSessionKey: string;
  readonly theme: ThemeChoice;
  readonly chatShowThinking: boolean;
  readonly navCollapsed: boolean;
  readonly locale?: string | undefined;
}

const DEFAULTS: Settings = {
  gatewayUrl: "",
  token: "",
  sessionKey: "",
  lastActiveSessionKey: "",
  theme: "system",
  chatShowThinking: true,
  navCollapsed: false,
};

export function readJson(key: string, storage: Storage = localStorage): unknown {
  try {
    return JSON.parse(storage.getItem(key) ?? "null");
  } catch {
    return null; // Storage is off or holds something else: start fresh.
  }
}

/** False when the browser refused (private mode, quota). */
export function writeJson(key: string, value: unknown, storage: Storage = localStorage): boolean {
  try {
    storage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function remove(key: string, storage: Storage = localStorage): void {
  try {
    storage.removeItem(key);
  } catch {
    // Nothing was stored then.
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export function loadSettings(): Settings {
  const raw = readJson(SETTINGS_KEY);
  if (!isRecord(raw)) return DEFAULTS;
  return {
    gatewayUrl: text(raw["gatewayUrl"]),
    token: text(raw["token"]),
    sessionKey: text(raw["sessionKey"]),
    lastActiveSessionKey: text(raw["lastActiveSessionKey"]),
    theme: raw["theme"] === "light" || raw["theme"] === "dark" ? raw["theme"] : "system",
    chatShowThinking: raw["chatShowThinking"] !== false,
    navCollapsed: raw["navCollapsed"] === true,
    locale: typeof raw["locale"] === "string" ? raw["locale"] : undefined,
  };
}

/** Writes the changed fields and leaves those this release does not know. */
export function saveSettings(patch: Partial<Settings>): Settings {
  const raw = readJson(SETTINGS_KEY);
  writeJson(SETTINGS_KEY, { ...(isRecord(raw) ? raw : {}), ...patch });
  return loadSettings();
}

export interface StoredDeviceToken {
  readonly token: string;
  readonly role: string;
  readonly scopes: readonly string[];
  readonly updatedAtMs: number;
}

export function loadDeviceToken(deviceId: string, role: string): string | undefined {
  const raw = readJson(DEVICE_AUTH_KEY);
  if (!isRecord(raw) || raw["deviceId"] !== deviceId || !isRecord(raw["tokens"])) return undefined;
  const entry = raw["tokens"][role];
  return isRecord(entry) && typeof entry["token"] === "string" && entry["token"] !== "" ? entry["token"] : undefined;
}

export function saveDeviceToken(deviceId: string, token: StoredDeviceToken): void {
  const raw = readJson(DEVICE_AUTH_KEY);
  const known = isRecord(raw) && raw["deviceId"] === deviceId && isRecord(raw["tokens"]) ? raw["tokens"] : {};
  writeJson(DEVICE_AUTH_KEY, { version: 1, deviceId, tokens: { ...known, [token.role]: token } });
}

export const dropDeviceToken = (): void => remove(DEVICE_AUTH_KEY);
