import { type ChannelAccountContext, errorText } from "openclaw/plugin-sdk";
import type { AppApi } from "../agent/api-client.ts";
import { toInbound } from "../agent/inbound.ts";
import type { AppSettings, CallbackKeys, WecomAccount } from "../config.ts";
import type { InboundDoor } from "../door.ts";
import { readXml } from "../xml.ts";
import type { CallbackReceiver } from "./router.ts";

const ENTERED = new Set(["enter_agent", "subscribe"]);

/** The self-built app as an XML callback; answers go out through its interface. Source: spec channels-cn §2.4. */
export function createAppCallback(deps: { readonly ctx: ChannelAccountContext<WecomAccount>; readonly app: AppSettings; readonly keys: CallbackKeys; readonly api: AppApi; readonly door: InboundDoor }): CallbackReceiver {
  const { ctx, app, keys, api, door } = deps;
  return {
    ctx, form: "agent", keys,
    async take(text) {
      const xml = readXml(text);
      const inbound = toInbound(xml, { account: ctx.account, now: ctx.now });
      // "success" only once the message is written down: the platform repeats what it is not told.
      if (inbound && (await door.take(inbound)).kind === "unavailable") return { status: 503 };
      const userId = xml["FromUserName"] ?? "";
      if (app.welcomeText !== undefined && userId !== "" && ENTERED.has(xml["Event"] ?? "")) {
        void api.send({ kind: "user", id: userId, byApp: true }, { msgtype: "text", text: { content: app.welcomeText } }).catch((err: unknown) => ctx.log.warn("greeting not sent", { reason: errorText(err) }));
      }
      return { status: 200, headers: { "content-type": "text/plain" }, body: "success" };
    },
  };
}
