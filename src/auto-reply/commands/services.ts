import { randomUUID } from "node:crypto";
import type { AgentRuntime, ModelRef, RunRequest } from "../../agents/index.ts";
import type { ChannelPlugin } from "../../channels/contract/index.ts";
import type { ConfigOverrides, ConfigSource, OpenClawConfig } from "../../config/index.ts";
import type { SystemEvents } from "../../delivery/index.ts";
import type { Clock } from "../../infra/clock.ts";
import type { ChannelPairingStore } from "../../pairing/index.ts";
import type { SessionService } from "../../sessions/index.ts";
import type { Conversation } from "../conversation.ts";
import { elevatedRefusals } from "../elevated.ts";
import { buildChatContext } from "../groups.ts";
import { runChannel } from "../run-channel.ts";
import { elevatedSender, resolveRunSettings, sessionModel } from "../run-settings.ts";
import { createAllowlistDoor } from "./allowlist-door.ts";
import { createConfigDoor } from "./config-door.ts";
import type { CommandContext, CommandServices } from "./contract.ts";
import { exportSessionFile } from "./export-session.ts";
import { chooseModel } from "./model-choice.ts";
import type { CommandRegistry } from "./registry.ts";
import { buildStatusText } from "./status-text.ts";
import { readCalls, readCallsOfFolder, sumUsage } from "./usage-cost.ts";

export interface CommandServicesDeps {
  readonly config: () => OpenClawConfig;
  readonly source: ConfigSource;
  readonly overrides: ConfigOverrides;
  readonly agents: AgentRuntime;
  readonly sessions: SessionService;
  readonly systemEvents: SystemEvents;
  readonly pairing: ChannelPairingStore;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  readonly ownerIds: (channel: string, accountId: string) => readonly string[];
  readonly conversation: Conversation;
  readonly registry: CommandRegistry;
  readonly clock: Clock;
  readonly version: string;
  readonly commit?: string | undefined;
  readonly startedAt: number;
  readonly restart: CommandServices["restart"];
}

