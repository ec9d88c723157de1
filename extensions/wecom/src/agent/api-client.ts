import { randomUUID } from "node:crypto";
import { parseRetryAfter, sleep } from "openclaw/plugin-sdk";
import { z } from "zod";
import type { AppSettings, WecomAccount } from "../config.ts";
import { refusal, WecomError } from "../errors.ts";
import { createAgent, type HttpAnswer, sendHttp } from "../http.ts";
import type { PreparedFile } from "../media.ts";
import type { WecomTarget } from "../targets.ts";
import { createTokenCache } from "../token.ts";

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const UPLOAD_TIMEOUT_MS = 120_000;
const BUSY_TRIES = 3;

const status = z.looseObject({ errcode: z.number().default(0), errmsg: z.string().optional() });
const tokenAnswer = z.looseObject({ access_token: z.string().min(1), expires_in: z.coerce.number().positive().default(7200) });
const uploaded = z.looseObject({ media_id: z.string().min(1) });
const sent = z.looseObject({ msgid: z.string().optional(), invaliduser: z.string().nullish(), invalidparty: z.string().nullish(), invalidtag: z.string().nullish() });

/** `msgtype` with its part, e.g. `{msgtype: "text", text: {content}}`. */
export interface AppMessage {
  readonly msgtype: "text" | "markdown" | "image" | "voice" | "video" | "file" | "template_card";
  readonly [part: string]: unknown;
}

/** The interface of a self-built app. Every method @throws WecomError. Source: spec channels-cn §2.5. */
export interface AppApi {
  /** Its id; `undelivered`: receivers that the platform left out. */
  send(target: WecomTarget, message: AppMessage, signal?: AbortSignal): Promise<{ readonly messageId: string; readonly undelivered: string | undefined }>;
  /** media_id of an uploaded file. */
  upload(file: PreparedFile, signal?: AbortSignal): Promise<string>;
  /** A file that somebody sent. */
  download(mediaId: string, maxBytes: number, signal: AbortSignal): Promise<{ readonly bytes: Buffer; readonly fileName: string | undefined; readonly mimeType: string | undefined }>;
  /** Gets a new token, to see that the credentials hold. */
  checkCredentials(): Promise<void>;
}

