import { randomUUID } from "node:crypto";
import { answerCards } from "./cardkit.ts";
import { answerDocuments } from "./documents.ts";
import { answerIm } from "./im.ts";
import { type Answer, botOpenId, ok, type Platform, type Recorded, refuse } from "./platform.ts";

/** Answers as the platform does; what is missing or wrong is refused with its codes. */
export function answer(platform: Platform, call: Recorded): Answer {
  const body = call.body as Record<string, unknown>;
  if (call.path === "/open-apis/auth/v3/tenant_access_token/internal") {
    const app = String(body["app_id"]);
    if (!platform.apps.has(app)) return refuse(10003, "invalid param", 200);
    if (platform.apps.get(app) !== body["app_secret"]) return refuse(10014, "app secret invalid", 200);
    const token = `t-${randomUUID()}`;
    platform.tokens.set(token, app);
    return { status: 200, body: { code: 0, msg: "ok", tenant_access_token: token, expire: platform.tokenSeconds } };
  }
  if (call.path === "/callback/ws/endpoint") return endpoint(platform, call, body);
  if (!call.path.startsWith("/open-apis/")) return { status: 404, body: {} };
  const app = platform.tokens.get(String(call.headers["authorization"] ?? "").replace(/^Bearer /, ""));
  if (app === undefined) return refuse(99991663, "Invalid access token for authorization. Please make a test attempt again");
  if (call.path === "/open-apis/bot/v3/info") return { status: 200, body: { code: 0, msg: "ok", bot: { open_id: botOpenId(app), app_name: "Claw" } } };
  if (call.path === "/open-apis/contact/v3/users/batch_get_id") {
    const emails = Array.isArray(body["emails"]) ? body["emails"].map(String) : [];
    const found = emails.map((email) => ({ email, user_id: [...platform.users].find(([, name]) => `${name.toLowerCase()}@example.com` === email)?.[0] }));
    return call.method !== "POST" || emails.length > 50 ? refuse(99992402, "field validation failed") : ok({ user_list: found });
  }
  if (call.path.startsWith("/open-apis/contact/v3/users/")) {
    const name = platform.users.get(call.path.split("/").at(-1) ?? "");
    return name === undefined || call.query.get("user_id_type") !== "open_id" ? refuse(41050, "no user authority error") : ok({ user: { name, open_id: call.path.split("/").at(-1) } });
  }
  if (call.path.startsWith("/open-apis/im/v1/")) return answerIm(platform, app, call);
  if (call.path.startsWith("/open-apis/cardkit/v1/cards")) return answerCards(platform, call);
  return answerDocuments(platform, call);
}

function endpoint(platform: Platform, call: Recorded, body: Record<string, unknown>): Answer {
  const app = String(body["AppID"]);
  if (platform.apps.get(app) !== body["AppSecret"]) return refuse(514, "app id or app secret is invalid", 200);
  if (call.headers["locale"] !== "zh") return refuse(1, "locale", 200);
  const device = randomUUID();
  platform.tickets.set(device, app);
  return ok({ URL: `${platform.url().replace("http", "ws")}/ws/v2?device_id=${device}&service_id=33554678&aid=1`, ClientConfig: { ReconnectCount: -1, ReconnectInterval: 120, ReconnectNonce: 30, PingInterval: 120 } });
}
