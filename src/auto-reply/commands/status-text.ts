import { setTimeout as sleep } from "node:timers/promises";
import { formatModelRef, formatUsageWindows, isSessionSandboxed, type ModelRef } from "../../agents/index.ts";
import type { MsgContext } from "../../channels/contract/index.ts";
import { errorText } from "../../infra/errors.ts";
import { sessionKeyKind } from "../../routing/index.ts";
import type { SessionEntry } from "../../sessions/index.ts";
import { formatElapsed, formatZonedStamp, resolveUserZone } from "../envelope.ts";
import { resolveQueueSettings } from "../queue/settings.ts";
import { formatTokenCount } from "../reply/shape.ts";
import { asElevatedLevel } from "../run-hints.ts";
import type { CommandServices } from "./contract.ts";
import type { CommandServicesDeps } from "./services.ts";
import { readCalls, sumUsage } from "./usage-cost.ts";

type MediaDecisions = MsgContext["MediaUnderstandingDecisions"];

/** The lines of /status; a line with nothing to say is absent. Never a key. `media`: of the message that asks. Source: spec agent-pipeline-output §8.4. */
export async function buildStatusText(deps: CommandServicesDeps, services: CommandServices, sessionKey: string, media?: MediaDecisions): Promise<string> {
  const cfg = deps.config();
  const entry = await deps.sessions.get(sessionKey);
  const agentId = deps.sessions.agentIdOf(sessionKey);
  const { ref, reason } = await services.currentModel(sessionKey);
  const wanted = entry?.thinkingLevel ?? cfg.agents?.defaults?.thinkingDefault ?? (await deps.agents.models.defaultThinking(ref, agentId));
  const levels = await deps.agents.models.thinkingLevels(ref, agentId);
  // As the run does it: a model that does not think is not asked to.
  const thinking = levels.some((level) => level !== "off") ? wanted : "off";
  const now = deps.clock.now();
  const kind = sessionKeyKind(sessionKey);
  const lines: (string | undefined)[] = [
    `🦞 OpenClaw ${deps.version}`,
    `🕒 ${formatZonedStamp(now, resolveUserZone(cfg))}`,
    `🧠 Model: ${formatModelRef(ref)} (${reason})`,
    await authLine(deps, ref, agentId),
    fallbackLine(entry, ref),
    tokenLine(entry),
    await costLine(deps, sessionKey, entry),
    cacheLine(entry),
    contextLine(entry),
    `🧹 Compactions: ${entry?.compactionCount ?? 0}`,
    mediaLine(media),
    await usageLine(deps, ref.provider, agentId),
    `🧵 Session: ${sessionKey} • ${entry ? `updated ${formatElapsed(now - entry.updatedAt) ?? "0s"} ago` : "not begun"}`,
    subagentLine(deps, sessionKey),
    `⚙️ ${runtimeLine(deps, sessionKey, entry, thinking)}`,
    kind === "group" || kind === "channel" ? `👥 Activation: ${entry?.groupActivation ?? "mention"}` : undefined,
    queueLine(deps, entry, services.queueDepth(sessionKey)),
    entry?.sendPolicy === "deny" ? "🔇 Sending is off here (/send on)" : undefined,
  ];
  return lines.filter(Boolean).join("\n");
}

const MEDIA_WORDS: Readonly<Record<string, string>> = { success: "ok", "scope-deny": "denied", disabled: "off" };

const mediaLine = (decisions: MediaDecisions = []): string | undefined =>
  decisions.length === 0 ? undefined : `📎 Media: ${decisions.map(({ capability, outcome, by }) => `${capability} ${MEDIA_WORDS[outcome] ?? outcome}${by === undefined ? "" : ` (${by})`}`).join(" · ")}`;

/** Nobody waits longer for it than this. */
const USAGE_WAIT_MS = 3500;

async function usageLine({ providerUsage, clock }: CommandServicesDeps, provider: string, agentId: string): Promise<string | undefined> {
  const usage = await Promise.race([providerUsage.of(provider, agentId), sleep(USAGE_WAIT_MS, undefined, { ref: false })]);
  const text = usage && formatUsageWindows(usage, clock.now());
  return text && `📊 Usage: ${text}`;
}

const RECENT_SUBAGENTS_MS = 30 * 60_000;

function subagentLine(deps: CommandServicesDeps, sessionKey: string): string | undefined {
  const runs = deps.subagents().list(sessionKey, RECENT_SUBAGENTS_MS);
  if (runs.length === 0) return undefined;
  const running = runs.filter((run) => run.endedAt === undefined).length;
  return `🤖 Subagents: ${running} running${runs.length > running ? `, ${runs.length - running} ended lately` : ""}`;
}

