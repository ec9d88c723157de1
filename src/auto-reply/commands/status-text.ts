import { formatModelRef } from "../../agents/index.ts";
import { sessionKeyKind } from "../../routing/index.ts";
import { formatZonedStamp, resolveUserZone } from "../envelope.ts";
import { formatElapsed } from "../envelope.ts";
import { resolveQueueSettings } from "../queue/settings.ts";
import { formatTokenCount } from "../reply/shape.ts";
import type { CommandServices } from "./contract.ts";
import type { CommandServicesDeps } from "./services.ts";

/** The lines of /status; a line with nothing to say is absent. Source: spec agent-pipeline-output §8.4. */
export async function buildStatusText(deps: CommandServicesDeps, services: CommandServices, sessionKey: string): Promise<string> {
  const cfg = deps.config();
  const entry = await deps.sessions.get(sessionKey);
  const agentId = deps.sessions.agentIdOf(sessionKey);
  const { ref, reason } = await services.currentModel(sessionKey);
  const thinking = entry?.thinkingLevel ?? cfg.agents?.defaults?.thinkingDefault ?? (await deps.agents.models.defaultThinking(ref, agentId));
  const auth = await authLine(deps, ref, agentId);
  const now = deps.clock.now();
  const queue = resolveQueueSettings(cfg, entry?.lastChannel ?? "webchat", entry);
  const depth = services.queueDepth(sessionKey);
  const kind = sessionKeyKind(sessionKey);
  const lines: (string | undefined)[] = [
    `🦞 OpenClaw ${deps.version}`,
    `🕒 ${formatZonedStamp(now, resolveUserZone(cfg))}`,
    `🧠 Model: ${formatModelRef(ref)} (${reason})`,
    auth,
    entry?.model && entry.modelProvider && `${entry.modelProvider}/${entry.model}` !== formatModelRef(ref) ? `↪️ Last answer came from: ${entry.modelProvider}/${entry.model}` : undefined,
    entry?.inputTokens !== undefined ? `🧮 Tokens: ${formatTokenCount(entry.inputTokens + (entry.cacheRead ?? 0) + (entry.cacheWrite ?? 0))} in / ${formatTokenCount(entry.outputTokens ?? 0)} out` : undefined,
    cacheLine(entry),
    contextLine(entry),
    `🧹 Compactions: ${entry?.compactionCount ?? 0}`,
    `🧵 Session: ${sessionKey} • ${entry ? `updated ${formatElapsed(now - entry.updatedAt) ?? "0s"} ago` : "not begun"}`,
    `⚙️ Runtime: direct · Think: ${thinking}${entry?.verboseLevel && entry.verboseLevel !== "off" ? ` · verbose${entry.verboseLevel === "full" ? ":full" : ""}` : ""} · Reasoning: ${entry?.reasoningLevel ?? "off"}`,
    kind === "group" || kind === "channel" ? `👥 Activation: ${entry?.groupActivation ?? "mention"}` : undefined,
    `🪢 Queue: ${queue.mode} (depth ${depth}${depth > 0 ? ` · debounce ${queue.debounceMs} ms · cap ${queue.cap} · drop ${queue.drop}` : ""})`,
    entry?.sendPolicy === "deny" ? "🔇 Sending is off here (/send on)" : undefined,
  ];
  return lines.filter(Boolean).join("\n");
}

async function authLine(deps: CommandServicesDeps, ref: { provider: string; modelId: string }, agentId: string): Promise<string> {
  try {
    const prepared = await deps.agents.models.prepare(ref, agentId);
    return prepared.authMode === "none" ? "🔑 no key needed" : `🔑 ${prepared.authMode}${prepared.profileId ? ` (${prepared.profileId})` : ""}`;
  } catch (err) {
    return `🔑 ⚠️ ${err instanceof Error ? err.message : String(err)}`;
  }
}

type Entry = Awaited<ReturnType<CommandServices["entry"]>>;

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
