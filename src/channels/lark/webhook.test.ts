import { once } from "node:events";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/feishu-api/account.ts";
import { ALICE, APP2, signedCallback, startFakeFeishu } from "../../../test/support/feishu-api/index.ts";
import { callbackSignature, decryptBody } from "./callback-crypto.ts";

const KEYS = { connectionMode: "webhook", verificationToken: "vtok", webhookPort: 0 };

async function webhook(config: Record<string, unknown> = {}, more: Partial<Parameters<typeof startTestAccount>[0]> = {}) {
  const account = await startTestAccount({ awaitConnection: false, config: { ...KEYS, ...config }, ...more });
  const port = await account.api.waitUntil(() => account.status.connected && account.status["port"], "listening webhook");
  const post = async (call: { body: string; headers: Record<string, string> }, path = "/feishu/events", method = "POST"): Promise<{ status: number; body: string }> => {
    const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, { method, headers: call.headers, ...(method === "GET" ? {} : { body: call.body }) });
    return { status: response.status, body: await response.text() };
  };
  return { account, api: account.api, port: Number(port), post, [Symbol.asyncDispose]: () => account[Symbol.asyncDispose]() };
}

const challenge = (token: string): object => ({ challenge: "ch-123", token, type: "url_verification" });
const EMPTY = { status: 200, body: "" };

