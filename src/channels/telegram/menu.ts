import type { Logger } from "../../infra/log.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccount } from "./config.ts";
import { failureText, isBadToken, readFailure } from "./errors.ts";

const MAX_COMMANDS = 100;
const MAX_DESCRIPTION = 256;

export interface MenuCommand {
  readonly command: string;
  readonly description: string;
}

/** Native commands, then the account's own; names that Telegram refuses or that are taken are left out with a warning. */
export function buildMenu(account: TelegramAccount, native: readonly { readonly name: string; readonly description: string }[], log: Logger): MenuCommand[] {
  const wanted = [
    ...(account.config.commands?.native === false ? [] : native.map(({ name, description }) => ({ name, description, own: false }))),
    ...(account.config.customCommands ?? []).map(({ command, description }) => ({ name: command, description, own: true })),
  ];
  const menu = new Map<string, MenuCommand>();
  for (const { name, description, own } of wanted) {
    const command = name.trim().replace(/^\/+/, "").toLowerCase().replaceAll("-", "_");
    if (!/^[a-z0-9_]{1,32}$/.test(command) || description.trim() === "") {
      log.warn("command not offered: Telegram takes names of a-z, 0-9 and _ up to 32 characters, with a description", { command: name });
    } else if (menu.has(command)) {
      if (own) log.warn("custom command not offered: the name is taken", { command });
    } else menu.set(command, { command, description: description.trim().slice(0, MAX_DESCRIPTION) });
  }
  if (menu.size > MAX_COMMANDS) log.warn("Telegram shows 100 commands only; the last ones are left out", { commands: menu.size });
  return [...menu.values()].slice(0, MAX_COMMANDS);
}

/** Replaces the bot's menu. A failure is logged: the commands work when typed. */
export async function publishMenu(client: TelegramClient, menu: readonly MenuCommand[], log: Logger): Promise<void> {
  try {
    await client.api.deleteMyCommands({});
    if (menu.length > 0) await client.api.setMyCommands({ commands: menu });
  } catch (err) {
    const failure = readFailure(err);
    if (isBadToken(failure)) throw err;
    log.warn("command menu not published", { reason: failureText(failure) });
  }
}
