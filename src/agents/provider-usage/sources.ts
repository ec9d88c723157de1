import { z } from "zod";
import type { Credential } from "../models/types.ts";

/** A span of time for which a provider counts, and how much of it is gone. */
export interface UsageWindow {
  /** `5h`, `Week`, `Premium` … */
  readonly label: string;
  /** 0 to 100 */
  readonly usedPercent: number;
  /** ms since the epoch */
  readonly resetAt?: number | undefined;
}

export interface UsageAnswer {
  readonly windows: readonly UsageWindow[];
  readonly plan?: string | undefined;
}

/** How one provider tells what a subscription has left. */
export interface UsageSource {
  readonly displayName: string;
  /** Plain API keys are paid by use: they have no windows. */
  accepts(credential: Credential): boolean;
  request(credential: Credential): { readonly url: string; readonly init: RequestInit };
  /** @throws Error when the answer is not of the known shape */
  read(answer: unknown): UsageAnswer;
}

const percent = z.number().transform((value) => Math.min(100, Math.max(0, value)));
const isLogin = ({ authMode }: Credential): boolean => authMode === "oauth" || authMode === "token";
const bearer = ({ apiKey = "" }: Credential): Record<string, string> => ({ authorization: `Bearer ${apiKey}`, accept: "application/json" });
const timeOf = (iso: string | null | undefined): number | undefined => {
  const at = iso ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
};

const anthropicWindow = z.looseObject({ utilization: percent, resets_at: z.string().nullish() }).nullish();
const anthropicAnswer = z.looseObject({ five_hour: anthropicWindow, seven_day: anthropicWindow, seven_day_sonnet: anthropicWindow, seven_day_opus: anthropicWindow });

const codexWindow = z.looseObject({ used_percent: percent, limit_window_seconds: z.number().positive().nullish(), reset_at: z.number().nullish() }).nullish();
const codexAnswer = z.looseObject({ plan_type: z.string().nullish(), rate_limit: z.looseObject({ primary_window: codexWindow, secondary_window: codexWindow }).nullish() });

const copilotQuota = z.looseObject({ percent_remaining: percent, unlimited: z.boolean().nullish() }).nullish();
const copilotAnswer = z.looseObject({ copilot_plan: z.string().nullish(), quota_reset_date: z.string().nullish(), quota_snapshots: z.looseObject({ premium_interactions: copilotQuota, chat: copilotQuota }).nullish() });

const geminiAnswer = z.looseObject({ buckets: z.array(z.looseObject({ modelId: z.string().default(""), remainingFraction: z.number().min(0).max(1).default(1), resetTime: z.string().nullish() })).default([]) });

const zaiLimit = z.looseObject({ type: z.string(), percentage: percent, unit: z.number().optional(), number: z.number().optional(), nextResetTime: z.number().nullish() });
const zaiAnswer = z.looseObject({ success: z.literal(true), data: z.looseObject({ planName: z.string().nullish(), level: z.string().nullish(), limits: z.array(zaiLimit).default([]) }) });

