import type { HeartbeatSettings } from "./settings.ts";

const MINUTES_A_DAY = 24 * 60;

/** Whether a heartbeat may run now. The end is exclusive, hours may wrap around midnight, equal ones never match, invalid ones always do. */
export function isWithinActiveHours(hours: HeartbeatSettings["activeHours"], nowMs: number, userZone: string): boolean {
  if (!hours) return true;
  const start = minutesOf(hours.start ?? "00:00");
  const end = minutesOf(hours.end ?? "24:00");
  const now = minuteOfDay(nowMs, hours.timezone, userZone);
  if (start === undefined || end === undefined || start === MINUTES_A_DAY || now === undefined) return true;
  if (start === end) return false;
  return start < end ? now >= start && now < end : now >= start || now < end;
}

function minutesOf(text: string): number | undefined {
  const match = /^([01]?\d|2[0-4]):([0-5]\d)$/.exec(text.trim());
  const minutes = match ? Number(match[1]) * 60 + Number(match[2]) : Number.NaN;
  return minutes <= MINUTES_A_DAY ? minutes : undefined;
}

function minuteOfDay(nowMs: number, zone: string | undefined, userZone: string): number | undefined {
  const name = zone?.trim();
  const timeZone = name === undefined || name === "" || name === "user" ? userZone : name === "local" ? undefined : name;
  try {
    const parts = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(timeZone === undefined ? {} : { timeZone }) }).formatToParts(nowMs);
    const part = (type: string): number => Number(parts.find((item) => item.type === type)?.value);
    return part("hour") * 60 + part("minute");
  } catch {
    return undefined; // no such time zone: the hours cannot be told, so they do not limit
  }
}
