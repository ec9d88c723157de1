import { join } from "node:path";
import type { BrowserService } from "../browser/index.ts";
import type { GroupToolPolicy } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { Clock } from "../infra/clock.ts";
import type { GuardedFetch } from "../infra/guarded-fetch.ts";
import { resolveAgent, type AgentRoots, type ResolvedAgent } from "../routing/index.ts";
import type { RunEmbeddedPiAgentParams } from "./pi-embedded-runner/run/params.ts";
import type { MessagingSend } from "./pi-embedded-runner/run/types.ts";
import { withToolHooks, type AgentHooks } from "./hooks.ts";
import { judgeTool } from "./pi-tools.policy.ts";
import { CORE_TOOL_NAMES } from "./tool-policy.ts";
import { formatModelRef, type ModelRef, type ModelService } from "./models/types.ts";
import type { PiModules } from "./pi.ts";
import { filesToSend, isSessionSandboxed, type SandboxService, type SandboxSession } from "./sandbox/index.ts";
import { createApplyPatchTool } from "./tools/apply-patch/tool.ts";
import type { AgentTool } from "./tools/contract.ts";
import { createCronTool, type CronActions } from "./tools/cron-tool.ts";
import { createBrowserTool } from "./tools/browser-tool.ts";
import type { ExecApprovalActions } from "./tools/exec/approval-run.ts";
import { createExecTool } from "./tools/exec/exec-tool.ts";
import type { ProcessJobs } from "./tools/exec/process-jobs.ts";
import { createProcessTool } from "./tools/exec/process-tool.ts";
import { createFileAccess, type FileAccess } from "./tools/file-access.ts";
import { createEditTool, createReadTool, createWriteTool } from "./tools/file-tools.ts";
import { createGatewayTool, type GatewayActions } from "./tools/gateway-tool.ts";
import { createImageTool } from "./tools/media/image-tool.ts";
import { createPdfTool } from "./tools/media/pdf-tool.ts";
import { createCanvasTool } from "./tools/nodes/canvas-tool.ts";
import type { NodeActions } from "./tools/nodes/contract.ts";
import { createNodesTool } from "./tools/nodes/nodes-tool.ts";
import { createMessageTool, type MessageActions } from "./tools/message-tool.ts";
import type { SessionActions, SessionToolScope } from "./tools/sessions/contract.ts";
import { createAgentsListTool, createSessionsHistoryTool, createSessionsListTool, createSessionsSendTool } from "./tools/sessions/session-tools.ts";
import { createSessionsSpawnTool, createSubagentsTool } from "./tools/sessions/subagent-tools.ts";
import { createSessionStatusTool, type SessionStatusSource } from "./tools/session-status-tool.ts";
import { createWebTools } from "./tools/web/index.ts";

export type RunRequest = Omit<RunEmbeddedPiAgentParams, "tools" | "agent" | "signal" | "includeMemory" | "promptMode"> & {
  readonly agentId: string;
  readonly groupPolicy?: GroupToolPolicy | undefined;
  /** Immutable id of who asked; undefined for clients and automation. */
  readonly senderId?: string | undefined;
  /** What the session or the message changes about exec. */
  readonly exec?: ExecOverrides | undefined;
  /** The sender may run commands on the gateway host although the session would be sandboxed. */
  readonly elevated?: boolean | undefined;
};

export interface ExecOverrides {
  readonly host?: "sandbox" | "gateway" | "node" | undefined;
  readonly security?: "deny" | "allowlist" | "full" | undefined;
  readonly ask?: "off" | "on-miss" | "always" | undefined;
  readonly node?: string | undefined;
}

/** What a plugin is told about the run that its tools are for. Source: spec plugin-sdk §8. */
export interface ExtraToolContext {
  readonly agentId: string;
  readonly workspaceDir: string;
  readonly agentDir: string;
  readonly sessionKey: string;
  readonly messageChannel: string | undefined;
  readonly agentAccountId: string | undefined;
  readonly sandboxed: boolean;
}