export function createAppApi(account: Pick<WecomAccount, "apiRoot" | "proxyUrl" | "timeoutMs" | "config">, app: AppSettings, now: () => number): AppApi {
  const { apiRoot, timeoutMs, config } = account;
  const agent = createAgent(apiRoot, account.proxyUrl);
  const retries = config.network?.retries ?? BUSY_TRIES;
  const pauseMs = config.network?.retryDelayMs ?? 500;

  const askToken = async (): Promise<{ value: string; lifeSeconds: number }> => {
    const query = new URLSearchParams({ corpid: app.corpId, corpsecret: app.corpSecret });
    const what = "give an access token";
    const answer = read(tokenAnswer, await readJson(what, await sendHttp({ what, method: "GET", url: `${apiRoot}/cgi-bin/gettoken?${query.toString()}`, agent, timeoutMs, maxBytes: MAX_ANSWER_BYTES }), now), what);
    return { value: answer.access_token, lifeSeconds: answer.expires_in };
  };
  const token = createTokenCache(() => patiently(askToken), now);

  /** A platform that is busy is asked again; nothing has happened yet. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (err) {
        if (!(err instanceof WecomError) || err.kind !== "retry" || attempt > retries) throw err;
        await sleep(pauseMs * attempt);
      }
    }
  }

  /** Once more with a new token when the platform does not know the present one. */
  function withToken<T>(work: (value: string) => Promise<T>): Promise<T> {
    return patiently(async () => {
      const value = await token.get();
      try {
        return await work(value);
      } catch (err) {
        if (!(err instanceof WecomError) || err.kind !== "token") throw err;
        token.drop(value);
        return work(await token.get());
      }
    });
  }

  const call = (what: string, path: string, body: object, signal?: AbortSignal): Promise<unknown> =>
    withToken(async (value) => readJson(what, await sendHttp({
      what, method: "POST", url: `${apiRoot}/cgi-bin${path}?access_token=${encodeURIComponent(value)}`, headers: { "content-type": "application/json" }, body: JSON.stringify(body), agent, timeoutMs, maxBytes: MAX_ANSWER_BYTES, signal,
    }), now));

  const putFile = (file: PreparedFile, mimeType: string, signal?: AbortSignal): Promise<string> => {
    const what = `take the file ${file.fileName}`;
    const { boundary, body } = multipart(file, mimeType);
    return withToken(async (value) => {
      const url = `${apiRoot}/cgi-bin/media/upload?${new URLSearchParams({ access_token: value, type: file.type }).toString()}`;
      const answer = await sendHttp({ what, method: "POST", url, headers: { "content-type": `multipart/form-data; boundary=${boundary}` }, body, agent, timeoutMs: Math.max(timeoutMs, UPLOAD_TIMEOUT_MS), maxBytes: MAX_ANSWER_BYTES, signal });
      return read(uploaded, await readJson(what, answer, now), what).media_id;
    });
  };

  /** Groups that the app has made itself; the bot's are closed to it. */
  async function writeToGroup(chatid: string, message: AppMessage, signal?: AbortSignal): Promise<{ readonly messageId: string; readonly undelivered: undefined }> {
    const what = "send a message of the app to a group";
    try {
      const { msgid } = read(sent, await call(what, "/appchat/send", { chatid, ...message }, signal), what);
      return { messageId: msgid ?? `app-${randomUUID()}`, undelivered: undefined };
    } catch (err) {
      if (!(err instanceof WecomError) || err.kind !== "refused") throw err;
      throw new WecomError("refused", `${err.message}. An app cannot write into a group of the bot, only into those that it made itself: send by the bot (group:<chatid> without wecom-agent:), or give a person, party or tag`, { cause: err, code: err.code });
    }
  }

  return {
    async send(target, message, signal) {
      const what = "send a message of the app";
      if (target.kind === "group") return writeToGroup(target.id, message, signal);
      if (app.agentId === undefined) throw new WecomError("refused", "The app has no agentId: set channels.wecom.agent.agentId (AgentId in the app's settings)");
      const to = target.kind === "user" ? { touser: target.id } : target.kind === "party" ? { toparty: target.id } : { totag: target.id };
      const answer = read(sent, await call(what, "/message/send", { ...to, agentid: Number(app.agentId), ...message }, signal), what);
      const undelivered = [answer.invaliduser, answer.invalidparty, answer.invalidtag].filter(Boolean).join(", ");
      if (undelivered !== "" && target.kind === "user") throw new WecomError("refused", `WeCom did not deliver to ${undelivered}: not in the app's visible range (可见范围)`);
      return { messageId: answer.msgid ?? `app-${randomUUID()}`, undelivered: undelivered === "" ? undefined : undelivered };
    },
    async upload(file, signal) {
      try {
        return await putFile(file, file.mimeType, signal);
      } catch (err) {
        // Some types are taken only without their name.
        if (!(err instanceof WecomError) || err.kind !== "refused" || err.code === undefined) throw err;
        return putFile(file, "application/octet-stream", signal);
      }
    },
    download: (mediaId, maxBytes, signal) => {
      const what = "give out a file";
      return withToken(async (value) => {
        const url = `${apiRoot}/cgi-bin/media/get?${new URLSearchParams({ access_token: value, media_id: mediaId }).toString()}`;
        const answer = await sendHttp({ what, method: "GET", url, agent, timeoutMs: Math.max(timeoutMs, UPLOAD_TIMEOUT_MS), maxBytes, signal });
        if (String(answer.headers["content-type"]).includes("json")) {
          await readJson(what, answer, now);
          throw new WecomError("refused", `WeCom gave no file (${what})`);
        }
        const fileName = /filename="?([^";]+)"?/i.exec(String(answer.headers["content-disposition"] ?? ""))?.[1];
        const mimeType = answer.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
        return { bytes: answer.body, fileName, mimeType: mimeType === "application/octet-stream" ? undefined : mimeType };
      });
    },
    checkCredentials: async () => void (await askToken()),
  };
}

/** The answer when it says that all went well. @throws WecomError */
async function readJson(what: string, answer: HttpAnswer, now: () => number): Promise<unknown> {
  let json: unknown;
  try {
    json = JSON.parse(answer.body.toString("utf8"));
  } catch {
    json = undefined; // a page of a proxy: the status says enough
  }
  const parsed = status.safeParse(json);
  if (parsed.success && parsed.data.errcode !== 0) throw refusal(what, parsed.data.errcode, parsed.data.errmsg);
  if (answer.status === 429) throw new WecomError("rate-limited", `WeCom asks to wait (${what})`, { retryAfterMs: parseRetryAfter(new Map([["retry-after", String(answer.headers["retry-after"] ?? "")]]), now()) });
  if (answer.status >= 500) throw new WecomError("retry", `WeCom is not available (${what}, HTTP ${answer.status})`);
  if (answer.status !== 200 || !parsed.success) throw new WecomError("uncertain", `WeCom's answer could not be read (${what}, HTTP ${answer.status})`);
  return json;
}

function read<T>(schema: z.ZodType<T>, body: unknown, what: string): T {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new WecomError("uncertain", `WeCom's answer has an unknown form (${what})`);
  return parsed.data;
}

/** The platform wants the file's length in its part, which FormData does not give. */
function multipart(file: PreparedFile, mimeType: string): { readonly boundary: string; readonly body: Buffer } {
  const boundary = `----openclaw${randomUUID().replaceAll("-", "")}`;
  const name = file.fileName.replace(/["\r\n\\]/g, "_");
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="media"; filename="${name}"; filelength=${file.bytes.byteLength}\r\nContent-Type: ${mimeType}\r\n\r\n`;
  return { boundary, body: Buffer.concat([Buffer.from(head, "utf8"), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]) };
}
