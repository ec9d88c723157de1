import { ALICE, GROUP, startFakeDingTalk } from "../dingtalk-api/index.ts";
import { type ContractChannel, waitUntil } from "./index.ts";

export const dingtalk: ContractChannel = {
  id: "dingtalk", groupId: GROUP, longChars: 9000,
  openDirect: { dmPolicy: "allowlist", allowFrom: [ALICE] },
  openGroup: { groups: { [GROUP]: {} }, groupAllowFrom: [ALICE], allowFrom: [ALICE] },
  async start() {
    const api = await startFakeDingTalk({ apps: { app1: "secret1", app2: "secret2" } });
    let before = 0;
    return {
      env: api.env,
      section: (more) => ({ clientId: "app1", clientSecret: "secret1", initialReconnectDelay: 5, ...more }),
      connected: (times = 1) => api.connected(times),
      direct(text) {
        const { data } = api.injectDirect(text);
        return () => void api.injectAgain(data);
      },
      group: (text) => void api.injectGroup(text),
      picture: (bytes) => void api.injectDirect("", { extra: { msgtype: "picture", text: undefined, content: { downloadCode: api.file(bytes, "image/png") } } }),
      malformed: () => void api.sendFrame("CALLBACK", "/v1.0/im/bot/messages/get", { no: "message" }),
      texts: () => api.standing(),
      files: () => api.platform.media.size,
      refuseNext: () => api.failNext(1, { path: "/robot/sendBySession", status: 429, headers: { "retry-after": "1" } }),
      drop: () => api.dropSockets(),
      second: {
        accounts: { two: { clientId: "app2", clientSecret: "secret2" } },
        direct(text) {
          before = api.standing().length;
          api.injectDirect(text, { clientId: "app2" });
        },
        texts: () => api.standing().slice(before),
      },
      waitUntil: (look, what) => waitUntil(look, what, () => api.standing()),
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
};
