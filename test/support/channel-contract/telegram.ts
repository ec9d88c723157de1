import { startFakeTelegram } from "../telegram-api/index.ts";
import { type ContractChannel, waitUntil } from "./index.ts";

const ALICE = 42;
const GROUP = -1001;

export const telegram: ContractChannel = {
  id: "telegram", groupId: String(GROUP), longChars: 9000,
  openDirect: { dmPolicy: "allowlist", allowFrom: [ALICE] },
  openGroup: { groupPolicy: "open", groups: { [String(GROUP)]: {} }, allowFrom: [ALICE] },
  async start() {
    const api = await startFakeTelegram();
    const group = api.group(GROUP, "Team");
    const second = api.addBot("2:SECOND", "second_bot");
    let pollsBefore = 0;
    const from = { id: ALICE, name: "Ann" };
    const textsOf = (bot = api.bot): string[] => api.sent(bot).flatMap(({ text }) => (text === undefined ? [] : [text]));
    return {
      env: {},
      section: (more) => ({ botToken: api.token, apiRoot: api.url, streamMode: "off", ...more }),
      // Telegram keeps what nobody has fetched: one poll since the last cut is enough.
      connected: () => waitUntil(() => api.callsOf("getUpdates").length > pollsBefore, "a poll", () => api.calls.length),
      direct(text) {
        const { messageId } = api.text(text, { from });
        return () => void api.text(text, { from, messageId });
      },
      group: (text) => void api.text(`@test_bot ${text}`, { from, chat: group }),
      picture: (bytes) => void api.photo({ bytes }, { from }),
      malformed: () => void api.inject("message", { message_id: "x", chat: 5 }),
      texts: () => textsOf(),
      files: () => api.callsOf("sendPhoto").length + api.callsOf("sendDocument").length,
      refuseNext: () => api.failNext("sendMessage", 1, { status: 429, body: { ok: false, error_code: 429, description: "Too Many Requests", parameters: { retry_after: 1 } } }),
      drop() {
        pollsBefore = api.callsOf("getUpdates").length;
        api.dropSockets();
      },
      // With named accounts the top level alone is none: spec channels §2.1.
      second: { accounts: { default: {}, two: { botToken: "2:SECOND" } }, direct: (text) => void api.text(text, { from }, second), texts: () => textsOf(second) },
      waitUntil: (look, what) => waitUntil(look, what, () => textsOf()),
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
};
