import { isPlainObject } from "../config/index.ts";
import { checkSchedule, parseAt } from "./schedule.ts";
import { CronError, type CronDelivery, type CronJob, type CronJobDraft, type CronPayload, type CronSchedule } from "./types.ts";

type Raw = Readonly<Record<string, unknown>>;

/** Of a name that is made from the text. */
const MAX_NAME_CHARS = 60;
const MAX_GIVEN_NAME_CHARS = 200;
const record = (value: unknown): Raw => (isPlainObject(value) ? value : {});
const text = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);
const bool = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : typeof value === "string" && /^\d+$/.test(value.trim()) ? Number(value) : undefined);

/**
 * A job from whatever a model, a client or an older file wrote: wrappers are opened, fields put where they belong, defaults
 * filled in. Source: spec tools-and-automation part 2 §7, "Input repair".
 * @throws CronError naming the field
 */
export function parseJob(input: unknown, nowMs: number): CronJobDraft {
  const raw = unwrap(record(input));
  const schedule = parseSchedule(raw);
  checkSchedule(schedule, nowMs);
  const payload = parsePayload(raw);
  const sessionTarget = parseTarget(raw, payload);
  const draft: CronJobDraft = {
    agentId: text(raw["agentId"]), sessionKey: text(raw["sessionKey"]), name: text(raw["name"]) ?? defaultName(payload, schedule), description: text(raw["description"]),
    enabled: bool(raw["enabled"]) ?? true, deleteAfterRun: bool(raw["deleteAfterRun"]) ?? (schedule.kind === "at" ? true : undefined), notify: bool(raw["notify"]),
    schedule, sessionTarget, wakeMode: raw["wakeMode"] === "next-heartbeat" ? "next-heartbeat" : "now", payload, delivery: parseDelivery(raw, sessionTarget),
  };
  checkJob(draft);
  return draft;
}

/** The job with the changes of `patch`; what it does not name stays. @throws CronError */
export function patchJob(job: CronJob, patch: unknown, nowMs: number): CronJobDraft {
  const raw = unwrap(record(patch));
  const touches = (...keys: readonly string[]): boolean => keys.some((key) => key in raw);
  const schedule = touches("schedule", "at", "atMs", "everyMs", "every", "expr", "cron") ? parseSchedule(raw, job.schedule) : job.schedule;
  if (schedule !== job.schedule) checkSchedule(schedule, nowMs);
  const payload = touches("payload", "message", "text", "model", "thinking", "timeoutSeconds") ? parsePayload(raw, job.payload) : job.payload;
  const sessionTarget = touches("sessionTarget") ? parseTarget(raw, payload) : job.sessionTarget;
  const keep = <T>(key: string, parse: (value: unknown) => T | undefined, before: T | undefined): T | undefined => (key in raw ? (raw[key] === null ? undefined : parse(raw[key])) : before);
  const draft: CronJobDraft = {
    agentId: keep("agentId", text, job.agentId), sessionKey: keep("sessionKey", text, job.sessionKey), name: keep("name", text, job.name) ?? job.name,
    description: keep("description", text, job.description), enabled: keep("enabled", bool, job.enabled) ?? job.enabled, deleteAfterRun: keep("deleteAfterRun", bool, job.deleteAfterRun), notify: keep("notify", bool, job.notify),
    schedule, sessionTarget, wakeMode: raw["wakeMode"] === "now" || raw["wakeMode"] === "next-heartbeat" ? raw["wakeMode"] : job.wakeMode, payload,
    delivery: touches("delivery", "deliver", "channel", "to", "accountId") ? parseDelivery(raw, sessionTarget, job.delivery) : job.delivery, authority: job.authority,
  };
  checkJob(draft);
  return draft;
}

function unwrap(raw: Raw): Raw {
  for (const key of ["job", "data"]) if (isPlainObject(raw[key])) return unwrap({ ...raw[key], ...without(raw, key) });
  return raw;
}

function without(raw: Raw, key: string): Raw {
  const { [key]: _dropped, ...rest } = raw;
  return rest;
}

function parseSchedule(raw: Raw, before?: CronSchedule): CronSchedule {
  const own = isPlainObject(raw["schedule"]) ? raw["schedule"] : typeof raw["schedule"] === "string" ? { expr: raw["schedule"] } : {};
  const get = (...names: readonly string[]): unknown => names.map((name) => own[name] ?? raw[name]).find((value) => value !== undefined && value !== null);
  const kind = text(own["kind"])?.toLowerCase();
  const at = get("at", "atMs");
  if (kind === "at" || (kind === undefined && at !== undefined)) return { kind: "at", at: parseAt(at) };
  const everyMs = number(get("everyMs", "every"));
  if (kind === "every" || (kind === undefined && everyMs !== undefined)) {
    if (everyMs === undefined) throw new CronError("schedule.everyMs must be a number of milliseconds");
    return { kind: "every", everyMs, ...defined({ anchorMs: number(get("anchorMs")) }) };
  }
  const expr = text(get("expr", "cron")) ?? (before?.kind === "cron" ? before.expr : undefined);
  if (expr === undefined) throw new CronError('schedule is missing: {"kind":"at","at":"<ISO time>"}, {"kind":"every","everyMs":<ms>} or {"kind":"cron","expr":"<min hour day month weekday>","tz":"<zone>"}');
  return { kind: "cron", expr, ...defined({ tz: text(get("tz", "timezone")), staggerMs: number(get("staggerMs")) }) };
}

