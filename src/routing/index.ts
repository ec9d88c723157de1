export type { ChatType } from "./types.ts";
export {
  agentIdOfKey,
  buildPeerSessionKey,
  canonicalSessionKey,
  cronSessionKey,
  DEFAULT_AGENT_ID,
  isCronRunKey,
  isThreadKey,
  mainSessionKey,
  MAIN_KEY,
  normalizeAgentId,
  parseAgentSessionKey,
  sessionKeyKind,
  subagentDepth,
  type DmScope,
  type SessionKeyKind,
} from "./session-key.ts";
export {
  expandPath,
  isKnownAgentId,
  listAgentIds,
  resolveAgent,
  resolveDefaultAgentId,
  resolveKnownAgentId,
  type AgentRoots,
  type ResolvedAgent,
} from "./agents.ts";
export { resolveRoute, type Route, type RouteInput } from "./bindings.ts";
