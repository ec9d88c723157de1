/** Patterns of secrets in free text (spec: cli-and-ui §6). The capture group, or the whole match, is masked. */
const BUILT_IN: readonly RegExp[] = [
  /\b[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\b\s*[=:]\s*["']?([^\s"',;]{4,})/g,
  /"(?:apiKey|token|secret|password|passwd|accessToken|refreshToken|botToken|appToken|deviceToken)"\s*:\s*"([^"]+)"/gi,
  /--(?:api-key|token|secret|password|passwd)[=\s]+["']?([^\s"']+)/gi,
  /\bAuthorization\s*[:=]\s*"?(?:Bearer|Basic)\s+([A-Za-z0-9._~+/=-]+)/gi,
  /\bBearer\s+([A-Za-z0-9._~+/=-]{18,})/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/g,
  /\b(sk-[A-Za-z0-9_-]{8,})\b/g,
  /\b(gh[pousr]_[A-Za-z0-9]{16,})\b/g,
  /\b(github_pat_[A-Za-z0-9_]{16,})\b/g,
  /\b(xox[baprs]-[A-Za-z0-9-]{8,})\b/g,
  /\b(xapp-[A-Za-z0-9-]{8,})\b/g,
  /\b(gsk_[A-Za-z0-9_-]{8,})\b/g,
  /\b(AIza[0-9A-Za-z_-]{20,})\b/g,
  /\b(pplx-[A-Za-z0-9_-]{8,})\b/g,
  /\b(npm_[A-Za-z0-9]{8,})\b/g,
  /\b(\d{6,12}:[A-Za-z0-9_-]{30,})\b/g,
];

/** Shows that a secret is there and nothing of it that helps to guess it. */
export function maskSecret(secret: string): string {
  return secret.length < 18 ? "***" : `${secret.slice(0, 4)}…${secret.length}`;
}

/** The text with every known form of secret masked. */
export function redactSecrets(text: string): string {
  if (text.length < 8) return text;
  let out = text;
  for (const pattern of BUILT_IN) {
    out = out.replace(pattern, (whole: string, group: unknown) =>
      typeof group === "string" ? whole.replace(group, maskSecret(group)) : "[private key]",
    );
  }
  return out;
}
