import { locale, t } from "../i18n/index.ts";

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** "5 minutes ago", in the page's language. */
export function relativeTime(atMs: number, nowMs = Date.now()): string {
  const elapsed = nowMs - atMs;
  for (const [unit, size] of UNITS) {
    if (Math.abs(elapsed) >= size) return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(-Math.round(elapsed / size), unit);
  }
  return t("time.now");
}

/** The clock time; with the date when it is not today. */
export function clockTime(atMs: number): string {
  const at = new Date(atMs);
  const today = at.toDateString() === new Date().toDateString();
  return at.toLocaleString(locale(), today ? { hour: "2-digit", minute: "2-digit" } : { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

/** "3 d 4 h", the two largest units. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "day"],
    [Math.floor(seconds / 3600) % 24, "hour"],
    [Math.floor(seconds / 60) % 60, "minute"],
    [seconds % 60, "second"],
  ];
  const found = parts.findIndex(([value]) => value > 0);
  const first = found === -1 ? parts.length - 1 : found;
  return parts
    .slice(first, first + 2)
    .map(([value, unit]) => new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "short" }).format(value))
    .join(" ");
}

export function byteSize(bytes: number): string {
  const mega = bytes >= 1_000_000;
  const value = bytes / (mega ? 1_000_000 : 1000);
  return new Intl.NumberFormat(locale(), { style: "unit", unit: mega ? "megabyte" : "kilobyte", maximumFractionDigits: mega ? 1 : 0 }).format(value);
}

export const count = (value: number): string =>
  new Intl.NumberFormat(locale(), { notation: value >= 10_000 ? "compact" : "standard", maximumFractionDigits: 1 }).format(value);

/** A sentence a person can act on, whatever was thrown. */
export const errorText = (err: unknown): string => (err instanceof Error ? err.message : String(err));

const RTL_FIRST = /^[^\p{L}]*[\u0591-\u07FF\uFB1D-\uFDFD\uFE70-\uFEFC]/u;

/** Direction of a text by its first letter. */
export const textDirection = (text: string): "rtl" | "ltr" => (RTL_FIRST.test(text.slice(0, 400)) ? "rtl" : "ltr");
