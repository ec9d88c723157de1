const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `30m`, `1h30m`, or a number in `bareUnit`, as ms; undefined when the text is none. */
export function parseDurationMs(text: string, bareUnit: "ms" | "s" | "m" | "h" = "m"): number | undefined {
  const trimmed = text.trim().toLowerCase();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * (UNIT_MS[bareUnit] ?? 1));
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) total += Number(amount) * (UNIT_MS[unit ?? ""] ?? 0);
  return Math.round(total);
}
