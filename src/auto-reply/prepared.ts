import type { ThinkLevel } from "../agents/index.ts";
import type { ChannelPlugin, GroupToolPolicy, InboundMessage, MsgContext } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { Authority, InboxRow } from "../delivery/index.ts";
import { resolveUserZone, stampClientText } from "./envelope.ts";
import type { ReplyRoute } from "./reply/channel-sink.ts";
import type { StatusReactions } from "./reply/status-reactions.ts";
import type { RunHints } from "./run-hints.ts";
import { buildUserPrompt } from "./user-prompt.ts";

/** A message that was admitted, understood and is no command: what a turn needs to know of it. */
export interface Prepared {
  readonly rows: readonly InboxRow[];
  readonly ctx: MsgContext;
  readonly authority: Authority;
  /** For the model; directives and commands are out. */
  readonly body: string;
  readonly agentId: string;
  readonly plugin: ChannelPlugin | undefined;
  /** Where the answer goes; fixed here and never read from the session later. */
  readonly route: ReplyRoute | undefined;
  readonly message: InboundMessage;
  readonly notices: readonly string[];
  readonly thinking: ThinkLevel | undefined;
  readonly timeoutMs: number | undefined;
  readonly groupPolicy: GroupToolPolicy | undefined;
  /** What the config says about mentions in this chat; `/activation` of the session wins. */
  readonly activation: "mention" | "always";
  /** What the message asks for its own run. */
  readonly hints?: RunHints | undefined;
  /** The reaction on the message; it says from now on what becomes of it. */
  readonly status?: StatusReactions | undefined;
}

/** Messages may share a turn only when this is equal: who may what, how it is to run, and where the answer goes. */
export function mergeKeyOf({ authority, route, groupPolicy, agentId, hints }: Prepared): string {
  const { queue: _queue, ...runHints } = hints ?? {};
  return JSON.stringify([
    agentId, authority.isOwner, authority.commandAuthorized, authority.source, authority.scopes, route?.channel, route?.accountId, route?.to, route?.threadId, groupPolicy, runHints,
  ]);
}

export interface PromptState {
  readonly systemLines: readonly string[];
  readonly abortedLastRun: boolean;
  readonly isNewSession: boolean;
  readonly history: NonNullable<MsgContext["InboundHistory"]>;
}

export const NO_PROMPT_STATE: PromptState = { systemLines: [], abortedLastRun: false, isNewSession: false, history: [] };

export function promptOf(cfg: OpenClawConfig, item: Prepared, { history, ...state }: PromptState): string {
  const isClient = item.rows.some((row) => row.client);
  const body = isClient ? stampClientText(item.body, item.message.timestampMs, resolveUserZone(cfg)) : item.body;
  return buildUserPrompt({ ctx: history.length > 0 ? { ...item.ctx, InboundHistory: history } : item.ctx, body, ...state });
}

export const rowIds = (items: readonly Pick<Prepared, "rows">[]): string[] => items.flatMap(({ rows }) => rows.map((row) => row.id));

/** Runs that clients wait for. */
export const clientRunIds = (items: readonly Pick<Prepared, "rows">[]): string[] => items.flatMap(({ rows }) => rows.flatMap((row) => (row.client ? [row.client.runId] : [])));