/** The providers' own account interfaces, as their command-line clients ask them. */
export const USAGE_SOURCES: Readonly<Record<string, UsageSource>> = {
  anthropic: {
    displayName: "Claude",
    accepts: isLogin,
    request: (credential) => ({ url: "https://api.anthropic.com/api/oauth/usage", init: { headers: { ...bearer(credential), "anthropic-version": "2023-06-01", "anthropic-beta": "oauth-2025-04-20" } } }),
    read(answer) {
      const { five_hour: hours, seven_day: week, seven_day_sonnet: sonnet, seven_day_opus: opus } = anthropicAnswer.parse(answer);
      return { windows: [["5h", hours] as const, ["Week", week] as const, ["Sonnet", sonnet] as const, ["Opus", opus] as const].flatMap(([label, window]) => (window ? [{ label, usedPercent: window.utilization, resetAt: timeOf(window.resets_at) }] : [])) };
    },
  },
  "openai-codex": {
    displayName: "Codex",
    accepts: isLogin,
    request(credential) {
      const account = codexAccount(credential.apiKey ?? "");
      return { url: "https://chatgpt.com/backend-api/wham/usage", init: { headers: { ...bearer(credential), ...(account === undefined ? {} : { "chatgpt-account-id": account }) } } };
    },
    read(answer) {
      const { plan_type: plan, rate_limit: limit } = codexAnswer.parse(answer);
      const windows = [limit?.primary_window, limit?.secondary_window].flatMap((window) => (window ? [{ label: spanOf(window.limit_window_seconds), usedPercent: window.used_percent, resetAt: window.reset_at ? window.reset_at * 1000 : undefined }] : []));
      return { windows, plan: plan ?? undefined };
    },
  },
  "github-copilot": {
    displayName: "Copilot",
    accepts: ({ apiKey }) => apiKey !== undefined,
    request: ({ apiKey = "" }) => ({ url: "https://api.github.com/copilot_internal/user", init: { headers: { authorization: `token ${apiKey}`, accept: "application/json", "x-github-api-version": "2025-04-01" } } }),
    read(answer) {
      const { copilot_plan: plan, quota_reset_date: reset, quota_snapshots: quotas } = copilotAnswer.parse(answer);
      const windows = [["Premium", quotas?.premium_interactions] as const, ["Chat", quotas?.chat] as const].flatMap(([label, quota]) => (quota && quota.unlimited !== true ? [{ label, usedPercent: 100 - quota.percent_remaining, resetAt: timeOf(reset) }] : []));
      return { windows, plan: plan ?? undefined };
    },
  },
  "google-gemini-cli": {
    displayName: "Gemini",
    accepts: isLogin,
    request: (credential) => ({ url: "https://cloudcode-pa.googleapis.com/v1internal:retrieveUserQuota", init: { method: "POST", headers: { ...bearer({ ...credential, apiKey: googleToken(credential.apiKey ?? "") }), "content-type": "application/json" }, body: "{}" } }),
    read(answer) {
      const { buckets } = geminiAnswer.parse(answer);
      const windows = ["Pro", "Flash"].flatMap((label): UsageWindow[] => {
        const own = buckets.filter(({ modelId }) => modelId.toLowerCase().includes(label.toLowerCase())).toSorted((a, b) => a.remainingFraction - b.remainingFraction)[0];
        return own ? [{ label, usedPercent: (1 - own.remainingFraction) * 100, resetAt: timeOf(own.resetTime) }] : [];
      });
      return { windows };
    },
  },
  zai: {
    displayName: "z.ai",
    accepts: ({ apiKey }) => apiKey !== undefined,
    request: (credential) => ({ url: "https://api.z.ai/api/monitor/usage/quota/limit", init: { headers: bearer(credential) } }),
    read(answer) {
      const { planName, level, limits } = zaiAnswer.parse(answer).data;
      return { windows: limits.map(({ type, percentage, unit, number, nextResetTime }) => ({ label: `${type === "TOKENS_LIMIT" ? "Tokens" : "Month"}${zaiSpan(unit, number)}`, usedPercent: percentage, resetAt: nextResetTime ?? undefined })), plan: planName ?? level ?? undefined };
    },
  },
};

const tokenClaims = z.looseObject({ "https://api.openai.com/auth": z.looseObject({ chatgpt_account_id: z.string().min(1) }) });

/** The account that a Codex access token is for; undefined when the token does not say. */
function codexAccount(token: string): string | undefined {
  try {
    return tokenClaims.parse(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")))["https://api.openai.com/auth"].chatgpt_account_id;
  } catch {
    return undefined; // not a JWT
  }
}

/** Google's login is handed on together with its project. */
function googleToken(apiKey: string): string {
  try {
    return z.looseObject({ token: z.string() }).parse(JSON.parse(apiKey)).token;
  } catch {
    return apiKey; // the token alone
  }
}

/** `5h`, `3d`, `Week`. */
function spanOf(seconds: number | null | undefined): string {
  const hours = Math.round((seconds ?? 0) / 3600);
  if (hours <= 0) return "Limit";
  if (hours >= 168) return "Week";
  return hours >= 24 ? `${Math.round(hours / 24)}d` : `${hours}h`;
}

/** The provider's units: 1 days, 3 hours, 5 minutes. */
function zaiSpan(unit: number | undefined, number: number | undefined): string {
  const letter = unit === 1 ? "d" : unit === 3 ? "h" : unit === 5 ? "m" : undefined;
  return letter === undefined || number === undefined ? "" : ` (${number}${letter})`;
}
