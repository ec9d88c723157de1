import { ALICE, APP, APP2, GROUP, startFakeFeishu } from "../feishu-api/index.ts";
import { type ContractChannel, waitUntil } from "./index.ts";

export const feishu: ContractChannel = {
  id: "feishu", groupId: GROUP, longChars: 12_000,
  openDirect: { dmPolicy: "allowlist", allowFrom: [ALICE] },
  openGroup: { groupPolicy: "open", groups: { [GROUP]: {} }, allowFrom: [ALICE] },
  async start() {
    const api = await startFakeFeishu();
    const first = new Set<string>();
    return {
      env: api.env,
      section: (more) => ({ appId: APP, appSecret: "secret1", streaming: false, ...more }),
      connected: (times = 1) => api.connected(times),
      direct(text) {
        const { event } = api.injectDirect(text);
        return () => void api.injectAgain(event);
      },
      group: (text) => void api.injectGroup(text),
      picture(bytes) {
        const { messageId } = api.injectDirect("", { type: "image", content: { image_key: "img_1" } });
        api.resource(messageId, "img_1", bytes, "image/png");
      },
      malformed: () => void api.sendEvent("{ this is no event"),
      texts: () => api.texts(),
      files: () => api.sent().filter(({ type }) => type === "image" || type === "file").length,
      refuseNext: () => api.failNext(1, { path: "/reply", status: 429, body: { code: 99991400, msg: "limit" }, headers: { "x-ogw-ratelimit-reset": "0" } }),
      drop: () => api.dropSockets(),
      second: {
        accounts: { two: { appId: APP2, appSecret: "secret2" } },
        direct(text) {
          for (const { id } of api.sent()) first.add(id);
          api.injectDirect(text, { appId: APP2 });
        },
        texts: () => api.texts().slice(first.size),
      },
      waitUntil: (look, what) => waitUntil(look, what, () => api.texts()),
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
};
