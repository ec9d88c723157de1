import { Type } from "typebox";
import { optionalNumber, optionalString, requireString } from "./arguments.ts";
import { toolJson, type AgentTool } from "./contract.ts";

/** What the tool drives; given by the room that runs jobs. All reject with a message for the model. */
export interface CronActions {
  status(): Promise<unknown>;
  list(includeDisabled: boolean): Promise<readonly CronToolJob[]>;
  add(input: unknown, made: { readonly isOwner: boolean; readonly senderId: string | undefined; readonly defaults: Readonly<Record<string, unknown>> }): Promise<CronToolJob>;
  update(id: string, patch: unknown): Promise<CronToolJob>;
  remove(id: string): Promise<boolean>;
  run(id: string, mode: "due" | "force"): Promise<unknown>;
  runs(id: string | undefined, limit: number): Promise<unknown>;
  wake(sessionKey: string, text: string, mode: "now" | "next-heartbeat"): void;
  /** The last messages of a session, one line each. */
  recentLines(sessionKey: string, count: number): Promise<readonly string[]>;
}

export interface CronToolJob {
  readonly id: string;
  readonly authority?: { readonly isOwner: boolean; readonly senderId?: string | undefined } | undefined;
  readonly [field: string]: unknown;
}

export interface CronToolOptions {
  readonly actions: CronActions;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly isOwner: boolean;
  readonly senderId: string | undefined;
  readonly chat: { readonly channel: string; readonly accountId: string | undefined; readonly to: string | undefined; readonly threadId: string | undefined } | undefined;
}

const ACTIONS = ["status", "list", "add", "update", "remove", "run", "runs", "wake"];
/** What others than the owner may do: jobs of their own, spoken into their own chat (spec decisions §7.2). */
const OTHERS = ["list", "add", "remove"];
const MAX_JOBS_OF_OTHERS = 20;
const CONTEXT_LINE_CHARS = 220;
const CONTEXT_TOTAL_CHARS = 700;
const JOB_FIELDS = ["name", "description", "schedule", "sessionTarget", "wakeMode", "payload", "delivery", "enabled", "deleteAfterRun", "agentId", "sessionKey", "message", "text", "at", "atMs", "everyMs", "expr", "cron", "tz", "model", "thinking", "timeoutSeconds", "channel", "to", "deliver"];

const parametersFor = (actions: readonly string[]) => ({
  action: Type.Unsafe<string>({ type: "string", enum: [...actions] }), job: Type.Optional(Type.Object({}, { additionalProperties: true })), jobId: Type.Optional(Type.String()),
});
const OTHERS_PARAMETERS = Type.Object(parametersFor(OTHERS));
const OWNER_PARAMETERS = Type.Object({
  ...parametersFor(ACTIONS),
  patch: Type.Optional(Type.Object({}, { additionalProperties: true })), text: Type.Optional(Type.String()), mode: Type.Optional(Type.Unsafe<string>({ type: "string", enum: ["now", "next-heartbeat"] })),
  runMode: Type.Optional(Type.Unsafe<string>({ type: "string", enum: ["due", "force"] })), includeDisabled: Type.Optional(Type.Boolean()), contextMessages: Type.Optional(Type.Number()),
});

export function createCronTool(options: CronToolOptions): AgentTool {
  const { isOwner } = options;
  return {
    name: "cron",
    label: "Cron",
    summary: "Reminders and scheduled jobs",
    description: isOwner
      ? "Reminders and scheduled jobs. add takes job: {name, schedule: {kind:\"at\",at:ISO} | {kind:\"every\",everyMs} | {kind:\"cron\",expr,tz}, payload: {kind:\"systemEvent\",text} (a reminder in the main session) | {kind:\"agentTurn\",message} (a task in a session of its own, its answer sent to the chat), delivery?: {mode:\"announce\"|\"none\"|\"webhook\",channel,to}}. Write a reminder's text so that it reads as one when it comes. Others: status, list, update (jobId, patch), remove, run, runs (jobId), wake (text, mode)."
      : "Reminders for this chat. add takes job: {name, schedule: {kind:\"at\",at:ISO} | {kind:\"cron\",expr,tz}, message}: the message is worked on at that time and the answer sent here. Others: list, remove (jobId).",
    parameters: isOwner ? OWNER_PARAMETERS : OTHERS_PARAMETERS,
    prepare: gatherJob,
    describe: (args) => [optionalString(args, "action"), optionalString(args, "jobId") ?? optionalString(args["job"] as Record<string, unknown> ?? {}, "name")].filter(Boolean).join(" "),
    async execute(args) {
      const action = requireString(args, "action");
      if (!(isOwner ? ACTIONS : OTHERS).includes(action)) throw new Error(`cron ${action} is for the owner only. Possible here: ${OTHERS.join(", ")}.`);
      return toolJson(await perform(options, action, args));
    },
  };
}

/** Fields of a job that stand at the top belong into `job`; `id` is another name for `jobId`. */
function gatherJob(args: Record<string, unknown>): Record<string, unknown> {
  const { id, ...out } = args;
  out["jobId"] ??= id;
  if (out["action"] !== "add") return out;
  let job = out["job"];
  if (typeof job === "string") {
    try {
      job = JSON.parse(job);
    } catch {
      throw new Error("job must be an object");
    }
  }
  const loose = Object.fromEntries(JOB_FIELDS.filter((field) => out[field] !== undefined).map((field) => [field, out[field]]));
  return { ...out, job: { ...loose, ...(typeof job === "object" && job !== null ? job : {}) } };
}

