import { canonicalSessionKey, mainSessionKey } from "../routing/index.ts";
import { runHeartbeat, type HeartbeatDeps, type HeartbeatEvent } from "./run.ts";
import { heartbeatAgentIds, resolveHeartbeat, type HeartbeatSettings } from "./settings.ts";

export interface WakeRequest {
  /** `interval`, `retry`, `manual`, `wake`, `exec-event`, `cron:<id>`, `hook:<id>`. */
  readonly reason: string;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
}

export interface HeartbeatService {
  start(): void;
  /** Call when the configuration of heartbeats changed. */
  reload(): void;
  stop(): Promise<void>;
  /** Runs soon; calls within 250 ms for the same session are one. */
  wake(request: WakeRequest): void;
  /** The same, without the wait; resolves with what came of it. */
  runNow(request: WakeRequest): Promise<HeartbeatEvent>;
  /** Until the process ends. */
  setEnabled(enabled: boolean): void;
  last(): HeartbeatEvent | undefined;
}

export interface HeartbeatServiceOptions extends HeartbeatDeps {
  readonly onEvent: (event: HeartbeatEvent) => void;
}

const COALESCE_MS = 250;
const BUSY_RETRY_MS = 1000;
const MAX_BACKOFF_MS = 24 * 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** Tokens that the intervals of one agent may use in 24 h; what a person or an event wakes always runs. */
const DAILY_TOKEN_BUDGET = 2_000_000;
/** Failures that do not pass by themselves: the interval doubles after each. */
const LASTING: ReadonlySet<string> = new Set(["auth", "billing", "no_model"]);

/** Higher wins when several reasons fall together. */
function rankOf(reason: string): number {
  if (/^(?:manual|exec-event|exec:|hook:|cron:)/.test(reason)) return 3;
  if (reason === "interval") return 1;
  return reason === "retry" ? 0 : 2;
}

interface AgentState {
  nextDueMs: number;
  timer: NodeJS.Timeout | undefined;
  failures: number;
  spent: { atMs: number; tokens: number }[];
}

interface Pending {
  readonly request: WakeRequest;
  readonly timer: NodeJS.Timeout;
}

