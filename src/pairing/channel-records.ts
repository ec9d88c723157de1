export interface ChannelPairingRequest {
  /** The sender's immutable id on the platform. */
  readonly id: string;
  readonly code: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastSeenAt: string;
  /** Labels for the operator, and `accountId`. */
  readonly meta?: Readonly<Record<string, string>> | undefined;
}

export interface PairingFile {
  readonly version: 1;
  readonly requests: readonly ChannelPairingRequest[];
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isoTime(value: unknown): string | undefined {
  const ms = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : undefined;
}

function parseRequest(raw: unknown): ChannelPairingRequest | undefined {
  if (!isFields(raw) || typeof raw["id"] !== "string" || typeof raw["code"] !== "string") return undefined;
  const createdAt = isoTime(raw["createdAt"]);
  if (raw["id"] === "" || createdAt === undefined) return undefined;
  const meta = Object.entries(isFields(raw["meta"]) ? raw["meta"] : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return {
    id: raw["id"],
    code: raw["code"].toUpperCase(),
    createdAt,
    lastSeenAt: isoTime(raw["lastSeenAt"]) ?? createdAt,
    meta: Object.fromEntries(meta),
  };
}

/** `<channel>-pairing.json`; entries that make no sense are skipped. @throws TypeError when it is no pairing file */
export function parsePairingFile(value: unknown): PairingFile {
  if (!isFields(value) || !Array.isArray(value["requests"])) throw new TypeError("expected {version, requests[]}");
  return { version: 1, requests: value["requests"].map(parseRequest).filter((r) => r !== undefined) };
}

/** `…-allowFrom.json`: {version:1, allowFrom[]}. `*` is dropped. @throws TypeError otherwise */
export function parseAllowFromFile(value: unknown): readonly string[] {
  if (!isFields(value) || !Array.isArray(value["allowFrom"])) throw new TypeError("expected {version, allowFrom[]}");
  const ids = value["allowFrom"].filter((id): id is string | number => typeof id === "string" || typeof id === "number");
  return [...new Set(ids.map((id) => String(id).trim()))].filter((id) => id !== "" && id !== "*");
}
