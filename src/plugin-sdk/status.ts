import { asFields, textOf } from "../plugins/runtime/helpers/index.ts";

/** Status rows and what is wrong in them. Source: spec plugin-sdk §12 (status), channels §1–2. */

export interface StatusIssue {
  readonly channel: string;
  readonly accountId: string;
  readonly kind: "intent" | "permissions" | "config" | "auth" | "runtime";
  readonly message: string;
  readonly fix?: string | undefined;
}

export interface AccountSnapshot {
  readonly accountId: string;
  readonly [key: string]: unknown;
}

export function createDefaultChannelRuntimeState<T extends Readonly<Record<string, unknown>>>(accountId: string, extra?: T) {
  return { accountId, running: false, lastStartAt: null, lastStopAt: null, lastError: null, ...(extra as T) };
}

type Row = Readonly<Record<string, unknown>> | undefined;
const orNull = (row: Row, key: string): unknown => row?.[key] ?? null;

export function buildBaseChannelStatusSummary(snapshot: Row) {
  return {
    configured: snapshot?.["configured"] ?? false, running: snapshot?.["running"] ?? false,
    lastStartAt: orNull(snapshot, "lastStartAt"), lastStopAt: orNull(snapshot, "lastStopAt"), lastError: orNull(snapshot, "lastError"),
  };
}

export function buildTokenChannelStatusSummary(snapshot: Row, options: { readonly includeMode?: boolean | undefined } = {}) {
  return {
    ...buildBaseChannelStatusSummary(snapshot), tokenSource: snapshot?.["tokenSource"] ?? "none",
    ...(options.includeMode === false ? {} : { mode: orNull(snapshot, "mode") }),
    probe: snapshot?.["probe"], lastProbeAt: orNull(snapshot, "lastProbeAt"),
  };
}

export function buildBaseAccountStatusSnapshot(input: {
  readonly account: { readonly accountId: string; readonly name?: string | undefined; readonly enabled?: boolean | undefined; readonly configured?: boolean | undefined };
  readonly runtime?: Row | null;
  readonly probe?: unknown;
}) {
  const { account, probe } = input;
  const runtime = input.runtime ?? undefined;
  return {
    accountId: account.accountId, name: account.name, enabled: account.enabled, configured: account.configured, running: runtime?.["running"] ?? false,
    lastStartAt: orNull(runtime, "lastStartAt"), lastStopAt: orNull(runtime, "lastStopAt"), lastError: orNull(runtime, "lastError"), probe,
    lastInboundAt: orNull(runtime, "lastInboundAt"), lastOutboundAt: orNull(runtime, "lastOutboundAt"),
  };
}

const active = (accounts: readonly AccountSnapshot[]): AccountSnapshot[] => accounts.filter((row) => row["enabled"] !== false && row["configured"] !== false);

/** Every account whose last error stands. */
export function collectStatusIssuesFromLastError(channel: string, accounts: readonly AccountSnapshot[]): StatusIssue[] {
  return accounts.flatMap(({ accountId, ...row }): StatusIssue[] => {
    const error = textOf(row["lastError"]);
    return error === undefined ? [] : [{ channel, accountId, kind: "runtime", message: `Channel error: ${error}` }];
  });
}

export function collectTelegramStatusIssues(accounts: readonly AccountSnapshot[]): StatusIssue[] {
  return active(accounts).flatMap((row): StatusIssue[] => {
    const audit = asFields(row["audit"]);
    const unreadable = row["allowUnmentionedGroups"] === true && asFields(asFields(row["probe"])["bot"])["canReadAllGroupMessages"] === false;
    const missing = (Array.isArray(audit["groups"]) ? audit["groups"].map(asFields) : []).filter((group) => group["ok"] === false);
    return [
      ...(unreadable ? [issue("telegram", row, "config", "Groups are set to answer without a mention (requireMention: false), but the bot's privacy mode keeps their messages from it.", "In @BotFather: /setprivacy, choose the bot, Disable; then remove the bot from the group and add it again.")] : []),
      ...(audit["hasWildcardUnmentionedGroups"] === true ? [issue("telegram", row, "config", 'Groups "*" answer without a mention; which groups those are cannot be checked.', "Name the groups by their number in channels.telegram.groups.")] : []),
      ...missing.map((group) => issue("telegram", row, "runtime", `The bot is not in group ${String(group["chatId"])}.`, "Invite the bot to the group, or remove the group from channels.telegram.groups.")),
    ];
  });
}

export function collectDiscordStatusIssues(accounts: readonly AccountSnapshot[]): StatusIssue[] {
  return active(accounts).flatMap((row): StatusIssue[] => {
    const intents = asFields(asFields(row["application"])["intents"]);
    const content = textOf(intents["messageContent"]);
    const rooms = (Array.isArray(asFields(row["audit"])["channels"]) ? (asFields(row["audit"])["channels"] as unknown[]).map(asFields) : []).filter((room) => room["ok"] === false);
    return [
      ...(content === "disabled" || content === "limited" ? [issue("discord", row, "intent", `The intent Message Content is ${content}: the bot does not see what people write.`, "Switch it on in the Discord developer portal: Bot → Privileged Gateway Intents.")] : []),
      ...rooms.map((room) => issue("discord", row, "permissions", `Permissions are missing in channel ${String(room["channelId"])}: ${Array.isArray(room["missing"]) ? room["missing"].join(", ") : String(room["error"] ?? "not readable")}.`, "Give the bot's role these permissions in that channel.")),
    ];
  });
}

export function collectWhatsAppStatusIssues(accounts: readonly AccountSnapshot[]): StatusIssue[] {
  return active(accounts).flatMap((row): StatusIssue[] => {
    if (row["linked"] === false) return [issue("whatsapp", row, "auth", "Not linked to a phone.", "openclaw channels login --channel whatsapp, then scan the code.")];
    if (row["running"] === true && row["connected"] === false) {
      const error = textOf(row["lastError"]);
      return [issue("whatsapp", row, "runtime", `Linked, but not connected${error ? `: ${error}` : ""}.`, "openclaw doctor; if it stays so, link it again with openclaw channels login --channel whatsapp.")];
    }
    return [];
  });
}

export function collectBlueBubblesStatusIssues(accounts: readonly AccountSnapshot[]): StatusIssue[] {
  return accounts.filter((row) => row["enabled"] !== false).flatMap((row): StatusIssue[] => {
    if (row["configured"] === false) return [issue("bluebubbles", row, "config", "Not configured: serverUrl or password is missing.", "Set channels.bluebubbles.serverUrl and channels.bluebubbles.password.")];
    const probe = asFields(row["probe"]);
    if (probe["ok"] === false) return [issue("bluebubbles", row, "runtime", `The BlueBubbles server cannot be reached${textOf(probe["error"]) ? `: ${textOf(probe["error"])}` : ""}.`, "Check that it runs and that serverUrl is right.")];
    return collectStatusIssuesFromLastError("bluebubbles", [row]);
  });
}

const issue = (channel: string, row: AccountSnapshot, kind: StatusIssue["kind"], message: string, fix: string): StatusIssue => ({ channel, accountId: row.accountId, kind, message, fix });
