// Made from schema/keys.ts by schema/generate-types.ts; do not edit.
// Every field is optional, except required fields of list items. Values are those of the effective, frozen configuration.

export interface MetaConfig {
  readonly lastTouchedVersion?: string | undefined;
  readonly lastTouchedAt?: string | number | undefined;
}

export interface EnvShellEnvConfig {
  readonly enabled?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface EnvConfig {
  readonly shellEnv?: EnvShellEnvConfig | undefined;
  readonly vars?: Readonly<Record<string, string>> | undefined;
  readonly [key: string]: string | EnvShellEnvConfig | Readonly<Record<string, string>> | undefined;
}

export interface WizardConfig {
  readonly lastRunAt?: string | undefined;
  readonly lastRunVersion?: string | undefined;
  readonly lastRunCommit?: string | undefined;
  readonly lastRunCommand?: string | undefined;
  readonly lastRunMode?: "local" | "remote" | undefined;
}

export interface DiagnosticsOtelConfig {
  readonly enabled?: boolean | undefined;
  readonly endpoint?: string | undefined;
  readonly protocol?: "http/protobuf" | "grpc" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly serviceName?: string | undefined;
  readonly traces?: boolean | undefined;
  readonly metrics?: boolean | undefined;
  readonly logs?: boolean | undefined;
  readonly sampleRate?: number | undefined;
  readonly flushIntervalMs?: number | undefined;
}

export interface DiagnosticsCacheTraceConfig {
  readonly enabled?: boolean | undefined;
  readonly filePath?: string | undefined;
  readonly includeMessages?: boolean | undefined;
  readonly includePrompt?: boolean | undefined;
  readonly includeSystem?: boolean | undefined;
}

export interface DiagnosticsConfig {
  readonly enabled?: boolean | undefined;
  readonly flags?: readonly string[] | undefined;
  readonly otel?: DiagnosticsOtelConfig | undefined;
  readonly cacheTrace?: DiagnosticsCacheTraceConfig | undefined;
}

export interface LoggingConfig {
  readonly level?: "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace" | undefined;
  readonly file?: string | undefined;
  readonly maxFileBytes?: number | undefined;
  readonly consoleLevel?: "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace" | undefined;
  readonly consoleStyle?: "pretty" | "compact" | "json" | undefined;
  readonly redactSensitive?: "off" | "tools" | undefined;
  readonly redactPatterns?: readonly string[] | undefined;
}

export interface UpdateAutoConfig {
  readonly enabled?: boolean | undefined;
  readonly stableDelayHours?: number | undefined;
  readonly stableJitterHours?: number | undefined;
  readonly betaCheckIntervalHours?: number | undefined;
}

export interface UpdateConfig {
  readonly channel?: "stable" | "beta" | "dev" | undefined;
  readonly checkOnStart?: boolean | undefined;
  readonly auto?: UpdateAutoConfig | undefined;
}

export interface BrowserSnapshotDefaultsConfig {
  readonly mode?: "efficient" | undefined;
}

export interface BrowserSsrfPolicyConfig {
  readonly allowPrivateNetwork?: boolean | undefined;
  readonly dangerouslyAllowPrivateNetwork?: boolean | undefined;
  readonly allowedHostnames?: readonly string[] | undefined;
  readonly hostnameAllowlist?: readonly string[] | undefined;
}

export interface BrowserProfileConfig {
  readonly cdpPort?: number | undefined;
  readonly cdpUrl?: string | undefined;
  readonly driver?: "clawd" | "extension" | undefined;
  readonly color?: string | undefined;
}

export interface BrowserConfig {
  readonly enabled?: boolean | undefined;
  readonly evaluateEnabled?: boolean | undefined;
  readonly cdpUrl?: string | undefined;
  readonly remoteCdpTimeoutMs?: number | undefined;
  readonly remoteCdpHandshakeTimeoutMs?: number | undefined;
  readonly color?: string | undefined;
  readonly executablePath?: string | undefined;
  readonly headless?: boolean | undefined;
  readonly noSandbox?: boolean | undefined;
  readonly attachOnly?: boolean | undefined;
  readonly defaultProfile?: string | undefined;
  readonly snapshotDefaults?: BrowserSnapshotDefaultsConfig | undefined;
  readonly ssrfPolicy?: BrowserSsrfPolicyConfig | undefined;
  readonly profiles?: Readonly<Record<string, BrowserProfileConfig>> | undefined;
}

export interface UiAssistantConfig {
  readonly name?: string | undefined;
  readonly avatar?: string | undefined;
}

export interface UiConfig {
  readonly seamColor?: string | undefined;
  readonly assistant?: UiAssistantConfig | undefined;
}

export interface AuthProfileConfig {
  readonly provider?: string | undefined;
  readonly mode?: "api_key" | "oauth" | "token" | undefined;
  readonly email?: string | undefined;
}

export interface AuthCooldownsConfig {
  readonly billingBackoffHours?: number | undefined;
  readonly billingBackoffHoursByProvider?: Readonly<Record<string, number>> | undefined;
  readonly billingMaxHours?: number | undefined;
  readonly failureWindowHours?: number | undefined;
}

export interface AuthConfig {
  readonly profiles?: Readonly<Record<string, AuthProfileConfig>> | undefined;
  readonly order?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly cooldowns?: AuthCooldownsConfig | undefined;
}

export interface ModelsProviderModelCostConfig {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

export interface ModelsProviderModelCompatConfig {
  readonly supportsStore?: boolean | undefined;
  readonly supportsDeveloperRole?: boolean | undefined;
  readonly supportsReasoningEffort?: boolean | undefined;
  readonly supportsUsageInStreaming?: boolean | undefined;
  readonly supportsStrictMode?: boolean | undefined;
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens" | undefined;
  readonly thinkingFormat?: "openai" | "zai" | "qwen" | undefined;
  readonly requiresToolResultName?: boolean | undefined;
  readonly requiresAssistantAfterToolResult?: boolean | undefined;
  readonly requiresThinkingAsText?: boolean | undefined;
  readonly requiresMistralToolIds?: boolean | undefined;
}

export interface ModelsProviderModelConfig {
  readonly id: string;
  readonly name: string;
  readonly api?: "openai-completions" | "openai-responses" | "anthropic-messages" | "google-generative-ai" | "github-copilot" | "bedrock-converse-stream" | "ollama" | undefined;
  readonly reasoning?: boolean | undefined;
  readonly input?: readonly ("text" | "image")[] | undefined;
  readonly cost?: ModelsProviderModelCostConfig | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly compat?: ModelsProviderModelCompatConfig | undefined;
}

export interface ModelsProviderConfig {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly auth?: "api-key" | "aws-sdk" | "oauth" | "token" | undefined;
  readonly api?: "openai-completions" | "openai-responses" | "anthropic-messages" | "google-generative-ai" | "github-copilot" | "bedrock-converse-stream" | "ollama" | undefined;
  readonly failover?: boolean | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly authHeader?: boolean | undefined;
  readonly models?: readonly ModelsProviderModelConfig[] | undefined;
}

export interface ModelsBedrockDiscoveryConfig {
  readonly enabled?: boolean | undefined;
  readonly region?: string | undefined;
  readonly providerFilter?: readonly string[] | undefined;
  readonly refreshInterval?: number | undefined;
  readonly defaultContextWindow?: number | undefined;
  readonly defaultMaxTokens?: number | undefined;
}

export interface ModelsConfig {
  readonly mode?: "merge" | "replace" | undefined;
  readonly providers?: Readonly<Record<string, ModelsProviderConfig>> | undefined;
  readonly bedrockDiscovery?: ModelsBedrockDiscoveryConfig | undefined;
}

export interface HeartbeatConfig {
  readonly enabled?: boolean | undefined;
}

export interface McpServerToolsConfig {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export interface McpServerConfig {
  readonly enabled?: boolean | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly transport?: "sse" | "streamable-http" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
  readonly tools?: McpServerToolsConfig | undefined;
}

export interface McpConfig {
  readonly servers?: Readonly<Record<string, McpServerConfig>> | undefined;
}

export interface NodeHostBrowserProxyConfig {
  readonly enabled?: boolean | undefined;
  readonly allowProfiles?: readonly string[] | undefined;
}

export interface NodeHostConfig {
  readonly browserProxy?: NodeHostBrowserProxyConfig | undefined;
}

export interface AgentsDefaultsModelConfig {
  readonly primary?: string | undefined;
  readonly fallbacks?: readonly string[] | undefined;
}

export interface AgentsDefaultsImageModelConfig {
  readonly primary?: string | undefined;
  readonly fallbacks?: readonly string[] | undefined;
}

export interface AgentsDefaultsModelConfig2 {
  readonly alias?: string | undefined;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly streaming?: boolean | undefined;
}

export interface AgentsDefaultsCliBackendReliabilityWatchdogFreshConfig {
  readonly noOutputTimeoutMs?: number | undefined;
  readonly noOutputTimeoutRatio?: number | undefined;
  readonly minMs?: number | undefined;
  readonly maxMs?: number | undefined;
}

export interface AgentsDefaultsCliBackendReliabilityWatchdogResumeConfig {
  readonly noOutputTimeoutMs?: number | undefined;
  readonly noOutputTimeoutRatio?: number | undefined;
  readonly minMs?: number | undefined;
  readonly maxMs?: number | undefined;
}

export interface AgentsDefaultsCliBackendReliabilityWatchdogConfig {
  readonly fresh?: AgentsDefaultsCliBackendReliabilityWatchdogFreshConfig | undefined;
  readonly resume?: AgentsDefaultsCliBackendReliabilityWatchdogResumeConfig | undefined;
}

export interface AgentsDefaultsCliBackendReliabilityConfig {
  readonly watchdog?: AgentsDefaultsCliBackendReliabilityWatchdogConfig | undefined;
}

export interface AgentsDefaultsCliBackendConfig {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly output?: "json" | "text" | "jsonl" | undefined;
  readonly resumeOutput?: "json" | "text" | "jsonl" | undefined;
  readonly input?: "arg" | "stdin" | undefined;
  readonly maxPromptArgChars?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly clearEnv?: readonly string[] | undefined;
  readonly modelArg?: string | undefined;
  readonly modelAliases?: Readonly<Record<string, string>> | undefined;
  readonly sessionArg?: string | undefined;
  readonly sessionArgs?: readonly string[] | undefined;
  readonly resumeArgs?: readonly string[] | undefined;
  readonly sessionMode?: "always" | "existing" | "none" | undefined;
  readonly sessionIdFields?: readonly string[] | undefined;
  readonly systemPromptArg?: string | undefined;
  readonly systemPromptMode?: "append" | "replace" | undefined;
  readonly systemPromptWhen?: "first" | "always" | "never" | undefined;
  readonly imageArg?: string | undefined;
  readonly imageMode?: "repeat" | "list" | undefined;
  readonly serialize?: boolean | undefined;
  readonly reliability?: AgentsDefaultsCliBackendReliabilityConfig | undefined;
}

export interface AgentsDefaultsMemorySearchExperimentalConfig {
  readonly sessionMemory?: boolean | undefined;
}

export interface AgentsDefaultsMemorySearchRemoteBatchConfig {
  readonly enabled?: boolean | undefined;
  readonly wait?: boolean | undefined;
  readonly concurrency?: number | undefined;
  readonly pollIntervalMs?: number | undefined;
  readonly timeoutMinutes?: number | undefined;
}

export interface AgentsDefaultsMemorySearchRemoteConfig {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly batch?: AgentsDefaultsMemorySearchRemoteBatchConfig | undefined;
}

export interface AgentsDefaultsMemorySearchLocalConfig {
  readonly modelPath?: string | undefined;
  readonly modelCacheDir?: string | undefined;
}

export interface AgentsDefaultsMemorySearchStoreVectorConfig {
  readonly enabled?: boolean | undefined;
  readonly extensionPath?: string | undefined;
}

export interface AgentsDefaultsMemorySearchStoreConfig {
  readonly driver?: "sqlite" | undefined;
  readonly path?: string | undefined;
  readonly vector?: AgentsDefaultsMemorySearchStoreVectorConfig | undefined;
}

export interface AgentsDefaultsMemorySearchChunkingConfig {
  readonly tokens?: number | undefined;
  readonly overlap?: number | undefined;
}

export interface AgentsDefaultsMemorySearchSyncSessionsConfig {
  readonly deltaBytes?: number | undefined;
  readonly deltaMessages?: number | undefined;
}

export interface AgentsDefaultsMemorySearchSyncConfig {
  readonly onSessionStart?: boolean | undefined;
  readonly onSearch?: boolean | undefined;
  readonly watch?: boolean | undefined;
  readonly watchDebounceMs?: number | undefined;
  readonly intervalMinutes?: number | undefined;
  readonly sessions?: AgentsDefaultsMemorySearchSyncSessionsConfig | undefined;
}

export interface AgentsDefaultsMemorySearchQueryHybridMmrConfig {
  readonly enabled?: boolean | undefined;
  readonly lambda?: number | undefined;
}

export interface AgentsDefaultsMemorySearchQueryHybridTemporalDecayConfig {
  readonly enabled?: boolean | undefined;
  readonly halfLifeDays?: number | undefined;
}

export interface AgentsDefaultsMemorySearchQueryHybridConfig {
  readonly enabled?: boolean | undefined;
  readonly vectorWeight?: number | undefined;
  readonly textWeight?: number | undefined;
  readonly candidateMultiplier?: number | undefined;
  readonly mmr?: AgentsDefaultsMemorySearchQueryHybridMmrConfig | undefined;
  readonly temporalDecay?: AgentsDefaultsMemorySearchQueryHybridTemporalDecayConfig | undefined;
}

export interface AgentsDefaultsMemorySearchQueryConfig {
  readonly maxResults?: number | undefined;
  readonly minScore?: number | undefined;
  readonly hybrid?: AgentsDefaultsMemorySearchQueryHybridConfig | undefined;
}

export interface AgentsDefaultsMemorySearchCacheConfig {
  readonly enabled?: boolean | undefined;
  readonly maxEntries?: number | undefined;
}

export interface AgentsDefaultsMemorySearchConfig {
  readonly enabled?: boolean | undefined;
  readonly sources?: readonly ("memory" | "sessions")[] | undefined;
  readonly extraPaths?: readonly string[] | undefined;
  readonly experimental?: AgentsDefaultsMemorySearchExperimentalConfig | undefined;
  readonly provider?: "openai" | "local" | "gemini" | "voyage" | "mistral" | undefined;
  readonly remote?: AgentsDefaultsMemorySearchRemoteConfig | undefined;
  readonly fallback?: "openai" | "gemini" | "local" | "voyage" | "mistral" | "none" | undefined;
  readonly model?: string | undefined;
  readonly local?: AgentsDefaultsMemorySearchLocalConfig | undefined;
  readonly store?: AgentsDefaultsMemorySearchStoreConfig | undefined;
  readonly chunking?: AgentsDefaultsMemorySearchChunkingConfig | undefined;
  readonly sync?: AgentsDefaultsMemorySearchSyncConfig | undefined;
  readonly query?: AgentsDefaultsMemorySearchQueryConfig | undefined;
  readonly cache?: AgentsDefaultsMemorySearchCacheConfig | undefined;
}

export interface AgentsDefaultsContextPruningSoftTrimConfig {
  readonly maxChars?: number | undefined;
  readonly headChars?: number | undefined;
  readonly tailChars?: number | undefined;
}

export interface AgentsDefaultsContextPruningHardClearConfig {
  readonly enabled?: boolean | undefined;
  readonly placeholder?: string | undefined;
}

export interface AgentsDefaultsContextPruningConfig {
  readonly mode?: "off" | "cache-ttl" | undefined;
  readonly ttl?: string | undefined;
  readonly keepLastAssistants?: number | undefined;
  readonly softTrimRatio?: number | undefined;
  readonly hardClearRatio?: number | undefined;
  readonly minPrunableToolChars?: number | undefined;
  readonly tools?: McpServerToolsConfig | undefined;
  readonly softTrim?: AgentsDefaultsContextPruningSoftTrimConfig | undefined;
  readonly hardClear?: AgentsDefaultsContextPruningHardClearConfig | undefined;
}

export interface AgentsDefaultsCompactionMemoryFlushConfig {
  readonly enabled?: boolean | undefined;
  readonly softThresholdTokens?: number | undefined;
  readonly prompt?: string | undefined;
  readonly systemPrompt?: string | undefined;
}

export interface AgentsDefaultsCompactionConfig {
  readonly mode?: "default" | "safeguard" | "aggressive" | "off" | undefined;
  readonly reserveTokens?: number | undefined;
  readonly keepRecentTokens?: number | undefined;
  readonly reserveTokensFloor?: number | undefined;
  readonly maxHistoryShare?: number | undefined;
  readonly memoryFlush?: AgentsDefaultsCompactionMemoryFlushConfig | undefined;
}

export interface AgentsDefaultsBlockStreamingChunkConfig {
  readonly minChars?: number | undefined;
  readonly maxChars?: number | undefined;
  readonly breakPreference?: "paragraph" | "newline" | "sentence" | undefined;
}

export interface AgentsDefaultsBlockStreamingCoalesceConfig {
  readonly minChars?: number | undefined;
  readonly maxChars?: number | undefined;
  readonly idleMs?: number | undefined;
}

export interface AgentsDefaultsHumanDelayConfig {
  readonly mode?: "off" | "natural" | "custom" | undefined;
  readonly minMs?: number | undefined;
  readonly maxMs?: number | undefined;
}

export interface AgentsDefaultsHeartbeatActiveHoursConfig {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly timezone?: string | undefined;
}

export interface AgentsDefaultsHeartbeatConfig {
  readonly every?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly activeHours?: AgentsDefaultsHeartbeatActiveHoursConfig | undefined;
  readonly model?: string | undefined;
  readonly session?: string | undefined;
  readonly includeReasoning?: boolean | undefined;
  readonly target?: string | undefined;
  readonly directPolicy?: "allow" | "block" | undefined;
  readonly to?: string | undefined;
  readonly accountId?: string | undefined;
  readonly prompt?: string | undefined;
  readonly ackMaxChars?: number | undefined;
  readonly suppressToolErrorWarnings?: boolean | undefined;
}

export interface AgentsDefaultsSubagentsConfig {
  readonly maxConcurrent?: number | undefined;
  readonly maxSpawnDepth?: number | undefined;
  readonly maxChildrenPerAgent?: number | undefined;
  readonly archiveAfterMinutes?: number | undefined;
  readonly model?: string | AgentsDefaultsModelConfig | undefined;
  readonly thinking?: string | undefined;
  readonly runTimeoutSeconds?: number | undefined;
  readonly announceTimeoutMs?: number | undefined;
}

export interface AgentsDefaultsSandboxDockerUlimitConfig {
  readonly soft?: number | undefined;
  readonly hard?: number | undefined;
}

export interface AgentsDefaultsSandboxDockerConfig {
  readonly image?: string | undefined;
  readonly containerPrefix?: string | undefined;
  readonly workdir?: string | undefined;
  readonly readOnlyRoot?: boolean | undefined;
  readonly tmpfs?: readonly string[] | undefined;
  readonly network?: string | undefined;
  readonly user?: string | undefined;
  readonly capDrop?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly setupCommand?: string | undefined;
  readonly pidsLimit?: number | undefined;
  readonly memory?: string | number | undefined;
  readonly memorySwap?: string | number | undefined;
  readonly cpus?: number | undefined;
  readonly ulimits?: Readonly<Record<string, string | number | AgentsDefaultsSandboxDockerUlimitConfig>> | undefined;
  readonly seccompProfile?: string | undefined;
  readonly apparmorProfile?: string | undefined;
  readonly dns?: readonly string[] | undefined;
  readonly extraHosts?: readonly string[] | undefined;
  readonly binds?: readonly string[] | undefined;
  readonly dangerouslyAllowReservedContainerTargets?: boolean | undefined;
  readonly dangerouslyAllowExternalBindSources?: boolean | undefined;
  readonly dangerouslyAllowContainerNamespaceJoin?: boolean | undefined;
}

export interface AgentsDefaultsSandboxBrowserConfig {
  readonly enabled?: boolean | undefined;
  readonly image?: string | undefined;
  readonly containerPrefix?: string | undefined;
  readonly network?: string | undefined;
  readonly cdpPort?: number | undefined;
  readonly cdpSourceRange?: string | undefined;
  readonly vncPort?: number | undefined;
  readonly noVncPort?: number | undefined;
  readonly headless?: boolean | undefined;
  readonly enableNoVnc?: boolean | undefined;
  readonly allowHostControl?: boolean | undefined;
  readonly autoStart?: boolean | undefined;
  readonly autoStartTimeoutMs?: number | undefined;
  readonly binds?: readonly string[] | undefined;
}

export interface AgentsDefaultsSandboxPruneConfig {
  readonly idleHours?: number | undefined;
  readonly maxAgeDays?: number | undefined;
}

export interface AgentsDefaultsSandboxConfig {
  readonly mode?: "off" | "non-main" | "all" | undefined;
  readonly workspaceAccess?: "none" | "ro" | "rw" | undefined;
  readonly sessionToolsVisibility?: "spawned" | "all" | undefined;
  readonly scope?: "session" | "agent" | "shared" | undefined;
  readonly perSession?: boolean | undefined;
  readonly workspaceRoot?: string | undefined;
  readonly docker?: AgentsDefaultsSandboxDockerConfig | undefined;
  readonly browser?: AgentsDefaultsSandboxBrowserConfig | undefined;
  readonly prune?: AgentsDefaultsSandboxPruneConfig | undefined;
}

export interface AgentsDefaultsConfig {
  readonly model?: string | AgentsDefaultsModelConfig | undefined;
  readonly imageModel?: string | AgentsDefaultsImageModelConfig | undefined;
  readonly models?: Readonly<Record<string, AgentsDefaultsModelConfig2>> | undefined;
  readonly workspace?: string | undefined;
  readonly repoRoot?: string | undefined;
  readonly skipBootstrap?: boolean | undefined;
  readonly bootstrapMaxChars?: number | undefined;
  readonly bootstrapTotalMaxChars?: number | undefined;
  readonly userTimezone?: string | undefined;
  readonly timeFormat?: "auto" | "12" | "24" | undefined;
  readonly envelopeTimezone?: string | undefined;
  readonly envelopeTimestamp?: "on" | "off" | undefined;
  readonly envelopeElapsed?: "on" | "off" | undefined;
  readonly contextTokens?: number | undefined;
  readonly cliBackends?: Readonly<Record<string, AgentsDefaultsCliBackendConfig>> | undefined;
  readonly memorySearch?: AgentsDefaultsMemorySearchConfig | undefined;
  readonly contextPruning?: AgentsDefaultsContextPruningConfig | undefined;
  readonly compaction?: AgentsDefaultsCompactionConfig | undefined;
  readonly thinkingDefault?: "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | undefined;
  readonly verboseDefault?: "off" | "on" | "full" | undefined;
  readonly elevatedDefault?: "off" | "on" | "ask" | "full" | undefined;
  readonly blockStreamingDefault?: "off" | "on" | undefined;
  readonly blockStreamingBreak?: "text_end" | "message_end" | undefined;
  readonly blockStreamingChunk?: AgentsDefaultsBlockStreamingChunkConfig | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly humanDelay?: AgentsDefaultsHumanDelayConfig | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly imageMaxDimensionPx?: number | undefined;
  readonly typingIntervalSeconds?: number | undefined;
  readonly typingMode?: "never" | "instant" | "thinking" | "message" | undefined;
  readonly heartbeat?: AgentsDefaultsHeartbeatConfig | undefined;
  readonly maxConcurrent?: number | undefined;
  readonly subagents?: AgentsDefaultsSubagentsConfig | undefined;
  readonly sandbox?: AgentsDefaultsSandboxConfig | undefined;
}

export interface AgentsListEntryIdentityConfig {
  readonly name?: string | undefined;
  readonly theme?: string | undefined;
  readonly emoji?: string | undefined;
  readonly avatar?: string | undefined;
}

export interface AgentsListEntryGroupChatConfig {
  readonly mentionPatterns?: readonly string[] | undefined;
  readonly historyLimit?: number | undefined;
}

export interface AgentsListEntrySubagentsConfig {
  readonly allowAgents?: readonly string[] | undefined;
  readonly model?: string | AgentsDefaultsModelConfig | undefined;
  readonly thinking?: string | undefined;
}

export interface AgentsListEntryToolsByProviderEntryConfig {
  readonly allow?: readonly string[] | undefined;
  readonly alsoAllow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly profile?: "minimal" | "coding" | "messaging" | "full" | undefined;
}

export interface AgentsListEntryToolsElevatedConfig {
  readonly enabled?: boolean | undefined;
  readonly allowFrom?: Readonly<Record<string, readonly (string | number)[]>> | undefined;
}

export interface AgentsListEntryToolsExecSafeBinProfileConfig {
  readonly minPositional?: number | undefined;
  readonly maxPositional?: number | undefined;
  readonly allowedValueFlags?: readonly string[] | undefined;
  readonly deniedFlags?: readonly string[] | undefined;
}

export interface AgentsListEntryToolsExecApplyPatchConfig {
  readonly enabled?: boolean | undefined;
  readonly workspaceOnly?: boolean | undefined;
  readonly allowModels?: readonly string[] | undefined;
}

export interface AgentsListEntryToolsExecConfig {
  readonly host?: "sandbox" | "gateway" | "node" | undefined;
  readonly security?: "deny" | "allowlist" | "full" | undefined;
  readonly ask?: "off" | "on-miss" | "always" | undefined;
  readonly node?: string | undefined;
  readonly pathPrepend?: readonly string[] | undefined;
  readonly safeBins?: readonly string[] | undefined;
  readonly safeBinTrustedDirs?: readonly string[] | undefined;
  readonly safeBinProfiles?: Readonly<Record<string, AgentsListEntryToolsExecSafeBinProfileConfig>> | undefined;
  readonly backgroundMs?: number | undefined;
  readonly timeoutSec?: number | undefined;
  readonly cleanupMs?: number | undefined;
  readonly notifyOnExit?: boolean | undefined;
  readonly notifyOnExitEmptySuccess?: boolean | undefined;
  readonly applyPatch?: AgentsListEntryToolsExecApplyPatchConfig | undefined;
  readonly approvalRunningNoticeMs?: number | undefined;
}

export interface AgentsListEntryToolsFsConfig {
  readonly workspaceOnly?: boolean | undefined;
}

export interface AgentsListEntryToolsLoopDetectionDetectorsConfig {
  readonly genericRepeat?: boolean | undefined;
  readonly knownPollNoProgress?: boolean | undefined;
  readonly pingPong?: boolean | undefined;
}

export interface AgentsListEntryToolsLoopDetectionConfig {
  readonly enabled?: boolean | undefined;
  readonly historySize?: number | undefined;
  readonly warningThreshold?: number | undefined;
  readonly criticalThreshold?: number | undefined;
  readonly globalCircuitBreakerThreshold?: number | undefined;
  readonly detectors?: AgentsListEntryToolsLoopDetectionDetectorsConfig | undefined;
}

export interface AgentsListEntryToolsSandboxToolsConfig {
  readonly allow?: readonly string[] | undefined;
  readonly alsoAllow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export interface AgentsListEntryToolsSandboxConfig {
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
}

export interface AgentsListEntryToolsConfig {
  readonly profile?: "minimal" | "coding" | "messaging" | "full" | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly alsoAllow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly byProvider?: Readonly<Record<string, AgentsListEntryToolsByProviderEntryConfig>> | undefined;
  readonly elevated?: AgentsListEntryToolsElevatedConfig | undefined;
  readonly exec?: AgentsListEntryToolsExecConfig | undefined;
  readonly fs?: AgentsListEntryToolsFsConfig | undefined;
  readonly loopDetection?: AgentsListEntryToolsLoopDetectionConfig | undefined;
  readonly sandbox?: AgentsListEntryToolsSandboxConfig | undefined;
}

export interface AgentsListEntryConfig {
  readonly id: string;
  readonly default?: boolean | undefined;
  readonly name?: string | undefined;
  readonly workspace?: string | undefined;
  readonly agentDir?: string | undefined;
  readonly model?: string | AgentsDefaultsModelConfig | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly memorySearch?: AgentsDefaultsMemorySearchConfig | undefined;
  readonly humanDelay?: AgentsDefaultsHumanDelayConfig | undefined;
  readonly heartbeat?: AgentsDefaultsHeartbeatConfig | undefined;
  readonly identity?: AgentsListEntryIdentityConfig | undefined;
  readonly groupChat?: AgentsListEntryGroupChatConfig | undefined;
  readonly subagents?: AgentsListEntrySubagentsConfig | undefined;
  readonly sandbox?: AgentsDefaultsSandboxConfig | undefined;
  readonly tools?: AgentsListEntryToolsConfig | undefined;
}

export interface AgentsConfig {
  readonly defaults?: AgentsDefaultsConfig | undefined;
  readonly list?: readonly AgentsListEntryConfig[] | undefined;
}

export interface ToolsWebSearchPerplexityConfig {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly model?: string | undefined;
}

export interface ToolsWebSearchGrokConfig {
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
  readonly inlineCitations?: boolean | undefined;
}

export interface ToolsWebSearchGeminiConfig {
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
}

export interface ToolsWebSearchKimiConfig {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly model?: string | undefined;
}

export interface ToolsWebSearchConfig {
  readonly enabled?: boolean | undefined;
  readonly provider?: "brave" | "perplexity" | "grok" | "gemini" | "kimi" | undefined;
  readonly apiKey?: string | undefined;
  readonly maxResults?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly cacheTtlMinutes?: number | undefined;
  readonly perplexity?: ToolsWebSearchPerplexityConfig | undefined;
  readonly grok?: ToolsWebSearchGrokConfig | undefined;
  readonly gemini?: ToolsWebSearchGeminiConfig | undefined;
  readonly kimi?: ToolsWebSearchKimiConfig | undefined;
}

export interface ToolsWebFetchConfig {
  readonly enabled?: boolean | undefined;
  readonly maxChars?: number | undefined;
  readonly maxCharsCap?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly cacheTtlMinutes?: number | undefined;
  readonly maxRedirects?: number | undefined;
  readonly userAgent?: string | undefined;
}

export interface ToolsWebConfig {
  readonly search?: ToolsWebSearchConfig | undefined;
  readonly fetch?: ToolsWebFetchConfig | undefined;
}

export interface ToolsMediaModelDeepgramConfig {
  readonly detectLanguage?: boolean | undefined;
  readonly punctuate?: boolean | undefined;
  readonly smartFormat?: boolean | undefined;
}

export interface ToolsMediaModelConfig {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly capabilities?: readonly ("image" | "audio" | "video")[] | undefined;
  readonly type?: "provider" | "cli" | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly maxChars?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly prompt?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly language?: string | undefined;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>> | undefined;
  readonly deepgram?: ToolsMediaModelDeepgramConfig | undefined;
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly profile?: string | undefined;
  readonly preferredProfile?: string | undefined;
}

export interface ToolsMediaImageScopeRuleMatchConfig {
  readonly channel?: string | undefined;
  readonly chatType?: "direct" | "group" | "channel" | "dm" | undefined;
  readonly keyPrefix?: string | undefined;
  readonly rawKeyPrefix?: string | undefined;
}

export interface ToolsMediaImageScopeRuleConfig {
  readonly action: "allow" | "deny";
  readonly match?: ToolsMediaImageScopeRuleMatchConfig | undefined;
}

export interface ToolsMediaImageScopeConfig {
  readonly default?: "allow" | "deny" | undefined;
  readonly rules?: readonly ToolsMediaImageScopeRuleConfig[] | undefined;
}

export interface ToolsMediaImageAttachmentsConfig {
  readonly mode?: "first" | "all" | undefined;
  readonly maxAttachments?: number | undefined;
  readonly prefer?: "first" | "last" | "path" | "url" | undefined;
}

export interface ToolsMediaImageConfig {
  readonly enabled?: boolean | undefined;
  readonly scope?: ToolsMediaImageScopeConfig | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxChars?: number | undefined;
  readonly prompt?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly language?: string | undefined;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>> | undefined;
  readonly deepgram?: ToolsMediaModelDeepgramConfig | undefined;
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly attachments?: ToolsMediaImageAttachmentsConfig | undefined;
  readonly models?: readonly ToolsMediaModelConfig[] | undefined;
}

export interface ToolsMediaAudioConfig {
  readonly enabled?: boolean | undefined;
  readonly scope?: ToolsMediaImageScopeConfig | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxChars?: number | undefined;
  readonly prompt?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly language?: string | undefined;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>> | undefined;
  readonly deepgram?: ToolsMediaModelDeepgramConfig | undefined;
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly attachments?: ToolsMediaImageAttachmentsConfig | undefined;
  readonly models?: readonly ToolsMediaModelConfig[] | undefined;
}

export interface ToolsMediaVideoConfig {
  readonly enabled?: boolean | undefined;
  readonly scope?: ToolsMediaImageScopeConfig | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxChars?: number | undefined;
  readonly prompt?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly language?: string | undefined;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>> | undefined;
  readonly deepgram?: ToolsMediaModelDeepgramConfig | undefined;
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly attachments?: ToolsMediaImageAttachmentsConfig | undefined;
  readonly models?: readonly ToolsMediaModelConfig[] | undefined;
}

export interface ToolsMediaConfig {
  readonly models?: readonly ToolsMediaModelConfig[] | undefined;
  readonly concurrency?: number | undefined;
  readonly image?: ToolsMediaImageConfig | undefined;
  readonly audio?: ToolsMediaAudioConfig | undefined;
  readonly video?: ToolsMediaVideoConfig | undefined;
}

export interface ToolsLinksModelConfig {
  readonly type?: "cli" | undefined;
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly timeoutSeconds?: number | undefined;
}

export interface ToolsLinksConfig {
  readonly enabled?: boolean | undefined;
  readonly scope?: ToolsMediaImageScopeConfig | undefined;
  readonly maxLinks?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly models?: readonly ToolsLinksModelConfig[] | undefined;
}

export interface ToolsSessionsConfig {
  readonly visibility?: "self" | "tree" | "agent" | "all" | undefined;
}

export interface ToolsMessageCrossContextMarkerConfig {
  readonly enabled?: boolean | undefined;
  readonly prefix?: string | undefined;
  readonly suffix?: string | undefined;
}

export interface ToolsMessageCrossContextConfig {
  readonly allowWithinProvider?: boolean | undefined;
  readonly allowAcrossProviders?: boolean | undefined;
  readonly marker?: ToolsMessageCrossContextMarkerConfig | undefined;
}

export interface ToolsMessageBroadcastConfig {
  readonly enabled?: boolean | undefined;
}

export interface ToolsMessageConfig {
  readonly allowCrossContextSend?: boolean | undefined;
  readonly crossContext?: ToolsMessageCrossContextConfig | undefined;
  readonly broadcast?: ToolsMessageBroadcastConfig | undefined;
}

export interface ToolsAgentToAgentConfig {
  readonly enabled?: boolean | undefined;
  readonly allow?: readonly string[] | undefined;
}

export interface ToolsExecConfig {
  readonly host?: "sandbox" | "gateway" | "node" | undefined;
  readonly security?: "deny" | "allowlist" | "full" | undefined;
  readonly ask?: "off" | "on-miss" | "always" | undefined;
  readonly node?: string | undefined;
  readonly pathPrepend?: readonly string[] | undefined;
  readonly safeBins?: readonly string[] | undefined;
  readonly safeBinTrustedDirs?: readonly string[] | undefined;
  readonly safeBinProfiles?: Readonly<Record<string, AgentsListEntryToolsExecSafeBinProfileConfig>> | undefined;
  readonly backgroundMs?: number | undefined;
  readonly timeoutSec?: number | undefined;
  readonly cleanupMs?: number | undefined;
  readonly notifyOnExit?: boolean | undefined;
  readonly notifyOnExitEmptySuccess?: boolean | undefined;
  readonly applyPatch?: AgentsListEntryToolsExecApplyPatchConfig | undefined;
}

export interface ToolsSubagentsConfig {
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
}

export interface ToolsConfig {
  readonly profile?: "minimal" | "coding" | "messaging" | "full" | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly alsoAllow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly byProvider?: Readonly<Record<string, AgentsListEntryToolsByProviderEntryConfig>> | undefined;
  readonly web?: ToolsWebConfig | undefined;
  readonly media?: ToolsMediaConfig | undefined;
  readonly links?: ToolsLinksConfig | undefined;
  readonly sessions?: ToolsSessionsConfig | undefined;
  readonly loopDetection?: AgentsListEntryToolsLoopDetectionConfig | undefined;
  readonly message?: ToolsMessageConfig | undefined;
  readonly agentToAgent?: ToolsAgentToAgentConfig | undefined;
  readonly elevated?: AgentsListEntryToolsElevatedConfig | undefined;
  readonly exec?: ToolsExecConfig | undefined;
  readonly fs?: AgentsListEntryToolsFsConfig | undefined;
  readonly subagents?: ToolsSubagentsConfig | undefined;
  readonly sandbox?: AgentsListEntryToolsSandboxConfig | undefined;
}

export interface BindingMatchPeerConfig {
  readonly kind?: "direct" | "group" | "channel" | "dm" | undefined;
  readonly id?: string | undefined;
}

export interface BindingMatchConfig {
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
  readonly peer?: BindingMatchPeerConfig | undefined;
  readonly guildId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly roles?: readonly string[] | undefined;
}

export interface BindingConfig {
  readonly agentId: string;
  readonly comment?: string | undefined;
  readonly match: BindingMatchConfig;
}

export interface BroadcastConfig {
  readonly strategy?: "parallel" | "sequential" | undefined;
  readonly [key: string]: readonly string[] | "parallel" | "sequential" | undefined;
}

export interface AudioTranscriptionConfig {
  readonly command?: readonly string[] | undefined;
  readonly timeoutSeconds?: number | undefined;
}

export interface AudioConfig {
  readonly transcription?: AudioTranscriptionConfig | undefined;
}

export interface MediaConfig {
  readonly preserveFilenames?: boolean | undefined;
}

export interface MessagesQueueByChannelConfig {
  readonly whatsapp?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly telegram?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly discord?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly irc?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly slack?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly mattermost?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly signal?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly imessage?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly msteams?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly webchat?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
}

export interface MessagesQueueConfig {
  readonly mode?: "steer" | "followup" | "collect" | "steer-backlog" | "steer+backlog" | "queue" | "interrupt" | undefined;
  readonly byChannel?: MessagesQueueByChannelConfig | undefined;
  readonly debounceMs?: number | undefined;
  readonly debounceMsByChannel?: Readonly<Record<string, number>> | undefined;
  readonly cap?: number | undefined;
  readonly drop?: "old" | "new" | "summarize" | undefined;
}

export interface MessagesInboundConfig {
  readonly debounceMs?: number | undefined;
  readonly byChannel?: Readonly<Record<string, number>> | undefined;
}

export interface MessagesStatusReactionsEmojisConfig {
  readonly thinking?: string | undefined;
  readonly tool?: string | undefined;
  readonly coding?: string | undefined;
  readonly web?: string | undefined;
  readonly done?: string | undefined;
  readonly error?: string | undefined;
  readonly stallSoft?: string | undefined;
  readonly stallHard?: string | undefined;
}

export interface MessagesStatusReactionsTimingConfig {
  readonly debounceMs?: number | undefined;
  readonly stallSoftMs?: number | undefined;
  readonly stallHardMs?: number | undefined;
  readonly doneHoldMs?: number | undefined;
  readonly errorHoldMs?: number | undefined;
}

export interface MessagesStatusReactionsConfig {
  readonly enabled?: boolean | undefined;
  readonly emojis?: MessagesStatusReactionsEmojisConfig | undefined;
  readonly timing?: MessagesStatusReactionsTimingConfig | undefined;
}

export interface MessagesTtsModelOverridesConfig {
  readonly enabled?: boolean | undefined;
  readonly allowText?: boolean | undefined;
  readonly allowProvider?: boolean | undefined;
  readonly allowVoice?: boolean | undefined;
  readonly allowModelId?: boolean | undefined;
  readonly allowVoiceSettings?: boolean | undefined;
  readonly allowNormalization?: boolean | undefined;
  readonly allowSeed?: boolean | undefined;
}

export interface MessagesTtsElevenlabsVoiceSettingsConfig {
  readonly stability?: number | undefined;
  readonly similarityBoost?: number | undefined;
  readonly style?: number | undefined;
  readonly useSpeakerBoost?: boolean | undefined;
  readonly speed?: number | undefined;
}

export interface MessagesTtsElevenlabsConfig {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly voiceId?: string | undefined;
  readonly modelId?: string | undefined;
  readonly seed?: number | undefined;
  readonly applyTextNormalization?: "auto" | "on" | "off" | undefined;
  readonly languageCode?: string | undefined;
  readonly voiceSettings?: MessagesTtsElevenlabsVoiceSettingsConfig | undefined;
}

export interface MessagesTtsOpenaiConfig {
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
  readonly voice?: string | undefined;
}

export interface MessagesTtsEdgeConfig {
  readonly enabled?: boolean | undefined;
  readonly voice?: string | undefined;
  readonly lang?: string | undefined;
  readonly outputFormat?: string | undefined;
  readonly pitch?: string | undefined;
  readonly rate?: string | undefined;
  readonly volume?: string | undefined;
  readonly saveSubtitles?: boolean | undefined;
  readonly proxy?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface MessagesTtsConfig {
  readonly auto?: "off" | "always" | "inbound" | "tagged" | undefined;
  readonly enabled?: boolean | undefined;
  readonly mode?: "final" | "all" | undefined;
  readonly provider?: "elevenlabs" | "openai" | "edge" | undefined;
  readonly summaryModel?: string | undefined;
  readonly modelOverrides?: MessagesTtsModelOverridesConfig | undefined;
  readonly elevenlabs?: MessagesTtsElevenlabsConfig | undefined;
  readonly openai?: MessagesTtsOpenaiConfig | undefined;
  readonly edge?: MessagesTtsEdgeConfig | undefined;
  readonly prefsPath?: string | undefined;
  readonly maxTextLength?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface MessagesConfig {
  readonly messagePrefix?: string | undefined;
  readonly responsePrefix?: string | undefined;
  readonly groupChat?: AgentsListEntryGroupChatConfig | undefined;
  readonly queue?: MessagesQueueConfig | undefined;
  readonly inbound?: MessagesInboundConfig | undefined;
  readonly ackReaction?: string | undefined;
  readonly ackReactionScope?: "group-mentions" | "group-all" | "direct" | "all" | undefined;
  readonly removeAckAfterReply?: boolean | undefined;
  readonly statusReactions?: MessagesStatusReactionsConfig | undefined;
  readonly suppressToolErrors?: boolean | undefined;
  readonly tts?: MessagesTtsConfig | undefined;
}

export interface CommandsConfig {
  readonly native?: boolean | "auto" | undefined;
  readonly nativeSkills?: boolean | "auto" | undefined;
  readonly text?: boolean | undefined;
  readonly bash?: boolean | undefined;
  readonly bashForegroundMs?: number | undefined;
  readonly config?: boolean | undefined;
  readonly debug?: boolean | undefined;
  readonly restart?: boolean | undefined;
  readonly useAccessGroups?: boolean | undefined;
  readonly ownerAllowFrom?: readonly (string | number)[] | undefined;
  readonly ownerDisplay?: "raw" | "hash" | undefined;
  readonly ownerDisplaySecret?: string | undefined;
  readonly allowFrom?: Readonly<Record<string, readonly (string | number)[]>> | undefined;
}

export interface ApprovalsExecTargetConfig {
  readonly channel: string;
  readonly to: string;
  readonly accountId?: string | undefined;
  readonly threadId?: string | number | undefined;
}

export interface ApprovalsExecConfig {
  readonly enabled?: boolean | undefined;
  readonly mode?: "session" | "targets" | "both" | undefined;
  readonly agentFilter?: readonly string[] | undefined;
  readonly sessionFilter?: readonly string[] | undefined;
  readonly targets?: readonly ApprovalsExecTargetConfig[] | undefined;
}

export interface ApprovalsConfig {
  readonly exec?: ApprovalsExecConfig | undefined;
}

export interface SessionResetConfig {
  readonly mode?: "daily" | "idle" | undefined;
  readonly atHour?: number | undefined;
  readonly idleMinutes?: number | undefined;
}

export interface SessionResetByTypeDirectConfig {
  readonly mode?: "daily" | "idle" | undefined;
  readonly atHour?: number | undefined;
  readonly idleMinutes?: number | undefined;
}

export interface SessionResetByTypeDmConfig {
  readonly mode?: "daily" | "idle" | undefined;
  readonly atHour?: number | undefined;
  readonly idleMinutes?: number | undefined;
}

export interface SessionResetByTypeGroupConfig {
  readonly mode?: "daily" | "idle" | undefined;
  readonly atHour?: number | undefined;
  readonly idleMinutes?: number | undefined;
}

export interface SessionResetByTypeThreadConfig {
  readonly mode?: "daily" | "idle" | undefined;
  readonly atHour?: number | undefined;
  readonly idleMinutes?: number | undefined;
}

export interface SessionResetByTypeConfig {
  readonly direct?: SessionResetByTypeDirectConfig | undefined;
  readonly dm?: SessionResetByTypeDmConfig | undefined;
  readonly group?: SessionResetByTypeGroupConfig | undefined;
  readonly thread?: SessionResetByTypeThreadConfig | undefined;
}

export interface SessionResetByChannelEntryConfig {
  readonly mode?: "daily" | "idle" | undefined;
  readonly atHour?: number | undefined;
  readonly idleMinutes?: number | undefined;
}

export interface SessionSendPolicyConfig {
  readonly default?: "allow" | "deny" | undefined;
  readonly rules?: readonly ToolsMediaImageScopeRuleConfig[] | undefined;
}

export interface SessionAgentToAgentConfig {
  readonly maxPingPongTurns?: number | undefined;
}

export interface SessionThreadBindingsConfig {
  readonly enabled?: boolean | undefined;
  readonly ttlHours?: number | undefined;
}

export interface SessionMaintenanceConfig {
  readonly mode?: "enforce" | "warn" | undefined;
  readonly pruneAfter?: string | number | undefined;
  readonly pruneDays?: number | undefined;
  readonly maxEntries?: number | undefined;
  readonly rotateBytes?: string | number | undefined;
  readonly resetArchiveRetention?: string | number | false | undefined;
  readonly maxDiskBytes?: string | number | undefined;
  readonly highWaterBytes?: string | number | undefined;
}

export interface SessionConfig {
  readonly scope?: "per-sender" | "global" | undefined;
  readonly cache?: boolean | undefined;
  readonly dmScope?: "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer" | undefined;
  readonly identityLinks?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly resetTriggers?: readonly string[] | undefined;
  readonly idleMinutes?: number | undefined;
  readonly reset?: SessionResetConfig | undefined;
  readonly resetByType?: SessionResetByTypeConfig | undefined;
  readonly resetByChannel?: Readonly<Record<string, SessionResetByChannelEntryConfig>> | undefined;
  readonly store?: string | undefined;
  readonly typingIntervalSeconds?: number | undefined;
  readonly typingMode?: "never" | "instant" | "thinking" | "message" | undefined;
  readonly parentForkMaxTokens?: number | undefined;
  readonly mainKey?: string | undefined;
  readonly sendPolicy?: SessionSendPolicyConfig | undefined;
  readonly agentToAgent?: SessionAgentToAgentConfig | undefined;
  readonly threadBindings?: SessionThreadBindingsConfig | undefined;
  readonly maintenance?: SessionMaintenanceConfig | undefined;
}

export interface CronRunLogConfig {
  readonly maxBytes?: string | number | undefined;
  readonly keepLines?: number | undefined;
}

export interface CronConfig {
  readonly enabled?: boolean | undefined;
  readonly store?: string | undefined;
  readonly maxConcurrentRuns?: number | undefined;
  readonly webhook?: string | undefined;
  readonly webhookToken?: string | undefined;
  readonly sessionRetention?: string | false | undefined;
  readonly runLog?: CronRunLogConfig | undefined;
}

export interface HooksMappingMatchConfig {
  readonly path?: string | undefined;
  readonly source?: string | undefined;
}

export interface HooksMappingTransformConfig {
  readonly module?: string | undefined;
  readonly export?: string | undefined;
}

export interface HooksMappingConfig {
  readonly id?: string | undefined;
  readonly match?: HooksMappingMatchConfig | undefined;
  readonly action?: "wake" | "agent" | undefined;
  readonly wakeMode?: "now" | "next-heartbeat" | undefined;
  readonly name?: string | undefined;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly messageTemplate?: string | undefined;
  readonly textTemplate?: string | undefined;
  readonly deliver?: boolean | undefined;
  readonly allowUnsafeExternalContent?: boolean | undefined;
  readonly channel?: "last" | "whatsapp" | "telegram" | "discord" | "irc" | "slack" | "signal" | "imessage" | "msteams" | undefined;
  readonly to?: string | undefined;
  readonly model?: string | undefined;
  readonly thinking?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly transform?: HooksMappingTransformConfig | undefined;
}

export interface HooksGmailServeConfig {
  readonly bind?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | undefined;
}

export interface HooksGmailTailscaleConfig {
  readonly mode?: "off" | "serve" | "funnel" | undefined;
  readonly path?: string | undefined;
  readonly target?: string | undefined;
}

export interface HooksGmailConfig {
  readonly account?: string | undefined;
  readonly label?: string | undefined;
  readonly topic?: string | undefined;
  readonly subscription?: string | undefined;
  readonly pushToken?: string | undefined;
  readonly hookUrl?: string | undefined;
  readonly includeBody?: boolean | undefined;
  readonly maxBytes?: number | undefined;
  readonly renewEveryMinutes?: number | undefined;
  readonly allowUnsafeExternalContent?: boolean | undefined;
  readonly serve?: HooksGmailServeConfig | undefined;
  readonly tailscale?: HooksGmailTailscaleConfig | undefined;
  readonly model?: string | undefined;
  readonly thinking?: "off" | "minimal" | "low" | "medium" | "high" | undefined;
}

export interface HooksInternalHandlerConfig {
  readonly event: string;
  readonly module: string;
  readonly export?: string | undefined;
}

export interface HooksInternalEntryConfig {
  readonly enabled?: boolean | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly [key: string]: unknown;
}

export interface HooksInternalLoadConfig {
  readonly extraDirs?: readonly string[] | undefined;
}

export interface HooksInternalInstallConfig {
  readonly source?: "npm" | "archive" | "path" | undefined;
  readonly spec?: string | undefined;
  readonly sourcePath?: string | undefined;
  readonly installPath?: string | undefined;
  readonly version?: string | undefined;
  readonly resolvedName?: string | undefined;
  readonly resolvedVersion?: string | undefined;
  readonly resolvedSpec?: string | undefined;
  readonly integrity?: string | undefined;
  readonly shasum?: string | undefined;
  readonly resolvedAt?: string | undefined;
  readonly installedAt?: string | undefined;
  readonly hooks?: readonly string[] | undefined;
}

export interface HooksInternalConfig {
  readonly enabled?: boolean | undefined;
  readonly handlers?: readonly HooksInternalHandlerConfig[] | undefined;
  readonly entries?: Readonly<Record<string, HooksInternalEntryConfig>> | undefined;
  readonly load?: HooksInternalLoadConfig | undefined;
  readonly installs?: Readonly<Record<string, HooksInternalInstallConfig>> | undefined;
}

export interface HooksConfig {
  readonly enabled?: boolean | undefined;
  readonly path?: string | undefined;
  readonly token?: string | undefined;
  readonly defaultSessionKey?: string | undefined;
  readonly allowRequestSessionKey?: boolean | undefined;
  readonly allowedSessionKeyPrefixes?: readonly string[] | undefined;
  readonly allowedAgentIds?: readonly string[] | undefined;
  readonly maxBodyBytes?: number | undefined;
  readonly presets?: readonly string[] | undefined;
  readonly transformsDir?: string | undefined;
  readonly mappings?: readonly HooksMappingConfig[] | undefined;
  readonly gmail?: HooksGmailConfig | undefined;
  readonly internal?: HooksInternalConfig | undefined;
}

export interface WebReconnectConfig {
  readonly initialMs?: number | undefined;
  readonly maxMs?: number | undefined;
  readonly factor?: number | undefined;
  readonly jitter?: number | undefined;
  readonly maxAttempts?: number | undefined;
}

export interface WebConfig {
  readonly enabled?: boolean | undefined;
  readonly heartbeatSeconds?: number | undefined;
  readonly reconnect?: WebReconnectConfig | undefined;
}

export interface ChannelsDefaultsHeartbeatConfig {
  readonly showOk?: boolean | undefined;
  readonly showAlerts?: boolean | undefined;
  readonly useIndicator?: boolean | undefined;
}

export interface ChannelsDefaultsConfig {
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
}

export interface ChannelsWhatsappMarkdownConfig {
  readonly tables?: "off" | "bullets" | "code" | undefined;
}

export interface ChannelsWhatsappDmConfig {
  readonly historyLimit?: number | undefined;
}

export interface ChannelsWhatsappGroupToolsBySenderEntryConfig {
  readonly allow?: readonly string[] | undefined;
  readonly alsoAllow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export interface ChannelsWhatsappGroupConfig {
  readonly requireMention?: boolean | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly toolsBySender?: Readonly<Record<string, ChannelsWhatsappGroupToolsBySenderEntryConfig>> | undefined;
}

export interface ChannelsWhatsappAckReactionConfig {
  readonly emoji?: string | undefined;
  readonly direct?: boolean | undefined;
  readonly group?: "always" | "mentions" | "never" | undefined;
}

export interface ChannelsWhatsappAccountConfig {
  readonly enabled?: boolean | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly configWrites?: boolean | undefined;
  readonly sendReadReceipts?: boolean | undefined;
  readonly messagePrefix?: string | undefined;
  readonly responsePrefix?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly selfChatMode?: boolean | undefined;
  readonly allowFrom?: readonly string[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly groupAllowFrom?: readonly string[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly groups?: Readonly<Record<string, ChannelsWhatsappGroupConfig>> | undefined;
  readonly ackReaction?: ChannelsWhatsappAckReactionConfig | undefined;
  readonly debounceMs?: number | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly name?: string | undefined;
  readonly authDir?: string | undefined;
  readonly mediaMaxMb?: number | undefined;
}

export interface ChannelsWhatsappActionsConfig {
  readonly reactions?: boolean | undefined;
  readonly sendMessage?: boolean | undefined;
  readonly polls?: boolean | undefined;
}

export interface ChannelsWhatsappConfig {
  readonly enabled?: boolean | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly configWrites?: boolean | undefined;
  readonly sendReadReceipts?: boolean | undefined;
  readonly messagePrefix?: string | undefined;
  readonly responsePrefix?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly selfChatMode?: boolean | undefined;
  readonly allowFrom?: readonly string[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly groupAllowFrom?: readonly string[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly groups?: Readonly<Record<string, ChannelsWhatsappGroupConfig>> | undefined;
  readonly ackReaction?: ChannelsWhatsappAckReactionConfig | undefined;
  readonly debounceMs?: number | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsWhatsappAccountConfig>> | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly actions?: ChannelsWhatsappActionsConfig | undefined;
}

export interface ChannelsTelegramCapabilitiesConfig {
  readonly inlineButtons?: "off" | "dm" | "group" | "all" | "allowlist" | undefined;
}

export interface ChannelsTelegramCommandsConfig {
  readonly native?: boolean | "auto" | undefined;
  readonly nativeSkills?: boolean | "auto" | undefined;
}

export interface ChannelsTelegramCustomCommandConfig {
  readonly command: string;
  readonly description: string;
}

export interface ChannelsTelegramGroupTopicConfig {
  readonly requireMention?: boolean | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly systemPrompt?: string | undefined;
}

export interface ChannelsTelegramGroupConfig {
  readonly requireMention?: boolean | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly toolsBySender?: Readonly<Record<string, ChannelsWhatsappGroupToolsBySenderEntryConfig>> | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly systemPrompt?: string | undefined;
  readonly topics?: Readonly<Record<string, ChannelsTelegramGroupTopicConfig>> | undefined;
}

export interface ChannelsTelegramDraftChunkConfig {
  readonly minChars?: number | undefined;
  readonly maxChars?: number | undefined;
  readonly breakPreference?: "paragraph" | "newline" | "sentence" | undefined;
}

export interface ChannelsTelegramRetryConfig {
  readonly attempts?: number | undefined;
  readonly minDelayMs?: number | undefined;
  readonly maxDelayMs?: number | undefined;
  readonly jitter?: number | undefined;
}

export interface ChannelsTelegramNetworkConfig {
  readonly autoSelectFamily?: boolean | undefined;
  readonly dnsResultOrder?: "ipv4first" | "verbatim" | undefined;
}

export interface ChannelsTelegramActionsConfig {
  readonly reactions?: boolean | undefined;
  readonly sendMessage?: boolean | undefined;
  readonly deleteMessage?: boolean | undefined;
  readonly sticker?: boolean | undefined;
}

export interface ChannelsTelegramAccountConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | ChannelsTelegramCapabilitiesConfig | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly commands?: ChannelsTelegramCommandsConfig | undefined;
  readonly customCommands?: readonly ChannelsTelegramCustomCommandConfig[] | undefined;
  readonly configWrites?: boolean | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly botToken?: string | undefined;
  readonly token?: string | undefined;
  readonly apiRoot?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly groups?: Readonly<Record<string, ChannelsTelegramGroupConfig>> | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | number | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly streaming?: boolean | "off" | "partial" | "block" | "progress" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly draftChunk?: ChannelsTelegramDraftChunkConfig | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly streamMode?: "off" | "partial" | "block" | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly retry?: ChannelsTelegramRetryConfig | undefined;
  readonly network?: ChannelsTelegramNetworkConfig | undefined;
  readonly proxy?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly webhookSecret?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly webhookHost?: string | undefined;
  readonly webhookPort?: number | undefined;
  readonly actions?: ChannelsTelegramActionsConfig | undefined;
  readonly reactionNotifications?: "off" | "own" | "all" | undefined;
  readonly reactionLevel?: "off" | "ack" | "minimal" | "extensive" | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly linkPreview?: boolean | undefined;
  readonly responsePrefix?: string | undefined;
  readonly ackReaction?: string | undefined;
}

export interface ChannelsTelegramConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | ChannelsTelegramCapabilitiesConfig | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly commands?: ChannelsTelegramCommandsConfig | undefined;
  readonly customCommands?: readonly ChannelsTelegramCustomCommandConfig[] | undefined;
  readonly configWrites?: boolean | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly botToken?: string | undefined;
  readonly token?: string | undefined;
  readonly apiRoot?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly groups?: Readonly<Record<string, ChannelsTelegramGroupConfig>> | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | number | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly streaming?: boolean | "off" | "partial" | "block" | "progress" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly draftChunk?: ChannelsTelegramDraftChunkConfig | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly streamMode?: "off" | "partial" | "block" | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly retry?: ChannelsTelegramRetryConfig | undefined;
  readonly network?: ChannelsTelegramNetworkConfig | undefined;
  readonly proxy?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly webhookSecret?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly webhookHost?: string | undefined;
  readonly webhookPort?: number | undefined;
  readonly actions?: ChannelsTelegramActionsConfig | undefined;
  readonly reactionNotifications?: "off" | "own" | "all" | undefined;
  readonly reactionLevel?: "off" | "ack" | "minimal" | "extensive" | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly linkPreview?: boolean | undefined;
  readonly responsePrefix?: string | undefined;
  readonly ackReaction?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsTelegramAccountConfig>> | undefined;
}

export interface ChannelsDiscordActionsConfig {
  readonly reactions?: boolean | undefined;
  readonly stickers?: boolean | undefined;
  readonly emojiUploads?: boolean | undefined;
  readonly stickerUploads?: boolean | undefined;
  readonly polls?: boolean | undefined;
  readonly permissions?: boolean | undefined;
  readonly messages?: boolean | undefined;
  readonly threads?: boolean | undefined;
  readonly pins?: boolean | undefined;
  readonly search?: boolean | undefined;
  readonly memberInfo?: boolean | undefined;
  readonly roleInfo?: boolean | undefined;
  readonly roles?: boolean | undefined;
  readonly channelInfo?: boolean | undefined;
  readonly voiceStatus?: boolean | undefined;
  readonly events?: boolean | undefined;
  readonly moderation?: boolean | undefined;
  readonly channels?: boolean | undefined;
  readonly presence?: boolean | undefined;
}

export interface ChannelsDiscordDmConfig {
  readonly enabled?: boolean | undefined;
  readonly policy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupEnabled?: boolean | undefined;
  readonly groupChannels?: readonly (string | number)[] | undefined;
}

export interface ChannelsDiscordGuildChannelConfig {
  readonly allow?: boolean | undefined;
  readonly requireMention?: boolean | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly toolsBySender?: Readonly<Record<string, ChannelsWhatsappGroupToolsBySenderEntryConfig>> | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly users?: readonly (string | number)[] | undefined;
  readonly roles?: readonly (string | number)[] | undefined;
  readonly systemPrompt?: string | undefined;
  readonly includeThreadStarter?: boolean | undefined;
  readonly autoThread?: boolean | undefined;
}

export interface ChannelsDiscordGuildConfig {
  readonly slug?: string | undefined;
  readonly requireMention?: boolean | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly toolsBySender?: Readonly<Record<string, ChannelsWhatsappGroupToolsBySenderEntryConfig>> | undefined;
  readonly reactionNotifications?: "off" | "own" | "all" | "allowlist" | undefined;
  readonly users?: readonly (string | number)[] | undefined;
  readonly roles?: readonly (string | number)[] | undefined;
  readonly channels?: Readonly<Record<string, ChannelsDiscordGuildChannelConfig>> | undefined;
}

export interface ChannelsDiscordExecApprovalsConfig {
  readonly enabled?: boolean | undefined;
  readonly approvers?: readonly (string | number)[] | undefined;
  readonly agentFilter?: readonly string[] | undefined;
  readonly sessionFilter?: readonly string[] | undefined;
  readonly cleanupAfterResolve?: boolean | undefined;
  readonly target?: "dm" | "channel" | "both" | undefined;
}

export interface ChannelsDiscordUiComponentsConfig {
  readonly accentColor?: string | undefined;
}

export interface ChannelsDiscordUiConfig {
  readonly components?: ChannelsDiscordUiComponentsConfig | undefined;
}

export interface ChannelsDiscordSlashCommandConfig {
  readonly ephemeral?: boolean | undefined;
}

export interface ChannelsDiscordThreadBindingsConfig {
  readonly enabled?: boolean | undefined;
  readonly ttlHours?: number | undefined;
  readonly spawnSubagentSessions?: boolean | undefined;
}

export interface ChannelsDiscordIntentsConfig {
  readonly presence?: boolean | undefined;
  readonly guildMembers?: boolean | undefined;
}

export interface ChannelsDiscordVoiceAutoJoinEntryConfig {
  readonly guildId: string;
  readonly channelId: string;
}

export interface ChannelsDiscordVoiceConfig {
  readonly enabled?: boolean | undefined;
  readonly autoJoin?: readonly ChannelsDiscordVoiceAutoJoinEntryConfig[] | undefined;
  readonly daveEncryption?: boolean | undefined;
  readonly decryptionFailureTolerance?: number | undefined;
  readonly tts?: MessagesTtsConfig | undefined;
}

export interface ChannelsDiscordPluralkitConfig {
  readonly enabled?: boolean | undefined;
  readonly token?: string | undefined;
}

export interface ChannelsDiscordAccountConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly commands?: ChannelsTelegramCommandsConfig | undefined;
  readonly configWrites?: boolean | undefined;
  readonly token?: string | undefined;
  readonly proxy?: string | undefined;
  readonly allowBots?: boolean | undefined;
  readonly dangerouslyAllowNameMatching?: boolean | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly streaming?: boolean | "off" | "partial" | "block" | "progress" | undefined;
  readonly streamMode?: "partial" | "block" | "off" | undefined;
  readonly draftChunk?: ChannelsTelegramDraftChunkConfig | undefined;
  readonly maxLinesPerMessage?: number | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly retry?: ChannelsTelegramRetryConfig | undefined;
  readonly actions?: ChannelsDiscordActionsConfig | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly dm?: ChannelsDiscordDmConfig | undefined;
  readonly guilds?: Readonly<Record<string, ChannelsDiscordGuildConfig>> | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly execApprovals?: ChannelsDiscordExecApprovalsConfig | undefined;
  readonly ui?: ChannelsDiscordUiConfig | undefined;
  readonly slashCommand?: ChannelsDiscordSlashCommandConfig | undefined;
  readonly threadBindings?: ChannelsDiscordThreadBindingsConfig | undefined;
  readonly intents?: ChannelsDiscordIntentsConfig | undefined;
  readonly voice?: ChannelsDiscordVoiceConfig | undefined;
  readonly pluralkit?: ChannelsDiscordPluralkitConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly ackReaction?: string | undefined;
  readonly activity?: string | undefined;
  readonly status?: "online" | "dnd" | "idle" | "invisible" | undefined;
  readonly activityType?: "0" | "1" | "2" | "3" | "4" | "5" | undefined;
  readonly activityUrl?: string | undefined;
}

export interface ChannelsDiscordConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly commands?: ChannelsTelegramCommandsConfig | undefined;
  readonly configWrites?: boolean | undefined;
  readonly token?: string | undefined;
  readonly proxy?: string | undefined;
  readonly allowBots?: boolean | undefined;
  readonly dangerouslyAllowNameMatching?: boolean | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly streaming?: boolean | "off" | "partial" | "block" | "progress" | undefined;
  readonly streamMode?: "partial" | "block" | "off" | undefined;
  readonly draftChunk?: ChannelsTelegramDraftChunkConfig | undefined;
  readonly maxLinesPerMessage?: number | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly retry?: ChannelsTelegramRetryConfig | undefined;
  readonly actions?: ChannelsDiscordActionsConfig | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly dm?: ChannelsDiscordDmConfig | undefined;
  readonly guilds?: Readonly<Record<string, ChannelsDiscordGuildConfig>> | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly execApprovals?: ChannelsDiscordExecApprovalsConfig | undefined;
  readonly ui?: ChannelsDiscordUiConfig | undefined;
  readonly slashCommand?: ChannelsDiscordSlashCommandConfig | undefined;
  readonly threadBindings?: ChannelsDiscordThreadBindingsConfig | undefined;
  readonly intents?: ChannelsDiscordIntentsConfig | undefined;
  readonly voice?: ChannelsDiscordVoiceConfig | undefined;
  readonly pluralkit?: ChannelsDiscordPluralkitConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly ackReaction?: string | undefined;
  readonly activity?: string | undefined;
  readonly status?: "online" | "dnd" | "idle" | "invisible" | undefined;
  readonly activityType?: "0" | "1" | "2" | "3" | "4" | "5" | undefined;
  readonly activityUrl?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsDiscordAccountConfig>> | undefined;
}

export interface ChannelsIrcNickservConfig {
  readonly enabled?: boolean | undefined;
  readonly service?: string | undefined;
  readonly password?: string | undefined;
  readonly passwordFile?: string | undefined;
  readonly register?: boolean | undefined;
  readonly registerEmail?: string | undefined;
}

export interface ChannelsIrcGroupConfig {
  readonly requireMention?: boolean | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly toolsBySender?: Readonly<Record<string, ChannelsWhatsappGroupToolsBySenderEntryConfig>> | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly systemPrompt?: string | undefined;
}

export interface ChannelsIrcAccountConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tls?: boolean | undefined;
  readonly nick?: string | undefined;
  readonly username?: string | undefined;
  readonly realname?: string | undefined;
  readonly password?: string | undefined;
  readonly passwordFile?: string | undefined;
  readonly nickserv?: ChannelsIrcNickservConfig | undefined;
  readonly channels?: readonly string[] | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly groups?: Readonly<Record<string, ChannelsIrcGroupConfig>> | undefined;
  readonly mentionPatterns?: readonly string[] | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
}

export interface ChannelsIrcConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tls?: boolean | undefined;
  readonly nick?: string | undefined;
  readonly username?: string | undefined;
  readonly realname?: string | undefined;
  readonly password?: string | undefined;
  readonly passwordFile?: string | undefined;
  readonly nickserv?: ChannelsIrcNickservConfig | undefined;
  readonly channels?: readonly string[] | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly groups?: Readonly<Record<string, ChannelsIrcGroupConfig>> | undefined;
  readonly mentionPatterns?: readonly string[] | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsIrcAccountConfig>> | undefined;
}

export interface ChannelsGooglechatGroupConfig {
  readonly enabled?: boolean | undefined;
  readonly allow?: boolean | undefined;
  readonly requireMention?: boolean | undefined;
  readonly users?: readonly (string | number)[] | undefined;
  readonly systemPrompt?: string | undefined;
}

export interface ChannelsGooglechatServiceAccountConfig {

}

export interface ChannelsGooglechatActionsConfig {
  readonly reactions?: boolean | undefined;
}

export interface ChannelsGooglechatDmConfig {
  readonly enabled?: boolean | undefined;
  readonly policy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
}

export interface ChannelsGooglechatAccountConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly allowBots?: boolean | undefined;
  readonly dangerouslyAllowNameMatching?: boolean | undefined;
  readonly requireMention?: boolean | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groups?: Readonly<Record<string, ChannelsGooglechatGroupConfig>> | undefined;
  readonly defaultTo?: string | undefined;
  readonly serviceAccount?: string | ChannelsGooglechatServiceAccountConfig | undefined;
  readonly serviceAccountFile?: string | undefined;
  readonly audienceType?: "app-url" | "project-number" | undefined;
  readonly audience?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly botUser?: string | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly streamMode?: "replace" | "status_final" | "append" | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly actions?: ChannelsGooglechatActionsConfig | undefined;
  readonly dm?: ChannelsGooglechatDmConfig | undefined;
  readonly typingIndicator?: "none" | "message" | "reaction" | undefined;
  readonly responsePrefix?: string | undefined;
}

export interface ChannelsGooglechatConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly allowBots?: boolean | undefined;
  readonly dangerouslyAllowNameMatching?: boolean | undefined;
  readonly requireMention?: boolean | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groups?: Readonly<Record<string, ChannelsGooglechatGroupConfig>> | undefined;
  readonly defaultTo?: string | undefined;
  readonly serviceAccount?: string | ChannelsGooglechatServiceAccountConfig | undefined;
  readonly serviceAccountFile?: string | undefined;
  readonly audienceType?: "app-url" | "project-number" | undefined;
  readonly audience?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly botUser?: string | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly streamMode?: "replace" | "status_final" | "append" | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly actions?: ChannelsGooglechatActionsConfig | undefined;
  readonly dm?: ChannelsGooglechatDmConfig | undefined;
  readonly typingIndicator?: "none" | "message" | "reaction" | undefined;
  readonly responsePrefix?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsGooglechatAccountConfig>> | undefined;
  readonly defaultAccount?: string | undefined;
}

export interface ChannelsSlackReplyToModeByChatTypeConfig {
  readonly direct?: "off" | "first" | "all" | undefined;
  readonly group?: "off" | "first" | "all" | undefined;
  readonly channel?: "off" | "first" | "all" | undefined;
}

export interface ChannelsSlackThreadConfig {
  readonly historyScope?: "thread" | "channel" | undefined;
  readonly inheritParent?: boolean | undefined;
  readonly initialHistoryLimit?: number | undefined;
}

export interface ChannelsSlackActionsConfig {
  readonly reactions?: boolean | undefined;
  readonly messages?: boolean | undefined;
  readonly pins?: boolean | undefined;
  readonly search?: boolean | undefined;
  readonly permissions?: boolean | undefined;
  readonly memberInfo?: boolean | undefined;
  readonly channelInfo?: boolean | undefined;
  readonly emojiList?: boolean | undefined;
}

export interface ChannelsSlackSlashCommandConfig {
  readonly enabled?: boolean | undefined;
  readonly name?: string | undefined;
  readonly sessionPrefix?: string | undefined;
  readonly ephemeral?: boolean | undefined;
}

export interface ChannelsSlackDmConfig {
  readonly enabled?: boolean | undefined;
  readonly policy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupEnabled?: boolean | undefined;
  readonly groupChannels?: readonly (string | number)[] | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
}

export interface ChannelsSlackChannelConfig {
  readonly enabled?: boolean | undefined;
  readonly allow?: boolean | undefined;
  readonly requireMention?: boolean | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly toolsBySender?: Readonly<Record<string, ChannelsWhatsappGroupToolsBySenderEntryConfig>> | undefined;
  readonly allowBots?: boolean | undefined;
  readonly users?: readonly (string | number)[] | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly systemPrompt?: string | undefined;
}

export interface ChannelsSlackAccountConfig {
  readonly name?: string | undefined;
  readonly mode?: "socket" | "http" | undefined;
  readonly signingSecret?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly commands?: ChannelsTelegramCommandsConfig | undefined;
  readonly configWrites?: boolean | undefined;
  readonly botToken?: string | undefined;
  readonly appToken?: string | undefined;
  readonly userToken?: string | undefined;
  readonly userTokenReadOnly?: boolean | undefined;
  readonly allowBots?: boolean | undefined;
  readonly dangerouslyAllowNameMatching?: boolean | undefined;
  readonly requireMention?: boolean | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly streaming?: boolean | "off" | "partial" | "block" | "progress" | undefined;
  readonly nativeStreaming?: boolean | undefined;
  readonly streamMode?: "replace" | "status_final" | "append" | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly reactionNotifications?: "off" | "own" | "all" | "allowlist" | undefined;
  readonly reactionAllowlist?: readonly (string | number)[] | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly replyToModeByChatType?: ChannelsSlackReplyToModeByChatTypeConfig | undefined;
  readonly thread?: ChannelsSlackThreadConfig | undefined;
  readonly actions?: ChannelsSlackActionsConfig | undefined;
  readonly slashCommand?: ChannelsSlackSlashCommandConfig | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly dm?: ChannelsSlackDmConfig | undefined;
  readonly channels?: Readonly<Record<string, ChannelsSlackChannelConfig>> | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly ackReaction?: string | undefined;
}

export interface ChannelsSlackConfig {
  readonly name?: string | undefined;
  readonly mode?: "socket" | "http" | undefined;
  readonly signingSecret?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly commands?: ChannelsTelegramCommandsConfig | undefined;
  readonly configWrites?: boolean | undefined;
  readonly botToken?: string | undefined;
  readonly appToken?: string | undefined;
  readonly userToken?: string | undefined;
  readonly userTokenReadOnly?: boolean | undefined;
  readonly allowBots?: boolean | undefined;
  readonly dangerouslyAllowNameMatching?: boolean | undefined;
  readonly requireMention?: boolean | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly streaming?: boolean | "off" | "partial" | "block" | "progress" | undefined;
  readonly nativeStreaming?: boolean | undefined;
  readonly streamMode?: "replace" | "status_final" | "append" | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly reactionNotifications?: "off" | "own" | "all" | "allowlist" | undefined;
  readonly reactionAllowlist?: readonly (string | number)[] | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly replyToModeByChatType?: ChannelsSlackReplyToModeByChatTypeConfig | undefined;
  readonly thread?: ChannelsSlackThreadConfig | undefined;
  readonly actions?: ChannelsSlackActionsConfig | undefined;
  readonly slashCommand?: ChannelsSlackSlashCommandConfig | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly dm?: ChannelsSlackDmConfig | undefined;
  readonly channels?: Readonly<Record<string, ChannelsSlackChannelConfig>> | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly ackReaction?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsSlackAccountConfig>> | undefined;
}

export interface ChannelsSignalAccountConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly account?: string | undefined;
  readonly httpUrl?: string | undefined;
  readonly httpHost?: string | undefined;
  readonly httpPort?: number | undefined;
  readonly cliPath?: string | undefined;
  readonly autoStart?: boolean | undefined;
  readonly startupTimeoutMs?: number | undefined;
  readonly receiveMode?: "on-start" | "manual" | undefined;
  readonly ignoreAttachments?: boolean | undefined;
  readonly ignoreStories?: boolean | undefined;
  readonly sendReadReceipts?: boolean | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly reactionNotifications?: "off" | "own" | "all" | "allowlist" | undefined;
  readonly reactionAllowlist?: readonly (string | number)[] | undefined;
  readonly actions?: ChannelsGooglechatActionsConfig | undefined;
  readonly reactionLevel?: "off" | "ack" | "minimal" | "extensive" | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
}

export interface ChannelsSignalConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly account?: string | undefined;
  readonly httpUrl?: string | undefined;
  readonly httpHost?: string | undefined;
  readonly httpPort?: number | undefined;
  readonly cliPath?: string | undefined;
  readonly autoStart?: boolean | undefined;
  readonly startupTimeoutMs?: number | undefined;
  readonly receiveMode?: "on-start" | "manual" | undefined;
  readonly ignoreAttachments?: boolean | undefined;
  readonly ignoreStories?: boolean | undefined;
  readonly sendReadReceipts?: boolean | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly reactionNotifications?: "off" | "own" | "all" | "allowlist" | undefined;
  readonly reactionAllowlist?: readonly (string | number)[] | undefined;
  readonly actions?: ChannelsGooglechatActionsConfig | undefined;
  readonly reactionLevel?: "off" | "ack" | "minimal" | "extensive" | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsSignalAccountConfig>> | undefined;
}

export interface ChannelsImessageAccountConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly cliPath?: string | undefined;
  readonly dbPath?: string | undefined;
  readonly remoteHost?: string | undefined;
  readonly service?: "imessage" | "sms" | "auto" | undefined;
  readonly region?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly includeAttachments?: boolean | undefined;
  readonly attachmentRoots?: readonly string[] | undefined;
  readonly remoteAttachmentRoots?: readonly string[] | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly groups?: Readonly<Record<string, ChannelsWhatsappGroupConfig>> | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
}

