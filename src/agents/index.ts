export { createAgentRuntime, type AgentRuntime, type AgentRuntimeOptions, type RunRequest } from "./runtime.ts";
export { formatModelRef, ModelError } from "./models/types.ts";
export type {
  AuthMode, FailoverReason, ModelChoice, ModelRef, ModelRow, ModelService, ModelSource, PreparedModel, RefParse, ThinkLevel,
} from "./models/types.ts";
export { loadPi, type PiModules } from "./pi.ts";
export type { BlockReplyConfig, Lane, RunChannelContext } from "./pi-embedded-runner/run/params.ts";
export type { AgentEvent, EmbeddedPiRunMeta, EmbeddedPiRunResult, MessagingSend, RunError, RunUsage, SystemPromptReport } from "./pi-embedded-runner/run/types.ts";
export { CommandLaneClearedError } from "./pi-embedded-runner/lanes.ts";
export type { ActiveRun, RunRegistry, RunSnapshot } from "./pi-embedded-runner/runs.ts";
export { inspectRunProgress, type RunProgress } from "./pi-embedded-runner/replay.ts";
export type { CompactionOutcome } from "./pi-embedded-runner/compact.ts";
export { HEARTBEAT_PROMPT } from "./pi-embedded-runner/prompt-assembly.ts";
export { parseReplyDirectives, stripInlineTags } from "./output/directives.ts";
export { gateVisibleText } from "./output/silent.ts";
export type { ReplyKind, ReplyPayload } from "./output/payload.ts";
export { estimateTokensFromChars, IMAGE_CHARS } from "./output/tokens.ts";
export type { Skill } from "./skills/index.ts";
export type { MessageActions, MessageSendRequest } from "./tools/message-tool.ts";
export type { SessionStatusSource } from "./tools/session-status-tool.ts";
export { CORE_TOOL_NAMES, TOOL_PROFILES } from "./tool-policy.ts";
export { friendlyErrorText } from "./pi-embedded-helpers.ts";
export { createModelService, type ModelServiceOptions } from "./models/index.ts";
