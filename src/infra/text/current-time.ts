/** For a prompt: `Current time: Monday, November 30th, 2026 — 9:15 PM (UTC)` */
export function currentTimeLine(nowMs: number, timeZone: string): string {
  const date = new Date(nowMs);
  const part = (options: Intl.DateTimeFormatOptions): string => new Intl.DateTimeFormat("en-US", { timeZone, ...options }).format(date);
  const day = Number(part({ day: "numeric" }));
  return `Current time: ${part({ weekday: "long" })}, ${part({ month: "long" })} ${day}${ordinal(day)}, ${part({ year: "numeric" })} — ${part({ hour: "numeric", minute: "2-digit", hour12: true }).replace(/\u202f/g, " ")} (${timeZone})`;
}

function ordinal(day: number): string {
  if (day % 100 >= 11 && day % 100 <= 13) return "th";
  return ["th", "st", "nd", "rd"][day % 10] ?? "th";
}
