/** Facts about the chat channels that helpers of the SDK know by name. Source: spec channels §1–2, §6–10. */

export interface ChatChannelMeta {
  readonly id: string;
  readonly label: string;
  readonly selectionLabel: string;
  readonly detailLabel: string;
  readonly docsPath: string;
  readonly docsLabel: string;
  readonly blurb: string;
  readonly systemImage: string;
  readonly order: number;
  readonly aliases?: readonly string[] | undefined;
}

const meta = (order: number, id: string, label: string, detailLabel: string, systemImage: string, blurb: string, extra: { selection?: string; aliases?: readonly string[] } = {}): ChatChannelMeta => ({
  id, label, selectionLabel: `${label} (${extra.selection ?? detailLabel})`, detailLabel, docsPath: `/channels/${id}`, docsLabel: id, blurb, systemImage, order,
  ...(extra.aliases ? { aliases: extra.aliases } : {}),
});

export const CHANNEL_LABELS: Readonly<Record<string, ChatChannelMeta>> = {
  telegram: meta(0, "telegram", "Telegram", "Telegram Bot", "paperplane", "a bot of @BotFather; the quickest way to start.", { selection: "Bot API" }),
  whatsapp: meta(1, "whatsapp", "WhatsApp", "WhatsApp Web", "message", "linked like a browser, by a QR code; a number of its own is best.", { selection: "QR link" }),
  discord: meta(2, "discord", "Discord", "Discord Bot", "bubble.left.and.bubble.right", "a bot for servers and direct messages.", { selection: "Bot API" }),
  irc: meta(3, "irc", "IRC", "IRC", "network", "classic networks, in channels and private messages.", { selection: "Server + Nick", aliases: ["internet-relay-chat"] }),
  googlechat: meta(4, "googlechat", "Google Chat", "Google Chat", "message.badge", "a Google Workspace app that answers by webhook.", { selection: "Chat API", aliases: ["google-chat", "gchat"] }),
  slack: meta(5, "slack", "Slack", "Slack Bot", "number", "an app of the workspace, over Socket Mode.", { selection: "Socket Mode" }),
  signal: meta(6, "signal", "Signal", "Signal REST", "antenna.radiowaves.left.and.right", "a linked device through signal-cli.", { selection: "signal-cli" }),
  imessage: meta(7, "imessage", "iMessage", "iMessage", "message.fill", "through the Messages app of a Mac.", { selection: "imsg", aliases: ["imsg"] }),
};

/** How one account of a channel is configured. */
export interface AccountFacts {
  /** Those of the channel are the default account's alone. */
  readonly secret: boolean;
  /** Keys any one of which means that there are credentials. */
  readonly credentialKeys: readonly string[];
  /** All of these are needed; default: any one of `credentialKeys`. */
  readonly requiredKeys?: readonly string[] | undefined;
  /** Served to the default account only. */
  readonly env: Readonly<Record<string, string>>;
  /** Keys that hold the path of a file with the value of another. */
  readonly files: Readonly<Record<string, string>>;
}

export const ACCOUNT_FACTS: Readonly<Record<string, AccountFacts>> = {
  telegram: { secret: true, credentialKeys: ["botToken", "token"], env: { botToken: "TELEGRAM_BOT_TOKEN" }, files: { botToken: "tokenFile" } },
  discord: { secret: true, credentialKeys: ["token"], env: { token: "DISCORD_BOT_TOKEN" }, files: {} },
  slack: { secret: true, credentialKeys: ["botToken"], env: { botToken: "SLACK_BOT_TOKEN", appToken: "SLACK_APP_TOKEN", userToken: "SLACK_USER_TOKEN" }, files: {} },
  line: {
    secret: true, credentialKeys: ["channelAccessToken"], requiredKeys: ["channelAccessToken", "channelSecret"],
    env: { channelAccessToken: "LINE_CHANNEL_ACCESS_TOKEN", channelSecret: "LINE_CHANNEL_SECRET" }, files: { channelAccessToken: "tokenFile", channelSecret: "secretFile" },
  },
  signal: { secret: false, credentialKeys: ["account", "httpUrl", "cliPath", "httpHost", "httpPort"], env: {}, files: {} },
  imessage: { secret: false, credentialKeys: ["cliPath", "dbPath", "service", "region"], env: {}, files: {} },
  whatsapp: { secret: false, credentialKeys: [], env: {}, files: {} },
};
