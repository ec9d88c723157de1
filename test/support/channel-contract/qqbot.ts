import { ALICE, GROUP, startFakeQQ } from "../qqbot-api/index.ts";
import { type ContractChannel, waitUntil } from "./index.ts";

export const qqbot: ContractChannel = {
  id: "qqbot", groupId: GROUP, longChars: 12_000,
  openDirect: { allowFrom: [ALICE] },
  openGroup: { groupPolicy: "open", groups: { [GROUP]: {} }, allowFrom: [ALICE] },
  async start() {
    const api = await startFakeQQ({ otherApps: { "102000002": "qq-secret-2" } });
    let before = 0;
    return {
      env: api.env,
      section: (more) => ({ appId: api.appId, clientSecret: api.secret, ...more }),
      connected: (times = 1) => api.waitUntil(() => api.identified.length >= times, `connection ${times}`),
      direct(text) {
        const d = api.injectDirect(text);
        return () => api.dispatch("C2C_MESSAGE_CREATE", d);
      },
      group: (text) => void api.injectGroup(text),
      picture(bytes) {
        const url = api.file("picture.png", bytes, "image/png");
        api.injectDirect("", { attachments: [{ content_type: "image/png", filename: "picture.png", url, size: bytes.length }] });
      },
      malformed: () => api.dispatch("C2C_MESSAGE_CREATE", { id: 5, author: "nobody" }),
      texts: () => api.texts(),
      files: () => api.sent().filter(({ body }) => body["msg_type"] === 7).length,
      refuseNext: () => api.failNext(1, { status: 429, body: { code: 22009, message: "slow down" }, headers: { "retry-after": "1" }, path: /messages$/ }),
      drop: () => api.dropSockets(),
      second: {
        accounts: { two: { appId: "102000002", clientSecret: "qq-secret-2" } },
        direct(text) {
          before = api.texts().length;
          api.injectDirect(text, {}, "102000002");
        },
        texts: () => api.texts().slice(before),
      },
      waitUntil: (look, what) => waitUntil(look, what, () => api.texts()),
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
};
