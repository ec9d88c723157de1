import type { InboundMessage } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { isThreadKey } from "../routing/index.ts";
import { resolveResetPolicy, sessionFreshness, type ResetType, type SessionEntry, type SessionPatch, type SessionService } from "../sessions/index.ts";

export interface SessionStart {
  readonly entry: Readonly<SessionEntry>;
  readonly isNew: boolean;
  /** When the conversation was last active before this message. */
  readonly previousAtMs: number | undefined;
  /** A stale conversation was put away; said to the person once. */
  readonly expired: "daily" | "idle" | undefined;
}

/** What the caller knows. */
export interface SessionStartOptions {
  readonly nowMs: number;
  readonly busy: boolean;
  readonly isClient: boolean;
  /** The conversation that a new thread goes on from. */
  readonly parentSessionKey?: string | undefined;
  onExpired(entry: Readonly<SessionEntry>): void;
}

/** The session of a message: made, kept, or renewed when its time is over. `busy` defers the renewal. Source: spec agent-pipeline §3.2. */
export async function startSession(
  sessions: SessionService,
  cfg: OpenClawConfig,
  key: string,
  message: InboundMessage,
  options: SessionStartOptions,
): Promise<SessionStart> {
  const meta = options.isClient ? clientMeta(message) : routeMeta(message);
  const known = await sessions.get(key);
  if (!known) {
    const { entry } = await sessions.ensure(key, { ...(await forkOf(sessions, key, options.parentSessionKey)), ...meta });
    return { entry, isNew: true, previousAtMs: undefined, expired: undefined };
  }
  const isThread = message.chat.threadId !== undefined || message.chat.parentId !== undefined || message.chat.threadLabel !== undefined || message.threadStarter !== undefined;
  const type: ResetType = isThread || isThreadKey(key) ? "thread" : message.chat.type === "direct" ? "direct" : "group";
  const freshness = sessionFreshness(known.updatedAt, resolveResetPolicy(cfg, type, message.channel), options.nowMs);
  if (!freshness.fresh && !options.busy) {
    options.onExpired(known);
    const { entry } = await sessions.reset(key, { patch: meta });
    return { entry, isNew: true, previousAtMs: known.updatedAt, expired: known.systemSent ? freshness.reason : undefined };
  }
  const entry = isUnchanged(known, meta) ? known : await sessions.update(key, meta);
  return { entry, isNew: !known.systemSent, previousAtMs: known.updatedAt, expired: undefined };
}

/** A thread is a branch of its parent's conversation once, at its beginning. */
async function forkOf(sessions: SessionService, key: string, parentKey: string | undefined): Promise<SessionPatch> {
  if (parentKey === undefined || parentKey === key || (await sessions.get(parentKey)) === undefined) return {};
  return { ...(await sessions.fork(key, parentKey)), forkedFromParent: true };
}

function clientMeta(message: InboundMessage): SessionPatch {
  return { chatType: message.chat.type };
}

/** Where this conversation lives; lists show it and unbound sends go there. */
function routeMeta(message: InboundMessage): SessionPatch {
  const { chat, sender } = message;
  const direct = chat.type === "direct";
  const label = direct ? (sender.name ?? sender.username ?? sender.id) : (chat.title ?? chat.id);
  return {
    chatType: chat.type, channel: message.channel, lastChannel: message.channel, lastTo: message.to, lastAccountId: message.accountId,
    lastThreadId: chat.threadId ?? null,
    deliveryContext: { channel: message.channel, to: message.to, accountId: message.accountId, ...(chat.threadId ? { threadId: chat.threadId } : {}) },
    origin: {
      label, provider: message.channel, surface: message.channel, chatType: chat.type, from: message.from, to: message.to,
      accountId: message.accountId, ...(chat.threadId ? { threadId: chat.threadId } : {}),
    },
    ...(direct ? {} : { groupId: chat.id, ...(chat.title ? { subject: chat.title, displayName: `${message.channel}:${chat.title}` } : {}) }),
  };
}

function isUnchanged(entry: Readonly<SessionEntry>, patch: SessionPatch): boolean {
  const current: Readonly<Record<string, unknown>> = { ...entry };
  return Object.entries(patch).every(([field, value]) => JSON.stringify(current[field] ?? null) === JSON.stringify(value ?? null));
}
