import type { OpenClawConfig } from "../../config/index.ts";
import { normalizeAccountId } from "../../routing/index.ts";
import type { ChannelSetupAdapter } from "../contract/index.ts";
import { DEFAULT_ACCOUNT } from "./config.ts";

/** `channels add --channel telegram`: a token, a token file, or the environment (default account only). */
export const setup: ChannelSetupAdapter = {
  validateInput(input) {
    const given = [input.token, input.tokenFile, input.useEnv === true ? "env" : undefined].filter(Boolean);
    if (given.length === 0) return "Telegram needs --token, --token-file or --use-env (TELEGRAM_BOT_TOKEN).";
    if (given.length > 1) return "Give only one of --token, --token-file and --use-env.";
    if (input.token !== undefined && !/^\d+:[\w-]{10,}$/.test(input.token.trim())) return "That is no bot token: @BotFather gives one such as 123456:ABC-DEF…";
    return undefined;
  },
  applyAccountConfig(cfg: OpenClawConfig, accountId, input) {
    const id = normalizeAccountId(accountId);
    const keys: Record<string, unknown> = {
      enabled: true,
      ...(input.name ? { name: input.name } : {}),
      ...(input.useEnv ? {} : input.tokenFile ? { tokenFile: input.tokenFile, botToken: null } : { botToken: input.token?.trim(), tokenFile: null }),
    };
    const base = cfg.channels?.telegram;
    const hasAccounts = Object.keys(base?.accounts ?? {}).length > 0;
    if (id === DEFAULT_ACCOUNT && !hasAccounts) return { channels: { telegram: keys } };
    // The base's own token goes on working as the account `default` once others stand beside it.
    const keepDefault = !hasAccounts && (base?.botToken ?? base?.token ?? base?.tokenFile) !== undefined ? { [DEFAULT_ACCOUNT]: {} } : {};
    return { channels: { telegram: { enabled: true, accounts: { ...keepDefault, [id]: keys } } } };
  },
};
