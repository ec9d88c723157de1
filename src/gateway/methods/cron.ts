import { z } from "zod";
import { CronError, type CronService } from "../../cron/index.ts";
import { defineMethod, GatewayError, invalidRequest, type GatewayMethod } from "../protocol/index.ts";
import { empty } from "./schemas.ts";

interface CronMethodsContext {
  readonly cron: CronService;
}

const jobRef = { id: z.string().min(1).optional(), jobId: z.string().min(1).optional() };
const MAX_PAGE = 200;
const PAGE = 50;

function idOf({ id, jobId }: { id?: string | undefined; jobId?: string | undefined }): string {
  const found = id ?? jobId;
  if (found === undefined) throw invalidRequest("id required");
  return found;
}

/** What the room refuses is the caller's business, said in its words. */
async function refusals<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (err) {
    if (err instanceof CronError) throw new GatewayError("UNAVAILABLE", err.message);
    throw err;
  }
}

function page<T>(items: readonly T[], total: number, limit: number, offset: number): { total: number; offset: number; limit: number; hasMore: boolean; nextOffset: number | null } {
  const next = offset + items.length;
  return { total, offset, limit, hasMore: next < total, nextOffset: next < total ? next : null };
}

const list = defineMethod({
  name: "cron.list",
  scope: "operator.read",
  params: z.strictObject({
    includeDisabled: z.boolean().optional(), enabled: z.enum(["all", "enabled", "disabled"]).optional(), limit: z.number().int().min(1).max(MAX_PAGE).optional(),
    offset: z.number().int().min(0).optional(), query: z.string().optional(), sortBy: z.enum(["nextRunAtMs", "updatedAtMs", "name"]).optional(), sortDir: z.enum(["asc", "desc"]).optional(),
  }),
  async handle({ includeDisabled, enabled, limit, offset = 0, ...rest }, { cron }: CronMethodsContext) {
    const { jobs, total } = await cron.list({ enabled: enabled ?? (includeDisabled ? "all" : "enabled"), limit: limit ?? MAX_PAGE, offset, ...rest });
    return { jobs, ...page(jobs, total, limit ?? Math.min(total || PAGE, MAX_PAGE), offset) };
  },
});

const status = defineMethod({ name: "cron.status", scope: "operator.read", params: empty, handle: (_params, { cron }: CronMethodsContext) => cron.status() });

const add = defineMethod({ name: "cron.add", scope: "operator.admin", params: z.looseObject({}), handle: (params, { cron }: CronMethodsContext) => refusals(cron.add(params)) });

const update = defineMethod({
  name: "cron.update",
  scope: "operator.admin",
  params: z.strictObject({ ...jobRef, patch: z.looseObject({}) }),
  handle: (params, { cron }: CronMethodsContext) => refusals(cron.update(idOf(params), params.patch)),
});

const remove = defineMethod({
  name: "cron.remove",
  scope: "operator.admin",
  params: z.strictObject(jobRef),
  handle: async (params, { cron }: CronMethodsContext) => ({ ok: true, removed: await refusals(cron.remove(idOf(params))) }),
});

const run = defineMethod({
  name: "cron.run",
  scope: "operator.admin",
  params: z.strictObject({ ...jobRef, mode: z.enum(["due", "force"]).optional() }),
  handle: async (params, { cron }: CronMethodsContext) => ({ ok: true, ...(await refusals(cron.run(idOf(params), params.mode ?? "force"))) }),
});

const runStatus = z.enum(["ok", "error", "skipped"]);
const deliveryStatus = z.enum(["delivered", "not-delivered", "unknown", "not-requested"]);

const runs = defineMethod({
  name: "cron.runs",
  scope: "operator.read",
  params: z.strictObject({
    ...jobRef, scope: z.enum(["job", "all"]).optional(), limit: z.number().int().min(1).max(MAX_PAGE).optional(), offset: z.number().int().min(0).optional(),
    statuses: z.array(runStatus).optional(), status: runStatus.optional(), deliveryStatuses: z.array(deliveryStatus).optional(), deliveryStatus: deliveryStatus.optional(),
    query: z.string().optional(), sortDir: z.enum(["asc", "desc"]).optional(),
  }),
  async handle(params, { cron }: CronMethodsContext) {
    const jobId = params.id ?? params.jobId;
    if (jobId !== undefined && /[/\\]/.test(jobId)) throw invalidRequest("id must not contain / or \\");
    if (jobId === undefined && params.scope === "job") throw invalidRequest("id required");
    const { limit = PAGE, offset = 0, query, sortDir } = params;
    const statuses = params.statuses ?? (params.status ? [params.status] : undefined);
    const deliveryStatuses = params.deliveryStatuses ?? (params.deliveryStatus ? [params.deliveryStatus] : undefined);
    const { entries, total } = await cron.runs({ jobId: params.scope === "all" ? undefined : jobId, limit, offset, statuses, deliveryStatuses, query, sortDir });
    return { entries, ...page(entries, total, limit, offset) };
  },
});

export const cronMethods: readonly GatewayMethod<CronMethodsContext>[] = [list, status, add, update, remove, run, runs];