/** What tools drive in other rooms. */
export interface ToolSources {
  readonly messageActions: MessageActions;
  readonly statusSource: SessionStatusSource;
  readonly cronActions: CronActions;
  readonly sessionActions: SessionActions;
  readonly gatewayActions: GatewayActions;
  readonly execApprovals: ExecApprovalActions;
  readonly browser: BrowserService;
  readonly nodeActions: NodeActions;
  /** How many agents stand above a session; 0 for one that a person speaks with. */
  readonly spawnDepth: (sessionKey: string) => number;
  /** Tools of plugins and channels for one run; `taken` are names that they may not have. */
  readonly extraTools: (run: ExtraToolContext, taken: ReadonlySet<string>) => AgentTool[];
  /** For what the model wants from the web. */
  readonly fetch: GuardedFetch;
}

export interface ToolSetOptions extends ToolSources {
  readonly config: () => OpenClawConfig;
  readonly roots: AgentRoots;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly docsDir: string | undefined;
  readonly bundledSkillsDir: string;
  /** Folders of skills that plugins bring. */
  readonly pluginSkillDirs: () => readonly string[];
  readonly hooks: AgentHooks;
  readonly jobs: ProcessJobs;
  /** PATH as the person's login shell has it. */
  readonly loginPath: () => Promise<string | undefined>;
  /** Variables of the agent's skills, for commands. */
  readonly skillEnv: (agentId: string) => Promise<Readonly<Record<string, string>>>;
  readonly models: ModelService;
  readonly pi: () => Promise<PiModules>;
  /** Tools of the MCP servers that are connected. */
  readonly mcpTools: () => AgentTool[];
  readonly sandboxes: Pick<SandboxService, "session">;
}

export interface RemovedTool {
  readonly name: string;
  /** The config key, or the reason, that took it away. */
  readonly rule: string;
  /** What to tell a person who asked for the tool. */
  readonly explanation?: string | undefined;
}

/** The tools of one run, those that a rule took away, and where they work. */
export type ToolSet = (request: Omit<RunRequest, "prompt" | "onAgentEvent">, sends: MessagingSend[]) => {
  readonly offered: AgentTool[];
  readonly removed: RemovedTool[];
  /** Tools bring it up by themselves; a run does before it asks the model. */
  readonly sandbox: SandboxSession | undefined;
};

/** Where the workspace may only be read, there is nothing to write to. Source: spec tools-and-automation §1.2. */
const WRITE_TOOLS: ReadonlySet<string> = new Set(["write", "edit", "apply_patch"]);
/** A job must not make jobs (spec tools-and-automation §1.1). */
const NOT_IN_CRON: ReadonlySet<string> = new Set(["cron", "gateway"]);

