import type { OpenClawConfig } from "../../config/index.ts";
import { sessionKeyKind } from "../../routing/index.ts";
import { resolveBootstrapContextForRun, resolveBootstrapMaxChars, resolveBootstrapTotalMaxChars, type BootstrapAudience } from "../bootstrap-files.ts";
import { formatModelRef, type PreparedModel } from "../models/types.ts";
import { buildSkillsSnapshot, changingSkillDirs, loadSkills, type SkillRoots } from "../skills/index.ts";
import type { AgentTool } from "../tools/contract.ts";
import type { SkillsSnapshot } from "../../sessions/index.ts";
import type { RunnerDeps } from "./deps.ts";
import type { RunChannelContext, RunEmbeddedPiAgentParams } from "./run/params.ts";
import type { SystemPromptReport } from "./run/types.ts";
import { resolveSandboxInfo } from "./sandbox-info.ts";
import { buildSystemPrompt, toolList } from "./system-prompt.ts";

export const HEARTBEAT_PROMPT =
  "Read HEARTBEAT.md in the workspace if it is there and do exactly what it says. Do not pick up or repeat tasks from earlier conversations. If nothing needs attention, answer HEARTBEAT_OK.";

export interface AssembledPrompt {
  readonly systemPrompt: string;
  readonly report: SystemPromptReport;
  readonly skills: SkillsSnapshot;
}

/** The prompt parts of one session, kept so that every turn sends the same bytes until a reset, or until skills change. */
export interface PromptCache {
  get(sessionId: string): CachedParts | undefined;
  set(sessionId: string, parts: CachedParts): void;
  delete(sessionId: string): void;
}

interface CachedParts {
  readonly bootstrap: Awaited<ReturnType<typeof resolveBootstrapContextForRun>>;
  readonly skills: SkillsSnapshot;
  readonly skillsVersion: number;
  readonly skillsConfig: OpenClawConfig["skills"];
}

const MAX_CACHED = 500;

export function createPromptCache(): PromptCache {
  const cache = new Map<string, CachedParts>();
  return {
    get: (id) => cache.get(id),
    set(id, parts) {
      cache.set(id, parts);
      const oldest = cache.keys().next().value;
      if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
    },
    delete: (id) => void cache.delete(id),
  };
}

const TAG_PROVIDERS = /^(google-gemini-cli|google-generative-ai)$|minimax/;

export function usesReasoningTags(provider: string): boolean {
  return TAG_PROVIDERS.test(provider);
}

/** Subagents and cron jobs get the files about who and how, not those about the day's business. Source: spec agent-pipeline §5.1. */
function audienceOf({ promptMode, sessionKey }: Pick<RunEmbeddedPiAgentParams, "promptMode" | "sessionKey">): BootstrapAudience {
  return promptMode === "full" && sessionKeyKind(sessionKey) !== "cron" ? "full" : "reduced";
}

/** How freely the agent may react with emojis; channels without reactions say nothing about it. */
function resolveReactionLevel(cfg: OpenClawConfig, channel: RunChannelContext | undefined): "minimal" | "extensive" | undefined {
  if (channel?.channel !== "telegram" && channel?.channel !== "signal") return undefined;
  const section = cfg.channels?.[channel.channel];
  const level = section?.accounts?.[channel.accountId ?? "default"]?.reactionLevel ?? section?.reactionLevel ?? "minimal";
  return level === "minimal" || level === "extensive" ? level : undefined;
}

