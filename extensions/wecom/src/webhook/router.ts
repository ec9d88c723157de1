import type { ChannelAccountContext, ChannelHttpRequest, ChannelHttpResponse } from "openclaw/plugin-sdk";
import { callbackSignature, decryptCallback, isSameText } from "../callback-crypto.ts";
import type { CallbackKeys, WecomAccount } from "../config.ts";
import { readXml } from "../xml.ts";

/** A bot or an app that is called back. */
export interface CallbackReceiver {
  readonly ctx: ChannelAccountContext<WecomAccount>;
  readonly form: "bot" | "agent";
  readonly keys: CallbackKeys;
  /** The decrypted message; `query` carries the nonce to answer with. @throws Error for what is not understood */
  take(message: string, query: { readonly timestamp: string; readonly nonce: string; readonly signature: string }): Promise<ChannelHttpResponse>;
}

/** All callbacks of the channel. Accounts share the paths without a name. Source: spec channels-cn §2.4. */
export interface CallbackRouter {
  /** Serves the receiver's paths until the result is called. */
  add(receiver: CallbackReceiver): () => void;
}

const MAX_AGE_MS = 12 * 3_600_000;
const REFUSAL_QUIET_MS = 60_000;

const json = (status: number, body: object): ChannelHttpResponse => ({ status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const plain = (status: number, body: string): ChannelHttpResponse => ({ status, headers: { "content-type": "text/plain; charset=utf-8" }, body });

export function createCallbackRouter(): CallbackRouter {
  const receivers = new Set<CallbackReceiver>();
  const withdrawals = new Map<string, () => void>();
  const quietUntilMs = new Map<string, number>();

  /** Once a minute and path: anybody can call. */
  function tellRefusal([receiver]: readonly CallbackReceiver[], path: string): void {
    const nowMs = receiver?.ctx.now() ?? 0;
    if (!receiver || nowMs < (quietUntilMs.get(path) ?? 0)) return;
    quietUntilMs.set(path, nowMs + REFUSAL_QUIET_MS);
    receiver.ctx.log.warn("callback refused: its signature fits no token, or it is old", { path, fix: "If it came from WeCom: the Token there and in the configuration must be the same, and this machine's clock must be right." });
  }

  const ownPath = ({ ctx, form }: CallbackReceiver): string => `/plugins/wecom/${form}/${ctx.accountId}`;
  function pathsOf(receiver: CallbackReceiver): string[] {
    const given = receiver.ctx.account.config.webhookPath;
    return [ownPath(receiver), "/wecom", `/wecom/${receiver.form}`, ...(given === undefined || receiver.form === "agent" ? [] : [given])];
  }

  /** Through an account that is still there: the routes of an account end with it. */
  function serve(path: string): void {
    withdrawals.get(path)?.();
    withdrawals.delete(path);
    const own = [...receivers].filter((receiver) => pathsOf(receiver).includes(path));
    const last = own.at(-1);
    if (last) withdrawals.set(path, last.ctx.http.route(path, { auth: "plugin" }, (req, rawBody) => handle(own, path, req, rawBody)));
  }

  async function handle(own: readonly CallbackReceiver[], path: string, req: ChannelHttpRequest, rawBody: Buffer): Promise<ChannelHttpResponse> {
    const isShared = !path.startsWith("/plugins/");
    if (isShared && own.some(({ ctx }) => ctx.accountId !== "default")) return json(401, { error: "wecom_matrix_path_required" });
    const query = {
      signature: req.query.get("msg_signature") ?? req.query.get("msgsignature") ?? req.query.get("signature") ?? "", timestamp: req.query.get("timestamp") ?? "", nonce: req.query.get("nonce") ?? "",
    };
    if (req.method !== "GET" && req.method !== "POST") return { status: 405 };
    let encrypted: string;
    try {
      encrypted = req.method === "GET" ? (req.query.get("echostr") ?? "") : readEncrypted(rawBody.toString("utf8"));
    } catch {
      return json(400, { error: "wecom_bad_body" });
    }
    // A message is remembered for a day: an older callback could be one that somebody recorded.
    const isFresh = (nowMs: number): boolean => /^\d{1,12}$/.test(query.timestamp) && Math.abs(nowMs - Number(query.timestamp) * 1000) <= MAX_AGE_MS;
    const matching = own.filter(({ keys, ctx }) => isFresh(ctx.now()) && keys.token !== "" && isSameText(query.signature, callbackSignature(keys.token, query.timestamp, query.nonce, encrypted)));
    const [receiver, other] = matching;
    if (!receiver) {
      tellRefusal(own, path);
      return json(401, { error: "wecom_account_not_found" });
    }
    if (other) return json(401, { error: "wecom_account_conflict" });
    const { keys, ctx } = receiver;
    let message: string;
    try {
      message = decryptCallback(encrypted, keys.encodingAESKey, keys.receiveId);
    } catch (err) {
      ctx.log.warn("callback not decrypted", { err });
      return json(400, { error: "wecom_decrypt_failed" });
    }
    if (req.method === "GET") return plain(200, message);
    ctx.setStatus({ lastEventAt: ctx.now() });
    try {
      return await receiver.take(message, query);
    } catch (err) {
      ctx.log.warn("callback not understood", { err });
      return json(400, { error: "wecom_bad_body" });
    }
  }

  return {
    add(receiver) {
      receivers.add(receiver);
      for (const path of pathsOf(receiver)) serve(path);
      return () => {
        receivers.delete(receiver);
        for (const path of pathsOf(receiver)) serve(path);
      };
    },
  };
}

/** `{encrypt}` of a bot or `<xml><Encrypt>` of an app. @throws Error */
function readEncrypted(body: string): string {
  if (body.trimStart().startsWith("<")) return readXml(body)["Encrypt"] ?? missing();
  const value: unknown = JSON.parse(body);
  return typeof value === "object" && value !== null && "encrypt" in value && typeof value.encrypt === "string" ? value.encrypt : missing();
}

function missing(): never {
  throw new Error("the body has no encrypted message");
}
