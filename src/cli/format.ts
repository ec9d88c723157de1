/** `just now`, `5m ago`, `3h ago`, `2d ago`. */
export function formatAge(ms: number): string {
  const text = formatDuration(ms);
  return text === "0s" || ms < 10_000 ? "just now" : `${text} ago`;
}

/** The largest unit alone: `42s`, `5m`, `3h`, `2d`. */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** 1234 → `1.2k`. */
export function formatCount(value: number): string {
  if (value < 1000) return String(value);
  return value < 1_000_000 ? `${(value / 1000).toFixed(1).replace(/\.0$/, "")}k` : `${(value / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
}

/** The path with the home directory shown as `~`. */
export const shortenHome = (path: string, home: string): string => (path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);

/** Text of a foreign origin as one line without control characters. */
export const oneLine = (text: string, maxChars = 200): string => {
  const plain = text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
  return plain.length > maxChars ? `${plain.slice(0, maxChars - 1)}…` : plain;
};
