import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** What servers asked for in refusals that reach the caller as text only: SDKs keep the status and drop the headers. */
export interface RetryAfterLog {
  /** ms that the server of `url` still wants to be left alone, 0 when that has just ended; undefined when it has not said so. */
  remainingMs(url: string): number | undefined;
  close(): void;
}

/** Published by Node's fetch for each response. Source: undici, "Diagnostics Channel Support". */
const CHANNEL = "undici:request:headers";
const MAX_ORIGINS = 64;
/** A short wait may be over before the caller hears of the refusal. */
const JUST_ENDED_MS = 5000;
const REFUSALS: ReadonlySet<number> = new Set([429, 503, 529]);

/** Hears the `retry-after` and `retry-after-ms` of every refused fetch of this process, by origin. */
export function createRetryAfterLog(now: () => number): RetryAfterLog {
  const until = new Map<string, number>();
  const hear = (message: unknown): void => {
    const heard = readRefusal(message);
    if (!heard) return;
    const waitMs = parseRetryAfter(heard.headers, now());
    until.delete(heard.origin);
    if (waitMs === undefined) return;
    until.set(heard.origin, now() + waitMs);
    const oldest = until.keys().next().value;
    if (until.size > MAX_ORIGINS && oldest !== undefined) until.delete(oldest);
  };
  subscribe(CHANNEL, hear);
  return {
    remainingMs(url) {
      const at = URL.canParse(url) ? until.get(new URL(url).origin) : undefined;
      return at === undefined || at + JUST_ENDED_MS < now() ? undefined : Math.max(0, at - now());
    },
    close: () => void unsubscribe(CHANNEL, hear),
  };
}

/** Seconds, ms or a date, as ms from `nowMs`. Source: RFC 9110 §10.2.3. */
export function parseRetryAfter(headers: ReadonlyMap<string, string>, nowMs: number): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const text = headers.get("retry-after")?.trim();
  if (!text) return undefined;
  const seconds = Number(text);
  if (!Number.isNaN(seconds)) return seconds < 0 ? undefined : seconds * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function readRefusal(message: unknown): { origin: string; headers: ReadonlyMap<string, string> } | undefined {
  const { request, response } = message as { request?: { origin?: unknown }; response?: { statusCode?: unknown; headers?: unknown } };
  if (typeof response?.statusCode !== "number" || !REFUSALS.has(response.statusCode) || !Array.isArray(response.headers)) return undefined;
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < response.headers.length; i += 2) headers.set(String(response.headers[i]).toLowerCase(), String(response.headers[i + 1]));
  return { origin: String(request?.origin), headers };
}
