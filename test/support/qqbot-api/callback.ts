import { randomUUID } from "node:crypto";
import { getPublicKeyAsync, signAsync, verifyAsync } from "@noble/ed25519";

export interface CallbackAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** QQ's side of the webhook of one bot. Source: spec channels-cn §1.3. */
export function createCallbacks(secret: string) {
  const seed = Buffer.from(secret.repeat(Math.ceil(32 / secret.length)).slice(0, 32));
  async function post(url: string, payload: unknown, given: { readonly timestamp?: string; readonly signature?: string } = {}): Promise<CallbackAnswer> {
    const body = Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
    const timestamp = given.timestamp ?? String(Math.floor(Date.now() / 1000));
    const signature = given.signature ?? Buffer.from(await signAsync(Buffer.concat([Buffer.from(timestamp), body]), seed)).toString("hex");
    const res = await fetch(url, { method: "POST", headers: { "content-type": "application/json", "user-agent": "QQBot-Callback", "x-signature-ed25519": signature, "x-signature-timestamp": timestamp }, body });
    const text = await res.text();
    return { status: res.status, body: text === "" ? undefined : JSON.parse(text) };
  }
  return {
    post,
    /** As when an address is entered in the console. @throws Error when it would be refused there */
    async checkAddress(url: string): Promise<void> {
      const [plainToken, eventTs] = [randomUUID().replaceAll("-", ""), String(Math.floor(Date.now() / 1000))];
      const { status, body } = await post(url, { op: 13, d: { plain_token: plainToken, event_ts: eventTs } });
      const answer = body as { plain_token?: string; signature?: string };
      const isOurs = answer.plain_token === plainToken && (await verifyAsync(Buffer.from(answer.signature ?? "", "hex"), Buffer.from(eventTs + plainToken), await getPublicKeyAsync(seed)));
      if (status !== 200 || !isOurs) throw new Error(`the address does not answer as it must: ${status} ${JSON.stringify(body)}`);
    },
  };
}
