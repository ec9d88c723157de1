import type { OutputLimits } from "./process-jobs.ts";

type Env = Readonly<Record<string, string | undefined>>;

const MAX_OUTPUT_CHARS = 200_000;
const MAX_UNREAD_CHARS = 30_000;
const MIN_OUTPUT_CHARS = 1000;
const DEFAULT_YIELD_MS = 10_000;
const MAX_YIELD_MS = 120_000;
const DEFAULT_KEEP_MS = 1_800_000;
const MIN_KEEP_MS = 60_000;
const MAX_KEEP_MS = 3 * 60 * 60_000;

/** Numbers of exec, from the call or the configuration, then the environment, within their bounds. Source: spec tools-and-automation §3.1. */
export function outputLimits(env: Env): OutputLimits {
  return {
    maxOutputChars: clamp(numberOf(env, "PI_BASH_MAX_OUTPUT_CHARS") ?? MAX_OUTPUT_CHARS, MIN_OUTPUT_CHARS, MAX_OUTPUT_CHARS),
    maxUnreadChars: clamp(numberOf(env, "OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS") ?? MAX_UNREAD_CHARS, MIN_OUTPUT_CHARS, MAX_OUTPUT_CHARS),
  };
}

export const yieldMs = (wanted: number | undefined, env: Env): number => clamp(wanted ?? numberOf(env, "PI_BASH_YIELD_MS") ?? DEFAULT_YIELD_MS, 10, MAX_YIELD_MS);

/** How long finished jobs can be read. */
export const keepMs = (wanted: number | undefined, env: Env): number => clamp(wanted ?? numberOf(env, "PI_BASH_JOB_TTL_MS") ?? DEFAULT_KEEP_MS, MIN_KEEP_MS, MAX_KEEP_MS);

function numberOf(env: Env, name: string): number | undefined {
  const value = Number(env[name]?.trim() || Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

const clamp = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));
