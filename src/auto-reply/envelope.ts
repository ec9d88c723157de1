import type { OpenClawConfig } from "../config/index.ts";

/** Time zones and stamps that the model or a person reads. Source: spec agent-pipeline §1.3. */
export type EnvelopeZone = { readonly kind: "utc" } | { readonly kind: "local" } | { readonly kind: "zone"; readonly name: string };

export function resolveEnvelopeZone(cfg: OpenClawConfig): EnvelopeZone {
  const setting = cfg.agents?.defaults?.envelopeTimezone?.trim() ?? "local";
  const lower = setting.toLowerCase();
  if (lower === "utc" || lower === "gmt") return { kind: "utc" };
  if (lower === "local" || lower === "host" || lower === "") return { kind: "local" };
  const name = lower === "user" ? cfg.agents?.defaults?.userTimezone : setting;
  if (name === undefined) return { kind: "local" };
  return isTimeZone(name) ? { kind: "zone", name } : { kind: "utc" };
}

/** Zone of system-event lines, a name or undefined for the host's: the envelope's, but local for a name that is none. */
export function resolveSystemZone(cfg: OpenClawConfig): string | undefined {
  const setting = cfg.agents?.defaults?.envelopeTimezone?.trim().toLowerCase();
  const zone = resolveEnvelopeZone(cfg);
  if (zone.kind === "zone") return zone.name;
  return setting === "utc" || setting === "gmt" ? "UTC" : undefined;
}

export function resolveUserZone(cfg: OpenClawConfig): string {
  const name = cfg.agents?.defaults?.userTimezone;
  return name !== undefined && isTimeZone(name) ? name : (hostZone ??= stampFormat(undefined)?.resolvedOptions().timeZone ?? "UTC");
}

let hostZone: string | undefined;

function isTimeZone(name: string): boolean {
  return stampFormat(name) !== undefined;
}

/** Formatters by zone, pure tables of the runtime that take a millisecond to make; undefined for names that are no zone. */
const formats = new Map<string | undefined, Intl.DateTimeFormat | undefined>();

function stampFormat(timeZone: string | undefined): Intl.DateTimeFormat | undefined {
  if (formats.has(timeZone)) return formats.get(timeZone);
  let format: Intl.DateTimeFormat | undefined;
  try {
    format = new Intl.DateTimeFormat("en-GB", {
      ...(timeZone === undefined ? {} : { timeZone }), weekday: "short", year: "numeric", month: "2-digit", day: "2-digit",
      hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short",
    });
  } catch {
    format = undefined; // not a zone the runtime knows
  }
  formats.set(timeZone, format);
  return format;
}

interface ZonedParts {
  readonly weekday: string;
  readonly date: string;
  readonly time: string;
  readonly seconds: string;
  readonly zone: string;
}

function zonedParts(atMs: number, timeZone: string | undefined): ZonedParts {
  const parts = (stampFormat(timeZone) ?? stampFormat("UTC"))?.formatToParts(new Date(atMs)) ?? [];
  const get = (type: Intl.DateTimeFormatPartTypes): string => parts.find((part) => part.type === type)?.value ?? "";
  return {
    weekday: get("weekday"), date: `${get("year")}-${get("month")}-${get("day")}`, time: `${get("hour")}:${get("minute")}`,
    seconds: get("second"), zone: get("timeZoneName"),
  };
}

/** `Mon 2026-11-30 21:08 UTC`. */
export function formatZonedStamp(atMs: number, timeZone?: string): string {
  const { weekday, date, time, zone } = zonedParts(atMs, timeZone);
  return `${weekday} ${date} ${time} ${zone}`;
}

/** `2026-11-30 21:10:07 UTC`, for system-event lines. */
export function formatSystemStamp(atMs: number, timeZone?: string): string {
  const { date, time, seconds, zone } = zonedParts(atMs, timeZone);
  return `${date} ${time}:${seconds} ${zone}`;
}

/** `[Mon 2026-11-30 21:08 UTC] text` for client messages; left alone when it already carries a stamp. */
export function stampClientText(text: string, atMs: number, timeZone: string): string {
  if (/^\[[^\]\n]*\d{4}-\d{2}-\d{2}[^\]\n]*\]/.test(text) || text.includes("Current time: ")) return text;
  return `[${formatZonedStamp(atMs, timeZone)}] ${text}`;
}

export interface EnvelopeInput {
  readonly channel: string;
  readonly from?: string | undefined;
  readonly atMs: number;
  readonly previousAtMs?: number | undefined;
  readonly body: string;
  readonly isDirect: boolean;
  readonly sender?: string | undefined;
}

export interface EnvelopeHead {
  readonly channel: string;
  readonly from?: string | undefined;
  readonly host?: string | undefined;
  readonly ip?: string | undefined;
  /** Without it no stamp. */
  readonly atMs?: number | undefined;
  /** Of the message before, for `+5m`. */
  readonly previousAtMs?: number | undefined;
}

export interface EnvelopeFormat {
  readonly zone: EnvelopeZone;
  readonly withStamp: boolean;
  readonly withElapsed: boolean;
}

export function resolveEnvelopeFormat(cfg: OpenClawConfig): EnvelopeFormat {
  const defaults = cfg.agents?.defaults;
  return { zone: resolveEnvelopeZone(cfg), withStamp: defaults?.envelopeTimestamp !== "off", withElapsed: defaults?.envelopeElapsed !== "off" };
}

/** `[telegram Ann id:42 +5m Mon 2026-11-30 21:08 UTC] text`. */
export function formatInboundEnvelope(cfg: OpenClawConfig, input: EnvelopeInput): string {
  const body = !input.isDirect && input.sender ? `${headerPart(input.sender)}: ${input.body}` : input.body;
  return formatEnvelope(resolveEnvelopeFormat(cfg), input, body);
}

export function formatEnvelope(format: EnvelopeFormat, { channel, from, host, ip, atMs, previousAtMs }: EnvelopeHead, body: string): string {
  const elapsed = format.withElapsed && atMs !== undefined && previousAtMs !== undefined ? formatElapsed(atMs - previousAtMs) : undefined;
  const { zone } = format;
  const stamp =
    !format.withStamp || atMs === undefined ? undefined
    : zone.kind === "utc" ? `${zonedParts(atMs, "UTC").weekday} ${new Date(atMs).toISOString().slice(0, 16)}Z`
    : formatZonedStamp(atMs, zone.kind === "zone" ? zone.name : undefined);
  const head = [channel, from, elapsed && `+${elapsed}`, host, ip, stamp].filter(Boolean).map((part) => headerPart(part as string)).join(" ");
  return `[${head}] ${body}`;
}

/** What comes from outside cannot close or fake the header. */
export function headerPart(text: string): string {
  return text.replaceAll("[", "(").replaceAll("]", ")").replace(/\s+/g, " ").trim();
}

export function formatElapsed(ms: number): string | undefined {
  if (!(ms >= 0)) return undefined;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}