export async function assemblePrompt(
  deps: RunnerDeps,
  params: Pick<RunEmbeddedPiAgentParams, "agent" | "sessionKey" | "sessionId" | "promptMode" | "includeMemory" | "extraSystemPrompt" | "channel" | "ownerIds" | "skillFilter" | "thinking" | "reasoning" | "removedTools">,
  tools: readonly AgentTool[],
  prepared: Pick<PreparedModel, "ref"> & { readonly model?: { readonly api: string } | undefined },
  cache: PromptCache,
  source: "run" | "estimate",
): Promise<AssembledPrompt> {
  const cfg = deps.config();
  const { agent } = params;
  const cacheKey = `${params.sessionId}|${params.skillFilter?.join(",") ?? ""}|${params.includeMemory}`;
  const roots: SkillRoots = { workspaceDir: agent.workspaceDir, stateDir: deps.stateDir, bundledDir: deps.bundledSkillsDir, pluginDirs: deps.pluginSkillDirs(), env: deps.env, config: cfg, log: deps.log };
  const isWatched = cfg.skills?.load?.watch !== false;
  const skillsVersion = isWatched ? deps.skillsWatcher.version(agent.workspaceDir, changingSkillDirs(roots), cfg.skills?.load?.watchDebounceMs) : 0;
  const known = cache.get(cacheKey);
  let parts = known;
  if (!parts || parts.skillsVersion !== skillsVersion || parts.skillsConfig !== cfg.skills) {
    const [bootstrap, skills] = await Promise.all([
      known?.bootstrap ??
        resolveBootstrapContextForRun({
          workspaceDir: agent.workspaceDir, config: cfg, audience: audienceOf(params),
          includeMemory: params.includeMemory, warn: (message) => deps.log.warn(message),
          change: (files) => deps.hooks.beforeBootstrap(files, cfg, { agentId: agent.id, sessionKey: params.sessionKey, sessionId: params.sessionId, workspaceDir: agent.workspaceDir, messageProvider: params.channel?.channel }),
        }),
      isWatched ? deps.skillShelf.load(roots, skillsVersion) : loadSkills(roots),
    ]);
    const filter = params.skillFilter ?? agent.config?.skills;
    parts = { bootstrap, skills: { ...buildSkillsSnapshot(skills, { filter, config: cfg }), version: skillsVersion }, skillsVersion, skillsConfig: cfg.skills };
    cache.set(cacheKey, parts);
  }
  const sandbox = resolveSandboxInfo(cfg, agent, params.sessionKey);
  const defaultChoice = await deps.models.selectDefault(agent.id);
  const aliases = [...deps.models.aliases(agent.id)].map(([alias, ref]) => ({ alias, ref: formatModelRef(ref) }));
  const heartbeat = agent.config?.heartbeat?.prompt ?? cfg.agents?.defaults?.heartbeat?.prompt ?? HEARTBEAT_PROMPT;
  const machine = deps.machine();
  const systemPrompt = buildSystemPrompt({
    mode: params.promptMode, config: cfg, tools, workspaceDir: agent.workspaceDir, contextFiles: parts.bootstrap.contextFiles,
    skillsPrompt: parts.skills.prompt, modelAliases: aliases, ownerIds: params.ownerIds, docsDir: deps.docsDir,
    timeZone: cfg.agents?.defaults?.userTimezone ?? machine.timeZone,
    sandbox, extraSystemPrompt: params.extraSystemPrompt, messageChannels: deps.messageChannels(), messageToolHints: deps.messageToolHints(),
    reactionLevel: resolveReactionLevel(cfg, params.channel), reasoningTags: usesReasoningTags(prepared.ref.provider),
    heartbeatPrompt: agent.isDefault ? heartbeat : "(configured)", reasoningLevel: params.reasoning,
    runtime: {
      agentId: agent.id, host: machine.host, repoRoot: cfg.agents?.defaults?.repoRoot, os: machine.os,
      node: process.version, model: formatModelRef(prepared.ref), defaultModel: formatModelRef(defaultChoice.ref),
      shell: deps.env["SHELL"]?.split("/").at(-1), channel: params.channel?.channel, capabilities: params.channel?.capabilities ?? [], thinking: params.thinking,
    },
  });
  return { systemPrompt, skills: parts.skills, report: buildReport() };

  function buildReport(): SystemPromptReport {
    const { bootstrap, skills } = parts as CachedParts;
    const projectChars = bootstrap.contextFiles.reduce((sum, file) => sum + file.content.length, 0);
    const entries = tools.map((tool) => {
      const { chars, propertiesCount } = deps.toolSchemas.of(tool.parameters, { provider: prepared.ref.provider, api: prepared.model?.api });
      return { name: tool.name, summaryChars: tool.description.length, schemaChars: chars, propertiesCount };
    });
    return {
      source, generatedAt: deps.clock.now(), sessionId: params.sessionId, sessionKey: params.sessionKey,
      provider: prepared.ref.provider, model: prepared.ref.modelId, workspaceDir: agent.workspaceDir,
      bootstrapMaxChars: resolveBootstrapMaxChars(cfg), bootstrapTotalMaxChars: resolveBootstrapTotalMaxChars(cfg),
      sandbox: { mode: sandbox.mode, sandboxed: sandbox.enabled },
      systemPrompt: { chars: systemPrompt.length, projectContextChars: projectChars, nonProjectContextChars: systemPrompt.length - projectChars },
      injectedWorkspaceFiles: bootstrap.bootstrapFiles.map((file) => ({
        name: file.fileName, path: file.filePath, missing: file.missing, rawChars: file.rawChars,
        injectedChars: file.content.length, truncated: file.truncatedChars !== undefined,
      })),
      skills: {
        promptChars: skills.prompt.length,
        entries: [...skills.prompt.matchAll(/ {2}<skill>\n {4}<name>([^<]*)<\/name>[\s\S]*?<\/skill>/g)].map((match) => ({ name: match[1] ?? "", blockChars: match[0].length })),
      },
      tools: { listChars: toolList(tools).length, schemaChars: entries.reduce((sum, entry) => sum + entry.schemaChars, 0), entries, removed: params.removedTools?.map(({ name, rule }) => ({ name, rule })) },
    };
  }
}
