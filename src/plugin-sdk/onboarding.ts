import type { OpenClawConfig } from "../config/index.ts";
import { DEFAULT_ACCOUNT_ID } from "../pairing/index.ts";
import { accountFields, asFields, channelFields, entriesOf, type Fields } from "../plugins/runtime/helpers/index.ts";
import { normalizeAccountId } from "../routing/index.ts";
import { createAccountListHelpers, resolveChannelAccount } from "./accounts.ts";
import { addWildcardAllowFrom, mergeAllowlist } from "./allow-from.ts";
import { CHANNEL_LABELS } from "./channel-facts.ts";
import { patchChannelAccount } from "./config-section.ts";
import { formatDocsLink } from "./text.ts";

/** Questions that set up a channel. Source: spec channels §1 (onboarding), plugin-sdk §12. */

export interface WizardOption<T> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string | undefined;
}

export interface WizardPrompter {
  note(message: string, title?: string): Promise<void>;
  select<T>(question: { message: string; options: WizardOption<T>[]; initialValue?: T }): Promise<T>;
  text(question: { message: string; initialValue?: string; placeholder?: string; validate?: (value: string) => string | undefined }): Promise<string>;
  confirm(question: { message: string; initialValue?: boolean }): Promise<boolean>;
}

/** What a person at a terminal can be asked and told. */
export interface TerminalPrompter extends WizardPrompter {
  intro(title: string): Promise<void>;
  outro(message: string): Promise<void>;
  multiselect<T>(question: { message: string; options: WizardOption<T>[]; initialValues?: T[] }): Promise<T[]>;
  progress(label: string): { update(message: string): void; stop(message?: string): void };
}

export interface OnboardingStatus {
  readonly channel: string;
  readonly configured: boolean;
  readonly statusLines: string[];
  readonly selectionHint?: string | undefined;
  readonly quickstartScore?: number | undefined;
}

export interface ConfigureInput {
  readonly cfg: OpenClawConfig;
  readonly prompter: WizardPrompter;
  readonly accountOverrides?: Readonly<Record<string, string | undefined>> | undefined;
  readonly shouldPromptAccountIds?: boolean | undefined;
  readonly forceAllowFrom?: boolean | undefined;
}

export interface OnboardingDmPolicy {
  readonly label: string;
  readonly channel: string;
  readonly policyKey: string;
  readonly allowFromKey: string;
  getCurrent(cfg: OpenClawConfig): string;
  setPolicy(cfg: OpenClawConfig, policy: string): OpenClawConfig;
  promptAllowFrom(input: { cfg: OpenClawConfig; prompter: WizardPrompter; accountId?: string | undefined }): Promise<OpenClawConfig>;
}

export interface ChannelOnboardingAdapter {
  readonly channel: string;
  getStatus(input: { cfg: OpenClawConfig }): Promise<OnboardingStatus>;
  configure(input: ConfigureInput): Promise<{ cfg: OpenClawConfig; accountId: string }>;
  readonly dmPolicy: OnboardingDmPolicy;
  disable(cfg: OpenClawConfig): OpenClawConfig;
}

/** The account to set up; a new one may be named. */
export async function promptAccountId(input: {
  readonly cfg: OpenClawConfig;
  readonly prompter: WizardPrompter;
  readonly label: string;
  readonly currentId?: string | undefined;
  readonly listAccountIds: (cfg: OpenClawConfig) => string[];
  readonly defaultAccountId: string;
}): Promise<string> {
  const { cfg, prompter, label } = input;
  const known = input.listAccountIds(cfg);
  const initialValue = input.currentId?.trim() || input.defaultAccountId;
  const options = [...known.map((value) => ({ value, label: value === DEFAULT_ACCOUNT_ID ? "default (primary)" : value })), { value: "__new__", label: "Add a new account" }];
  const choice = await prompter.select({ message: `${label} account`, options, initialValue });
  if (choice !== "__new__") return normalizeAccountId(choice);
  const entered = await prompter.text({ message: `New ${label} account id`, validate: (value) => (value.trim() === "" ? "Required" : undefined) });
  const id = normalizeAccountId(entered);
  if (id !== entered.trim()) await prompter.note(`The account is called "${id}".`, `${label} account`);
  return id;
}

export type ChannelAccessPolicy = "allowlist" | "open" | "disabled";

