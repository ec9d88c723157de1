import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, writeFileAtomic } from "../../infra/atomic-file.ts";
import { ModelError } from "./types.ts";

export interface CopilotToken {
  readonly token: string;
  readonly baseUrl: string;
}

const EXCHANGE_URL = "https://api.github.com/copilot_internal/v2/token";
const DEFAULT_HOST = "https://api.individual.githubcopilot.com";
/** A stored token is used while it lasts longer than this. */
const SPARE_MS = 5 * 60_000;

const answerSchema = z.object({ token: z.string().min(1), expires_at: z.number() });
const cacheSchema = z.object({ token: z.string().min(1), expiresAt: z.number() });

/** A GitHub token into one for Copilot's API, kept in `credentials/github-copilot.token.json`. @throws ModelError no-key */
export async function exchangeCopilotToken(githubToken: string, world: { stateDir: string; fetch: typeof fetch; now: () => number }): Promise<CopilotToken> {
  const path = join(world.stateDir, "credentials", "github-copilot.token.json");
  const kept = cacheSchema.safeParse(await readJsonFile(path).catch(() => undefined));
  if (kept.success && kept.data.expiresAt - world.now() > SPARE_MS) return withHost(kept.data.token);
  const response = await world.fetch(EXCHANGE_URL, { headers: { authorization: `Bearer ${githubToken}`, accept: "application/json" }, signal: AbortSignal.timeout(15_000) });
  if (!response.ok) throw new ModelError("no-key", `GitHub gave no Copilot token (HTTP ${response.status}).`, "Check the Copilot subscription, or log in again: openclaw models auth login-github-copilot");
  const answer = answerSchema.safeParse(await response.json());
  if (!answer.success) throw new ModelError("no-key", "GitHub answered without a Copilot token.", "Log in again: openclaw models auth login-github-copilot");
  const expiresAt = answer.data.expires_at > 1e11 ? answer.data.expires_at : answer.data.expires_at * 1000;
  await writeFileAtomic(path, `${JSON.stringify({ token: answer.data.token, expiresAt, updatedAt: world.now() }, null, 2)}\n`);
  return withHost(answer.data.token);
}

function withHost(token: string): CopilotToken {
  const endpoint = /(?:^|;)\s*proxy-ep=([^;\s]+)/i.exec(token)?.[1]?.replace(/^https?:\/\//, "").replace(/^proxy\./i, "api.");
  // Only GitHub's own hosts: the value comes from a token.
  return { token, baseUrl: endpoint && /^[\w.-]+\.githubcopilot\.com$/i.test(endpoint) ? `https://${endpoint}` : DEFAULT_HOST };
}
