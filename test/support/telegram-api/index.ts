import { createWaiting } from "../waiting.ts";
import { type BotState, type FakeChat, type Json, nowSeconds, me, type SentMessage } from "./bot-methods.ts";
import { type FailureSpec, type RecordedCall, TelegramServer } from "./server.ts";

export type { FailureSpec, RecordedCall } from "./server.ts";
export type { FakeChat, SentMessage } from "./bot-methods.ts";
export { parseTelegramHtml } from "./html.ts";

export interface FakeUser {
  readonly id: number;
  readonly name?: string | undefined;
  readonly username?: string | undefined;
}

export interface InjectOptions {
  /** Default: user 42, "Alice". */
  readonly from?: FakeUser | undefined;
  /** Default: the direct chat with that user. */
  readonly chat?: FakeChat | undefined;
  readonly messageId?: number | undefined;
  readonly threadId?: number | undefined;
  /** Further fields of the message as Telegram would give them. */
  readonly extra?: Json | undefined;
}

export interface Injected {
  readonly updateId: number;
  readonly messageId: number;
}

export interface FakeFile {
  readonly bytes: Buffer;
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly caption?: string | undefined;
  /** What Telegram claims, when it differs from the bytes. */
  readonly size?: number | undefined;
}

const ALICE: FakeUser = { id: 42, name: "Alice", username: "alice" };

/**
 * A strict stand-in for api.telegram.org on 127.0.0.1: long polls with offset confirmation, 409 for a second poller, HTML
 * and length checks, uploads, file downloads, webhooks, and faults on demand.
 */
