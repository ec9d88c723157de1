import type { OpenClawConfig } from "../../config/index.ts";
import { textOf } from "./section.ts";

/** Sending and looking after the channels that the product knows by name. Source: spec plugin-sdk §13. */

export interface ChannelSendRequest {
  readonly channel: string;
  readonly to: string;
  readonly text: string;
  readonly mediaUrl?: string | undefined;
  readonly accountId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly replyToId?: string | undefined;
  readonly silent?: boolean | undefined;
  /** As the plugin gave them. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface ChannelPollRequest {
  readonly channel: string;
  readonly to: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly maxSelections?: number | undefined;
  readonly durationSeconds?: number | undefined;
  readonly accountId?: string | undefined;
}

export interface ChannelSendResult {
  readonly channel: string;
  readonly messageId: string;
  readonly [extra: string]: unknown;
}

export interface ChannelDoorDeps {
  /** @throws Error for a channel that is not there, not configured, or that refused */
  sendToChannel(request: ChannelSendRequest): Promise<ChannelSendResult>;
  sendPollToChannel(request: ChannelPollRequest): Promise<ChannelSendResult>;
  /** What a look at the account gave; never the credentials. */
  probeChannel(request: { readonly channel: string; readonly accountId?: string | undefined; readonly timeoutMs?: number | undefined }): Promise<unknown>;
  /** What the message tool may do there now. */
  listChannelActions(channel: string, cfg?: OpenClawConfig): readonly string[];
  /** One of them. */
  channelAction(request: { readonly channel: string; readonly action: string; readonly params: Readonly<Record<string, unknown>>; readonly accountId?: string | undefined; readonly cfg?: OpenClawConfig | undefined }): Promise<unknown>;
}

export type SendText = (to: string, text: string, options?: Readonly<Record<string, unknown>>) => Promise<ChannelSendResult>;
export type SendPoll = (to: string, poll: { readonly question: string; readonly options: readonly string[]; readonly maxSelections?: number | undefined; readonly durationSeconds?: number | undefined; readonly durationHours?: number | undefined }, options?: Readonly<Record<string, unknown>>) => Promise<ChannelSendResult>;

const asText = (value: unknown): string | undefined => (typeof value === "number" ? String(value) : textOf(value));
const asNumber = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