export interface ChannelsImessageConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly cliPath?: string | undefined;
  readonly dbPath?: string | undefined;
  readonly remoteHost?: string | undefined;
  readonly service?: "imessage" | "sms" | "auto" | undefined;
  readonly region?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly includeAttachments?: boolean | undefined;
  readonly attachmentRoots?: readonly string[] | undefined;
  readonly remoteAttachmentRoots?: readonly string[] | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly groups?: Readonly<Record<string, ChannelsWhatsappGroupConfig>> | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsImessageAccountConfig>> | undefined;
}

export interface ChannelsBluebubblesAccountConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly configWrites?: boolean | undefined;
  readonly enabled?: boolean | undefined;
  readonly serverUrl?: string | undefined;
  readonly password?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly mediaLocalRoots?: readonly string[] | undefined;
  readonly sendReadReceipts?: boolean | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly groups?: Readonly<Record<string, ChannelsWhatsappGroupConfig>> | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
}

export interface ChannelsBluebubblesActionsConfig {
  readonly reactions?: boolean | undefined;
  readonly edit?: boolean | undefined;
  readonly unsend?: boolean | undefined;
  readonly reply?: boolean | undefined;
  readonly sendWithEffect?: boolean | undefined;
  readonly renameGroup?: boolean | undefined;
  readonly setGroupIcon?: boolean | undefined;
  readonly addParticipant?: boolean | undefined;
  readonly removeParticipant?: boolean | undefined;
  readonly leaveGroup?: boolean | undefined;
  readonly sendAttachment?: boolean | undefined;
}