export async function startFakeTelegram(options: { readonly token?: string; readonly username?: string; readonly canReadAllGroupMessages?: boolean } = {}) {
  const server = new TelegramServer();
  await server.listen();
  const waiting = createWaiting(() => server.calls.map((call) => call.method).join(" "));
  server.onCall(() => queueMicrotask(() => waiting.changed()));
  let updateId = 1000;
  let closed = false;
  const token = options.token ?? "123456:TEST-token-of-the-emulator-0001";

  function addBot(botToken: string, username: string, canReadAllGroupMessages = false): BotState {
    const bot: BotState = {
      id: Number(botToken.split(":")[0]),
      token: botToken,
      username,
      canReadAllGroupMessages,
      chats: new Map(),
      messages: [],
      files: new Map(),
      commands: [],
      webhook: undefined,
      nextMessageId: 1,
    };
    server.bots.set(botToken, bot);
    server.updates.set(botToken, []);
    return bot;
  }
  const mainBot = addBot(token, options.username ?? "test_bot", options.canReadAllGroupMessages);

  function addChat(chat: Omit<FakeChat, "topics"> & { readonly topics?: readonly number[] }, bot = mainBot): FakeChat {
    const known: FakeChat = { ...chat, topics: new Set(chat.topics ?? []) };
    bot.chats.set(chat.id, known);
    return known;
  }

  const directChat = (user: FakeUser, bot: BotState): FakeChat =>
    bot.chats.get(user.id) ?? addChat({ id: user.id, type: "private", first_name: user.name ?? `User ${user.id}`, username: user.username }, bot);

  const userJson = (user: FakeUser): Json => ({ id: user.id, is_bot: false, first_name: user.name ?? `User ${user.id}`, username: user.username });
  const chatJson = ({ topics: _topics, ...chat }: FakeChat): Json => ({ ...chat });

  function inject(kind: string, body: Json, bot = mainBot): number {
    const id = updateId++;
    server.updates.get(bot.token)?.push({ id, kind, body });
    if (bot.webhook) push(bot, id).catch(() => undefined);
    else server.notify(bot.token);
    return id;
  }

  /** Posts to the webhook until it is answered with 200, as Telegram does. */
  async function push(bot: BotState, id: number): Promise<void> {
    const update = server.updates.get(bot.token)?.find((entry) => entry.id === id);
    for (let attempt = 0; update && bot.webhook && !closed && attempt < 50; attempt++) {
      const status = await fetch(bot.webhook.url, {
        method: "POST",
        headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": bot.webhook.secret },
        body: JSON.stringify({ update_id: id, [update.kind]: update.body }),
      }).then(
        (response) => response.status,
        () => 0,
      );
      if (status === 200) {
        server.updates.set(bot.token, (server.updates.get(bot.token) ?? []).filter((entry) => entry.id !== id));
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  function message(fields: Json, over: InjectOptions = {}, bot = mainBot): { body: Json; messageId: number } {
    const from = over.from ?? ALICE;
    const chat = over.chat ?? directChat(from, bot);
    const messageId = over.messageId ?? bot.nextMessageId++;
    bot.nextMessageId = Math.max(bot.nextMessageId, messageId + 1);
    if (over.threadId !== undefined) chat.topics.add(over.threadId);
    const thread = over.threadId === undefined ? {} : { message_thread_id: over.threadId, is_topic_message: true };
    const sender = chat.type === "channel" ? { sender_chat: chatJson(chat) } : { from: userJson(from) };
    return { body: { message_id: messageId, date: nowSeconds(), chat: chatJson(chat), ...sender, ...thread, ...fields, ...over.extra }, messageId };
  }

  function injectMessage(fields: Json, over: InjectOptions = {}, bot = mainBot): Injected {
    const { body, messageId } = message(fields, over, bot);
    const kind = over.chat?.type === "channel" ? "channel_post" : "message";
    return { updateId: inject(kind, body, bot), messageId };
  }

  function addFile(file: FakeFile, folder: string, bot = mainBot): string {
    const id = `file${bot.files.size + 1}`;
    const extension = file.name?.includes(".") ? file.name.slice(file.name.lastIndexOf(".")) : ".bin";
    bot.files.set(id, { path: `${folder}/${id}${extension}`, bytes: file.bytes, size: file.size });
    return id;
  }

  const fileJson = (file: FakeFile, id: string): Json => ({ file_id: id, file_unique_id: `u${id}`, file_size: file.size ?? file.bytes.length, file_name: file.name, mime_type: file.mimeType });

  /** Entities as Telegram marks them: @names and /commands. */
  function entitiesOf(text: string): Json[] {
    const found: Json[] = [];
    for (const match of text.matchAll(/@\w{3,32}/g)) if (!/^\/\w+$/.test(text.slice(0, match.index).split(/\s/).at(-1) ?? "")) found.push({ type: "mention", offset: match.index, length: match[0].length });
    for (const match of text.matchAll(/(?<=^|\s)\/\w{1,32}(?:@\w+)?/g)) found.push({ type: "bot_command", offset: match.index, length: match[0].length });
    return found;
  }

  const api = {
    token,
    bot: mainBot,
    get url() {
      return server.url;
    },
    calls: server.calls as readonly RecordedCall[],
    callsOf: (method: string): RecordedCall[] => server.calls.filter((call) => call.method === method),
    /** Messages of the bot that are visible now, oldest first. */
    sent: (bot = mainBot): SentMessage[] => bot.messages.filter((entry) => !entry.deleted),
    pendingUpdates: (bot = mainBot): number => server.updates.get(bot.token)?.length ?? 0,
    confirmedOffset: (bot = mainBot): number => server.confirmed.get(bot.token) ?? 0,
    addBot,
    addChat,
    group: (id: number, title: string, more: { is_forum?: boolean; topics?: readonly number[]; username?: string } = {}, bot = mainBot): FakeChat => addChat({ id, type: "supergroup", title, ...more }, bot),
    channel: (id: number, title: string): FakeChat => addChat({ id, type: "channel", title }),
    /** Any update, as Telegram would send it. */
    inject,
    message: injectMessage,
    text: (text: string, over: InjectOptions = {}, bot = mainBot): Injected => injectMessage({ text, entities: entitiesOf(text) }, over, bot),
    photo: (file: FakeFile, over: InjectOptions = {}): Injected => {
      const id = addFile({ name: "photo.jpg", ...file }, "photos");
      return injectMessage({ caption: file.caption, photo: [{ ...fileJson(file, "small"), width: 90, height: 60 }, { ...fileJson(file, id), width: 900, height: 600 }] }, over);
    },
    voice: (file: FakeFile, over: InjectOptions = {}): Injected => injectMessage({ voice: { ...fileJson(file, addFile({ name: "voice.oga", ...file }, "voice")), duration: 1, mime_type: "audio/ogg" } }, over),
    document: (file: FakeFile, over: InjectOptions = {}): Injected => injectMessage({ caption: file.caption, document: fileJson(file, addFile(file, "documents")) }, over),
    album: (files: readonly FakeFile[], over: InjectOptions = {}): Injected[] => {
      const group = `album${updateId}`;
      return files.map((file) => {
        const id = addFile({ name: "photo.jpg", ...file }, "photos");
        return injectMessage({ media_group_id: group, caption: file.caption, photo: [{ ...fileJson(file, id), width: 900, height: 600 }] }, over);
      });
    },
    callback: (data: string, on: { readonly messageId: number; readonly chat?: FakeChat; readonly from?: FakeUser; readonly id?: string }): number => {
      const from = on.from ?? ALICE;
      const chat = on.chat ?? directChat(from, mainBot);
      return inject("callback_query", {
        id: on.id ?? `cb${updateId}`,
        from: userJson(from),
        chat_instance: "1",
        data,
        message: { message_id: on.messageId, date: nowSeconds(), chat: chatJson(chat), from: me(mainBot), text: "…" },
      });
    },
    reaction: (emoji: string, on: { readonly messageId: number; readonly chat?: FakeChat; readonly from?: FakeUser }): number => {
      const from = on.from ?? ALICE;
      return inject("message_reaction", {
        chat: chatJson(on.chat ?? directChat(from, mainBot)),
        message_id: on.messageId,
        user: userJson(from),
        date: nowSeconds(),
        old_reaction: [],
        new_reaction: [{ type: "emoji", emoji }],
      });
    },
    edit: (text: string, on: { readonly messageId: number; readonly chat?: FakeChat; readonly from?: FakeUser }): number =>
      inject("edited_message", { ...message({ text, edit_date: nowSeconds() }, on).body, message_id: on.messageId }),
    failNext: (method: string, times: number, spec: FailureSpec): void => server.failNext(method, times, spec),
    hold: (method: string): (() => void) => server.hold(method),
    dropSockets: (): void => server.dropSockets(),
    stall: (): void => server.stall(),
    unstall: (): void => server.unstall(),
    goOffline: (): Promise<void> => server.goOffline(),
    goOnline: (): Promise<void> => server.goOnline(),
    /** The call that makes `accept` true, past ones included. */
    waitForCall: (method: string, accept: (call: RecordedCall) => boolean = () => true, timeoutMs = 30_000): Promise<RecordedCall> =>
      waiting.until(() => server.calls.find((call) => call.method === method && accept(call)), `call of ${method}`, timeoutMs),
    /** Resolves with the first truthy value of `read`, looked at after every call. */
    waitUntil: waiting.until,
    async [Symbol.asyncDispose](): Promise<void> {
      closed = true;
      await server.close();
    },
  };

  return api;
}

export type FakeTelegram = Awaited<ReturnType<typeof startFakeTelegram>>;