function parsePayload(raw: Raw, before?: CronPayload): CronPayload {
  const own = record(raw["payload"]);
  const get = (name: string): unknown => own[name] ?? raw[name];
  const said = text(own["kind"])?.toLowerCase();
  const kind = said === "systemevent" ? "systemEvent" : said === "agentturn" ? "agentTurn" : said !== undefined ? undefined : text(get("message")) !== undefined ? "agentTurn" : text(get("text")) !== undefined ? "systemEvent" : before?.kind;
  if (kind === "systemEvent") {
    const line = text(get("text")) ?? text(get("message")) ?? (before?.kind === "systemEvent" ? before.text : undefined);
    if (line === undefined) throw new CronError("payload.text is missing");
    return { kind, text: line };
  }
  if (kind !== "agentTurn") throw new CronError('payload.kind must be "systemEvent" (with text) or "agentTurn" (with message)');
  const old = before?.kind === "agentTurn" ? before : undefined;
  const message = text(get("message")) ?? text(get("text")) ?? old?.message;
  if (message === undefined) throw new CronError("payload.message is missing");
  return {
    kind, message,
    ...defined({
      model: text(get("model")) ?? old?.model, thinking: text(get("thinking")) ?? old?.thinking, timeoutSeconds: number(get("timeoutSeconds")) ?? old?.timeoutSeconds,
      allowUnsafeExternalContent: bool(get("allowUnsafeExternalContent")) ?? old?.allowUnsafeExternalContent,
    }),
  };
}

function parseTarget(raw: Raw, payload: CronPayload): "main" | "isolated" {
  const said = text(raw["sessionTarget"])?.toLowerCase();
  if (said === "main" || said === "isolated") return said;
  if (said !== undefined) throw new CronError(`sessionTarget must be "main" or "isolated", not "${said}"`);
  return payload.kind === "systemEvent" ? "main" : "isolated";
}

/** Older jobs say in the payload, or at the top, where the answer goes. */
function parseDelivery(raw: Raw, target: "main" | "isolated", before?: CronDelivery): CronDelivery | undefined {
  const own = record(raw["delivery"]);
  const payload = record(raw["payload"]);
  const get = (name: string): unknown => own[name] ?? payload[name] ?? raw[name];
  const said = text(own["mode"])?.toLowerCase();
  const deliver = bool(payload["deliver"]) ?? bool(raw["deliver"]);
  const mode = said === "none" || said === "webhook" || said === "announce" ? said : said === "deliver" || deliver === true ? "announce" : deliver === false ? "none" : before?.mode;
  if (said !== undefined && mode === undefined) throw new CronError(`delivery.mode must be "none", "announce" or "webhook", not "${said}"`);
  const to = text(get("to")) ?? (typeof get("to") === "number" ? String(get("to")) : undefined) ?? before?.to;
  const channel = text(get("channel"))?.toLowerCase() ?? before?.channel;
  if (mode === undefined && to === undefined && channel === undefined) return target === "isolated" ? { mode: "announce", channel: "last" } : undefined;
  return {
    mode: mode ?? "announce", channel: channel ?? "last",
    ...defined({
      to, accountId: text(get("accountId")) ?? before?.accountId, threadId: text(get("threadId")) ?? before?.threadId,
      bestEffort: bool(own["bestEffort"]) ?? bool(payload["bestEffortDeliver"]) ?? bool(raw["bestEffortDeliver"]) ?? before?.bestEffort,
    }),
  };
}

function checkJob({ name, sessionTarget, payload, delivery }: CronJobDraft): void {
  if (name.length > MAX_GIVEN_NAME_CHARS) throw new CronError(`name has ${name.length} characters; at most ${MAX_GIVEN_NAME_CHARS} are possible`);
  if (sessionTarget === "main" && payload.kind !== "systemEvent") throw new CronError('main cron jobs require payload.kind="systemEvent"');
  if (sessionTarget === "isolated" && payload.kind !== "agentTurn") throw new CronError('isolated cron jobs require payload.kind="agentTurn"');
  if (sessionTarget === "main" && delivery?.mode === "announce") throw new CronError('cron channel delivery config is only supported for sessionTarget="isolated"');
  if (delivery?.mode === "webhook" && !/^https?:\/\/\S+$/i.test(delivery.to ?? "")) throw new CronError("cron webhook delivery requires delivery.to to be a valid http(s) URL");
}

function defaultName(payload: CronPayload, schedule: CronSchedule): string {
  const line = (payload.kind === "systemEvent" ? payload.text : payload.message).split("\n")[0]?.trim() ?? "";
  if (line !== "") return line.slice(0, MAX_NAME_CHARS);
  return schedule.kind === "cron" ? `Cron: ${schedule.expr}` : schedule.kind === "every" ? `Every: ${schedule.everyMs}ms` : "One-shot";
}

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
