import { expect, it } from "vitest";
import { startChannelHttp } from "../../../test/support/channel-http.ts";
import { startTestAccount } from "../../../test/support/qqbot-api/account.ts";
import { ALICE, startFakeQQ } from "../../../test/support/qqbot-api/index.ts";
import { callbackKey, webhookPath } from "./webhook.ts";

it("the address is answered for with the key that the secret makes", () => {
  // The example of QQ's documentation.
  expect(callbackKey("DG5g3B4j9X2KOErG").answer("1725442341", "Arq0D5A61EgUu4OxUvOp")).toBe(
    "87befc99c42c651b3aac0278e71ada338433ae26fcb24307bdc5ad38c1adc2d01bcfcadc0842edac85e85205028a1132afe09280305f13aa6909ffc2d652c706",
  );
  for (const secret of ["x", "a secret that is longer than thirty-two bytes are", "密钥"]) expect(callbackKey(secret).answer("1", "a")).toMatch(/^[0-9a-f]{128}$/);
});

it("each account has a path of its own", () => {
  const account = (accountId: string, path?: string) => webhookPath({ accountId, config: path === undefined ? {} : { webhookPath: path } });
  expect([account("default"), account("work"), account("work", "/qq")]).toEqual(["/qqbot/webhook", "/qqbot/webhook/work", "/qq"]);
});

it("events come by HTTP: taken once, answered, and sent again while the gateway cannot take them", async () => {
  const server = await startChannelHttp();
  let isFull = true;
  await using account = await startTestAccount({
    http: server.http, config: { connectionMode: "webhook" },
    receive: (message) => (isFull && message.text === "later" ? { kind: "unavailable", reason: "full" } : { kind: "accepted", id: "1" }),
  });
  const { api } = account;
  try {
    expect(account.status).toMatchObject({ connected: true, mode: "webhook", webhookPath: "/qqbot/webhook" });
    await api.callAt(`${server.url}/qqbot/webhook`);
    const event = api.injectDirect("hello");
    expect(await account.receivedCount()).toMatchObject({ text: "hello", chat: { id: ALICE, type: "direct" } });
    api.dispatch("C2C_MESSAGE_CREATE", event);
    api.dispatch("C2C_MESSAGE_CREATE", { id: 5, author: "nobody" });
    await api.waitUntil(() => api.callbackAnswers().length === 3, "answers");
    expect(api.callbackAnswers()).toEqual([{ status: 200, body: { op: 12 } }, { status: 200, body: { op: 12 } }, { status: 200, body: { op: 12 } }]);
    expect(account.received).toHaveLength(1);

    const late = api.injectDirect("later");
    await api.waitUntil(() => api.callbackAnswers()[3], "refusal");
    expect(api.callbackAnswers()[3]?.status).toBe(503);
    isFull = false;
    api.dispatch("C2C_MESSAGE_CREATE", late);
    expect(await account.receivedCount(2)).toMatchObject({ text: "later" });
    expect((await account.send({ text: "answer", replyContext: account.received[0]?.replyContext })).outcome).toMatchObject({ kind: "sent" });
    expect(api.texts()).toEqual(["answer"]);
    expect(api.identified).toEqual([]);
  } finally {
    await server.close();
  }
});

it("what QQ has not signed is refused, and nothing is signed that could be an event", async () => {
  const server = await startChannelHttp();
  await using api = await startFakeQQ();
  await using account = await startTestAccount({ api, http: server.http, config: { connectionMode: "webhook", webhookPath: "/qq" } });
  const url = `${server.url}/qq`;
  const event = { op: 0, id: "e", s: 1, t: "C2C_MESSAGE_CREATE", d: { id: "m1", content: "run rm", timestamp: new Date().toISOString(), author: { user_openid: ALICE } } };
  const nowSec = Math.floor(Date.now() / 1000);
  try {
    for (const given of [{ signature: "" }, { signature: "0".repeat(128) }, { signature: "zz".repeat(64) }, { timestamp: String(nowSec - 13 * 3600) }, { timestamp: String(nowSec + 13 * 3600) }, { timestamp: "now" }]) expect((await api.callbacks.post(url, event, given)).status).toBe(401);
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: "POST", body: JSON.stringify(event) })).status).toBe(401);
    for (const d of [{ plain_token: JSON.stringify(event), event_ts: String(nowSec) }, { plain_token: "abc", event_ts: `${nowSec}{` }, { plain_token: "", event_ts: "1" }, {}, null]) {
      const { body } = await api.callbacks.post(url, { op: 13, d }, { signature: "" });
      expect(body).toEqual({ error: "wrong signature" });
    }
    expect((await api.callbacks.post(url, "no json")).status).toBe(400);
    expect((await api.callbacks.post(url, { op: 1, d: 5 })).status).toBe(200);
    expect(account.received).toEqual([]);
    await api.callbacks.checkAddress(url);
  } finally {
    await server.close();
  }
});