export interface ChannelsBluebubblesConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly configWrites?: boolean | undefined;
  readonly enabled?: boolean | undefined;
  readonly serverUrl?: string | undefined;
  readonly password?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly mediaLocalRoots?: readonly string[] | undefined;
  readonly sendReadReceipts?: boolean | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly groups?: Readonly<Record<string, ChannelsWhatsappGroupConfig>> | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsBluebubblesAccountConfig>> | undefined;
  readonly actions?: ChannelsBluebubblesActionsConfig | undefined;
}

export interface ChannelsMsteamsWebhookConfig {
  readonly port?: number | undefined;
  readonly path?: string | undefined;
}

export interface ChannelsMsteamsTeamChannelConfig {
  readonly requireMention?: boolean | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly toolsBySender?: Readonly<Record<string, ChannelsWhatsappGroupToolsBySenderEntryConfig>> | undefined;
  readonly replyStyle?: "thread" | "top-level" | undefined;
}

export interface ChannelsMsteamsTeamConfig {
  readonly requireMention?: boolean | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly toolsBySender?: Readonly<Record<string, ChannelsWhatsappGroupToolsBySenderEntryConfig>> | undefined;
  readonly replyStyle?: "thread" | "top-level" | undefined;
  readonly channels?: Readonly<Record<string, ChannelsMsteamsTeamChannelConfig>> | undefined;
}

