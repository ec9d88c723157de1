import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { MsgContext } from "../../channels/contract/index.ts";
import { expandPath, normalizeAgentId } from "../../routing/index.ts";
import type { SessionEntry, SessionPatch, SessionService } from "../../sessions/index.ts";
import { asFields, numberOf, textOf } from "./section.ts";

/** Sessions as channel plugins see them. Keys, not files, say where an entry is; `storePath` is kept for their code. Source: spec plugin-sdk §13. */

export interface LastRoute {
  readonly sessionKey?: string | undefined;
  readonly channel: string;
  readonly to: string;
  readonly accountId?: string | undefined;
  readonly threadId?: string | number | undefined;
}

export interface InboundSessionInput {
  readonly storePath: string;
  readonly sessionKey: string;
  readonly ctx: MsgContext;
  readonly groupResolution?: unknown;
  /** Default true. */
  readonly createIfMissing?: boolean | undefined;
}

export interface RecordInboundInput extends InboundSessionInput {
  readonly updateLastRoute?: LastRoute | undefined;
  readonly onRecordError: (err: unknown) => void;
}

export interface LastRouteInput {
  readonly storePath: string;
  readonly sessionKey: string;
  readonly channel?: string | undefined;
  readonly to?: string | undefined;
  readonly accountId?: string | undefined;
  readonly threadId?: string | number | undefined;
  readonly deliveryContext?: { readonly channel?: string | undefined; readonly to?: string | undefined; readonly accountId?: string | undefined; readonly threadId?: string | number | undefined } | undefined;
  readonly ctx?: MsgContext | undefined;
}

/** A store that nobody has opened yet is read at once up to this size. */
const MAX_SYNC_READ_BYTES = 8 * 1024 * 1024;

export function createSessionAccess(sessions: SessionService) {
  const loaded = (key: string): Readonly<SessionEntry> | undefined => sessions.storeFor(sessions.agentIdOf(key)).get(key);

  /** Neither makes the session look active: its time runs from the last turn. */
  async function patchQuietly(key: string, patch: SessionPatch, create: boolean): Promise<Readonly<SessionEntry> | null> {
    const known = await sessions.get(key);
    if (!known && !create) return null;
    return sessions.update(key, known ? { ...patch, updatedAt: known.updatedAt } : patch);
  }

  async function recordSessionMetaFromInbound(input: InboundSessionInput): Promise<Readonly<SessionEntry> | null> {
    const key = sessions.canonicalKey(input.sessionKey);
    return patchQuietly(key, metaOf(input.ctx, await sessions.get(key)), input.createIfMissing !== false);
  }

  async function updateLastRoute(input: LastRouteInput): Promise<Readonly<SessionEntry> | null> {
    const route = { ...input.deliveryContext, ...withoutUndefined({ channel: input.channel, to: input.to, accountId: input.accountId, threadId: input.threadId }) };
    const key = sessions.canonicalKey(input.sessionKey);
    const meta = input.ctx ? metaOf(input.ctx, await sessions.get(key)) : {};
    return patchQuietly(key, { ...meta, deliveryContext: route, lastChannel: route.channel ?? null, lastTo: route.to ?? null, lastAccountId: route.accountId ?? null, lastThreadId: route.threadId ?? null }, true);
  }

  return {
    /** `~` and `{agentId}` are filled in; without `store` the place of the agent's own. */
    resolveStorePath(store?: string, options: { readonly agentId?: string | undefined } = {}): string {
      const agentId = normalizeAgentId(options.agentId);
      return store ? expandPath(store.replaceAll("{agentId}", agentId)) : join(sessions.sessionsDir(agentId), "sessions.json");
    },
    /** When a turn last ended there, ms. */
    readSessionUpdatedAt({ storePath, sessionKey }: { readonly storePath: string; readonly sessionKey: string }): number | undefined {
      const key = sessions.canonicalKey(sessionKey);
      return loaded(key)?.updatedAt ?? readUpdatedAt(storePath, key);
    },
    recordSessionMetaFromInbound, updateLastRoute,
    /** Never rejects. */
    async recordInboundSession({ updateLastRoute: route, onRecordError, ...input }: RecordInboundInput): Promise<void> {
      try {
        await recordSessionMetaFromInbound(input);
        if (route) await updateLastRoute({ ...route, storePath: input.storePath, sessionKey: route.sessionKey ?? input.sessionKey });
      } catch (err) {
        onRecordError(err);
      }
    },
  };
}

const withoutUndefined = <T extends object>(value: T): T => Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;

/** What a message says about its chat; what it leaves open stays. */
function metaOf(ctx: MsgContext, known: Readonly<SessionEntry> | undefined): SessionPatch {
  const chatType = ctx.ChatType === "direct" || ctx.ChatType === "group" || ctx.ChatType === "channel" ? ctx.ChatType : undefined;
  const channel = textOf(ctx.OriginatingChannel) ?? textOf(ctx.Surface) ?? textOf(ctx.Provider);
  const to = textOf(ctx.OriginatingTo) ?? textOf(ctx.To);
  const origin = withoutUndefined({
    label: textOf(ctx.ConversationLabel) ?? textOf(ctx.SenderName), provider: channel, surface: textOf(ctx.Surface), chatType,
    from: textOf(ctx.From), to, accountId: textOf(ctx.AccountId), threadId: ctx.MessageThreadId,
  });
  const isGroup = chatType === "group" || chatType === "channel";
  return withoutUndefined({
    origin: { ...known?.origin, ...origin }, chatType,
    ...(isGroup ? withoutUndefined({ channel, subject: textOf(ctx.GroupSubject), groupChannel: textOf(ctx.GroupChannel), space: textOf(ctx.GroupSpace), displayName: textOf(ctx.ConversationLabel) }) : {}),
  });
}

function readUpdatedAt(storePath: string, key: string): number | undefined {
  try {
    if (statSync(storePath).size > MAX_SYNC_READ_BYTES) return undefined;
    return numberOf(asFields(asFields(JSON.parse(readFileSync(storePath, "utf8")))[key])["updatedAt"]);
  } catch {
    return undefined; // no store yet, or a damaged one: the session service sees to that
  }
}
