import type { OAuthCredentials } from "@mariozechner/pi-ai/oauth";
import type { OAuthProfile } from "./types.ts";

export interface RefreshedToken {
  readonly access: string;
  readonly refresh: string;
  readonly expires: number;
  readonly [extra: string]: unknown;
}

/** Token endpoints of providers that Pi does not know. Source: spec providers §1.2. */
const TOKEN_ENDPOINTS: Readonly<Record<string, { readonly url: string; readonly clientId: string }>> = {
  "qwen-portal": { url: "https://chat.qwen.ai/api/v1/oauth2/token", clientId: "f0304373b74a44d2b584a3fb70ca9e56" },
  "minimax-portal": { url: "https://api.minimax.io/oauth/token", clientId: "78257093-7e40-4613-99e0-527b14b39113" },
};

/** @throws Error when the provider refuses or knows no refresh: the person has to log in again */
export async function refreshOAuth(provider: string, profile: OAuthProfile, fetchFn: typeof fetch, nowMs: number): Promise<RefreshedToken> {
  if (!profile.refresh) throw new Error(`The login of ${provider} has expired and has no refresh token.`);
  const endpoint = TOKEN_ENDPOINTS[provider];
  if (endpoint) return refreshByForm(provider, endpoint, profile.refresh, fetchFn, nowMs);
  const { getOAuthProvider } = await import("@mariozechner/pi-ai/oauth");
  const known = getOAuthProvider(provider);
  if (!known) throw new Error(`The login of ${provider} has expired, and its tokens cannot be renewed here.`);
  return known.refreshToken(toCredentials(profile));
}

/** What goes into the request: the provider may pack more than the access token into it. */
export async function oauthKey(provider: string, profile: OAuthProfile): Promise<string> {
  if (!(provider in TOKEN_ENDPOINTS)) {
    const { getOAuthProvider } = await import("@mariozechner/pi-ai/oauth");
    const known = getOAuthProvider(provider);
    if (known) return known.getApiKey(toCredentials(profile));
  }
  return profile.access ?? "";
}

function toCredentials(profile: OAuthProfile): OAuthCredentials {
  return { ...profile, access: profile.access ?? "", refresh: profile.refresh ?? "", expires: profile.expires ?? 0 };
}

async function refreshByForm(provider: string, endpoint: { url: string; clientId: string }, refresh: string, fetchFn: typeof fetch, nowMs: number): Promise<RefreshedToken> {
  const response = await fetchFn(endpoint.url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: refresh, client_id: endpoint.clientId }).toString(),
    signal: AbortSignal.timeout(15_000),
  });
  if (!response.ok) throw new Error(`${provider} refused to renew the login (HTTP ${response.status}).`);
  const body: unknown = await response.json();
  const field = (name: string): unknown => (typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined);
  const access = field("access_token");
  const seconds = Number(field("expires_in") ?? 3600);
  if (typeof access !== "string" || access === "") throw new Error(`${provider} answered the renewal without an access token.`);
  const next = field("refresh_token");
  return { access, refresh: typeof next === "string" && next !== "" ? next : refresh, expires: nowMs + (Number.isFinite(seconds) ? seconds : 3600) * 1000 };
}