export function createToolSet(options: ToolSetOptions): ToolSet {
  const webTools = createWebTools({ fetch: options.fetch, env: options.env, now: () => options.clock.now() });
  return (request, sends) => {
    const cfg = options.config();
    const agent = resolveAgent(cfg, request.agentId, options.roots);
    const depth = options.spawnDepth(request.sessionKey);
    const subagent = depth === 0 ? undefined : depth >= (cfg.agents?.defaults?.subagents?.maxSpawnDepth ?? 1) ? "leaf" : "inner";
    const sandbox = options.sandboxes.session(agent.id, request.sessionKey);
    const offered: AgentTool[] = [];
    const removed: RemovedTool[] = [];
    const own = [...buildTools({ options, cfg, agent, request, sandbox }, sends), ...webTools(cfg), ...options.mcpTools()];
    const extra = options.extraTools({
      agentId: agent.id, workspaceDir: agent.workspaceDir, agentDir: agent.agentDir, sessionKey: request.sessionKey, messageChannel: request.channel?.channel, agentAccountId: request.channel?.accountId,
      sandboxed: sandbox !== undefined,
    }, new Set([...CORE_TOOL_NAMES, ...own.map(({ name }) => name.toLowerCase())]));
    const hookContext = { agentId: agent.id, sessionKey: request.sessionKey, sessionId: request.sessionId, workspaceDir: agent.workspaceDir, messageProvider: request.channel?.channel ?? "webchat" };
    for (const tool of [...own, ...extra]) {
      const verdict = judgeTool({ config: cfg, agent, model: request.model, isOwner: request.isOwner, group: request.groupPolicy, sandboxed: sandbox?.settings.mode ?? false, subagent }, { ...tool, ...(tool.source?.kind === "mcp" ? { mcpServer: tool.source.server } : {}), ...(tool.source?.kind === "plugin" ? { pluginId: tool.source.pluginId } : {}) });
      if (verdict.kind === "removed") removed.push({ name: tool.name, rule: verdict.rule, explanation: verdict.explanation });
      else if (request.lane === "cron" && NOT_IN_CRON.has(tool.name)) removed.push({ name: tool.name, rule: "not in scheduled runs" });
      else if (sandbox?.settings.workspaceAccess === "ro" && WRITE_TOOLS.has(tool.name)) removed.push({ name: tool.name, rule: "sandbox.workspaceAccess=ro" });
      else offered.push(withToolHooks(tool, options.hooks, hookContext, () => options.clock.now()));
    }
    return { offered, removed, sandbox };
  };
}

/** What a run's tools are made of. */
interface ToolContext {
  readonly options: ToolSetOptions;
  readonly cfg: OpenClawConfig;
  readonly agent: ResolvedAgent;
  readonly request: Omit<RunRequest, "prompt" | "onAgentEvent">;
  readonly sandbox: SandboxSession | undefined;
}

function buildTools(context: ToolContext, sends: MessagingSend[]): AgentTool[] {
  const { options, cfg, agent, request, sandbox } = context;
  const { sessionKey, isOwner, channel } = request;
  const fileAccess = (workspaceOnly: boolean): FileAccess => sandbox?.files ?? createFileAccess({
    workspaceDir: agent.workspaceDir, stateDir: options.roots.stateDir, workspaceOnly,
    readRoots: [options.bundledSkillsDir, ...options.pluginSkillDirs(), join(options.roots.stateDir, "skills"), join(options.roots.stateDir, "media"), ...(options.docsDir ? [options.docsDir] : [])],
  });
  const access = fileAccess(agent.config?.tools?.fs?.workspaceOnly ?? cfg.tools?.fs?.workspaceOnly ?? !isOwner);
  const patch = { ...cfg.tools?.exec?.applyPatch, ...agent.config?.tools?.exec?.applyPatch };
  const files = { access, contextTokens: cfg.agents?.defaults?.contextTokens ?? 200_000 };
  return [
    createReadTool(files),
    createEditTool(files),
    createWriteTool(files),
    ...(offersApplyPatch(patch, request.model) ? [createApplyPatchTool({ access: patch.workspaceOnly === false ? access : fileAccess(true) })] : []),
    createExecTool({
      jobs: options.jobs, scope: sessionKey, agentId: agent.id, workspaceDir: agent.workspaceDir, settings: { ...cfg.tools?.exec, ...agent.config?.tools?.exec, ...request.exec },
      env: options.env, configEnv: configEnvironment(cfg), loginPath: options.loginPath, elevated: request.elevated === true, approvals: options.execApprovals,
      skillEnv: () => options.skillEnv(agent.id), sandbox,
    }),
    createProcessTool({ jobs: options.jobs, scope: sessionKey, now: () => options.clock.now() }),
    ...(cfg.cron?.enabled === false ? [] : [createCronTool({ actions: options.cronActions, agentId: agent.id, sessionKey, isOwner, senderId: request.senderId, chat: channel })]),
    createMessageTool({ actions: options.messageActions, current: channel, isOwner, settings: cfg.tools?.message, files: filesToSend(sandbox, agent.workspaceDir), runId: request.runId, sessionKey, sends }),
    ...imageTool(options, cfg, agent, access, request.model),
    createPdfTool({ access, fetch: options.fetch }),
    ...(options.browser.isEnabled() ? [createBrowserTool({ browser: options.browser, access })] : []),
    ...(options.nodeActions.list().length > 0 || options.nodeActions.pending().length > 0 ? [createCanvasTool({ actions: options.nodeActions, access }), createNodesTool({ actions: options.nodeActions, agentId: agent.id, sessionKey })] : []),
    createGatewayTool({ actions: options.gatewayActions, sessionKey }),
    ...sessionTools(context),
    createSessionStatusTool({ source: options.statusSource, sessionKey, isOwner, ownOnly: sandbox?.settings.sessionToolsVisibility === "spawned" }),
  ];
}

