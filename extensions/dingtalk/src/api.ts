import { z } from "zod";
import type { DingTalkAccount } from "./config.ts";
import { DingTalkError } from "./errors.ts";
import { CALLBACKS } from "./frames.ts";
import { callJson } from "./http.ts";
import { createTokenCache, type TokenCache } from "./token.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 120_000;
/** Bytes of the robot's `msgParam`. Source: spec channels-cn §3.5. */
export const MAX_PARAM_BYTES = 15_000;

export type UploadType = "image" | "voice" | "video" | "file";

export interface CallOptions {
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

/** The platform for one app. Every method @throws DingTalkError. */
export interface DingTalkApi {
  /** A call of the new API with the token in its header; once more with a new token when that one is refused. */
  call(method: "POST" | "PUT", path: string, body: object, options: CallOptions): Promise<unknown>;
  /** media_id of an uploaded file. */
  upload(type: UploadType, file: { readonly bytes: Uint8Array<ArrayBuffer>; readonly fileName: string; readonly mimeType: string }, signal?: AbortSignal): Promise<string>;
  /** An answer through the address that came with a message. */
  session(webhook: string, body: object, signal?: AbortSignal): Promise<void>;
  /** Where to connect for Stream mode; the ticket is good for one connection within 90 s. */
  openConnection(signal: AbortSignal): Promise<{ readonly endpoint: string; readonly ticket: string }>;
  /** Gets a new token, to see that the credentials hold. */
  checkCredentials(): Promise<void>;
}

const newToken = z.object({ accessToken: z.string().min(1), expireIn: z.coerce.number().positive().default(7200) });
const oldToken = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive().default(7200) });
const uploaded = z.object({ media_id: z.string().min(1) });
const connection = z.object({ endpoint: z.string().min(1), ticket: z.string().min(1) });

export function createDingTalkApi(account: Pick<DingTalkAccount, "apiRoot" | "oapiRoot" | "clientId" | "clientSecret">, options: { readonly now: () => number; readonly timeoutMs?: number | undefined }): DingTalkApi {
  const { apiRoot, oapiRoot, clientId, clientSecret } = account;
  const { now, timeoutMs = DEFAULT_TIMEOUT_MS } = options;

  const askToken = async (): Promise<{ value: string; lifeSeconds: number }> => {
    const answer = await callJson({ what: "give an access token; check clientId and clientSecret", url: `${apiRoot}/v1.0/oauth2/accessToken`, body: { appKey: clientId, appSecret: clientSecret }, timeoutMs, now });
    const { accessToken, expireIn } = read(newToken, answer, "access token");
    return { value: accessToken, lifeSeconds: expireIn };
  };
  const token = createTokenCache(askToken, now);
  const oldApiToken = createTokenCache(async () => {
    const query = new URLSearchParams({ appkey: clientId, appsecret: clientSecret });
    const answer = await callJson({ what: "give an access token of the old API", url: `${oapiRoot}/gettoken?${query.toString()}`, method: "GET", timeoutMs, now });
    const { access_token: value, expires_in: lifeSeconds } = read(oldToken, answer, "access token");
    return { value, lifeSeconds };
  }, now);

  return {
    call: (method, path, body, { what, signal }) =>
      withToken(token, (value) => callJson({ what, url: `${apiRoot}${path}`, method, body, headers: { "x-acs-dingtalk-access-token": value }, signal, timeoutMs, now })),
    async upload(type, file, signal) {
      const answer = await withToken(oldApiToken, (value) => {
        const form = new FormData();
        form.set("media", new Blob([file.bytes], { type: file.mimeType }), file.fileName);
        return callJson({ what: `take the file ${file.fileName}`, url: `${oapiRoot}/media/upload?${new URLSearchParams({ access_token: value, type }).toString()}`, body: form, signal, timeoutMs: Math.max(timeoutMs, UPLOAD_TIMEOUT_MS), now });
      });
      return read(uploaded, answer, "media_id").media_id;
    },
    async session(webhook, body, signal) {
      if (!isPlatformAddress(webhook, account)) throw new DingTalkError("window", "The session webhook of the message is no address of DingTalk");
      await callJson({ what: "take the answer to a message", url: webhook, body, signal, timeoutMs, now });
    },
    async openConnection(signal) {
      const subscriptions = [{ type: "EVENT", topic: "*" }, ...Object.keys(CALLBACKS).map((topic) => ({ type: "CALLBACK", topic }))];
      const answer = await callJson({ what: "open a Stream connection", url: `${apiRoot}/v1.0/gateway/connections/open`, body: { clientId, clientSecret, ua: "openclaw", subscriptions }, signal, timeoutMs, now });
      return read(connection, answer, "endpoint and ticket");
    },
    checkCredentials: async () => void (await askToken()),
  };
}

/** The token goes with the request, so that a message could carry it elsewhere: only the platform's own hosts are called. */
function isPlatformAddress(address: string, { apiRoot, oapiRoot }: Pick<DingTalkAccount, "apiRoot" | "oapiRoot">): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url) return false;
  if (url.origin === new URL(apiRoot).origin || url.origin === new URL(oapiRoot).origin) return true;
  return url.protocol === "https:" && /(?:^|\.)dingtalk\.com$/.test(url.hostname);
}

/** Once more with a new token when the platform does not know the present one. */
async function withToken<T>(cache: TokenCache, call: (token: string) => Promise<T>): Promise<T> {
  const value = await cache.get();
  try {
    return await call(value);
  } catch (err) {
    if (!(err instanceof DingTalkError) || err.kind !== "token") throw err;
    cache.drop(value);
    return call(await cache.get());
  }
}

function read<T>(schema: z.ZodType<T>, answer: unknown, what: string): T {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new DingTalkError("refused", `DingTalk's answer has no ${what}`);
  return parsed.data;
}
