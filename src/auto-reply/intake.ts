import type { InboundMessage, InboundSystemEvent, ReceiveOutcome } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { dedupeKey, type Authority, type Inbox, type InboxItem, type InboxRow, type PendingHistory, type SystemEvents } from "../delivery/index.ts";
import type { Clock } from "../infra/clock.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { resolveBroadcast, resolveSessionKey } from "../routing/index.ts";
import { createDebouncer } from "./debounce.ts";
import type { ReceivedMedia } from "./inbound-context.ts";
import { isOnlySpoken } from "./hearing.ts";
import { chatKey } from "./inbox-rows.ts";
import type { Answers } from "./reply/answers.ts";

export type AdmitVerdict =
  | { readonly kind: "run"; readonly commandAuthorized: boolean; readonly wasMentioned: boolean; readonly isOwner: boolean }
  | { readonly kind: "pair" }
  /** `byName`: it would run if its recording called the bot by name. */
  | { readonly kind: "history"; readonly limit: number; readonly byName: boolean }
  | { readonly kind: "drop"; readonly reason: string };

export interface ClientMessage {
  readonly sessionKey: string;
  readonly runId: string;
  readonly text: string;
  readonly attachments: readonly ReceivedMedia[];
  readonly scopes: readonly string[];
  readonly isOwner: boolean;
  readonly thinking?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface IntakeDeps {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly inbox: Inbox;
  readonly history: PendingHistory;
  readonly systemEvents: SystemEvents;
  /** Decides about a message, pure but for reading the pairing store. */
  readonly admit: (message: InboundMessage, transcript?: string) => AdmitVerdict;
  /** Makes or refreshes a pairing request; the text for the stranger, or undefined when nothing is to be said. */
  readonly requestPairing: (message: InboundMessage) => Promise<string | undefined>;
  readonly sendPlain: Answers["sendPlain"];
  readonly isDraining: () => boolean;
  /** Messages that were accepted and belong together. */
  arrive(rows: readonly InboxRow[]): void;
  /** One message for several agents, of whom each answers before the next one reads it. */
  arriveInTurn(rows: readonly InboxRow[]): void;
}

export interface Intake {
  receive(message: InboundMessage): Promise<ReceiveOutcome>;
  /** A message whose channel has decided itself that it may come in (plugins of the older shape). Source: spec decisions §7.3. */
  receiveAdmitted(message: InboundMessage, verdict: AdmitVerdict & { kind: "run" }): ReceiveOutcome;
  receiveEvent(event: InboundSystemEvent): Promise<ReceiveOutcome>;
  /** A client's message: journaled, then handled like any other. @throws Error when the journal refuses */
  sendChat(message: ClientMessage): void;
  /** Forgets what is held back for its neighbours; it is in the inbox. */
  close(): void;
}

const STOPPING: ReceiveOutcome = { kind: "unavailable", reason: "the gateway is stopping" };

/** The door: dedupe, gate, journal. Source: spec decisions §5.1–5.2. */
export function createIntake(deps: IntakeDeps): Intake {
  const { inbox, log, clock } = deps;
  const debouncer = createDebouncer({
    delayMs(channel) {
      const inbound = deps.config().messages?.inbound;
      return Math.max(0, Math.trunc(inbound?.byChannel?.[channel] ?? inbound?.debounceMs ?? 0));
    },
    flush: (rows) => deps.arrive(rows),
  });

  async function receive(message: InboundMessage): Promise<ReceiveOutcome> {
    if (deps.isDraining()) return STOPPING;
    const key = dedupeKey(message);
    try {
      const verdict = deps.admit(message);
      switch (verdict.kind) {
        case "run":
          return accept(key, message, verdict);
        case "pair": {
          if (inbox.seen(key)) return { kind: "duplicate" };
          const text = await deps.requestPairing(message);
          if (text !== undefined) void deps.sendPlain(message, text, `pair:${key}`).catch((err: unknown) => log.error("pairing code not sent", { err }));
          return { kind: "dropped", reason: "pairing" };
        }
        case "history":
          if (verdict.byName && isOnlySpoken(message)) return acceptUnheard(key, message);
          if (inbox.seen(key)) return { kind: "duplicate" };
          deps.history.add(chatKey(message), { sender: message.sender.name ?? message.sender.username ?? message.sender.id, body: message.text || "<media>", atMs: message.timestampMs }, verdict.limit);
          return { kind: "dropped", reason: "not-mentioned" };
        case "drop":
          return inbox.seen(key) ? { kind: "duplicate" } : { kind: "dropped", reason: verdict.reason };
      }
    } catch (err) {
      log.error("message not accepted", { channel: message.channel, err });
      return { kind: "unavailable", reason: errorText(err) };
    }
  }

  function receiveAdmitted(message: InboundMessage, verdict: AdmitVerdict & { kind: "run" }): ReceiveOutcome {
    if (deps.isDraining()) return STOPPING;
    try {
      return accept(dedupeKey(message), message, verdict);
    } catch (err) {
      log.error("message not accepted", { channel: message.channel, err });
      return { kind: "unavailable", reason: errorText(err) };
    }
  }

  function accept(key: string, message: InboundMessage, verdict: AdmitVerdict & { kind: "run" }): ReceiveOutcome {
    const authority: Authority = { source: message.channel, senderId: message.sender.id, isOwner: verdict.isOwner, commandAuthorized: verdict.commandAuthorized };
    const item: InboxItem = { message, authority, wasMentioned: verdict.wasMentioned };
    const broadcast = resolveBroadcast(deps.config(), message);
    const [first, ...others] = (broadcast?.agentIds ?? []).map((agentId): InboxItem => ({ ...item, agentId }));
    const accepted = inbox.accept(key, [first ?? item, ...others]);
    if (accepted.kind === "duplicate") return { kind: "duplicate" };
    if (broadcast?.strategy === "sequential") deps.arriveInTurn(accepted.rows);
    else for (const row of accepted.rows) debouncer.take(row);
    return { kind: "accepted", id: accepted.rows[0].id };
  }

  /** Whether it is for the bot turns out when somebody has listened to it. */
  function acceptUnheard(key: string, message: InboundMessage): ReceiveOutcome {
    const accepted = inbox.accept(key, [{ message, authority: { source: message.channel, senderId: message.sender.id, isOwner: false, commandAuthorized: false }, wasMentioned: false, isUnheard: true }]);
    if (accepted.kind === "duplicate") return { kind: "duplicate" };
    deps.arrive(accepted.rows);
    return { kind: "accepted", id: accepted.rows[0].id };
  }

  async function receiveEvent(event: InboundSystemEvent): Promise<ReceiveOutcome> {
    if (deps.isDraining()) return STOPPING;
    if (inbox.seen(`event|${event.channel}|${event.accountId}|${event.dedupeId}`)) return { kind: "duplicate" };
    const place = { channel: event.channel, accountId: event.accountId, chat: event.chat, sender: { id: event.actorId } };
    const verdict = deps.admit({
      ...place, messageId: event.dedupeId, text: "", timestampMs: clock.now(), from: "", to: "", mentions: { bot: true, anyone: true, implicit: true },
    });
    if (verdict.kind !== "run") return { kind: "dropped", reason: verdict.kind };
    deps.systemEvents.push(resolveSessionKey(deps.config(), place).sessionKey, event.text, { contextKey: event.contextKey, trusted: false });
    return { kind: "accepted", id: event.dedupeId };
  }

  function sendChat(client: ClientMessage): void {
    const message: InboundMessage = {
      channel: "webchat", accountId: "default", messageId: client.runId, chat: { id: client.sessionKey, type: "direct" },
      sender: { id: "gateway-client" }, text: client.text, timestampMs: clock.now(), from: "webchat", to: client.sessionKey,
    };
    const authority: Authority = { source: "gateway", senderId: "gateway-client", isOwner: client.isOwner, commandAuthorized: true, scopes: client.scopes };
    const item: InboxItem = {
      message, authority, wasMentioned: false,
      client: { sessionKey: client.sessionKey, runId: client.runId, thinking: client.thinking, timeoutMs: client.timeoutMs, attachments: client.attachments },
    };
    const accepted = inbox.accept(dedupeKey(message), [item]);
    if (accepted.kind === "accepted") deps.arrive(accepted.rows);
  }

  return { receive, receiveAdmitted, receiveEvent, sendChat, close: () => debouncer.clear() };
}
