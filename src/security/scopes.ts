export const OPERATOR_SCOPES = [
  "operator.admin",
  "operator.read",
  "operator.write",
  "operator.approvals",
  "operator.pairing",
  "operator.talk.secrets",
] as const;

export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** Whether `held` covers one scope: admin covers every `operator.*`, write covers read (spec: gateway-protocol §2.7, §3). */
export function coversScope(held: readonly string[], wanted: string): boolean {
  if (held.includes(wanted)) return true;
  if (!wanted.startsWith("operator.")) return false;
  if (held.includes("operator.admin")) return true;
  return wanted === "operator.read" && held.includes("operator.write");
}

/** Whether a grant for `role` covers all `wanted` scopes; a node's scopes match exactly. */
export function coversScopes(role: string, held: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((scope) => (role === "operator" ? coversScope(held, scope) : held.includes(scope)));
}