export interface ChannelsMsteamsConfig {
  readonly enabled?: boolean | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly dangerouslyAllowNameMatching?: boolean | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly configWrites?: boolean | undefined;
  readonly appId?: string | undefined;
  readonly appPassword?: string | undefined;
  readonly tenantId?: string | undefined;
  readonly webhook?: ChannelsMsteamsWebhookConfig | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly string[] | undefined;
  readonly defaultTo?: string | undefined;
  readonly groupAllowFrom?: readonly string[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly mediaAllowHosts?: readonly string[] | undefined;
  readonly mediaAuthAllowHosts?: readonly string[] | undefined;
  readonly requireMention?: boolean | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly replyStyle?: "thread" | "top-level" | undefined;
  readonly teams?: Readonly<Record<string, ChannelsMsteamsTeamConfig>> | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly sharePointSiteId?: string | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly responsePrefix?: string | undefined;
}

export interface ChannelsMattermostAccountConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly dangerouslyAllowNameMatching?: boolean | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly botToken?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly chatmode?: "oncall" | "onmessage" | "onchar" | undefined;
  readonly oncharPrefixes?: readonly string[] | undefined;
  readonly requireMention?: boolean | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly actions?: ChannelsGooglechatActionsConfig | undefined;
}

