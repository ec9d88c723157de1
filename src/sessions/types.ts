/** One conversation as sessions.json keeps it. Source: spec agent-pipeline §3.1; first seed §2.2.1. */
export interface SessionOrigin {
  label?: string | undefined;
  provider?: string | undefined;
  surface?: string | undefined;
  chatType?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  accountId?: string | undefined;
  threadId?: string | number | undefined;
}

export interface DeliveryContext {
  channel?: string | undefined;
  to?: string | undefined;
  accountId?: string | undefined;
  threadId?: string | number | undefined;
}

export interface ResolvedSkill {
  name: string;
  description: string;
  filePath: string;
  baseDir: string;
  source: string;
  disableModelInvocation?: boolean | undefined;
  requiredEnv?: string[] | undefined;
}

export interface SkillsSnapshot {
  prompt: string;
  skills: { name: string; primaryEnv?: string | undefined; requiredEnv?: string[] | undefined }[];
  skillFilter?: string[] | undefined;
  resolvedSkills?: ResolvedSkill[] | undefined;
  version?: number | undefined;
}

export interface SessionEntry {
  sessionId: string;
  updatedAt: number;
  /** Filled on load, never written. */
  sessionKey?: string | undefined;
  sessionFile?: string | undefined;
  systemSent?: boolean | undefined;
  abortedLastRun?: boolean | undefined;
  chatType?: "direct" | "group" | "channel" | undefined;
  spawnedBy?: string | undefined;
  spawnDepth?: number | undefined;
  forkedFromParent?: boolean | undefined;
  label?: string | undefined;
  displayName?: string | undefined;
  channel?: string | undefined;
  groupId?: string | undefined;
  subject?: string | undefined;
  groupChannel?: string | undefined;
  space?: string | undefined;
  origin?: SessionOrigin | undefined;
  deliveryContext?: DeliveryContext | undefined;
  lastChannel?: string | undefined;
  lastTo?: string | undefined;
  lastAccountId?: string | undefined;
  lastThreadId?: string | number | undefined;
  thinkingLevel?: string | undefined;
  verboseLevel?: string | undefined;
  reasoningLevel?: string | undefined;
  elevatedLevel?: string | undefined;
  ttsAuto?: string | undefined;
  execHost?: string | undefined;
  execSecurity?: string | undefined;
  execAsk?: string | undefined;
  execNode?: string | undefined;
  responseUsage?: "on" | "off" | "tokens" | "full" | undefined;
  providerOverride?: string | undefined;
  modelOverride?: string | undefined;
  authProfileOverride?: string | undefined;
  authProfileOverrideSource?: "auto" | "user" | undefined;
  authProfileOverrideCompactionCount?: number | undefined;
  groupActivation?: "mention" | "always" | undefined;
  groupActivationNeedsSystemIntro?: boolean | undefined;
  sendPolicy?: "allow" | "deny" | undefined;
  queueMode?: string | undefined;
  queueDebounceMs?: number | undefined;
  queueCap?: number | undefined;
  queueDrop?: string | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  totalTokens?: number | undefined;
  totalTokensFresh?: boolean | undefined;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
  modelProvider?: string | undefined;
  model?: string | undefined;
  contextTokens?: number | undefined;
  compactionCount?: number | undefined;
  memoryFlushAt?: number | undefined;
  memoryFlushCompactionCount?: number | undefined;
  fallbackNoticeSelectedModel?: string | undefined;
  fallbackNoticeActiveModel?: string | undefined;
  fallbackNoticeReason?: string | undefined;
  cliSessionIds?: Record<string, string> | undefined;
  claudeCliSessionId?: string | undefined;
  lastHeartbeatText?: string | undefined;
  lastHeartbeatSentAt?: number | undefined;
  skillsSnapshot?: SkillsSnapshot | undefined;
  systemPromptReport?: unknown;
}

export type SessionPatch = { [K in keyof SessionEntry]?: SessionEntry[K] | null };

/** The parsed file: canonical key → entry. */
export type SessionIndex = Record<string, SessionEntry>;