type Entry = Readonly<SessionEntry> | undefined;

async function authLine(deps: CommandServicesDeps, ref: ModelRef, agentId: string): Promise<string> {
  try {
    const prepared = await deps.agents.models.prepare(ref, agentId);
    return prepared.authMode === "none" ? "🔑 no key needed" : `🔑 ${prepared.authMode}${prepared.profileId ? ` (${prepared.profileId})` : ""}`;
  } catch (err) {
    return `🔑 ⚠️ ${errorText(err)}`;
  }
}

function fallbackLine(entry: Entry, ref: ModelRef): string | undefined {
  if (entry?.fallbackNoticeActiveModel) return `↪️ Fallback: ${entry.fallbackNoticeActiveModel}${entry.fallbackNoticeReason ? ` (${entry.fallbackNoticeReason})` : ""}`;
  const last = entry?.model && entry.modelProvider ? `${entry.modelProvider}/${entry.model}` : undefined;
  return last !== undefined && last !== formatModelRef(ref) ? `↪️ Last answer came from: ${last}` : undefined;
}

function tokenLine(entry: Entry): string | undefined {
  if (entry?.inputTokens === undefined) return undefined;
  return `🧮 Tokens: ${formatTokenCount(entry.inputTokens + (entry.cacheRead ?? 0) + (entry.cacheWrite ?? 0))} in / ${formatTokenCount(entry.outputTokens ?? 0)} out`;
}

/** Of the whole session, where prices are known. */
async function costLine(deps: CommandServicesDeps, sessionKey: string, entry: Entry): Promise<string | undefined> {
  if (!entry) return undefined;
  const { cost } = sumUsage(await readCalls(deps.sessions.transcriptPath(sessionKey, entry)));
  return cost > 0 ? `💵 Cost: $${cost.toFixed(4)} (estimate)` : undefined;
}

function cacheLine(entry: Entry): string | undefined {
  const read = entry?.cacheRead ?? 0;
  const all = read + (entry?.cacheWrite ?? 0) + (entry?.inputTokens ?? 0);
  return read > 0 && all > 0 ? `🗄️ Cache: ${Math.round((read / all) * 100)}% hit` : undefined;
}

function contextLine(entry: Entry): string | undefined {
  if (!entry?.contextTokens) return undefined;
  const used = entry.totalTokens;
  if (used === undefined) return `📚 Context: ?/${formatTokenCount(entry.contextTokens)}`;
  return `📚 Context: ${entry.totalTokensFresh ? "" : "~"}${formatTokenCount(used)}/${formatTokenCount(entry.contextTokens)} (${Math.round((used / entry.contextTokens) * 100)}%)`;
}

function runtimeLine(deps: CommandServicesDeps, sessionKey: string, entry: Entry, thinking: string): string {
  const config = deps.config();
  const defaults = config.agents?.defaults;
  const agentId = deps.sessions.agentIdOf(sessionKey);
  const verbose = entry?.verboseLevel ?? defaults?.verboseDefault ?? "off";
  const elevated = asElevatedLevel(entry?.elevatedLevel ?? defaults?.elevatedDefault) ?? "off";
  const exec = Object.entries({ host: entry?.execHost, security: entry?.execSecurity, ask: entry?.execAsk, node: entry?.execNode }).filter(([, value]) => value !== undefined);
  return [
    `Runtime: ${isSessionSandboxed(config, agentId, sessionKey) ? "sandbox" : "direct"}`,
    `Think: ${thinking}`,
    verbose === "off" ? undefined : `verbose${verbose === "full" ? ":full" : ""}`,
    `Reasoning: ${entry?.reasoningLevel ?? "off"}`,
    elevated === "off" ? undefined : `elevated:${elevated}`,
    exec.length > 0 ? `exec ${exec.map(([key, value]) => `${key}=${value}`).join(" ")}` : undefined,
  ].filter(Boolean).join(" · ");
}

function queueLine(deps: CommandServicesDeps, entry: Entry, depth: number): string {
  const queue = resolveQueueSettings(deps.config(), entry?.lastChannel ?? "webchat", entry);
  return `🪢 Queue: ${queue.mode} (depth ${depth}${depth > 0 ? ` · debounce ${queue.debounceMs} ms · cap ${queue.cap} · drop ${queue.drop}` : ""})`;
}
