import type { MessageActions } from "../agents/index.ts";
import { toOutboundMedia } from "../auto-reply/index.ts";
import type { ChannelManager } from "../channels/manager/index.ts";
import type { OutboundButton, OutboundMedia } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { Outbox } from "../delivery/index.ts";
import type { GuardedFetch } from "../infra/guarded-fetch.ts";
import { fetchMedia } from "./media-fetch.ts";

/** The message tool's way to the channels: sends are outbox rows keyed by run and tool call, so a replay sends nothing twice. */
export function createMessageActions(deps: {
  readonly config: () => OpenClawConfig;
  readonly channels: () => ChannelManager;
  readonly outbox: () => Outbox;
  readonly stateDir: string;
  readonly fetch: GuardedFetch;
}): MessageActions {
  return {
    listActions() {
      const cfg = deps.config();
      const names = new Set<string>(["send"]);
      for (const plugin of deps.channels().plugins) {
        const active = plugin.config.listAccountIds(cfg).some((id) => plugin.config.unconfiguredReason(plugin.config.resolveAccount(cfg, id), cfg) === undefined);
        if (active) for (const name of plugin.actions?.listActions(cfg) ?? []) names.add(name);
      }
      return [...names];
    },
    async send(request) {
      const plugin = deps.channels().find(request.channel);
      if (!plugin?.outbound) return { ok: false, error: `Channel ${request.channel} cannot send. Known: ${deps.channels().plugins.map((item) => item.id).join(", ") || "none"}.` };
      const cfg = deps.config();
      const accountId = request.accountId ?? plugin.config.defaultAccountId(cfg);
      const target = plugin.outbound.resolveTarget?.(cfg, request.to, accountId) ?? { ok: true as const, to: request.to };
      if (!target.ok) return { ok: false, error: target.error };
      const media: OutboundMedia[] = [];
      for (const source of request.mediaUrls) {
        const resolved = await toOutboundMedia({ stateDir: deps.stateDir, fetchUrl: (url, max) => fetchMedia(deps.fetch, url, max) }, request.workspaceDir, source, request.asVoice);
        if ("error" in resolved) return { ok: false, error: `${source}: ${resolved.error}` };
        media.push(resolved);
      }
      const buttons = parseButtons(request.buttons);
      const result = await deps.outbox().deliver({
        id: request.id, channel: plugin.id,
        message: {
          accountId, to: target.to, threadId: request.threadId ?? ("threadId" in target ? target.threadId : undefined), replyToId: request.replyToId, text: request.text,
          silent: request.silent, ...(media.length > 0 ? { media } : {}), ...(buttons ? { buttons } : {}),
        },
      });
      return result.kind === "sent" ? { ok: true, channel: plugin.id, to: target.to, messageIds: result.messageIds } : { ok: false, error: result.reason };
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
