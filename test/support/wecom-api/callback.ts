import { callbackSignature, decryptCallback, encryptCallback } from "../../../extensions/wecom/src/callback-crypto.ts";

export const KEYS = { token: "tok", encodingAESKey: "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG" } as const;

/** The platform's side of callbacks: signs, encrypts, and reads what comes back. */
export function createCallbackSender(base: string, { receiveId = "", keys = KEYS }: { readonly receiveId?: string; readonly keys?: { readonly token: string; readonly encodingAESKey: string } } = {}) {
  const query = (encrypted: string, over: Record<string, string> = {}): string => {
    const [timestamp, nonce] = [String(Math.floor(Date.now() / 1000)), "nonce1"];
    return new URLSearchParams({ msg_signature: callbackSignature(keys.token, timestamp, nonce, encrypted), timestamp, nonce, ...over }).toString();
  };
  async function postJson(path: string, message: object, over?: Record<string, string>): Promise<{ readonly status: number; readonly body: unknown }> {
    const encrypt = encryptCallback(JSON.stringify(message), keys.encodingAESKey, receiveId);
    const response = await fetch(`${base}${path}?${query(encrypt, over)}`, { method: "POST", body: JSON.stringify({ encrypt }) });
    const body = (await response.json().catch(() => ({}))) as { encrypt?: string; msgsignature?: string; timestamp?: string | number; nonce?: string };
    if (body.encrypt === undefined) return { status: response.status, body };
    if (body.msgsignature !== callbackSignature(keys.token, String(body.timestamp), body.nonce ?? "", body.encrypt)) throw new Error("the answer is not signed");
    return { status: response.status, body: JSON.parse(decryptCallback(body.encrypt, keys.encodingAESKey, receiveId)) as unknown };
  }
  return {
    postJson,
    async postXml(path: string, fields: Readonly<Record<string, string>>, over?: Record<string, string>): Promise<{ readonly status: number; readonly text: string }> {
      const xml = `<xml>${Object.entries(fields).map(([name, value]) => `<${name}><![CDATA[${value}]]></${name}>`).join("")}</xml>`;
      const encrypt = encryptCallback(xml, keys.encodingAESKey, receiveId);
      const response = await fetch(`${base}${path}?${query(encrypt, over)}`, { method: "POST", body: `<xml><ToUserName><![CDATA[corp1]]></ToUserName><Encrypt><![CDATA[${encrypt}]]></Encrypt></xml>` });
      return { status: response.status, text: await response.text() };
    },
    async verify(path: string, echo: string, over?: Record<string, string>): Promise<{ readonly status: number; readonly text: string }> {
      const echostr = encryptCallback(echo, keys.encodingAESKey, receiveId);
      const response = await fetch(`${base}${path}?${query(echostr, { echostr, ...over })}`);
      return { status: response.status, text: await response.text() };
    },
    /** Asks for a stream until it is finished, as the platform does. */
    async pollStream(path: string, id: string): Promise<{ readonly contents: readonly string[]; readonly images: readonly unknown[] }> {
      const contents: string[] = [];
      for (let round = 0; round < 200; round++) {
        const { body } = await postJson(path, { msgtype: "stream", stream: { id } });
        const { stream } = body as { stream: { finish: boolean; content: string; msg_item?: unknown[] } };
        if (contents.at(-1) !== stream.content) contents.push(stream.content);
        if (stream.finish) return { contents, images: stream.msg_item ?? [] };
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(`the stream did not end: ${contents.join(" | ")}`);
    },
  };
}
