export { normalizeAccountId, normalizeOptionalAccountId } from "./account-id.ts";
export { resolveRoute } from "./bindings.ts";
export type { ChatType } from "./types.ts";
export {
  agentIdOfKey,
  buildPeerSessionKey,
  canonicalSessionKey,
  DEFAULT_AGENT_ID,
  isCronRunKey,
  isThreadKey,
  mainSessionKey,
  normalizeAgentId,
  normalizeStoredKey,
  sessionKeyKind,
  subagentDepth,
  type DmScope,
  type SessionKeyKind } from "./session-key.ts";
export {
  expandPath,
  isKnownAgentId,
  listAgentIds,
  resolveAgent,
  resolveDefaultAgentId,
  type AgentRoots,
  type ResolvedAgent } from "./agents.ts";
export { resolveBroadcast, type Broadcast } from "./broadcast.ts";
export { resolveSessionKey, type ChatAddress } from "./resolve-session-key.ts";
