import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { AgentRuntime, CronActions } from "../agents/index.ts";
import { stripPromptScaffolding, type ChatEvent, type Conversation } from "../auto-reply/index.ts";
import type { ChannelManager } from "../channels/manager/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { createCronRunLog, createCronService, createCronStore, createCronSweep, executeCronJob, type CronEvent, type CronService, type CronTurn } from "../cron/index.ts";
import type { SystemEvents } from "../delivery/index.ts";
import type { HeartbeatService } from "../heartbeat/index.ts";
import type { Clock } from "../infra/clock.ts";
import type { GuardedFetch } from "../infra/guarded-fetch.ts";
import type { Logger } from "../infra/log.ts";
import { expandPath } from "../routing/index.ts";
import { readRecentMessages, type SessionService } from "../sessions/index.ts";
import { mirrorAssistant } from "./mirror.ts";
import type { SendPayload } from "./send-payload.ts";

export interface GatewayCronOptions {
  readonly config: () => OpenClawConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly stateDir: string;
  readonly sessions: SessionService;
  readonly systemEvents: SystemEvents;
  readonly agents: AgentRuntime;
  readonly conversation: Conversation;
  readonly channels: ChannelManager;
  readonly heartbeats: HeartbeatService;
  readonly send: SendPayload;
  readonly fetch: GuardedFetch;
  readonly onEvent: (event: CronEvent) => void;
  /** What was said in a conversation, for those who have it open. */
  readonly onChat: (event: ChatEvent) => void;
}

const WEBHOOK_TIMEOUT_MS = 10_000;
const MIRROR_WAIT_MS = 60_000;

/** The cron room with the gateway's agents and channels behind it. */
export function createGatewayCron(options: GatewayCronOptions): CronService {
  const { config, clock, log, sessions, systemEvents, agents, conversation, channels, heartbeats } = options;
  const configured = config().cron?.store?.trim();
  const storePath = configured ? expandPath(configured) : join(options.stateDir, "cron", "jobs.json");

  async function runTurn(turn: CronTurn): ReturnType<AgentRuntime["run"]> {
    const runId = randomUUID();
    const stop = (): void => void agents.runs.abortComing(runId, "timeout");
    turn.signal.addEventListener("abort", stop, { once: true });
    try {
      const { result } = await conversation.runAgent({
        runId, sessionKey: turn.sessionKey, message: turn.prompt, isOwner: turn.isOwner, model: turn.model, thinking: turn.thinking, lane: "cron",
        ...(turn.timeoutMs === undefined ? {} : { timeoutMs: turn.timeoutMs }),
      });
      return result;
    } finally {
      turn.signal.removeEventListener("abort", stop);
    }
  }

  async function postWebhook(url: string, body: unknown, signal: AbortSignal): Promise<void> {
    const token = config().cron?.webhookToken;
    const response = await options.fetch(url, {
      method: "POST", body: JSON.stringify(body), signal, timeoutMs: WEBHOOK_TIMEOUT_MS, maxRedirects: 0,
      headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
    });
    if (!response.ok) throw new Error(`the webhook answered ${response.status}`);
  }

  return createCronService({
    config, clock, log, onEvent: options.onEvent,
    store: createCronStore(storePath, log),
    runLog: createCronRunLog(join(dirname(storePath), "runs")),
    isEnabled: () => config().cron?.enabled !== false && options.env["OPENCLAW_SKIP_CRON"] !== "1",
    sweep: createCronSweep({ config, clock, sessions }),
    execute: (job, signal) =>
      executeCronJob({
        config, clock, log, sessions, systemEvents, channel: (id) => channels.find(id), runTurn, postWebhook, send: options.send,
        async parseModel(text, agentId) {
          const parsed = await agents.models.parseRef(text, agentId);
          return parsed.ok && (await agents.models.isAllowed(parsed.ref, agentId)) ? parsed.ref : undefined;
        },
        wake: (request) => heartbeats.runNow(request),
        async mirror(sessionKey, text) {
          await agents.runs.waitIdle(sessionKey, MIRROR_WAIT_MS); // nothing is put between the calls and results of a turn
          const timestamp = clock.now();
          const messageId = await mirrorAssistant(sessions, sessionKey, text, timestamp);
          options.onChat({ runId: `cron-${messageId}`, sessionKey, seq: 0, state: "final", message: { role: "assistant", content: [{ type: "text", text }], timestamp } });
        },
      }, job, signal),
  });
}

/** What the agent's cron tool may ask of the room. */
export function cronActions(deps: {
  readonly cron: () => CronService;
  readonly systemEvents: SystemEvents;
  readonly heartbeats: () => HeartbeatService;
  readonly sessions: SessionService;
}): CronActions {
  const { cron } = deps;
  return {
    status: () => cron().status(),
    list: async (includeDisabled) => (await cron().list({ enabled: includeDisabled ? "all" : "enabled" })).jobs.map((job) => ({ ...job })),
    async add(input, { isOwner, senderId, defaults }) {
      const job = await cron().add(input, { authority: { isOwner, ...(senderId === undefined ? {} : { senderId }) }, defaults });
      return { ...job };
    },
    update: async (id, patch) => ({ ...(await cron().update(id, patch)) }),
    remove: (id) => cron().remove(id),
    run: (id, mode) => cron().run(id, mode),
    runs: (id, limit) => cron().runs({ jobId: id, limit, offset: 0 }),
    wake(sessionKey, text, mode) {
      deps.systemEvents.push(sessionKey, text);
      if (mode === "now") deps.heartbeats().wake({ reason: "wake", agentId: deps.sessions.agentIdOf(sessionKey), sessionKey });
    },
    async recentLines(sessionKey, count) {
      const entry = await deps.sessions.get(sessionKey);
      if (!entry) return [];
      const entries = await readRecentMessages(deps.sessions.transcriptPath(sessionKey, entry), { limit: count * 3, maxBytes: RECENT_BYTES });
      return entries.flatMap((item) => {
        const role = item.message?.role;
        const text = role === "user" || role === "assistant" ? plainTextOf(item.message?.content) : "";
        return text === "" ? [] : [`${role === "user" ? "User" : "Assistant"}: ${text}`];
      }).slice(-count);
    },
  };
}

const RECENT_BYTES = 256 * 1024;

function plainTextOf(content: unknown): string {
  const text = typeof content === "string" ? content : Array.isArray(content) ? content.map((block: unknown) => (typeof block === "object" && block !== null && "text" in block ? String(block.text) : "")).join(" ") : "";
  return stripPromptScaffolding(text).replace(/\s+/g, " ").trim();
}