const DEFAULT_IMAGE_SIDE_PX = 1200;
/** Providers whose chat models cannot see, and the model of theirs that can. Source: spec tools-and-automation §1.6. */
const SIGHTED: Readonly<Record<string, string>> = { minimax: "minimax/MiniMax-VL-01", "minimax-cn": "minimax-cn/MiniMax-VL-01", zai: "zai/glm-4.6v" };

function imageTool(options: ToolSetOptions, cfg: OpenClawConfig, agent: ResolvedAgent, access: FileAccess, model: ModelRef): AgentTool[] {
  const configured = cfg.agents?.defaults?.imageModel;
  const listed = typeof configured === "string" ? [configured] : [configured?.primary, ...(configured?.fallbacks ?? [])];
  const paired = SIGHTED[model.provider];
  const candidates = [...listed, paired].filter((name): name is string => name !== undefined && name !== "");
  if (candidates.length === 0) return [];
  const { fetch, models, pi } = options;
  return [createImageTool({ access, fetch, models, pi, candidates, agentId: agent.id, maxSidePx: cfg.agents?.defaults?.imageMaxDimensionPx ?? DEFAULT_IMAGE_SIDE_PX })];
}

function sessionTools({ options, cfg, agent, request, sandbox }: ToolContext): AgentTool[] {
  const visibility = cfg.tools?.sessions?.visibility ?? "tree";
  const limitsVisibility = sandbox?.settings.sessionToolsVisibility === "spawned" && visibility !== "self";
  const scope: SessionToolScope = {
    actions: options.sessionActions, sessionKey: request.sessionKey, agentId: agent.id, isOwner: request.isOwner, senderId: request.senderId, chat: request.channel, now: () => options.clock.now(),
    visibility: limitsVisibility ? "tree" : visibility,
    sandbox: sandbox && { limitsVisibility, isAgentSandboxed: (agentId) => isSessionSandboxed(cfg, agentId, `agent:${agentId}:subagent:new`) },
    agentToAgent: { enabled: cfg.tools?.agentToAgent?.enabled === true, allow: cfg.tools?.agentToAgent?.allow ?? [] },
  };
  return [createAgentsListTool, createSessionsListTool, createSessionsHistoryTool, createSessionsSendTool, createSessionsSpawnTool, createSubagentsTool].map((create) => create(scope));
}

/** Models of OpenAI are trained on it; others do better with edit. Source: spec tools-and-automation §1.2. */
function offersApplyPatch(settings: { readonly enabled?: boolean | undefined; readonly allowModels?: readonly string[] | undefined }, model: ModelRef): boolean {
  if (settings.enabled !== true || (model.provider !== "openai" && model.provider !== "openai-codex")) return false;
  const allowed = settings.allowModels ?? [];
  return allowed.length === 0 || allowed.some((name) => name === model.modelId || name === formatModelRef(model));
}

function configEnvironment(cfg: OpenClawConfig): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries({ ...cfg.env?.vars, ...cfg.env })) if (typeof value === "string") env[key] = value;
  return env;
}