async function perform(options: CronToolOptions, action: string, args: Record<string, unknown>): Promise<unknown> {
  const { actions, isOwner } = options;
  switch (action) {
    case "status":
      return actions.status();
    case "list":
      return { jobs: (await actions.list(args["includeDisabled"] === true)).filter((job) => mayTouch(options, job)) };
    case "add":
      return add(options, args);
    case "update":
      return actions.update(requireString(args, "jobId", "id"), args["patch"] ?? {});
    case "remove": {
      const id = requireString(args, "jobId", "id");
      const job = (await actions.list(true)).find((item) => item.id === id);
      if (!isOwner && (!job || !mayTouch(options, job))) throw new Error(`unknown cron job id: ${id}`);
      return { ok: true, removed: await actions.remove(id) };
    }
    case "run":
      return actions.run(requireString(args, "jobId", "id"), args["runMode"] === "due" ? "due" : "force");
    case "runs":
      return actions.runs(optionalString(args, "jobId"), optionalNumber(args, "limit") ?? 20);
    default:
      actions.wake(options.sessionKey, requireString(args, "text"), args["mode"] === "now" ? "now" : "next-heartbeat");
      return { ok: true };
  }
}

const mayTouch = ({ isOwner, senderId }: CronToolOptions, job: CronToolJob): boolean => isOwner || (senderId !== undefined && job.authority?.isOwner === false && job.authority.senderId === senderId);

async function add(options: CronToolOptions, args: Record<string, unknown>): Promise<unknown> {
  const { actions, agentId, sessionKey, isOwner, senderId, chat } = options;
  const job = args["job"] as Record<string, unknown>;
  if (isOwner) {
    const context = Math.min(10, Math.max(0, Math.trunc(optionalNumber(args, "contextMessages") ?? 0)));
    return actions.add(context > 0 ? await withContext(options, job, context) : withChat(job, chat), { isOwner, senderId, defaults: { agentId, sessionKey } });
  }
  if (senderId === undefined || chat?.to === undefined) throw new Error("There is no chat here that a reminder could be sent to.");
  const own = (await actions.list(true)).filter((item) => mayTouch(options, item));
  if (own.length >= MAX_JOBS_OF_OTHERS) throw new Error(`At most ${MAX_JOBS_OF_OTHERS} jobs each; remove one first.`);
  const { schedule, at, atMs, expr, cron, tz, name, message, text, payload } = job;
  const body = payload as Record<string, unknown> | undefined;
  if (job["everyMs"] !== undefined || (schedule as Record<string, unknown> | undefined)?.["kind"] === "every") throw new Error('Only schedules of kind "at" and "cron" are possible here.');
  const reduced = {
    name, schedule, at, atMs, expr, cron, tz, sessionTarget: "isolated", payload: { kind: "agentTurn", message: body?.["message"] ?? body?.["text"] ?? message ?? text },
    delivery: { mode: "announce", channel: chat.channel, to: chat.to, accountId: chat.accountId, threadId: chat.threadId },
  };
  return actions.add(JSON.parse(JSON.stringify(reduced)), { isOwner: false, senderId, defaults: { agentId, sessionKey } });
}

/** A task without a target speaks into the chat that asked for it. */
function withChat(job: Record<string, unknown>, chat: CronToolOptions["chat"]): Record<string, unknown> {
  const payload = job["payload"] as Record<string, unknown> | undefined;
  const isTask = payload?.["kind"] === "agentTurn" || typeof (payload?.["message"] ?? job["message"]) === "string";
  const delivery = job["delivery"] as Record<string, unknown> | undefined;
  const wantsChat = delivery === undefined || ((delivery["mode"] === undefined || delivery["mode"] === "announce") && delivery["to"] === undefined && (delivery["channel"] === undefined || delivery["channel"] === "last"));
  if (!isTask || !wantsChat || chat?.to === undefined) return job;
  return { ...job, delivery: { mode: "announce", ...delivery, channel: chat.channel, to: chat.to, ...(chat.accountId ? { accountId: chat.accountId } : {}), ...(chat.threadId ? { threadId: chat.threadId } : {}) } };
}

async function withContext({ actions, sessionKey, chat }: CronToolOptions, job: Record<string, unknown>, count: number): Promise<Record<string, unknown>> {
  const lines: string[] = [];
  let total = 0;
  for (const line of (await actions.recentLines(sessionKey, count)).toReversed()) {
    const cut = line.length > CONTEXT_LINE_CHARS ? `${line.slice(0, CONTEXT_LINE_CHARS - 1)}…` : line;
    if ((total += cut.length) > CONTEXT_TOTAL_CHARS) break;
    lines.unshift(`- ${cut}`);
  }
  if (lines.length === 0) return withChat(job, chat);
  const note = `\n\nRecent context:\n${lines.join("\n")}`;
  const payload = job["payload"] as Record<string, unknown> | undefined;
  const field = typeof payload?.["text"] === "string" || (payload === undefined && typeof job["text"] === "string") ? "text" : "message";
  return withChat(payload ? { ...job, payload: { ...payload, [field]: `${String(payload[field] ?? "")}${note}` } } : { ...job, [field]: `${String(job[field] ?? "")}${note}` }, chat);
}
