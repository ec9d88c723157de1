import { z } from "zod";
import { ConfigWriteError, exportConfigSchema, parseJson5, planReload, redactConfigValue, redactSnapshot, type ConfigWriteOptions, type ConfigWriteResult } from "../../config/index.ts";
import type { GatewayContext } from "../context.ts";
import { defineMethod, GatewayError, invalidRequest, type GatewayMethod, type MethodCall } from "../protocol/index.ts";
import { empty } from "./schemas.ts";

const write = { raw: z.string(), baseHash: z.string().optional() };
const apply = { ...write, sessionKey: z.string().optional(), note: z.string().optional(), restartDelayMs: z.number().int().min(0).optional() };

const get = defineMethod({
  name: "config.get",
  scope: "operator.read",
  params: empty,
  handle: (_params, ctx: GatewayContext) => redactSnapshot(ctx.source.snapshot()),
});

const schema = defineMethod({
  name: "config.schema",
  scope: "operator.admin",
  params: empty,
  handle: (_params, ctx: GatewayContext) => exportConfigSchema({ version: ctx.version, channelIds: new Set(ctx.channels.plugins.map((plugin) => plugin.id)) }),
});

/** The wire's words for what the config room refuses. */
async function guarded(work: () => Promise<ConfigWriteResult>): Promise<ConfigWriteResult> {
  try {
    return await work();
  } catch (err) {
    if (!(err instanceof ConfigWriteError)) throw err;
    switch (err.code) {
      case "base-hash-required":
        throw invalidRequest("config base hash required; re-run config.get and retry");
      case "base-hash-stale":
        throw invalidRequest("config changed since last load; re-run config.get and retry");
      case "invalid":
        throw new GatewayError("INVALID_REQUEST", "invalid config", { details: { issues: err.issues.map(({ path, message }) => ({ path, message })) } });
      case "not-an-object":
        throw invalidRequest("config.patch raw must be an object");
      default:
        throw invalidRequest(err.message);
    }
  }
}

const options = (baseHash: string | undefined): ConfigWriteOptions => ({ requireBaseHash: true, ...(baseHash === undefined ? {} : { baseHash }) });

function answer(result: ConfigWriteResult): { ok: true; path: string; config: unknown } {
  return { ok: true, path: result.snapshot.path, config: redactConfigValue(result.snapshot.config) };
}

const set = defineMethod({
  name: "config.set",
  scope: "operator.admin",
  params: z.strictObject(write),
  async handle({ raw, baseHash }, ctx: GatewayContext) {
    const result = await guarded(() => ctx.source.writer.setRaw(raw, options(baseHash)));
    await ctx.source.reload();
    return answer(result);
  },
});

const WINDOW_MS = 60_000;
const PER_WINDOW = 3;

/** config.apply, config.patch and update.run share three calls a minute per device and address; failed ones count. */
export function createWriteLimiter(now: () => number): (call: MethodCall, method: string) => void {
  const windows = new Map<string, { since: number; count: number }>();
  return ({ caller }, method) => {
    const key = `${caller.deviceId ?? ""}|${caller.clientIp ?? ""}`;
    const at = now();
    const known = windows.get(key);
    const window = known && at - known.since < WINDOW_MS ? known : { since: at, count: 0 };
    if (windows.size > 1000) windows.clear();
    windows.set(key, window);
    if (++window.count <= PER_WINDOW) return;
    const retryAfterMs = window.since + WINDOW_MS - at;
    throw new GatewayError("UNAVAILABLE", `rate limit exceeded for ${method}; retry after ${Math.ceil(retryAfterMs / 1000)}s`, {
      retryable: true, retryAfterMs, details: { method, limit: "3 per 60s" },
    });
  };
}

/** Hot keys take effect by themselves; only what needs it plans a restart. */
async function finish(ctx: GatewayContext, result: ConfigWriteResult, params: { sessionKey?: string | undefined; note?: string | undefined; restartDelayMs?: number | undefined }, kind: "config-patch" | "config-apply"): Promise<unknown> {
  await ctx.source.reload();
  const rules = ctx.channels.plugins.map((plugin) => ({ channelId: plugin.id, configPrefixes: plugin.reload?.configPrefixes ?? [`channels.${plugin.id}`], noopPrefixes: plugin.reload?.noopPrefixes }));
  if (planReload(result.changedPaths, rules).kind !== "restart") {
    const restart = { ok: true, pid: process.pid, signal: "SIGUSR1", delayMs: 0, reason: "applied without a restart", mode: "none", coalesced: false, cooldownMsApplied: 0 };
    return { ...answer(result), restart, sentinel: null };
  }
  const entry = params.sessionKey ? await ctx.sessions.get(ctx.sessions.canonicalKey(params.sessionKey)) : undefined;
  const { restart, sentinel } = await ctx.restart.schedule({
    reason: kind, kind, delayMs: params.restartDelayMs, sessionKey: params.sessionKey, note: params.note, deliveryContext: entry?.deliveryContext,
  });
  return { ...answer(result), restart, sentinel };
}

export function configMethods(limit: (call: MethodCall, method: string) => void): readonly GatewayMethod<GatewayContext>[] {
  const patch = defineMethod({
    name: "config.patch",
    scope: "operator.admin",
    params: z.strictObject(apply),
    async handle(params, ctx: GatewayContext, call) {
      limit(call, "config.patch");
      let value: unknown;
      try {
        value = await parseJson5(params.raw, "config.patch raw");
      } catch (err) {
        throw invalidRequest(err instanceof Error ? err.message : String(err));
      }
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidRequest("config.patch raw must be an object");
      const result = await guarded(() => ctx.source.writer.mergePatch(value as Record<string, unknown>, options(params.baseHash)));
      return finish(ctx, result, params, "config-patch");
    },
  });
  const applyAll = defineMethod({
    name: "config.apply",
    scope: "operator.admin",
    params: z.strictObject(apply),
    async handle(params, ctx: GatewayContext, call) {
      limit(call, "config.apply");
      const result = await guarded(() => ctx.source.writer.setRaw(params.raw, options(params.baseHash)));
      return finish(ctx, result, params, "config-apply");
    },
  });
  return [get, set, patch, applyAll, schema];
}
