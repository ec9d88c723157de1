import type { AgentRuntime, ModelRef, ThinkLevel } from "../../agents/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { SystemEvents } from "../../delivery/index.ts";
import type { Clock } from "../../infra/clock.ts";
import type { SessionService } from "../../sessions/index.ts";
import type { Conversation } from "../conversation.ts";
import { sessionModel } from "../turn.ts";
import type { CommandServices } from "./contract.ts";
import type { CommandRegistry } from "./registry.ts";
import { buildStatusText } from "./status-text.ts";

export interface CommandServicesDeps {
  readonly config: () => OpenClawConfig;
  readonly agents: AgentRuntime;
  readonly sessions: SessionService;
  readonly systemEvents: SystemEvents;
  readonly conversation: Conversation;
  readonly registry: CommandRegistry;
  readonly clock: Clock;
  readonly version: string;
  readonly startedAt: number;
}

export function createCommandServices(deps: CommandServicesDeps): CommandServices {
  const { agents, sessions } = deps;

  async function currentModel(sessionKey: string): Promise<{ ref: ModelRef; reason: string }> {
    const override = sessionModel(await sessions.get(sessionKey));
    if (override) return { ref: override, reason: "chosen for this session" };
    const choice = await agents.models.selectDefault(sessions.agentIdOf(sessionKey));
    return { ref: choice.ref, reason: choice.reason };
  }

  const services: CommandServices = {
    models: agents.models,
    commands: deps.registry.list,
    now: () => deps.clock.now(),
    entry: (sessionKey) => sessions.get(sessionKey),
    async update(sessionKey, patch) {
      await sessions.update(sessionKey, patch);
    },
    currentModel,
    async setModel(sessionKey, model) {
      const agentId = sessions.agentIdOf(sessionKey);
      const clear = { providerOverride: null, modelOverride: null, authProfileOverride: null, authProfileOverrideSource: null };
      if (model.trim().toLowerCase() === "default") {
        await sessions.update(sessionKey, clear);
        return undefined;
      }
      const parsed = await agents.models.parseRef(model, agentId);
      if (!parsed.ok) throw new Error(`${parsed.error}${parsed.suggestions.length > 0 ? ` Did you mean ${parsed.suggestions.join(", ")}?` : ""}`);
      if (!(await agents.models.isAllowed(parsed.ref, agentId))) throw new Error(`${parsed.ref.provider}/${parsed.ref.modelId} is not among agents.defaults.models.`);
      const standard = await agents.models.selectDefault(agentId);
      const isDefault = standard.ref.provider === parsed.ref.provider && standard.ref.modelId === parsed.ref.modelId;
      await sessions.update(sessionKey, {
        ...(isDefault ? clear : { ...clear, providerOverride: parsed.ref.provider, modelOverride: parsed.ref.modelId }),
        ...(parsed.profileId ? { authProfileOverride: parsed.profileId, authProfileOverrideSource: "user" as const } : {}),
      });
      deps.systemEvents.push(sessionKey, `Model switched to ${parsed.ref.provider}/${parsed.ref.modelId}.`, { contextKey: "model" });
      return parsed.ref;
    },
    async stop(sessionKey) {
      const { runIds, queued } = await deps.conversation.stop(sessionKey, "stop");
      return { runs: runIds.length, queued };
    },
    async compact(sessionKey, focus) {
      const entry = await sessions.get(sessionKey);
      if (!entry) return { kind: "skipped", reason: "there is no conversation yet" };
      await deps.conversation.stop(sessionKey, "stop");
      if (!(await agents.runs.waitIdle(sessionKey, 15_000))) return { kind: "failed", reason: "the running answer did not stop in time" };
      const { ref } = await currentModel(sessionKey);
      const outcome = await agents.compact({
        agentId: sessions.agentIdOf(sessionKey), sessionKey, entry, sessionFile: sessions.transcriptPath(sessionKey, entry), model: ref, focus, signal: AbortSignal.timeout(300_000),
      });
      if (outcome.kind === "compacted") {
        await sessions.update(sessionKey, { compactionCount: (entry.compactionCount ?? 0) + 1, totalTokens: outcome.tokensAfter, totalTokensFresh: false });
      }
      return outcome;
    },
    async promptReport(sessionKey) {
      const entry = await sessions.get(sessionKey);
      const stored = entry?.systemPromptReport;
      if (isReport(stored)) return stored;
      const { ref } = await currentModel(sessionKey);
      return agents.estimateReport({
        runId: "report", agentId: sessions.agentIdOf(sessionKey), sessionKey, sessionId: entry?.sessionId ?? "none", sessionFile: "", model: ref, fallbacks: [],
        thinking: (entry?.thinkingLevel as ThinkLevel | undefined) ?? "off", reasoning: "off", verbose: "off", timeoutMs: 0, lane: "main", channel: undefined, isOwner: true, ownerIds: [],
      });
    },
    statusText: (sessionKey) => buildStatusText(deps, services, sessionKey),
    queueDepth: (sessionKey) => deps.conversation.queueDepth(sessionKey),
    skills: (agentId) => agents.skills(agentId),
    pushSystemEvent: (sessionKey, text) => deps.systemEvents.push(sessionKey, text),
  };
  return services;
}

function isReport(value: unknown): value is Awaited<ReturnType<CommandServices["promptReport"]>> {
  return typeof value === "object" && value !== null && "systemPrompt" in value && "tools" in value && "injectedWorkspaceFiles" in value;
}