describe("the webhook", () => {
  it("knows the platform's test vectors", () => {
    const sealed = "AAECAwQFBgcICQoLDA0ODxL3rYh2gaSUPGyPZ0xETX3cSiUGbcJpnsOUgMyAlXKnec+Hc1Js6fsYfleBx1zXDbykvBB5Ns9lWljnu40MoK8=";
    expect(JSON.parse(decryptBody(sealed, "ekey"))).toEqual(challenge("vtok"));
    expect(callbackSignature("1700000000", "nonce1", "ekey", Buffer.from('{"encrypt":"AAECAwQF"}'))).toBe("35b7a37f980e2b728e9156dc2d0b5eddf39046bd7d451ef9c74593ff036370d6");
  });

  it("answers the challenge in plain and encrypted form, to the right token only", async () => {
    await using plain = await webhook();
    expect(await plain.post(signedCallback(challenge("vtok"), {}))).toEqual({ status: 200, body: '{"challenge":"ch-123"}' });
    expect(await plain.post(signedCallback(challenge("other"), {}))).toEqual(EMPTY);
    await using sealed = await webhook({ encryptKey: "ekey" });
    expect((await sealed.post(signedCallback(challenge("vtok"), { encryptKey: "ekey" }))).body).toBe('{"challenge":"ch-123"}');
    expect(await sealed.post(signedCallback(challenge("vtok"), { encryptKey: "another" }))).toEqual(EMPTY);
  });

  it("takes signed events once and passes unknown ones over", async () => {
    await using w = await webhook({ encryptKey: "ekey" });
    const event = w.api.directEvent("by http");
    expect(await w.post(signedCallback(event, { encryptKey: "ekey" }))).toEqual({ status: 200, body: "{}" });
    expect(await w.post(signedCallback(event, { encryptKey: "ekey" }))).toEqual({ status: 200, body: "{}" });
    expect(await w.post(signedCallback(w.api.envelope("approval.instance", {}), { encryptKey: "ekey" }))).toEqual({ status: 200, body: '"no approval.instance event handle"' });
    expect(w.account.received.map((m) => [m.text, m.sender.id])).toEqual([["by http", ALICE]]);
    expect(w.account.status).toMatchObject({ mode: "webhook", webhookPath: "/feishu/events" });
  });

  it("does nothing for wrong signatures, replayed ones, wrong tokens, other apps, old events and bodies that are not encrypted", async () => {
    await using w = await webhook({ encryptKey: "ekey" });
    const event = w.api.directEvent("forged");
    const header = event["header"] as object;
    const forged = [
      signedCallback(event, { encryptKey: "ekey", signWith: "guess" }),
      signedCallback(event, { encryptKey: "ekey", timestamp: Date.now() - 3_600_000 }),
      signedCallback({ ...event, header: { ...header, token: "wrong" } }, { encryptKey: "ekey" }),
      signedCallback({ ...event, header: { ...header, app_id: APP2 } }, { encryptKey: "ekey" }),
      signedCallback({ ...event, header: { ...header, create_time: String(Date.now() - 24 * 3_600_000) } }, { encryptKey: "ekey" }),
      signedCallback(event, {}),
      { body: "{", headers: { "content-type": "application/json" } },
    ];
    for (const call of forged) expect(await w.post(call)).toEqual(EMPTY);
    expect(w.account.received).toHaveLength(0);
    await using plain = await webhook();
    expect(await plain.post(signedCallback({ ...event, header: { ...header, token: "wrong" } }, {}))).toEqual(EMPTY);
    expect((await plain.post(signedCallback(event, {}))).body).toBe("{}");
    expect(plain.account.received).toHaveLength(1);
  });

  it("refuses other paths, queries, types, sizes and too many requests", async () => {
    await using w = await webhook();
    const call = signedCallback(challenge("vtok"), {});
    expect((await w.post(call, "/elsewhere")).status).toBe(404);
    expect((await w.post(call, "/feishu/events?x=1")).status).toBe(404);
    expect((await w.post({ ...call, headers: { "content-type": "text/plain" } })).status).toBe(415);
    expect(await w.post({ ...call, body: "x".repeat(1024 * 1024 + 1) })).toEqual({ status: 413, body: "Payload too large" });
    expect(await w.post(call, "/feishu/events", "GET")).toEqual(EMPTY);
    const statuses = await Promise.all(Array.from({ length: 125 }, async () => (await w.post(call)).status));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(5);
  });

  it("answers 503 while the core cannot take a message, so that it is sent again", async () => {
    await using w = await webhook({}, { receive: () => ({ kind: "unavailable", reason: "disk full" }) });
    expect((await w.post(signedCallback(w.api.directEvent("later"), {}))).status).toBe(503);
  });

  it("drops a caller that never ends its body", async () => {
    await using w = await webhook();
    const req = request({ port: w.port, host: "127.0.0.1", path: "/feishu/events", method: "POST", headers: { "content-type": "application/json", "content-length": "100" } });
    req.on("error", () => undefined);
    req.write("{");
    await w.account.stop();
    req.destroy();
    expect(w.account.status.connected).toBe(false);
  });

  it("of two accounts shares a port, each with its own path; the same path is refused", async () => {
    await using api = await startFakeFeishu();
    const accounts = { work: { appId: APP2, appSecret: "secret2", webhookPath: "/feishu/work" } };
    const config = { ...KEYS, webhookPort: await freePort(), accounts };
    await using first = await webhook(config, { api });
    const beside = { api, config, accountId: "work", awaitConnection: false, usePlugin: first.account.plugin };
    await using second = await startTestAccount(beside);
    await api.waitUntil(() => second.status["port"], "second path");
    expect((await first.post(signedCallback(api.directEvent("to one"), {}))).status).toBe(200);
    expect((await first.post(signedCallback(api.directEvent("to two", { appId: APP2 }), {}), "/feishu/work")).status).toBe(200);
    expect([first.account.received.map((m) => m.text), second.received.map((m) => m.text)]).toEqual([["to one"], ["to two"]]);
    await using third = await startTestAccount({ ...beside, config: { ...config, accounts: { work: { ...accounts.work, webhookPath: "/feishu/events" } } } });
    expect(await third.ended).toMatchObject({ code: "config", message: expect.stringContaining("belongs to another account") as string });
    await first.account.stop();
    expect((await first.post(signedCallback(api.directEvent("gone"), {}))).status).toBe(404);
    await using taken = await startTestAccount({ api, config, accountId: "work", awaitConnection: false });
    expect(await taken.ended).toMatchObject({ code: "config", message: expect.stringContaining("cannot listen") as string });
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
