/** Prompt of a heartbeat that was woken by a finished command. */
export const EXEC_EVENT_PROMPT =
  "A command that you started earlier has ended; its result is in the system lines above. Tell the person what came of it, in a sentence or two.";

/** The same when nobody can be told. */
export const EXEC_EVENT_SILENT_PROMPT =
  "A command that you started earlier has ended; its result is in the system lines above. Take note of it and act on it if that is needed. Nobody reads this answer: end with HEARTBEAT_OK.";

/** Source: spec tools-and-automation part 2 §7 (the opening sentence is the reference's). */
export function cronEventPrompt(texts: readonly string[], canDeliver: boolean): string {
  const content = texts.join("\n");
  const how = canDeliver ? "Pass this reminder on to the person in a helpful and friendly way." : "Act on it if that is needed. Nobody reads this answer: end with HEARTBEAT_OK.";
  return `A scheduled reminder has been triggered. The reminder content is:\n\n${content}\n\n${how}`;
}

/** `Current time: Monday, November 30th, 2026 — 9:15 PM (UTC)` */
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
