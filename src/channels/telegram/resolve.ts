import { ChannelError, type ResolvedTarget } from "../contract/index.ts";
import { normalizeEntry } from "./access.ts";
import { callSignal, type TelegramClient } from "./client.ts";
import { failureText, readFailure } from "./errors.ts";

const PARALLEL = 4;

/**
 * People and groups by id, public groups and channels by @name. Telegram tells a bot only of those that it has met, and of
 * people never by name. Source: Bot API, getChat.
 */
export async function resolveTargets(client: TelegramClient, inputs: readonly string[], signal: AbortSignal): Promise<ResolvedTarget[]> {
  const rows: ResolvedTarget[] = [];
  for (let at = 0; at < inputs.length; at += PARALLEL) rows.push(...(await Promise.all(inputs.slice(at, at + PARALLEL).map((input) => resolveOne(client, input, signal)))));
  return rows;
}

async function resolveOne(client: TelegramClient, input: string, signal: AbortSignal): Promise<ResolvedTarget> {
  const wanted = normalizeEntry(input);
  try {
    const chat = await client.api.getChat({ chat_id: /^-?\d+$/.test(wanted) ? Number(wanted) : `@${wanted.replace(/^@/, "")}` }, callSignal(signal));
    const name = chat.title ?? [chat.first_name, chat.last_name].filter(Boolean).join(" ");
    return { input, resolved: true, id: String(chat.id), name: chat.username ? `${name} (@${chat.username})` : name };
  } catch (err) {
    if (err instanceof ChannelError) throw err;
    return { input, resolved: false, note: failureText(readFailure(err)) };
  }
}
