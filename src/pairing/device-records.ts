/** Files of the device store (spec: gateway-protocol §2.7). Unknown members of a record survive a rewrite. */

export interface DeviceToken {
  readonly token: string;
  readonly role: string;
  readonly scopes: readonly string[];
  readonly createdAtMs: number;
  readonly rotatedAtMs?: number | undefined;
  readonly revokedAtMs?: number | undefined;
  readonly lastUsedAtMs?: number | undefined;
}

/** What a device says of itself and asks for. */
interface DeviceRecord {
  readonly deviceId: string;
  readonly publicKey: string;
  readonly displayName?: string | undefined;
  readonly platform?: string | undefined;
  readonly deviceFamily?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientMode?: string | undefined;
  readonly role: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly remoteIp?: string | undefined;
}

export interface PairedDevice extends DeviceRecord {
  readonly approvedScopes: readonly string[];
  /** Commands a node may offer; absent on records that are older than this rule. */
  readonly approvedCommands?: readonly string[] | undefined;
  readonly tokens: Readonly<Record<string, DeviceToken>>;
  readonly createdAtMs: number;
  readonly approvedAtMs: number;
}

export interface PendingDevice extends DeviceRecord {
  readonly requestId: string;
  readonly commands?: readonly string[] | undefined;
  readonly silent: boolean;
  readonly isRepair: boolean;
  readonly ts: number;
}

export type PairedFile = Readonly<Record<string, PairedDevice>>;
export type PendingFile = Readonly<Record<string, PendingDevice>>;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
const time = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** Undefined for a record without a device or a key. */
function parseRecord(raw: Fields): DeviceRecord | undefined {
  const deviceId = text(raw["deviceId"]);
  const publicKey = text(raw["publicKey"]);
  if (deviceId === undefined || publicKey === undefined) return undefined;
  const role = text(raw["role"]) ?? "operator";
  const roles = texts(raw["roles"]);
  return {
    deviceId,
    publicKey,
    role,
    roles: roles.length > 0 ? roles : [role],
    scopes: texts(raw["scopes"]),
    displayName: text(raw["displayName"]),
    platform: text(raw["platform"]),
    deviceFamily: text(raw["deviceFamily"]),
    clientId: text(raw["clientId"]),
    clientMode: text(raw["clientMode"]),
    remoteIp: text(raw["remoteIp"]),
  };
}

function parseToken(role: string, raw: unknown): DeviceToken | undefined {
  if (!isFields(raw)) return undefined;
  const token = text(raw["token"]);
  if (token === undefined) return undefined;
  return {
    token,
    role,
    scopes: texts(raw["scopes"]),
    createdAtMs: time(raw["createdAtMs"]) ?? 0,
    rotatedAtMs: time(raw["rotatedAtMs"]),
    revokedAtMs: time(raw["revokedAtMs"]),
    lastUsedAtMs: time(raw["lastUsedAtMs"]),
  };
}

function parsePaired(raw: unknown): PairedDevice | undefined {
  if (!isFields(raw)) return undefined;
  const record = parseRecord(raw);
  if (!record) return undefined;
  const tokens: Record<string, DeviceToken> = {};
  for (const [name, value] of Object.entries(isFields(raw["tokens"]) ? raw["tokens"] : {})) {
    const token = name === "__proto__" ? undefined : parseToken(name, value);
    if (token) tokens[name] = token;
  }
  return {
    ...raw,
    ...record,
    approvedScopes: Array.isArray(raw["approvedScopes"]) ? texts(raw["approvedScopes"]) : record.scopes,
    approvedCommands: Array.isArray(raw["approvedCommands"]) ? texts(raw["approvedCommands"]) : undefined,
    tokens,
    createdAtMs: time(raw["createdAtMs"]) ?? 0,
    approvedAtMs: time(raw["approvedAtMs"]) ?? 0,
  };
}

function parsePending(raw: unknown): PendingDevice | undefined {
  if (!isFields(raw)) return undefined;
  const requestId = text(raw["requestId"]);
  const record = parseRecord(raw);
  if (requestId === undefined || !record) return undefined;
  return {
    ...record,
    requestId,
    commands: Array.isArray(raw["commands"]) ? texts(raw["commands"]) : undefined,
    silent: raw["silent"] === true,
    isRepair: raw["isRepair"] === true,
    ts: time(raw["ts"]) ?? 0,
  };
}

function parseRecords<T>(value: unknown, parse: (raw: unknown) => T | undefined, key: (item: T) => string): Record<string, T> {
  if (!isFields(value)) throw new TypeError("expected an object of records");
  const records: Record<string, T> = {};
  for (const raw of Object.values(value)) {
    const item = parse(raw);
    if (item !== undefined && key(item) !== "__proto__") records[key(item)] = item;
  }
  return records;
}

/** A record that makes no sense is skipped; the rest stays. @throws TypeError when the file is no object */
export const parsePairedFile = (value: unknown): PairedFile => parseRecords(value, parsePaired, (d) => d.deviceId);

export const parsePendingFile = (value: unknown): PendingFile => parseRecords(value, parsePending, (d) => d.requestId);