/** Which groups or rooms are admitted; null: leave it as it is. */
export async function promptChannelAccessConfig(input: {
  readonly prompter: WizardPrompter;
  readonly label: string;
  readonly currentPolicy?: ChannelAccessPolicy | undefined;
  readonly currentEntries?: readonly string[] | undefined;
  readonly placeholder?: string | undefined;
  readonly allowOpen?: boolean | undefined;
  readonly allowDisabled?: boolean | undefined;
  readonly defaultPrompt?: boolean | undefined;
  readonly updatePrompt?: boolean | undefined;
}): Promise<{ policy: ChannelAccessPolicy; entries: string[] } | null> {
  const { prompter, label, currentEntries = [] } = input;
  const wanted = await prompter.confirm({ message: input.updatePrompt ? `Update ${label} access?` : `Configure ${label} access?`, initialValue: input.defaultPrompt ?? currentEntries.length === 0 });
  if (!wanted) return null;
  const options: WizardOption<ChannelAccessPolicy>[] = [
    { value: "allowlist", label: "Allowlist (recommended)" },
    ...(input.allowOpen === false ? [] : [{ value: "open" as const, label: "Open (allow all)" }]),
    ...(input.allowDisabled === false ? [] : [{ value: "disabled" as const, label: "Disabled (block all)" }]),
  ];
  const policy = await prompter.select({ message: `${label} access`, options, initialValue: input.currentPolicy ?? "allowlist" });
  if (policy !== "allowlist") return { policy, entries: [] };
  const text = await prompter.text({ message: `${label} allowlist (comma-separated)`, initialValue: currentEntries.join(", "), ...(input.placeholder ? { placeholder: input.placeholder } : {}) });
  return { policy, entries: splitEntries(text) };
}

const splitEntries = (text: string): string[] => [...new Set(text.split(/[\n,;]+/).map((entry) => entry.trim()).filter(Boolean))];

interface Question {
  readonly key: string;
  readonly message: string;
  readonly placeholder?: string | undefined;
  readonly initialValue?: string | undefined;
  readonly optional?: boolean | undefined;
}

interface OnboardingFacts {
  readonly help: readonly string[];
  readonly questions: readonly Question[];
  readonly allowFromMessage: string;
  readonly allowFromPlaceholder: string;
  readonly quickstartScore: number;
}

const FACTS: Readonly<Record<string, OnboardingFacts>> = {
  telegram: {
    help: ["Open Telegram and write to @BotFather.", "Send /newbot, choose a name, and copy the token (it looks like 123456:ABC…).", "TELEGRAM_BOT_TOKEN in the environment works too, for the default account."],
    questions: [{ key: "botToken", message: "Telegram bot token" }],
    allowFromMessage: "Telegram allowFrom (numeric user id)", allowFromPlaceholder: "123456789", quickstartScore: 10,
  },
  discord: {
    help: ["In the Discord developer portal: New Application → Bot → Reset Token, and copy it.", "Switch on Message Content under Privileged Gateway Intents.", "Invite the bot under OAuth2 → URL Generator."],
    questions: [{ key: "token", message: "Discord bot token" }],
    allowFromMessage: "Discord allowFrom (user id)", allowFromPlaceholder: "123456789012345678", quickstartScore: 1,
  },
  slack: {
    help: ["At api.slack.com/apps: create an app, switch on Socket Mode.", "Copy its app token (xapp-…) and, after installing it, its bot token (xoxb-…)."],
    questions: [{ key: "botToken", message: "Slack bot token (xoxb-…)" }, { key: "appToken", message: "Slack app token (xapp-…)" }],
    allowFromMessage: "Slack allowFrom (user id)", allowFromPlaceholder: "U0123456789", quickstartScore: 1,
  },
  signal: {
    help: ["Install signal-cli and link it: signal-cli link -n OpenClaw.", "A number of its own is best."],
    questions: [{ key: "account", message: "Signal number of the bot (E.164)", placeholder: "+15555550123" }, { key: "cliPath", message: "Path of signal-cli", initialValue: "signal-cli" }],
    allowFromMessage: "Signal allowFrom (E.164 or uuid)", allowFromPlaceholder: "+15555550123, uuid:123e4567-e89b-12d3-a456-426614174000", quickstartScore: 1,
  },
  imessage: {
    help: ["On a Mac: install imsg and let it read Messages (Full Disk Access).", "openclaw runs it there."],
    questions: [{ key: "cliPath", message: "Path of imsg", initialValue: "imsg" }],
    allowFromMessage: "iMessage allowFrom (number, address, or chat_id:…)", allowFromPlaceholder: "+15555550123, user@example.com, chat_id:123", quickstartScore: 1,
  },
  whatsapp: {
    help: ["WhatsApp is linked like a browser: openclaw channels login --channel whatsapp shows the code to scan.", "In the app: Settings → Linked devices."],
    questions: [],
    allowFromMessage: "WhatsApp allowFrom (your number, E.164)", allowFromPlaceholder: "+15555550123", quickstartScore: 4,
  },
};

