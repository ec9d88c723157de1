import { ALICE, BOT, GROUP, startFakeWecom } from "../wecom-api/index.ts";
import { type ContractChannel, waitUntil } from "./index.ts";

export const wecom: ContractChannel = {
  id: "wecom", groupId: GROUP, longChars: 23_000,
  openDirect: { dmPolicy: "allowlist", allowFrom: [ALICE] },
  openGroup: { groups: { [GROUP]: {} }, groupAllowFrom: [ALICE], allowFrom: [ALICE] },
  async start() {
    const api = await startFakeWecom({ bots: { [BOT]: "secret1", bot2: "secret2" } });
    let before = 0;
    return {
      env: api.env,
      section: (more) => ({ botId: BOT, secret: "secret1", ...more }),
      connected: (times = 1) => api.connected(times),
      direct(text) {
        const { body } = api.injectDirect(text);
        return () => void api.injectAgain(body);
      },
      group: (text) => void api.injectGroup(text),
      picture: (bytes) => void api.injectDirect("", { extra: { msgtype: "image", text: undefined, image: api.file(bytes) } }),
      malformed: () => void api.sendFrame("aibot_msg_callback", { no: "message" }),
      texts: () => api.texts(),
      files: () => api.bots.media.size,
      refuseNext: () => api.failFrames(1, { cmd: "aibot_respond_msg", finish: true, errcode: -1 }),
      drop: () => api.dropSockets(),
      second: {
        accounts: { two: { botId: "bot2", secret: "secret2" } },
        direct(text) {
          before = api.texts().length;
          api.injectDirect(text, { botId: "bot2" });
        },
        texts: () => api.texts().slice(before),
      },
      waitUntil: (look, what) => waitUntil(look, what, () => api.texts()),
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
};
