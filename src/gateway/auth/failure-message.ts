import type { ClientInfo } from "../protocol/index.ts";

/** authReason → details.code (spec: gateway-protocol §2.5). */
const CODES: Readonly<Record<string, string>> = {
  token_missing: "AUTH_TOKEN_MISSING",
  token_mismatch: "AUTH_TOKEN_MISMATCH",
  token_missing_config: "AUTH_TOKEN_NOT_CONFIGURED",
  password_missing: "AUTH_PASSWORD_MISSING",
  password_mismatch: "AUTH_PASSWORD_MISMATCH",
  password_missing_config: "AUTH_PASSWORD_NOT_CONFIGURED",
  device_token_mismatch: "AUTH_DEVICE_TOKEN_MISMATCH",
  rate_limited: "AUTH_RATE_LIMITED",
  tailscale_user_missing: "AUTH_TAILSCALE_IDENTITY_MISSING",
  tailscale_proxy_missing: "AUTH_TAILSCALE_PROXY_MISSING",
  tailscale_whois_failed: "AUTH_TAILSCALE_WHOIS_FAILED",
  tailscale_user_mismatch: "AUTH_TAILSCALE_IDENTITY_MISMATCH",
  none: "AUTH_REQUIRED",
};

export const authFailureCode = (reason: string): string =>
  (Object.hasOwn(CODES, reason) ? CODES[reason] : undefined) ?? "AUTH_UNAUTHORIZED";

/** The text a client shows; its beginning is matched by clients, the hint in parentheses says what to do here. */
export function authFailureMessage(reason: string, client: Pick<ClientInfo, "id" | "mode">): string {
  switch (reason) {
    case "token_missing":
      return `unauthorized: gateway token missing (${hint("token", client)})`;
    case "token_mismatch":
      return `unauthorized: gateway token mismatch (${hint("token", client)})`;
    case "token_missing_config":
      return "unauthorized: gateway token not configured on gateway (set gateway.auth.token)";
    case "password_missing":
      return `unauthorized: gateway password missing (${hint("password", client)})`;
    case "password_mismatch":
      return `unauthorized: gateway password mismatch (${hint("password", client)})`;
    case "password_missing_config":
      return "unauthorized: gateway password not configured on gateway (set gateway.auth.password)";
    case "device_token_mismatch":
      return "unauthorized: device token mismatch (rotate/reissue device token)";
    case "rate_limited":
      return "unauthorized: too many failed authentication attempts (retry later)";
    default:
      return "unauthorized";
  }
}

function hint(secret: "token" | "password", client: Pick<ClientInfo, "id" | "mode">): string {
  if (client.id === "cli") return `set gateway.remote.${secret} to match gateway.auth.${secret}`;
  if (client.id === "openclaw-control-ui" || client.mode === "webchat" || client.id === "webchat-ui") {
    return secret === "token"
      ? "open the dashboard link of `openclaw dashboard` or paste the token in Control UI settings"
      : "enter the password in Control UI settings";
  }
  return `provide gateway auth ${secret}`;
}
