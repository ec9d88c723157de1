import { showCommand, type PendingApproval, type ResolvedApproval } from "../../agents/index.ts";
import type { ChannelPlugin } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { DeliveryResult, Outbox } from "../../delivery/index.ts";
import type { Logger } from "../../infra/log.ts";
import { codeBlock } from "../../infra/text/index.ts";
import type { SessionEntry } from "../../sessions/index.ts";

export interface ForwardTarget {
  readonly channel: string;
  readonly to: string;
  readonly accountId: string;
  readonly threadId?: string | undefined;
}

export interface ApprovalForwardDeps {
  readonly config: () => OpenClawConfig;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  readonly entry: (sessionKey: string) => Readonly<SessionEntry> | undefined;
  readonly outbox: () => Outbox;
  readonly log: Logger;
}

export interface ApprovalForwarder {
  /** Chats that are asked about this request; empty when none is. */
  targets(pending: PendingApproval): readonly ForwardTarget[];
  /** False when no chat could be reached. */
  ask(pending: PendingApproval, targets: readonly ForwardTarget[], timeoutMs: number): Promise<boolean>;
  tell(id: string, what: string, text: string, targets: readonly ForwardTarget[]): void;
}

/** Sends questions to the chats of `approvals.exec`. Source: spec tools-and-automation §3.5. */
export function createApprovalForwarder(deps: ApprovalForwardDeps): ApprovalForwarder {
  function resolveTarget(channel: string | undefined, to: string | undefined, accountId: string | undefined, threadId: string | number | undefined): ForwardTarget[] {
    const plugin = channel === undefined ? undefined : deps.channel(channel);
    if (!plugin?.outbound || to === undefined) return [];
    const cfg = deps.config();
    const account = accountId ?? plugin.config.defaultAccountId(cfg);
    const resolved = plugin.outbound.resolveTarget?.(cfg, to, account) ?? { ok: true as const, to };
    if (!resolved.ok) {
      deps.log.warn("approvals.exec names a chat that cannot be written to", { channel, to, reason: resolved.error });
      return [];
    }
    return [{ channel: plugin.id, to: resolved.to, accountId: account, threadId: threadId?.toString() ?? ("threadId" in resolved ? resolved.threadId : undefined) }];
  }

  async function deliver(id: string, text: string, target: ForwardTarget, ttlMs: number | undefined): Promise<boolean> {
    const { channel, to, accountId, threadId } = target;
    const result: DeliveryResult = await deps.outbox().deliver({ id: `${id}:${channel}:${accountId}:${to}:${threadId ?? ""}`, channel, message: { accountId, to, threadId, text }, ttlMs });
    if (result.kind === "failed") deps.log.warn("an approval was not told to a chat", { channel, to, reason: result.reason });
    return result.kind === "sent";
  }

  return {
    targets({ request }) {
      const settings = deps.config().approvals?.exec;
      if (settings?.enabled !== true || !passesFilters(settings, request.agentId, request.sessionKey)) return [];
      const mode = settings.mode ?? "session";
      const found: ForwardTarget[] = [];
      const entry = mode === "targets" || request.sessionKey === null ? undefined : deps.entry(request.sessionKey);
      if (entry) found.push(...resolveTarget(entry.lastChannel ?? entry.deliveryContext?.channel, entry.lastTo ?? entry.deliveryContext?.to, entry.lastAccountId ?? entry.deliveryContext?.accountId, entry.lastThreadId ?? entry.deliveryContext?.threadId));
      if (mode !== "session") for (const target of settings.targets ?? []) found.push(...resolveTarget(target.channel, target.to, target.accountId, target.threadId));
      return [...new Map(found.map((target) => [JSON.stringify([target.channel, target.to, target.accountId, target.threadId ?? null]), target])).values()];
    },
    async ask(pending, targets, timeoutMs) {
      const text = questionText(pending, timeoutMs);
      return (await Promise.all(targets.map((target) => deliver(`approval:${pending.id}`, text, target, timeoutMs)))).some(Boolean);
    },
    tell(id, what, text, targets) {
      for (const target of targets) void deliver(`approval:${id}:${what}`, text, target, undefined).catch((err: unknown) => deps.log.warn("an approval was not told to a chat", { err }));
    },
  };
}

type Filters = { readonly agentFilter?: readonly string[] | undefined; readonly sessionFilter?: readonly string[] | undefined };

function passesFilters({ agentFilter = [], sessionFilter = [] }: Filters, agentId: string | null, sessionKey: string | null): boolean {
  if (agentFilter.length > 0 && (agentId === null || !agentFilter.includes(agentId))) return false;
  return sessionFilter.length === 0 || (sessionKey !== null && sessionFilter.some((filter) => sessionKey.includes(filter) || isMatch(filter, sessionKey)));
}

function isMatch(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern).test(text);
  } catch {
    return false; // no expression: it was compared as text already
  }
}

/** Shown as it is: marks of Markdown in a command would vanish and make it look like another one. */
const literal = (text: string): string => (/^[\p{L}\p{N} ./:=,@+-]*$/u.test(text) ? ` ${text}` : `\n${codeBlock(text)}`);

function questionText({ id, request }: PendingApproval, timeoutMs: number): string {
  const lines = [
    "🔒 Exec approval required", `ID: ${id}`, `Command:${literal(request.command)}`,
    ...(["CWD", "Node", "Host", "Agent", "Security", "Ask"] as const).flatMap((label) => {
      const value = { CWD: request.cwd, Node: request.nodeId, Host: request.host, Agent: request.agentId, Security: request.security, Ask: request.ask }[label];
      return value === null ? [] : [`${label}:${literal(showCommand(value))}`];
    }),
    `Expires in: ${Math.round(timeoutMs / 1000)}s`, "Reply with: /approve <id> allow-once|allow-always|deny",
  ];
  return lines.join("\n");
}

const DECIDED = { "allow-once": "allowed once", "allow-always": "allowed always", deny: "denied" } as const;

export const resolvedText = ({ id, decision, resolvedBy }: ResolvedApproval): string => `✅ Exec approval ${DECIDED[decision]}. Resolved by ${resolvedBy ?? "unknown"}. ID: ${id}`;
export const expiredText = (id: string): string => `⏱️ Exec approval expired. ID: ${id}`;