/** Runs the agents' heartbeats: by interval, and when something wakes them. Source: spec agent-pipeline-output §7, pains #28. */
export function createHeartbeatService(options: HeartbeatServiceOptions): HeartbeatService {
  const { config, clock, log } = options;
  const agents = new Map<string, AgentState>();
  const pending = new Map<string, Pending>();
  const running = new Map<string, Promise<HeartbeatEvent>>();
  let enabled = true;
  let started = false;
  let last: HeartbeatEvent | undefined;

  const settingsOf = (agentId: string): HeartbeatSettings => resolveHeartbeat(config(), agentId);

  function sessionOf(settings: HeartbeatSettings, wanted: string | undefined): string {
    const key = wanted ?? settings.session;
    return key === undefined ? mainSessionKey(settings.agentId) : canonicalSessionKey(key, { defaultAgentId: settings.agentId, scope: config().session?.scope });
  }

  function schedule(agentId: string): void {
    const state = agents.get(agentId);
    if (!state || !started) return;
    clearTimeout(state.timer);
    // setTimeout counts to 24.8 days; a look once a day is enough for longer intervals.
    state.timer = setTimeout(() => tick(agentId), Math.min(DAY_MS, Math.max(0, state.nextDueMs - clock.now())));
    state.timer.unref();
  }

  function tick(agentId: string): void {
    const state = agents.get(agentId);
    const settings = settingsOf(agentId);
    if (!state || settings.everyMs === 0) return;
    if (state.nextDueMs > clock.now()) return schedule(agentId);
    state.nextDueMs = clock.now() + delayOf(settings, state);
    schedule(agentId);
    wake({ reason: "interval", agentId });
  }

  const delayOf = (settings: HeartbeatSettings, state: AgentState): number => Math.min(Math.max(settings.everyMs, MAX_BACKOFF_MS), settings.everyMs * 2 ** Math.min(state.failures, 16));

  function reload(): void {
    const wanted = new Set(heartbeatAgentIds(config()).filter((id) => settingsOf(id).everyMs > 0));
    for (const [id, state] of agents) {
      if (wanted.has(id)) continue;
      clearTimeout(state.timer);
      agents.delete(id);
    }
    for (const id of wanted) {
      const { everyMs } = settingsOf(id);
      const state = agents.get(id) ?? { nextDueMs: clock.now() + everyMs, timer: undefined, failures: 0, spent: [] };
      state.nextDueMs = Math.min(state.nextDueMs, clock.now() + everyMs);
      agents.set(id, state);
      schedule(id);
    }
  }

  function wake(request: WakeRequest, delayMs = COALESCE_MS): void {
    if (!started) return;
    const agentId = request.agentId ?? heartbeatAgentIds(config())[0] ?? "main";
    const key = `${agentId}|${request.sessionKey ?? ""}`;
    const before = pending.get(key);
    if (before && rankOf(before.request.reason) >= rankOf(request.reason)) return;
    clearTimeout(before?.timer);
    const timer = setTimeout(() => {
      pending.delete(key);
      void runNow({ ...request, agentId }).then((event) => {
        if (event.reason === "requests-in-flight") wake({ ...request, agentId, reason: request.reason === "interval" ? "retry" : request.reason }, BUSY_RETRY_MS);
      });
    }, delayMs);
    timer.unref();
    pending.set(key, { request, timer });
  }

  /** One at a time per session: a second call shares the first one's run. */
  function runNow(request: WakeRequest): Promise<HeartbeatEvent> {
    const agentId = request.agentId ?? heartbeatAgentIds(config())[0] ?? "main";
    const key = `${agentId}|${request.sessionKey ?? ""}`;
    const current = running.get(key);
    if (current) return current;
    const run = runOnce(agentId, request).finally(() => running.delete(key));
    running.set(key, run);
    return run;
  }

  async function runOnce(agentId: string, request: WakeRequest): Promise<HeartbeatEvent> {
    const settings = settingsOf(agentId);
    const isRoutine = request.reason === "interval" || request.reason === "retry";
    const state = agents.get(agentId);
    const skip = (reason: string): HeartbeatEvent => ({ ts: clock.now(), status: "skipped", reason });
    if (!enabled || (isRoutine && settings.everyMs === 0)) return note(skip("disabled"));
    if (isRoutine && state && tokensToday(state) >= DAILY_TOKEN_BUDGET) return note(skip("daily-budget"));
    const { event, result } = await runHeartbeat(options, { settings, sessionKey: sessionOf(settings, request.sessionKey), reason: request.reason });
    if (state && result) {
      state.spent.push({ atMs: clock.now(), tokens: result.meta.agentMeta.usage.total });
      state.failures = LASTING.has(result.meta.error?.kind ?? "") ? state.failures + 1 : 0;
      if (state.failures > 0) {
        state.nextDueMs = clock.now() + delayOf(settings, state);
        schedule(agentId);
        log.warn("heartbeat put off: the model cannot be reached with this key", { agentId, failures: state.failures, reason: event.reason });
      }
    }
    return note(event);
  }

  function tokensToday(state: AgentState): number {
    state.spent = state.spent.filter((item) => item.atMs > clock.now() - DAY_MS);
    return state.spent.reduce((sum, item) => sum + item.tokens, 0);
  }

  function note(event: HeartbeatEvent): HeartbeatEvent {
    if (event.reason === "requests-in-flight") return event;
    last = event;
    options.onEvent(event);
    return event;
  }

  return {
    start() {
      started = true;
      reload();
    },
    reload,
    async stop() {
      started = false;
      for (const state of agents.values()) clearTimeout(state.timer);
      for (const { timer } of pending.values()) clearTimeout(timer);
      agents.clear();
      pending.clear();
      await Promise.allSettled(running.values());
    },
    wake: (request) => wake(request),
    runNow,
    setEnabled(value) {
      enabled = value;
    },
    last: () => last,
  };
}
