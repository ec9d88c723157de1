import { admit, compileMentionPatterns, deriveMentionPatterns, type ChannelPlugin, type InboundMessage } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { ChannelPairingStore } from "../pairing/index.ts";
import { resolveAgent, resolveSessionKey, type AgentRoots } from "../routing/index.ts";
import type { AdmitVerdict, CommandRegistry } from "../auto-reply/index.ts";
import { channelSection, isAbortRequest } from "../auto-reply/index.ts";

export interface AdmissionDeps {
  readonly config: () => OpenClawConfig;
  readonly roots: AgentRoots;
  readonly pairing: ChannelPairingStore;
  readonly registry: CommandRegistry;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  /** `/activation` of the chat's session, when it was set. */
  readonly activation: (message: InboundMessage) => "mention" | "always" | undefined;
}

const DEFAULT_HISTORY_LIMIT = 50;

/** Gathers what the ingress gate decides by: config, pairing store and the session's activation, read now. */
export function createAdmission(deps: AdmissionDeps): (message: InboundMessage, transcript?: string) => AdmitVerdict {
  return (message, transcript) => {
    const cfg = deps.config();
    const plugin = deps.channel(message.channel);
    if (!plugin?.security) return { kind: "drop", reason: "channel-without-access-rules" };
    const account = plugin.config.resolveAccount(cfg, message.accountId);
    const rules = plugin.security.resolveAccess(account, cfg, message.chat);
    const isCommand = deps.registry.match(message.text) !== undefined || /^\/(new|reset)\b/i.test(message.text.trim()) || (message.text.trim().startsWith("/") && isAbortRequest(message.text));
    const commands = cfg.commands;
    const byProvider = commands?.allowFrom;
    const list = byProvider?.[message.channel] ?? byProvider?.["*"];
    const owners = commands?.ownerAllowFrom?.map(String).filter((entry) => !entry.includes(":") || entry.toLowerCase().startsWith(`${message.channel}:`));
    const patterns = mentionPatterns(cfg, deps.roots, message);
    const verdict = admit({
      message, rules, transcript, normalizeEntry: (entry) => plugin.security?.normalizeEntry(entry) ?? entry,
      pairedIds: deps.pairing.allowFrom(message.channel, message.accountId), mentionPatterns: patterns,
      activation: deps.activation(message), ownerAllowFrom: owners,
      commands: {
        isControlCommand: isCommand,
        enabled: commands?.text !== false || message.commandSource === "native" || plugin.capabilities.nativeCommands !== true,
        useAccessGroups: commands?.useAccessGroups !== false, allowFrom: list?.map(String), enforceOwner: plugin.commands?.enforceOwnerForCommands,
      },
    });
    if (verdict.kind !== "history") return verdict;
    const section = channelSection(cfg, message.channel, message.accountId);
    const limit = rules.historyLimit ?? (typeof section["historyLimit"] === "number" ? section["historyLimit"] : (cfg.messages?.groupChat?.historyLimit ?? DEFAULT_HISTORY_LIMIT));
    return { kind: "history", limit, byName: patterns.length > 0 };
  };
}

function mentionPatterns(cfg: OpenClawConfig, roots: AgentRoots, message: InboundMessage): readonly RegExp[] {
  if (message.chat.type === "direct") return [];
  const { config } = resolveAgent(cfg, resolveSessionKey(cfg, message).agentId, roots);
  const own = config?.groupChat?.mentionPatterns ?? cfg.messages?.groupChat?.mentionPatterns;
  return own ? compileMentionPatterns([...own]).patterns : deriveMentionPatterns({ name: config?.identity?.name, emoji: config?.identity?.emoji });
}

/** What a stranger is told, once. Source: spec channels §2.3. */
export function pairingText(plugin: ChannelPlugin, senderId: string, code: string): string {
  return [
    "This assistant does not know you yet.",
    plugin.pairing?.idLine(senderId) ?? `Your ${plugin.meta.label} id: ${senderId}`,
    `Pairing code: ${code}`,
    "Ask the owner to approve you with:",
    `openclaw pairing approve ${plugin.id} ${code}`,
  ].join("\n\n");
}
