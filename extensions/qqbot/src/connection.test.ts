import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "openclaw/plugin-sdk";
import { describe, expect, it, vi } from "vitest";
import { startTestAccount } from "../../../test/support/qqbot-api/account.ts";
import { startFakeQQ } from "../../../test/support/qqbot-api/index.ts";
import { createSessionStore } from "./session-store.ts";

const ops = (api: { identified: readonly { readonly op: number }[] }): number[] => api.identified.map(({ op }) => op);

describe("the connection", () => {
  it("that answers no heartbeat is replaced, and its session goes on", async () => {
    await using api = await startFakeQQ({ heartbeatMs: 20 });
    await using account = await startTestAccount({ api });
    api.muteHeartbeats();
    await api.waitUntil(() => ops(api).includes(6), "a resumed session");
    api.injectDirect("still there?");
    expect(await account.receivedCount()).toMatchObject({ text: "still there?" });
  });

  it("is taken up again with its session after close codes that allow it and op 7, with a new one after others", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    for (const [drop, op] of [[() => api.dropSockets(4009), 6], [() => api.askToReconnect(), 6], [() => api.dropSockets(4006), 2], [() => api.dropSockets(4008), 6], [() => api.dropSockets(4902), 2], [() => api.dropSockets(4004), 2]] as const) {
      const before = ops(api).length;
      drop();
      await api.waitUntil(() => ops(api).length > before && account.status.connected, "the next connection");
      expect(ops(api).slice(before)).toEqual([op]);
    }
  });

  it("ends for good when QQ closes it normally or bans the bot, and after too many tries", async () => {
    await using normal = await startTestAccount();
    normal.api.dropSockets(1000);
    expect(await normal.ended).toBeUndefined();
    await using banned = await startTestAccount({ api: normal.api });
    banned.api.dropSockets(4915);
    expect(await banned.ended).toMatchObject({ code: "rejected" });
    normal.api.failNext(99, { status: 503, body: {}, path: /gateway$/ });
    await using away = await startTestAccount({ api: normal.api, awaitConnection: false, plugin: { timings: { maxAttempts: 3 } } });
    expect(await away.ended).toMatchObject({ code: "unreachable", message: expect.stringContaining("3 tries") as string });
    expect(away.status).toMatchObject({ connected: false, reconnectAttempts: 3 });
  });

  it("asks for fewer events when a new session is refused, says so, and starts over after the last set", async () => {
    await using api = await startFakeQQ();
    api.refuseSessions(3);
    await using account = await startTestAccount({ api });
    expect(api.identified.map(({ d }) => d["intents"])).toEqual([1_174_409_216, 1_107_300_352, 1_107_296_256, 1_073_741_826]);
    expect(new Set(api.identified.map(({ d }) => d["token"])).size).toBe(4);
    expect(account.plugin.status?.collectStatusIssues?.([account.status])).toMatchObject([{ kind: "intent", message: expect.stringContaining("only the messages of guilds") as string }]);
    api.refuseSessions(1);
    api.forgetSessions();
    api.dropSockets();
    await api.waitUntil(() => api.identified.length === 7, "another chance"); // resume, refused identify, identify
    expect(api.identified.at(-1)?.d["intents"]).toBe(1_174_409_216);
  });

  it("stands whatever frames come, and a session that cannot be read is asked for again", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const frames = ["", "null", "[]", "{", '"x"', '{"op":"0"}', '{"op":0}', '{"op":0,"t":7}', '{"op":0,"t":"C2C_MESSAGE_CREATE","d":null}', '{"op":0,"s":"x","t":"C2C_MESSAGE_CREATE"}', '{"op":99,"d":{}}', '{"op":11,"d":[]}', '{"op":0,"t":"NEWS","d":{"deep":[[[[]]]]}}', '{"op":10,"d":{"heartbeat_interval":1e12}}', '{"op":10}', "\u0000", "x".repeat(100_000)];
    for (const frame of frames) api.sendRaw(frame);
    api.sendRaw(Buffer.from([0, 255, 1]));
    api.injectDirect("still here");
    expect(await account.receivedCount()).toMatchObject({ text: "still here" });
    // Each of the two greetings is answered; no connection was given up.
    expect(ops(api)).toEqual([2, 6, 6]);
    api.forgetSessions();
    api.readyWith({ nonsense: true });
    api.dropSockets();
    await api.waitUntil(() => ops(api).length >= 6 && account.status.connected, "a session that is understood");
    api.injectDirect("and here");
    expect(await account.receivedCount(2)).toMatchObject({ text: "and here" });
  });

  it("that is not admitted and not refused either is begun anew", async () => {
    await using api = await startFakeQQ();
    await using account = await startTestAccount({ api, plugin: { timings: { helloMs: 60 } } });
    api.forgetSessions();
    api.ignoreSignIns(1);
    api.dropSockets();
    await api.waitUntil(() => ops(api).length >= 3 && account.status.connected, "the next sign-in");
  });

  it("is written down at most once a second", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const stateDir = await mkdtemp(join(tmpdir(), "qqbot-"));
    try {
      let writes = 0;
      const store = createSessionStore({ stateDir, accountId: "a", appId: "1", log: silentLogger, now: () => (writes += 0.5) });
      for (const lastSeq of [1, 2, 3]) store.save({ sessionId: "s", lastSeq, intentLevelIndex: 1 });
      await vi.advanceTimersByTimeAsync(1000);
      await store.flush();
      expect(writes).toBe(1);
      expect(await store.load()).toEqual({ sessionId: "s", lastSeq: 3, intentLevelIndex: 1 });
    } finally {
      vi.useRealTimers();
      await rm(stateDir, { recursive: true, force: true });
    }
  });

  it("is written down as it was when the account ends, and taken up after a restart", async () => {
    await using account = await startTestAccount();
    for (const word of ["a", "b", "c"]) account.api.injectDirect(word);
    await account.receivedCount(3);
    const path = join(account.stateDir, "qqbot", "sessions", "session-default.json");
    await account.stop();
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ lastSeq: 4, intentLevelIndex: 0, appId: account.api.appId, accountId: "default" });
    account.api.injectDirect("while away");
    await using later = await startTestAccount({ api: account.api, stateDir: account.stateDir });
    expect(await later.receivedCount()).toMatchObject({ text: "while away" });
    expect(ops(account.api)).toEqual([2, 6]);
  });

  it("is renewed when QQ misses it at a send, and the message goes out", async () => {
    await using account = await startTestAccount();
    account.api.failNext(1, { status: 400, body: { code: 304_018, message: "not connected" }, path: /messages$/ });
    expect((await account.send({ text: "hello" })).outcome).toMatchObject({ kind: "sent" });
    expect(ops(account.api)).toEqual([2, 6]);
    expect(account.api.texts()).toEqual(["hello"]);
  });

  it("of two accounts: each has its own bot, token and messages", async () => {
    await using api = await startFakeQQ({ otherApps: { "2": "second" } });
    const config = { accounts: { work: { appId: "2", clientSecret: "second" } } };
    await using first = await startTestAccount({ api, config });
    await using second = await startTestAccount({ api, config, accountId: "work" });
    api.injectDirect("to the second", {}, "2");
    api.injectDirect("to the first");
    expect([await first.receivedCount(), await second.receivedCount()]).toMatchObject([{ text: "to the first", accountId: "default" }, { text: "to the second", accountId: "work" }]);
    await first.send({ text: "a" });
    await second.send({ text: "b" });
    const tokens = api.calls().filter(({ path }) => path.endsWith("/messages")).map(({ token }) => token);
    expect(new Set(tokens).size).toBe(2);
    expect([first.received.length, second.received.length]).toEqual([1, 1]);
  });
});