export function createChannelDoors(deps: ChannelDoorDeps) {
  const send = (channel: string): SendText => (to, text, options = {}) =>
    deps.sendToChannel({
      channel, to, text, options, mediaUrl: textOf(options["mediaUrl"]), accountId: textOf(options["accountId"]), silent: options["silent"] === true,
      threadId: asText(options["threadId"] ?? options["messageThreadId"] ?? options["threadTs"]), replyToId: asText(options["replyToId"] ?? options["replyTo"] ?? options["replyToMessageId"]),
    });
  const poll = (channel: string): SendPoll => (to, question, options = {}) =>
    deps.sendPollToChannel({
      channel, to, question: question.question, options: question.options, maxSelections: question.maxSelections, accountId: textOf(options["accountId"]),
      durationSeconds: question.durationSeconds ?? (question.durationHours === undefined ? undefined : question.durationHours * 3600),
    });
  /** Plugins of the reference give a token and a time here; ours looks at the configured account. */
  const probe = (channel: string) => (...args: readonly unknown[]): Promise<unknown> => {
    const options = args.find((arg) => typeof arg === "object" && arg !== null) as Readonly<Record<string, unknown>> | undefined;
    return deps.probeChannel({ channel, accountId: textOf(options?.["accountId"]), timeoutMs: args.map(asNumber).find((ms) => ms !== undefined) ?? asNumber(options?.["timeoutMs"]) });
  };
  const monitor = (channel: string) => async (..._args: readonly unknown[]): Promise<never> => {
    throw new Error(`The gateway itself runs the channel ${channel}; a plugin cannot run it a second time. Configure channels.${channel} instead.`);
  };
  const unavailable = (name: string) => async (..._args: readonly unknown[]): Promise<never> => {
    throw new Error(`runtime.${name} is not available in this gateway`);
  };
  /** For what answers at once where it is there. */
  const missing = (name: string) => (..._args: readonly unknown[]): never => {
    throw new Error(`runtime.${name} is not available in this gateway`);
  };
  const actions = (channel: string) => ({
    listActions: (query?: { readonly cfg?: OpenClawConfig | undefined }): string[] => [...deps.listChannelActions(channel, query?.cfg)],
    handleAction: (request: { readonly action: string; readonly params: Readonly<Record<string, unknown>>; readonly accountId?: string | undefined; readonly cfg?: OpenClawConfig | undefined }): Promise<unknown> =>
      deps.channelAction({ ...request, channel }),
  });
  const act = (channel: string) => (params: Readonly<Record<string, unknown>>, cfg?: OpenClawConfig): Promise<unknown> =>
    deps.channelAction({ channel, action: textOf(params["action"]) ?? "send", params, accountId: textOf(params["accountId"]), cfg });
  const line = send("line");
  return {
    discord: {
      sendMessageDiscord: send("discord"), sendPollDiscord: poll("discord"), probeDiscord: probe("discord"), monitorDiscordProvider: monitor("discord"), messageActions: actions("discord"),
      auditChannelPermissions: unavailable("channel.discord.auditChannelPermissions"), resolveChannelAllowlist: unavailable("channel.discord.resolveChannelAllowlist"),
      resolveUserAllowlist: unavailable("channel.discord.resolveUserAllowlist"), listDirectoryGroupsLive: unavailable("channel.discord.listDirectoryGroupsLive"), listDirectoryPeersLive: unavailable("channel.discord.listDirectoryPeersLive"),
    },
    slack: {
      sendMessageSlack: send("slack"), probeSlack: probe("slack"), monitorSlackProvider: monitor("slack"), handleSlackAction: act("slack"),
      resolveChannelAllowlist: unavailable("channel.slack.resolveChannelAllowlist"), resolveUserAllowlist: unavailable("channel.slack.resolveUserAllowlist"),
      listDirectoryGroupsLive: unavailable("channel.slack.listDirectoryGroupsLive"), listDirectoryPeersLive: unavailable("channel.slack.listDirectoryPeersLive"),
    },
    telegram: {
      sendMessageTelegram: send("telegram"), sendPollTelegram: poll("telegram"), probeTelegram: probe("telegram"), monitorTelegramProvider: monitor("telegram"), messageActions: actions("telegram"),
      auditGroupMembership: unavailable("channel.telegram.auditGroupMembership"), collectUnmentionedGroupIds: missing("channel.telegram.collectUnmentionedGroupIds"),
      resolveTelegramToken: missing("channel.telegram.resolveTelegramToken"),
    },
    signal: { sendMessageSignal: send("signal"), probeSignal: probe("signal"), monitorSignalProvider: monitor("signal"), messageActions: actions("signal") },
    imessage: { sendMessageIMessage: send("imessage"), probeIMessage: probe("imessage"), monitorIMessageProvider: monitor("imessage") },
    whatsapp: {
      sendMessageWhatsApp: send("whatsapp"), sendPollWhatsApp: poll("whatsapp"), handleWhatsAppAction: act("whatsapp"), monitorWebChannel: monitor("whatsapp"),
      loginWeb: unavailable("channel.whatsapp.loginWeb"), startWebLoginWithQr: unavailable("channel.whatsapp.startWebLoginWithQr"), waitForWebLogin: unavailable("channel.whatsapp.waitForWebLogin"),
      logoutWeb: unavailable("channel.whatsapp.logoutWeb"), createLoginTool: missing("channel.whatsapp.createLoginTool"), getActiveWebListener: (): null => null, webAuthExists: async (): Promise<boolean> => false, getWebAuthAgeMs: (): null => null,
      readWebSelfId: (): { e164: null; jid: null } => ({ e164: null, jid: null }), logWebSelfId: (): void => undefined,
    },
    line: {
      sendMessageLine: line, pushMessageLine: line, probeLineBot: probe("line"), monitorLineProvider: monitor("line"),
      pushMessagesLine: unavailable("channel.line.pushMessagesLine"), pushFlexMessage: unavailable("channel.line.pushFlexMessage"), pushTemplateMessage: unavailable("channel.line.pushTemplateMessage"),
      pushLocationMessage: unavailable("channel.line.pushLocationMessage"), pushTextMessageWithQuickReplies: unavailable("channel.line.pushTextMessageWithQuickReplies"),
      listLineAccountIds: missing("channel.line.listLineAccountIds"), resolveDefaultLineAccountId: missing("channel.line.resolveDefaultLineAccountId"), resolveLineAccount: missing("channel.line.resolveLineAccount"),
      normalizeLineAccountId: missing("channel.line.normalizeLineAccountId"), buildTemplateMessageFromPayload: missing("channel.line.buildTemplateMessageFromPayload"),
      /** At most 13, as the platform has it. */
      createQuickReplyItems: (labels: readonly string[]) => ({ items: labels.slice(0, 13).map((label) => ({ type: "action" as const, action: { type: "message" as const, label: label.slice(0, 20), text: label } })) }),
    },
  };
}
