/**
 * The grammar of session keys (spec: agent-pipeline §2.2). Keys are lower-cased; every function is pure.
 */
import type { ChatType } from "./types.ts";

export const DEFAULT_AGENT_ID = "main";
export const MAIN_KEY = "main";
const AGENT_ID_MAX_CHARS = 64;

/** `[a-z0-9][a-z0-9_-]{0,63}`; anything else is folded into that shape, empty becomes `main`. */
export function normalizeAgentId(raw: string | undefined): string {
  const folded = (raw ?? "")
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, AGENT_ID_MAX_CHARS)
    .replace(/-+$/, "");
  return folded || DEFAULT_AGENT_ID;
}

export interface AgentSessionKey {
  readonly agentId: string;
  /** What follows `agent:<id>:`. */
  readonly rest: string;
}

/** undefined for keys that do not start with `agent:<id>:<something>`. */
export function parseAgentSessionKey(key: string): AgentSessionKey | undefined {
  const match = /^agent:([^:]+):(.+)$/s.exec(key.trim().toLowerCase());
  if (!match?.[1] || !match[2]) return undefined;
  return { agentId: normalizeAgentId(match[1]), rest: match[2] };
}

export function mainSessionKey(agentId: string): string {
  return `agent:${normalizeAgentId(agentId)}:${MAIN_KEY}`;
}

export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

export interface PeerKeyInput {
  readonly agentId: string;
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly chatType: ChatType;
  readonly peerId: string;
  readonly threadId?: string | undefined;
  readonly isForum?: boolean | undefined;
  readonly dmScope?: DmScope | undefined;
  readonly identityLinks?: Readonly<Record<string, readonly (string | number)[] | undefined>> | undefined;
}

/** The session key of one chat, threads and topics included. */
export function buildPeerSessionKey(input: PeerKeyInput): string {
  const agent = `agent:${normalizeAgentId(input.agentId)}`;
  const channel = input.channel.trim().toLowerCase() || "unknown";
  const peer = input.peerId.trim().toLowerCase() || "unknown";
  const base =
    input.chatType === "direct"
      ? directKey(agent, channel, peer, input)
      : `${agent}:${channel}:${input.chatType}:${peer}`;
  if (!input.threadId) return base;
  const thread = input.threadId.toLowerCase();
  return input.isForum ? `${base}:topic:${thread}` : `${base}:thread:${thread}`;
}

function directKey(agent: string, channel: string, peer: string, input: PeerKeyInput): string {
  const scope = input.dmScope ?? "main";
  if (scope === "main") return `${agent}:${MAIN_KEY}`;
  const linked = resolveLinkedPeer(channel, peer, input.identityLinks);
  if (scope === "per-peer") return `${agent}:direct:${linked}`;
  if (scope === "per-channel-peer") return `${agent}:${channel}:direct:${linked}`;
  const account = (input.accountId ?? "default").trim().toLowerCase() || "default";
  return `${agent}:${channel}:${account}:direct:${linked}`;
}

/** The canonical name of a person known under several ids (session.identityLinks). */
export function resolveLinkedPeer(
  channel: string,
  peer: string,
  links: PeerKeyInput["identityLinks"],
): string {
  for (const [canonical, ids] of Object.entries(links ?? {})) {
    for (const id of ids ?? []) {
      const wanted = String(id).trim().toLowerCase();
      if (wanted === peer || wanted === `${channel}:${peer}`) return canonical.trim().toLowerCase();
    }
  }
  return peer;
}

export interface CanonicalKeyOptions {
  readonly defaultAgentId: string;
  /** `session.scope: "global"`: one session for everything. */
  readonly scope?: "per-sender" | "global" | undefined;
}

/**
 * What a client may call a session, as the key under which it is stored: empty and `main` mean the main session,
 * `dm` means `direct`, a key without agent belongs to the default agent.
 */
export function canonicalSessionKey(raw: string | undefined, options: CanonicalKeyOptions): string {
  const key = (raw ?? "").trim().toLowerCase();
  if (key === "global" || (options.scope === "global" && (key === "" || key === MAIN_KEY))) return "global";
  if (key === "unknown") return key;
  if (key === "" || key === MAIN_KEY) return mainSessionKey(options.defaultAgentId);
  const parsed = parseAgentSessionKey(key);
  if (parsed) return `agent:${parsed.agentId}:${withDirect(parsed.rest)}`;
  return `agent:${normalizeAgentId(options.defaultAgentId)}:${withDirect(key)}`;
}

/** The key of an entry in a store of any age: lower case, `dm` read as `direct`. Keys of no agent stay what they are. */
export function normalizeStoredKey(raw: string): string {
  const key = raw.toLowerCase();
  const parsed = parseAgentSessionKey(key);
  return parsed ? `agent:${parsed.agentId}:${withDirect(parsed.rest)}` : key;
}

/** `dm` where the grammar has the kind of a chat: after nothing, a channel, or channel and account; never inside an id. */
const withDirect = (rest: string): string => rest.replace(/^((?:(?!direct:|group:|channel:)[^:]+:){0,2})dm:/, "$1direct:");

export function agentIdOfKey(key: string, defaultAgentId: string): string {
  return parseAgentSessionKey(key)?.agentId ?? normalizeAgentId(defaultAgentId);
}

export type SessionKeyKind = "main" | "direct" | "group" | "channel" | "cron" | "hook" | "subagent" | "acp" | "node" | "global" | "other";

/** What a key names; used for prompt modes, bootstrap filters and lists. */
export function sessionKeyKind(key: string): SessionKeyKind {
  if (key === "global") return "global";
  const rest = parseAgentSessionKey(key)?.rest ?? key.toLowerCase();
  if (rest === MAIN_KEY) return "main";
  if (/(^|:)subagent:/.test(rest)) return "subagent";
  if (/^cron:/.test(rest)) return "cron";
  if (/^hook:/.test(rest)) return "hook";
  if (/^acp:/.test(rest)) return "acp";
  if (/^node-/.test(rest)) return "node";
  if (/(^|:)(direct|dm):/.test(rest)) return "direct";
  if (/(^|:)group:/.test(rest)) return "group";
  if (/(^|:)channel:/.test(rest)) return "channel";
  return "other";
}

export function isThreadKey(key: string): boolean {
  return /:(thread|topic):/.test(key);
}

/** Sub-sessions of single cron runs are not listed. */
export function isCronRunKey(key: string): boolean {
  return /(^|:)cron:[^:]+:run:/.test(key);
}

/** Count of `:subagent:` steps. */
export function subagentDepth(key: string): number {
  return key.split(":").filter((part) => part === "subagent").length;
}