/** The gateway's doors for commands. */
export function createCommandServices(deps: CommandServicesDeps): CommandServices {
  const { agents, sessions, config, clock } = deps;

  async function currentModel(sessionKey: string): Promise<{ ref: ModelRef; reason: string }> {
    const override = sessionModel(await sessions.get(sessionKey));
    if (override) return { ref: override, reason: "chosen for this session" };
    const choice = await agents.models.selectDefault(sessions.agentIdOf(sessionKey));
    return { ref: choice.ref, reason: choice.reason };
  }

  /** What a run of the command's sender in this session would be asked for. */
  async function runRequest({ sessionKey, ctx, authority }: Pick<CommandContext, "sessionKey" | "ctx" | "authority">): Promise<Omit<RunRequest, "prompt" | "onAgentEvent">> {
    const runId = `command:${randomUUID()}`;
    const entry = (await sessions.get(sessionKey)) ?? { sessionId: runId, updatedAt: 0 };
    const agentId = sessions.agentIdOf(sessionKey);
    const isGroup = ctx.ChatType === "group" || ctx.ChatType === "channel";
    const settings = await resolveRunSettings({ cfg: config(), agents, agentId, entry, hints: {}, ctx, isGroup });
    const plugin = authority.source === "gateway" ? undefined : deps.channel(ctx.OriginatingChannel ?? "");
    const groupPolicy = !isGroup ? undefined : plugin?.groups?.resolveToolPolicy?.({
      cfg: config(), accountId: ctx.AccountId ?? "default", groupId: entry.groupId ?? "", threadId: ctx.MessageThreadId?.toString(),
      senderId: ctx.SenderId, senderName: ctx.SenderName, senderUsername: ctx.SenderUsername, senderE164: ctx.SenderE164,
    });
    return {
      runId, agentId, sessionKey, sessionId: entry.sessionId, sessionFile: sessions.transcriptPath(sessionKey, entry),
      model: settings.model, fallbacks: [], thinking: settings.thinking, reasoning: settings.reasoning, verbose: settings.verbose, timeoutMs: 0, lane: "main",
      exec: settings.exec, elevated: settings.elevated, groupPolicy, isOwner: authority.isOwner, channel: runChannel({ ctx, plugin, route: undefined }),
      extraSystemPrompt: buildChatContext(ctx, entry.groupActivation ?? "mention"),
      ownerIds: authority.source === "gateway" ? [] : deps.ownerIds(ctx.OriginatingChannel ?? "", ctx.AccountId ?? "default"),
    };
  }

  const services: CommandServices = {
    models: agents.models,
    commands: (agentId) => deps.registry.listed(config(), agentId),
    skillCommands: (agentId) => deps.registry.refreshSkills(agentId),
    now: () => clock.now(),
    entry: (sessionKey) => sessions.get(sessionKey),
    async update(sessionKey, patch) {
      await sessions.update(sessionKey, patch);
    },
    currentModel,
    async setModel(sessionKey, text) {
      const agentId = sessions.agentIdOf(sessionKey);
      const { patch, ref } = await chooseModel(agents.models, agentId, text);
      await sessions.update(sessionKey, patch);
      const { provider, modelId } = ref ?? (await agents.models.selectDefault(agentId)).ref;
      deps.systemEvents.push(sessionKey, `Model switched to ${provider}/${modelId}.`, { contextKey: "model" });
      return ref;
    },
    async stop(sessionKey) {
      const { runIds, queued } = await deps.conversation.stop(sessionKey, "stop");
      return { runs: runIds.length, queued };
    },
    async compact(sessionKey, focus) {
      const entry = await sessions.get(sessionKey);
      if (!entry) return { kind: "skipped", reason: "there is no conversation yet" };
      agents.runs.abort({ sessionKey }, "stop"); // what waits is answered after it
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
    async promptReport(command) {
      const stored = (await sessions.get(command.sessionKey))?.systemPromptReport;
      return isReport(stored) ? stored : (await agents.previewPrompt(await runRequest(command))).report;
    },
    statusText: (sessionKey) => buildStatusText(deps, services, sessionKey),
    queueDepth: (sessionKey) => deps.conversation.queueDepth(sessionKey),
    pushSystemEvent: (sessionKey, text, contextKey) => deps.systemEvents.push(sessionKey, text, { contextKey }),
    async runTool(command, name, args) {
      const tool = agents.tools(await runRequest(command)).offered.find((offered) => offered.name === name);
      if (!tool) throw new Error(`the tool ${name} is not offered here; see tools.allow and tools.deny`);
      const given = { ...args };
      const { content, details, isError } = await tool.execute(tool.prepare?.(given) ?? given, { toolCallId: `command:${randomUUID()}`, signal: AbortSignal.timeout(600_000), onUpdate: () => undefined });
      return { text: content.map((block) => (block.type === "text" ? block.text : "(image)")).join("\n"), details, isError: isError === true };
    },
    elevatedRefusals: ({ ctx, agentId }) => elevatedRefusals(config(), agents.agent(agentId).config?.tools?.elevated, agentId, elevatedSender(ctx)),
    configFile: createConfigDoor(deps.source),
    overrides: deps.overrides,
    allowlist: createAllowlistDoor({ config, writer: deps.source.writer, pairing: deps.pairing, channel: deps.channel }),
    restart: deps.restart,
    async usage(sessionKey, todayFromMs, monthFromMs) {
      const entry = await sessions.get(sessionKey);
      const own = entry ? await readCalls(sessions.transcriptPath(sessionKey, entry)) : [];
      const month = await readCallsOfFolder(sessions.sessionsDir(sessions.agentIdOf(sessionKey)), monthFromMs);
      return { session: sumUsage(own), today: sumUsage(month.filter((call) => call.atMs >= todayFromMs)), month: sumUsage(month) };
    },
    async exportSession(command, path) {
      const entry = await sessions.get(command.sessionKey);
      if (!entry) throw new Error("this session has no messages yet");
      await sessions.flush();
      const request = await runRequest(command);
      const { systemPrompt, tools } = await agents.previewPrompt(request);
      const { file, entries } = await exportSessionFile({
        sessionKey: command.sessionKey, sessionId: entry.sessionId, exportedAtMs: clock.now(), model: `${request.model.provider}/${request.model.modelId}`, systemPrompt, tools,
        transcript: request.sessionFile, workspaceDir: agents.agent(request.agentId).workspaceDir, path,
      });
      return { file, entries, promptChars: systemPrompt.length, tools: tools.length };
    },
  };
  return services;
}

function isReport(value: unknown): value is Awaited<ReturnType<CommandServices["promptReport"]>> {
  return typeof value === "object" && value !== null && "systemPrompt" in value && "tools" in value && "injectedWorkspaceFiles" in value;
}