/** An adapter made of a channel's facts: asks for what it needs and writes it into `channels.<id>`. */
function createOnboardingAdapter(channel: string, facts: OnboardingFacts): ChannelOnboardingAdapter {
  const label = CHANNEL_LABELS[channel]?.label ?? channel;
  const accounts = createAccountListHelpers(channel);
  const isConfigured = (cfg: OpenClawConfig, accountId: string): boolean => {
    const account = resolveChannelAccount(channel, { cfg, accountId });
    // A channel without keys of its own counts once somebody has set it up.
    return facts.questions.length === 0 ? Object.keys(channelFields(cfg, channel)).length > 0 && account.enabled : account.configured;
  };

  const promptAllowFrom: OnboardingDmPolicy["promptAllowFrom"] = async ({ cfg, prompter, accountId }) => {
    const id = accountId ?? accounts.resolveDefaultAccountId(cfg);
    const current = entriesOf(accountFields(cfg, channel, id)["allowFrom"]);
    const text = await prompter.text({
      message: facts.allowFromMessage, placeholder: facts.allowFromPlaceholder, initialValue: current.join(", "),
      validate: (value) => (splitEntries(value).length === 0 ? "Required" : undefined),
    });
    return patchChannelAccount(cfg, channel, id, { enabled: true, dmPolicy: "allowlist", allowFrom: mergeAllowlist({ existing: current.filter((entry) => entry !== "*"), additions: splitEntries(text) }) });
  };

  return {
    channel,
    async getStatus({ cfg }) {
      const configured = accounts.listAccountIds(cfg).some((accountId) => isConfigured(cfg, accountId));
      return {
        channel, configured, statusLines: [`${label}: ${configured ? "configured" : "needs setup"}`],
        selectionHint: configured ? "configured" : (CHANNEL_LABELS[channel]?.blurb ?? ""), quickstartScore: configured ? 1 : facts.quickstartScore,
      };
    },
    async configure({ cfg, prompter, accountOverrides, shouldPromptAccountIds, forceAllowFrom }) {
      const override = accountOverrides?.[channel]?.trim();
      const defaultAccountId = accounts.resolveDefaultAccountId(cfg);
      let accountId = override ? normalizeAccountId(override) : defaultAccountId;
      if (shouldPromptAccountIds && !override) accountId = await promptAccountId({ cfg, prompter, label, currentId: accountId, listAccountIds: accounts.listAccountIds, defaultAccountId });
      if (!isConfigured(cfg, accountId)) await prompter.note([...facts.help, `Docs: ${formatDocsLink(`channels/${channel}`)}`].join("\n"), label);
      const patch = await askKeys(cfg, accountId, prompter);
      let next = patchChannelAccount(cfg, channel, accountId, { enabled: true, ...patch });
      // The account's switch is not enough when the channel's is off.
      if (asFields(channelFields(next, channel))["enabled"] === false) next = { ...next, channels: { ...next.channels, [channel]: { ...channelFields(next, channel), enabled: true } } };
      if (forceAllowFrom) next = await promptAllowFrom({ cfg: next, prompter, accountId });
      return { cfg: next, accountId };
    },
    dmPolicy: {
      label, channel, policyKey: `channels.${channel}.dmPolicy`, allowFromKey: `channels.${channel}.allowFrom`,
      getCurrent: (cfg) => String(channelFields(cfg, channel)["dmPolicy"] ?? "pairing"),
      setPolicy: (cfg, policy) => patchBase(cfg, channel, { dmPolicy: policy, ...(policy === "open" ? { allowFrom: addWildcardAllowFrom(entriesOf(channelFields(cfg, channel)["allowFrom"])) } : {}) }),
      promptAllowFrom,
    },
    disable: (cfg) => patchBase(cfg, channel, { enabled: false }),
  };

  /** What is there already may stay. */
  async function askKeys(cfg: OpenClawConfig, accountId: string, prompter: WizardPrompter): Promise<Fields> {
    const account = resolveChannelAccount(channel, { cfg, accountId });
    if (account.configured && facts.questions.length > 0) {
      const fromEnv = Object.values(account.credentials).some((credential) => credential.source === "env");
      if (await prompter.confirm({ message: fromEnv ? `${label} is configured by the environment. Keep it?` : `${label} is configured already. Keep it?`, initialValue: true })) return {};
    }
    const patch: Record<string, string> = {};
    for (const { key, message, placeholder, initialValue } of facts.questions) {
      const known = account.config[key];
      const start = typeof known === "string" && !/token/i.test(key) ? known : initialValue;
      const value = await prompter.text({ message, ...(placeholder ? { placeholder } : {}), ...(start ? { initialValue: start } : {}), validate: (text) => (text.trim() === "" ? "Required" : undefined) });
      patch[key] = value.trim();
    }
    return patch;
  }
}

const patchBase = (cfg: OpenClawConfig, channel: string, patch: Fields): OpenClawConfig => ({
  ...cfg, channels: { ...cfg.channels, [channel]: { ...channelFields(cfg, channel), ...patch } } as OpenClawConfig["channels"],
});

const adapter = (channel: string): ChannelOnboardingAdapter => createOnboardingAdapter(channel, FACTS[channel] as OnboardingFacts);

export const telegramOnboardingAdapter = adapter("telegram");
export const discordOnboardingAdapter = adapter("discord");
export const slackOnboardingAdapter = adapter("slack");
export const signalOnboardingAdapter = adapter("signal");
export const imessageOnboardingAdapter = adapter("imessage");
export const whatsappOnboardingAdapter = adapter("whatsapp");