export interface ChannelsMattermostConfig {
  readonly name?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly dangerouslyAllowNameMatching?: boolean | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly enabled?: boolean | undefined;
  readonly configWrites?: boolean | undefined;
  readonly botToken?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly chatmode?: "oncall" | "onmessage" | "onchar" | undefined;
  readonly oncharPrefixes?: readonly string[] | undefined;
  readonly requireMention?: boolean | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly actions?: ChannelsGooglechatActionsConfig | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsMattermostAccountConfig>> | undefined;
}

export interface ChannelsNextcloudTalkRoomConfig {
  readonly requireMention?: boolean | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly allowFrom?: readonly string[] | undefined;
  readonly systemPrompt?: string | undefined;
}

export interface ChannelsNextcloudTalkAccountConfig {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly baseUrl?: string | undefined;
  readonly botSecret?: string | undefined;
  readonly botSecretFile?: string | undefined;
  readonly apiUser?: string | undefined;
  readonly apiPassword?: string | undefined;
  readonly apiPasswordFile?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly webhookPort?: number | undefined;
  readonly webhookHost?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly webhookPublicUrl?: string | undefined;
  readonly allowFrom?: readonly string[] | undefined;
  readonly groupAllowFrom?: readonly string[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly rooms?: Readonly<Record<string, ChannelsNextcloudTalkRoomConfig>> | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly mediaMaxMb?: number | undefined;
}

export interface ChannelsNextcloudTalkConfig {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly baseUrl?: string | undefined;
  readonly botSecret?: string | undefined;
  readonly botSecretFile?: string | undefined;
  readonly apiUser?: string | undefined;
  readonly apiPassword?: string | undefined;
  readonly apiPasswordFile?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly webhookPort?: number | undefined;
  readonly webhookHost?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly webhookPublicUrl?: string | undefined;
  readonly allowFrom?: readonly string[] | undefined;
  readonly groupAllowFrom?: readonly string[] | undefined;
  readonly groupPolicy?: "open" | "disabled" | "allowlist" | undefined;
  readonly rooms?: Readonly<Record<string, ChannelsNextcloudTalkRoomConfig>> | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsNextcloudTalkAccountConfig>> | undefined;
}

export interface ChannelsFeishuGroupConfig {
  readonly enabled?: boolean | undefined;
  readonly requireMention?: boolean | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
  readonly toolsBySender?: Readonly<Record<string, ChannelsWhatsappGroupToolsBySenderEntryConfig>> | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly systemPrompt?: string | undefined;
  readonly topicSessionMode?: "disabled" | "enabled" | undefined;
  readonly replyInThread?: "disabled" | "enabled" | undefined;
}

export interface ChannelsFeishuMarkdownConfig {
  readonly mode?: "native" | "escape" | "strip" | undefined;
  readonly tableMode?: "native" | "ascii" | "simple" | undefined;
  readonly tables?: "off" | "bullets" | "code" | undefined;
}

export interface ChannelsFeishuToolsConfig {
  readonly doc?: boolean | undefined;
  readonly wiki?: boolean | undefined;
  readonly drive?: boolean | undefined;
  readonly perm?: boolean | undefined;
  readonly scopes?: boolean | undefined;
  readonly bitable?: boolean | undefined;
  readonly chat?: boolean | undefined;
}

export interface ChannelsFeishuDynamicAgentCreationConfig {
  readonly enabled?: boolean | undefined;
  readonly workspaceTemplate?: string | undefined;
  readonly agentDirTemplate?: string | undefined;
  readonly maxAgents?: number | undefined;
}

export interface ChannelsFeishuAccountConfig {
  readonly enabled?: boolean | undefined;
  readonly name?: string | undefined;
  readonly appId?: string | undefined;
  readonly appSecret?: string | undefined;
  readonly encryptKey?: string | undefined;
  readonly verificationToken?: string | undefined;
  readonly domain?: string | undefined;
  readonly connectionMode?: "websocket" | "webhook" | undefined;
  readonly webhookPath?: string | undefined;
  readonly webhookHost?: string | undefined;
  readonly webhookPort?: number | undefined;
  readonly dmPolicy?: "open" | "pairing" | "allowlist" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "allowlist" | "disabled" | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly requireMention?: boolean | undefined;
  readonly groups?: Readonly<Record<string, ChannelsFeishuGroupConfig>> | undefined;
  readonly topicSessionMode?: "disabled" | "enabled" | undefined;
  readonly replyInThread?: "disabled" | "enabled" | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly defaultTo?: string | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly configWrites?: boolean | undefined;
  readonly markdown?: ChannelsFeishuMarkdownConfig | undefined;
  readonly renderMode?: "auto" | "raw" | "card" | undefined;
  readonly streaming?: boolean | undefined;
  readonly ackReaction?: string | undefined;
  readonly typingIndicator?: boolean | undefined;
  readonly reactionNotifications?: "off" | "own" | "all" | undefined;
  readonly resolveSenderNames?: boolean | undefined;
  readonly tools?: ChannelsFeishuToolsConfig | undefined;
  readonly dynamicAgentCreation?: ChannelsFeishuDynamicAgentCreationConfig | undefined;
}

export interface ChannelsFeishuConfig {
  readonly enabled?: boolean | undefined;
  readonly name?: string | undefined;
  readonly appId?: string | undefined;
  readonly appSecret?: string | undefined;
  readonly encryptKey?: string | undefined;
  readonly verificationToken?: string | undefined;
  readonly domain?: string | undefined;
  readonly connectionMode?: "websocket" | "webhook" | undefined;
  readonly webhookPath?: string | undefined;
  readonly webhookHost?: string | undefined;
  readonly webhookPort?: number | undefined;
  readonly dmPolicy?: "open" | "pairing" | "allowlist" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "open" | "allowlist" | "disabled" | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly requireMention?: boolean | undefined;
  readonly groups?: Readonly<Record<string, ChannelsFeishuGroupConfig>> | undefined;
  readonly topicSessionMode?: "disabled" | "enabled" | undefined;
  readonly replyInThread?: "disabled" | "enabled" | undefined;
  readonly replyToMode?: "off" | "first" | "all" | undefined;
  readonly defaultTo?: string | undefined;
  readonly historyLimit?: number | undefined;
  readonly dmHistoryLimit?: number | undefined;
  readonly dms?: Readonly<Record<string, ChannelsWhatsappDmConfig>> | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly chunkMode?: "length" | "newline" | undefined;
  readonly blockStreaming?: boolean | undefined;
  readonly blockStreamingCoalesce?: AgentsDefaultsBlockStreamingCoalesceConfig | undefined;
  readonly responsePrefix?: string | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly heartbeat?: ChannelsDefaultsHeartbeatConfig | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly configWrites?: boolean | undefined;
  readonly markdown?: ChannelsFeishuMarkdownConfig | undefined;
  readonly renderMode?: "auto" | "raw" | "card" | undefined;
  readonly streaming?: boolean | undefined;
  readonly ackReaction?: string | undefined;
  readonly typingIndicator?: boolean | undefined;
  readonly reactionNotifications?: "off" | "own" | "all" | undefined;
  readonly resolveSenderNames?: boolean | undefined;
  readonly tools?: ChannelsFeishuToolsConfig | undefined;
  readonly dynamicAgentCreation?: ChannelsFeishuDynamicAgentCreationConfig | undefined;
  readonly defaultAccount?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsFeishuAccountConfig>> | undefined;
}

export interface ChannelsZaloAccountConfig {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly botToken?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly webhookSecret?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "disabled" | "allowlist" | "open" | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly proxy?: string | undefined;
  readonly responsePrefix?: string | undefined;
}

export interface ChannelsZaloConfig {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly botToken?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly webhookSecret?: string | undefined;
  readonly webhookPath?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "disabled" | "allowlist" | "open" | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly proxy?: string | undefined;
  readonly responsePrefix?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsZaloAccountConfig>> | undefined;
  readonly defaultAccount?: string | undefined;
}

export interface ChannelsZalouserGroupConfig {
  readonly allow?: boolean | undefined;
  readonly enabled?: boolean | undefined;
  readonly tools?: AgentsListEntryToolsSandboxToolsConfig | undefined;
}

export interface ChannelsZalouserAccountConfig {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly profile?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "disabled" | "allowlist" | "open" | undefined;
  readonly groups?: Readonly<Record<string, ChannelsZalouserGroupConfig>> | undefined;
  readonly messagePrefix?: string | undefined;
  readonly responsePrefix?: string | undefined;
}

export interface ChannelsZalouserConfig {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly markdown?: ChannelsWhatsappMarkdownConfig | undefined;
  readonly profile?: string | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupPolicy?: "disabled" | "allowlist" | "open" | undefined;
  readonly groups?: Readonly<Record<string, ChannelsZalouserGroupConfig>> | undefined;
  readonly messagePrefix?: string | undefined;
  readonly responsePrefix?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsZalouserAccountConfig>> | undefined;
  readonly defaultAccount?: string | undefined;
}

export interface ChannelsLineAccountGroupConfig {
  readonly enabled?: boolean | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly requireMention?: boolean | undefined;
  readonly systemPrompt?: string | undefined;
  readonly skills?: readonly string[] | undefined;
}

export interface ChannelsLineAccountConfig {
  readonly enabled?: boolean | undefined;
  readonly channelAccessToken?: string | undefined;
  readonly channelSecret?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly name?: string | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly dmPolicy?: "open" | "allowlist" | "pairing" | "disabled" | undefined;
  readonly groupPolicy?: "open" | "allowlist" | "disabled" | undefined;
  readonly responsePrefix?: string | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly webhookPath?: string | undefined;
  readonly groups?: Readonly<Record<string, ChannelsLineAccountGroupConfig>> | undefined;
}

export interface ChannelsLineConfig {
  readonly enabled?: boolean | undefined;
  readonly channelAccessToken?: string | undefined;
  readonly channelSecret?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly name?: string | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly groupAllowFrom?: readonly (string | number)[] | undefined;
  readonly dmPolicy?: "open" | "allowlist" | "pairing" | "disabled" | undefined;
  readonly groupPolicy?: "open" | "allowlist" | "disabled" | undefined;
  readonly responsePrefix?: string | undefined;
  readonly mediaMaxMb?: number | undefined;
  readonly webhookPath?: string | undefined;
  readonly accounts?: Readonly<Record<string, ChannelsLineAccountConfig>> | undefined;
  readonly groups?: Readonly<Record<string, ChannelsLineAccountGroupConfig>> | undefined;
}

export interface ChannelsConfig {
  readonly defaults?: ChannelsDefaultsConfig | undefined;
  readonly modelByChannel?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  readonly whatsapp?: ChannelsWhatsappConfig | undefined;
  readonly telegram?: ChannelsTelegramConfig | undefined;
  readonly discord?: ChannelsDiscordConfig | undefined;
  readonly irc?: ChannelsIrcConfig | undefined;
  readonly googlechat?: ChannelsGooglechatConfig | undefined;
  readonly slack?: ChannelsSlackConfig | undefined;
  readonly signal?: ChannelsSignalConfig | undefined;
  readonly imessage?: ChannelsImessageConfig | undefined;
  readonly bluebubbles?: ChannelsBluebubblesConfig | undefined;
  readonly msteams?: ChannelsMsteamsConfig | undefined;
  readonly mattermost?: ChannelsMattermostConfig | undefined;
  readonly "nextcloud-talk"?: ChannelsNextcloudTalkConfig | undefined;
  readonly feishu?: ChannelsFeishuConfig | undefined;
  readonly zalo?: ChannelsZaloConfig | undefined;
  readonly zalouser?: ChannelsZalouserConfig | undefined;
  readonly "synology-chat"?: Readonly<Record<string, unknown>> | undefined;
  readonly line?: ChannelsLineConfig | undefined;
  readonly [key: string]: unknown;
}

export interface DiscoveryWideAreaConfig {
  readonly enabled?: boolean | undefined;
}

export interface DiscoveryMdnsConfig {
  readonly mode?: "off" | "minimal" | "full" | undefined;
}

export interface DiscoveryConfig {
  readonly wideArea?: DiscoveryWideAreaConfig | undefined;
  readonly mdns?: DiscoveryMdnsConfig | undefined;
}

export interface CanvasHostConfig {
  readonly enabled?: boolean | undefined;
  readonly root?: string | undefined;
  readonly port?: number | undefined;
  readonly liveReload?: boolean | undefined;
}

export interface TalkProviderConfig {
  readonly voiceId?: string | undefined;
  readonly voiceAliases?: Readonly<Record<string, string>> | undefined;
  readonly modelId?: string | undefined;
  readonly outputFormat?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly [key: string]: unknown;
}

export interface TalkConfig {
  readonly provider?: string | undefined;
  readonly providers?: Readonly<Record<string, TalkProviderConfig>> | undefined;
  readonly voiceId?: string | undefined;
  readonly voiceAliases?: Readonly<Record<string, string>> | undefined;
  readonly modelId?: string | undefined;
  readonly outputFormat?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly interruptOnSpeech?: boolean | undefined;
}

export interface GatewayControlUiConfig {
  readonly enabled?: boolean | undefined;
  readonly basePath?: string | undefined;
  readonly root?: string | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly dangerouslyAllowHostHeaderOriginFallback?: boolean | undefined;
  readonly allowInsecureAuth?: boolean | undefined;
  readonly dangerouslyDisableDeviceAuth?: boolean | undefined;
}

export interface GatewayAuthRateLimitConfig {
  readonly maxAttempts?: number | undefined;
  readonly windowMs?: number | undefined;
  readonly lockoutMs?: number | undefined;
  readonly exemptLoopback?: boolean | undefined;
}

export interface GatewayAuthTrustedProxyConfig {
  readonly userHeader?: string | undefined;
  readonly requiredHeaders?: readonly string[] | undefined;
  readonly allowUsers?: readonly string[] | undefined;
}

export interface GatewayAuthConfig {
  readonly mode?: "none" | "token" | "password" | "trusted-proxy" | undefined;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  readonly allowTailscale?: boolean | undefined;
  readonly rateLimit?: GatewayAuthRateLimitConfig | undefined;
  readonly trustedProxy?: GatewayAuthTrustedProxyConfig | undefined;
}

export interface GatewayToolsConfig {
  readonly deny?: readonly string[] | undefined;
  readonly allow?: readonly string[] | undefined;
}

export interface GatewayTailscaleConfig {
  readonly mode?: "off" | "serve" | "funnel" | undefined;
  readonly resetOnExit?: boolean | undefined;
}

export interface GatewayRemoteConfig {
  readonly url?: string | undefined;
  readonly transport?: "ssh" | "direct" | undefined;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  readonly tlsFingerprint?: string | undefined;
  readonly sshTarget?: string | undefined;
  readonly sshIdentity?: string | undefined;
}

export interface GatewayReloadConfig {
  readonly mode?: "off" | "restart" | "hot" | "hybrid" | undefined;
  readonly debounceMs?: number | undefined;
}

export interface GatewayTlsConfig {
  readonly enabled?: boolean | undefined;
  readonly autoGenerate?: boolean | undefined;
  readonly certPath?: string | undefined;
  readonly keyPath?: string | undefined;
  readonly caPath?: string | undefined;
}

export interface GatewayHttpEndpointsChatCompletionsConfig {
  readonly enabled?: boolean | undefined;
}

export interface GatewayHttpEndpointsResponsesFilesPdfConfig {
  readonly maxPages?: number | undefined;
  readonly maxPixels?: number | undefined;
  readonly minTextChars?: number | undefined;
}

export interface GatewayHttpEndpointsResponsesFilesConfig {
  readonly allowUrl?: boolean | undefined;
  readonly urlAllowlist?: readonly string[] | undefined;
  readonly allowedMimes?: readonly string[] | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxChars?: number | undefined;
  readonly maxRedirects?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly pdf?: GatewayHttpEndpointsResponsesFilesPdfConfig | undefined;
}

export interface GatewayHttpEndpointsResponsesImagesConfig {
  readonly allowUrl?: boolean | undefined;
  readonly urlAllowlist?: readonly string[] | undefined;
  readonly allowedMimes?: readonly string[] | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxRedirects?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface GatewayHttpEndpointsResponsesConfig {
  readonly enabled?: boolean | undefined;
  readonly maxBodyBytes?: number | undefined;
  readonly maxUrlParts?: number | undefined;
  readonly files?: GatewayHttpEndpointsResponsesFilesConfig | undefined;
  readonly images?: GatewayHttpEndpointsResponsesImagesConfig | undefined;
}

export interface GatewayHttpEndpointsConfig {
  readonly chatCompletions?: GatewayHttpEndpointsChatCompletionsConfig | undefined;
  readonly responses?: GatewayHttpEndpointsResponsesConfig | undefined;
}

export interface GatewayHttpSecurityHeadersConfig {
  readonly strictTransportSecurity?: string | false | undefined;
}

export interface GatewayHttpConfig {
  readonly endpoints?: GatewayHttpEndpointsConfig | undefined;
  readonly securityHeaders?: GatewayHttpSecurityHeadersConfig | undefined;
}

export interface GatewayNodesBrowserConfig {
  readonly mode?: "auto" | "manual" | "off" | undefined;
  readonly node?: string | undefined;
}

export interface GatewayNodesConfig {
  readonly browser?: GatewayNodesBrowserConfig | undefined;
  readonly allowCommands?: readonly string[] | undefined;
  readonly denyCommands?: readonly string[] | undefined;
}

export interface GatewayConfig {
  readonly port?: number | undefined;
  readonly mode?: "local" | "remote" | undefined;
  readonly bind?: "auto" | "lan" | "loopback" | "custom" | "tailnet" | undefined;
  readonly customBindHost?: string | undefined;
  readonly controlUi?: GatewayControlUiConfig | undefined;
  readonly auth?: GatewayAuthConfig | undefined;
  readonly trustedProxies?: readonly string[] | undefined;
  readonly allowRealIpFallback?: boolean | undefined;
  readonly tools?: GatewayToolsConfig | undefined;
  readonly channelHealthCheckMinutes?: number | undefined;
  readonly tailscale?: GatewayTailscaleConfig | undefined;
  readonly remote?: GatewayRemoteConfig | undefined;
  readonly reload?: GatewayReloadConfig | undefined;
  readonly tls?: GatewayTlsConfig | undefined;
  readonly http?: GatewayHttpConfig | undefined;
  readonly nodes?: GatewayNodesConfig | undefined;
}

export interface MemoryQmdMcporterConfig {
  readonly enabled?: boolean | undefined;
  readonly serverName?: string | undefined;
  readonly startDaemon?: boolean | undefined;
}

export interface MemoryQmdPathConfig {
  readonly path: string;
  readonly name?: string | undefined;
  readonly pattern?: string | undefined;
}

export interface MemoryQmdSessionsConfig {
  readonly enabled?: boolean | undefined;
  readonly exportDir?: string | undefined;
  readonly retentionDays?: number | undefined;
}

export interface MemoryQmdUpdateConfig {
  readonly interval?: string | undefined;
  readonly debounceMs?: number | undefined;
  readonly onBoot?: boolean | undefined;
  readonly waitForBootSync?: boolean | undefined;
  readonly embedInterval?: string | undefined;
  readonly commandTimeoutMs?: number | undefined;
  readonly updateTimeoutMs?: number | undefined;
  readonly embedTimeoutMs?: number | undefined;
}

export interface MemoryQmdLimitsConfig {
  readonly maxResults?: number | undefined;
  readonly maxSnippetChars?: number | undefined;
  readonly maxInjectedChars?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface MemoryQmdConfig {
  readonly command?: string | undefined;
  readonly mcporter?: MemoryQmdMcporterConfig | undefined;
  readonly searchMode?: "query" | "search" | "vsearch" | undefined;
  readonly includeDefaultMemory?: boolean | undefined;
  readonly paths?: readonly MemoryQmdPathConfig[] | undefined;
  readonly sessions?: MemoryQmdSessionsConfig | undefined;
  readonly update?: MemoryQmdUpdateConfig | undefined;
  readonly limits?: MemoryQmdLimitsConfig | undefined;
  readonly scope?: ToolsMediaImageScopeConfig | undefined;
}

export interface MemoryConfig {
  readonly backend?: "builtin" | "qmd" | undefined;
  readonly citations?: "auto" | "on" | "off" | undefined;
  readonly qmd?: MemoryQmdConfig | undefined;
}

export interface SkillsLoadConfig {
  readonly extraDirs?: readonly string[] | undefined;
  readonly watch?: boolean | undefined;
  readonly watchDebounceMs?: number | undefined;
}

export interface SkillsInstallConfig {
  readonly preferBrew?: boolean | undefined;
  readonly nodeManager?: "npm" | "pnpm" | "yarn" | "bun" | undefined;
}

export interface SkillsLimitsConfig {
  readonly maxCandidatesPerRoot?: number | undefined;
  readonly maxSkillsLoadedPerSource?: number | undefined;
  readonly maxSkillsInPrompt?: number | undefined;
  readonly maxSkillsPromptChars?: number | undefined;
  readonly maxSkillFileBytes?: number | undefined;
}

export interface SkillsEntryConfig {
  readonly enabled?: boolean | undefined;
  readonly apiKey?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
}

export interface SkillsConfig {
  readonly allowBundled?: readonly string[] | undefined;
  readonly load?: SkillsLoadConfig | undefined;
  readonly install?: SkillsInstallConfig | undefined;
  readonly limits?: SkillsLimitsConfig | undefined;
  readonly entries?: Readonly<Record<string, SkillsEntryConfig>> | undefined;
}

export interface PluginsLoadConfig {
  readonly paths?: readonly string[] | undefined;
}

export interface PluginsSlotsConfig {
  readonly memory?: string | undefined;
}

export interface PluginsEntryConfig {
  readonly enabled?: boolean | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
}

export interface PluginsInstallConfig {
  readonly source?: "npm" | "archive" | "path" | undefined;
  readonly spec?: string | undefined;
  readonly sourcePath?: string | undefined;
  readonly installPath?: string | undefined;
  readonly version?: string | undefined;
  readonly resolvedName?: string | undefined;
  readonly resolvedVersion?: string | undefined;
  readonly resolvedSpec?: string | undefined;
  readonly integrity?: string | undefined;
  readonly shasum?: string | undefined;
  readonly resolvedAt?: string | undefined;
  readonly installedAt?: string | undefined;
}

export interface PluginsConfig {
  readonly enabled?: boolean | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly load?: PluginsLoadConfig | undefined;
  readonly slots?: PluginsSlotsConfig | undefined;
  readonly entries?: Readonly<Record<string, PluginsEntryConfig>> | undefined;
  readonly installs?: Readonly<Record<string, PluginsInstallConfig>> | undefined;
}

export interface OpenClawConfig {
  readonly $schema?: string | undefined;
  readonly meta?: MetaConfig | undefined;
  readonly env?: EnvConfig | undefined;
  readonly wizard?: WizardConfig | undefined;
  readonly diagnostics?: DiagnosticsConfig | undefined;
  readonly logging?: LoggingConfig | undefined;
  readonly update?: UpdateConfig | undefined;
  readonly browser?: BrowserConfig | undefined;
  readonly ui?: UiConfig | undefined;
  readonly auth?: AuthConfig | undefined;
  readonly models?: ModelsConfig | undefined;
  readonly heartbeat?: HeartbeatConfig | undefined;
  readonly mcp?: McpConfig | undefined;
  readonly nodeHost?: NodeHostConfig | undefined;
  readonly agents?: AgentsConfig | undefined;
  readonly tools?: ToolsConfig | undefined;
  readonly bindings?: readonly BindingConfig[] | undefined;
  readonly broadcast?: BroadcastConfig | undefined;
  readonly audio?: AudioConfig | undefined;
  readonly media?: MediaConfig | undefined;
  readonly messages?: MessagesConfig | undefined;
  readonly commands?: CommandsConfig | undefined;
  readonly approvals?: ApprovalsConfig | undefined;
  readonly session?: SessionConfig | undefined;
  readonly cron?: CronConfig | undefined;
  readonly hooks?: HooksConfig | undefined;
  readonly web?: WebConfig | undefined;
  readonly channels?: ChannelsConfig | undefined;
  readonly discovery?: DiscoveryConfig | undefined;
  readonly canvasHost?: CanvasHostConfig | undefined;
  readonly talk?: TalkConfig | undefined;
  readonly gateway?: GatewayConfig | undefined;
  readonly memory?: MemoryConfig | undefined;
  readonly skills?: SkillsConfig | undefined;
  readonly plugins?: PluginsConfig | undefined;
}
