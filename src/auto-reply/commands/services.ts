import type { AgentRuntime, ModelRef, ProviderUsageService } from "../../agents/index.ts";
import type { ChannelPlugin } from "../../channels/contract/index.ts";
import type { ConfigOverrides, ConfigSource, OpenClawConfig } from "../../config/index.ts";
import type { SystemEvents } from "../../delivery/index.ts";
import type { Clock } from "../../infra/clock.ts";
import type { ChannelPairingStore } from "../../pairing/index.ts";
import type { SessionService } from "../../sessions/index.ts";
import type { Conversation } from "../conversation.ts";
import { elevatedRefusals } from "../elevated.ts";
import { elevatedSender, sessionModel } from "../run-settings.ts";
import { createAllowlistDoor } from "./allowlist-door.ts";
import { createConfigDoor } from "./config-door.ts";
import type { CommandServices } from "./contract.ts";
import { chooseModel } from "./model-choice.ts";
import type { CommandRegistry } from "./registry.ts";
import { createRunDoor } from "./run-door.ts";
import { readLog } from "./session-log.ts";
import { buildStatusText } from "./status-text.ts";
import { readCalls, readCallsOfFolder, sumUsage } from "./usage-cost.ts";

export interface CommandServicesDeps {
  readonly config: () => OpenClawConfig;
  readonly source: ConfigSource;
  readonly overrides: ConfigOverrides;
  readonly agents: AgentRuntime;
  readonly providerUsage: Pick<ProviderUsageService, "of">;
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
  readonly subagents: CommandServices["subagents"];
  readonly decideApproval: CommandServices["decideApproval"];
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

  const services: CommandServices = {
    ...createRunDoor(deps),
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
    statusText: (sessionKey, media) => buildStatusText(deps, services, sessionKey, media),
    queueDepth: (sessionKey) => deps.conversation.queueDepth(sessionKey),
    pushSystemEvent: (sessionKey, text, contextKey) => deps.systemEvents.push(sessionKey, text, { contextKey }),
    elevatedRefusals: ({ ctx, agentId }) => elevatedRefusals(config(), agents.agent(agentId).config?.tools?.elevated, agentId, elevatedSender(ctx)),
    configFile: createConfigDoor(deps.source),
    overrides: deps.overrides,
    allowlist: createAllowlistDoor({ config, writer: deps.source.writer, pairing: deps.pairing, channel: deps.channel }),
    restart: deps.restart,
    decideApproval: deps.decideApproval,
    subagents: deps.subagents,
    async subagentLog(run, lines) {
      const entry = await sessions.get(run.childSessionKey);
      return entry ? readLog(sessions.transcriptPath(run.childSessionKey, entry), lines) : [];
    },
    async usage(sessionKey, todayFromMs, monthFromMs) {
      const entry = await sessions.get(sessionKey);
      const own = entry ? await readCalls(sessions.transcriptPath(sessionKey, entry)) : [];
      const month = await readCallsOfFolder(sessions.sessionsDir(sessions.agentIdOf(sessionKey)), monthFromMs);
      return { session: sumUsage(own), today: sumUsage(month.filter((call) => call.atMs >= todayFromMs)), month: sumUsage(month) };
    },
  };
  return services;
}
