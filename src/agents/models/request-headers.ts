import type { Api, Model } from "@mariozechner/pi-ai";
import type { AuthMode } from "./types.ts";

const CONTEXT_1M = "context-1m-2025-08-07";
/** Betas Pi would send by itself; a header of ours takes the place of its own. */
const PI_BETAS = ["interleaved-thinking-2025-05-14"];
const OAUTH_BETAS = ["claude-code-20250219", "oauth-2025-04-20"];

export interface HeaderInput {
  readonly model: Model<Api>;
  readonly params: Readonly<Record<string, unknown>>;
  readonly apiKey: string | undefined;
  readonly authMode: AuthMode;
  readonly authHeader: boolean;
}

/** Headers of one model beside those in its catalogue entry. Source: spec providers §1.1, §4 (params). */
export function requestHeaders(input: HeaderInput): Record<string, string> | undefined {
  const { model } = input;
  const headers: Record<string, string> = {};
  if (input.authHeader && input.apiKey !== undefined) headers["Authorization"] = `Bearer ${input.apiKey}`;
  if (model.provider === "openrouter") {
    headers["HTTP-Referer"] = "https://openclaw.ai";
    headers["X-Title"] = "OpenClaw";
  }
  const betas = model.api === "anthropic-messages" ? wantedBetas(input) : [];
  if (betas.length > 0) {
    const own = input.apiKey?.includes("sk-ant-oat") ? OAUTH_BETAS : [];
    headers["anthropic-beta"] = [...new Set([...own, ...PI_BETAS, ...betas])].join(",");
  }
  return Object.keys(headers).length > 0 ? headers : undefined;
}

function wantedBetas({ model, params, apiKey }: HeaderInput): string[] {
  const given = params["anthropicBeta"];
  const betas = typeof given === "string" ? given.split(",").map((beta) => beta.trim()) : Array.isArray(given) ? given.filter((beta): beta is string => typeof beta === "string") : [];
  const big = params["context1m"] === true && /^claude-(opus|sonnet)-4/.test(model.id) && !apiKey?.includes("sk-ant-oat");
  return [...betas.filter((beta) => beta !== ""), ...(big ? [CONTEXT_1M] : [])];
}
