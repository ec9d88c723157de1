import type { MessageActions } from "../agents/index.ts";
import { lastChatOf, toOutboundMedia } from "../auto-reply/index.ts";
import type { ChannelManager } from "../channels/manager/index.ts";
import type { OutboundButton, OutboundMedia } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { Outbox } from "../delivery/index.ts";
import type { Clock } from "../infra/clock.ts";
import type { GuardedFetch } from "../infra/guarded-fetch.ts";
import type { Logger } from "../infra/log.ts";
import { saveMedia } from "../media/index.ts";
import type { SessionService } from "../sessions/index.ts";
import { fetchMedia } from "./media-fetch.ts";
import { mirrorAssistant } from "./mirror.ts";

const MIRROR_WAIT_MS = 60_000;

/** The message tool's way to the channels: sends are outbox rows keyed by run and tool call, so a replay sends nothing twice. */
export function createMessageActions(deps: {
  readonly config: () => OpenClawConfig;
  readonly channels: () => ChannelManager;
  readonly outbox: () => Outbox;
  readonly stateDir: string;
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sessions: SessionService;
  /** Resolves when the session has no run, or after the time. */
  readonly waitIdle: (sessionKey: string, timeoutMs: number) => Promise<unknown>;
}): MessageActions {
  const listChannels = (): string[] => deps.channels().configured().map((plugin) => plugin.id);

  /** Who answers in a chat knows what was said there. The conversation that sent it has it in its own words. */
  async function mirror(chat: { channel: string; to: string }, text: string, fromSessionKey: string): Promise<void> {
    for (const { key, entry } of await deps.sessions.all()) {
      const last = lastChatOf(entry);
      if (key === fromSessionKey || last?.channel !== chat.channel || last.to !== chat.to) continue;
      await deps.waitIdle(key, MIRROR_WAIT_MS); // nothing is put between the calls and results of a turn
      await mirrorAssistant(deps.sessions, key, text, deps.clock.now());
    }
  }

  return {
    listActions() {
      const cfg = deps.config();
      const channels = listChannels();
      const offered = deps.channels().collect("message actions", (plugin) => (channels.includes(plugin.id) ? (plugin.actions?.listActions(cfg) ?? []) : []));
      const canBroadcast = channels.length > 0 && cfg.tools?.message?.broadcast?.enabled !== false;
      return [...new Set(["send", ...(canBroadcast ? ["broadcast"] : []), ...offered])];
    },
    listChannels,
    async send(request) {
      const plugin = deps.channels().find(request.channel);
      if (!plugin?.outbound) return { ok: false, error: `Channel ${request.channel} cannot send. Known: ${deps.channels().plugins.map((item) => item.id).join(", ") || "none"}.` };
      const cfg = deps.config();
      const accountId = request.accountId ?? plugin.config.defaultAccountId(cfg);
      const target = plugin.outbound.resolveTarget?.(cfg, request.to, accountId) ?? { ok: true as const, to: request.to };
      if (!target.ok) return { ok: false, error: target.error };
      const media: OutboundMedia[] = [];
      for (const source of request.mediaUrls) {
        const resolved = await toOutboundMedia({ stateDir: deps.stateDir, fetchUrl: (url, max) => fetchMedia(deps.fetch, url, max) }, request.files, source, request.asVoice);
        if ("error" in resolved) return { ok: false, error: `${source}: ${resolved.error}` };
        media.push(resolved);
      }
      const { attachment } = request;
      if (attachment) {
        media.push({ path: await saveMedia(deps.stateDir, "outbound", attachment.bytes, attachment.mimeType, attachment.fileName), mimeType: attachment.mimeType, fileName: attachment.fileName, asVoice: request.asVoice });
      }
      const buttons = parseButtons(request.buttons);
      const result = await deps.outbox().deliver({
        id: request.id, channel: plugin.id,
        message: {
          accountId, to: target.to, threadId: request.threadId ?? ("threadId" in target ? target.threadId : undefined), replyToId: request.replyToId, text: request.text,
          silent: request.silent, ...(media.length > 0 ? { media } : {}), ...(buttons ? { buttons } : {}),
        },
      });
      if (result.kind !== "sent") return { ok: false, error: result.reason };
      const said = [request.text, ...media.map((item) => `[media: ${item.fileName}]`)].filter((part) => part !== "").join("\n");
      mirror({ channel: plugin.id, to: target.to }, said, request.fromSessionKey).catch((err: unknown) => deps.log.warn("a message sent by a tool is missing in the conversation of its chat", { channel: plugin.id, err }));
      return { ok: true, channel: plugin.id, to: target.to, messageIds: result.messageIds };
    },
    async act(request) {
      const plugin = deps.channels().find(request.channel);
      const cfg = deps.config();
      if (!plugin?.actions?.listActions(cfg).includes(request.action)) throw new Error(`Message action ${request.action} not supported for channel ${request.channel}.`);
      const current = request.current?.channel === plugin.id && request.current.to !== undefined ? { to: request.current.to, threadId: request.current.threadId, messageId: request.current.messageId } : undefined;
      return plugin.actions.handleAction({
        cfg, accountId: request.accountId ?? plugin.config.defaultAccountId(cfg), action: request.action, params: request.params, signal: request.signal, ...(current ? { current } : {}),
      });
    },
  };
}

function parseButtons(raw: unknown): OutboundButton[][] | undefined {
  let value = raw;
  if (typeof raw === "string") {
    try {
      value = JSON.parse(raw);
    } catch {
      throw new Error("buttons must be rows of {text, callback_data}");
    }
  }
  if (!Array.isArray(value)) return undefined;
  return value.map((row: unknown) =>
    (Array.isArray(row) ? row : [row]).flatMap((button: unknown): OutboundButton[] => {
      if (typeof button !== "object" || button === null) return [];
      const { text, callback_data: data } = button as Record<string, unknown>;
      return typeof text === "string" && typeof data === "string" ? [{ text, callbackData: data }] : [];
    }),
  );
}
