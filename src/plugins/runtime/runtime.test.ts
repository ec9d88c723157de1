import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { silentLogger } from "../../infra/log.ts";
import { createImageWorker } from "../../media/index.ts";
import { createChannelPairingStore } from "../../pairing/index.ts";
import { createSessionService } from "../../sessions/index.ts";
import { createPluginRuntime, type ChannelSendRequest, type DispatchReply, type PluginRuntime } from "./index.ts";

let dir: string;
let cfg: OpenClawConfig;
let runtime: PluginRuntime;
let written: OpenClawConfig[];
let systemLines: unknown[];
let sent: ChannelSendRequest[];
let dispatch: DispatchReply;
let now: number;
let close: () => Promise<void>;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "runtime-"));
  [cfg, written, systemLines, sent, now] = [{}, [], [], [], 1_700_000_000_000];
  dispatch = async () => ({ queuedFinal: false, counts: { tool: 0, block: 0, final: 0 } });
  const clock = { now: () => now };
  const sessions = createSessionService({ config: () => cfg, roots: { stateDir: dir, workspaceDir: join(dir, "w") }, clock, log: silentLogger, withLock: (_path, write) => write() });
  close = () => sessions.close();
  runtime = createPluginRuntime({
    version: "2026.2.25", config: () => cfg, writeConfig: async (next) => void written.push(next), stateDir: dir, sessions, now: clock.now,
    pairing: createChannelPairingStore({ stateDir: dir, clock, log: silentLogger }), systemEvents: { push: (...args) => void systemLines.push(args) },
    images: createImageWorker(), log: silentLogger, isVerbose: () => false, isCommand: (text) => text.startsWith("/status"), hasNativeCommands: (channel) => channel === "telegram",
    dispatch: (...args) => dispatch(...args), onAgentEvent: () => () => undefined,
    sendToChannel: async (request) => (sent.push(request), { channel: request.channel, messageId: "m1" }),
    sendPollToChannel: async ({ channel }) => ({ channel, messageId: "p1" }), probeChannel: async (request) => request, channelAction: async (request) => request, listChannelActions: () => ["send", "react"],
  });
});
afterEach(async () => {
  await close();
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
});

describe("a direct message through a channel plugin", () => {
  it("is routed, enveloped and completed as in the worked example", async () => {
    const { channel } = runtime;
    expect(channel.routing.resolveAgentRoute({ cfg, channel: "probechan", peer: { kind: "direct", id: "u1" } })).toEqual({
      agentId: "main", channel: "probechan", accountId: "default", sessionKey: "agent:main:main", mainSessionKey: "agent:main:main", matchedBy: "default",
    });
    const envelope = channel.reply.resolveEnvelopeFormatOptions({ agents: { defaults: { envelopeTimezone: "Etc/UTC" } } });
    const body = channel.reply.formatAgentEnvelope({ channel: "PC", from: "Alice", timestamp: 1700000000000, body: "ping", envelope });
    expect(body).toBe("[PC Alice Tue 2023-11-14 22:13 UTC] ping");
    const draft = { Body: body, RawBody: "ping", CommandBody: "ping", From: "probechan:u1", SessionKey: "agent:main:main", ChatType: "dm", Extra: 1 };
    const ctx = channel.reply.finalizeInboundContext(draft);
    expect(ctx).toBe(draft);
    expect(ctx).toMatchObject({ BodyForAgent: "ping", BodyForCommands: "ping", ChatType: "direct", CommandAuthorized: false, Extra: 1, Body: body });
  });

  it("a group has its own session, and the sender before the text", () => {
    const { channel } = runtime;
    expect(channel.routing.resolveAgentRoute({ cfg, channel: "QQ", accountId: "A b", peer: { kind: "group", id: "G1" } })).toMatchObject({ sessionKey: "agent:main:qq:group:g1", accountId: "a-b" });
    const text = channel.reply.formatInboundEnvelope({ channel: "QQ", from: "G", body: "hi", chatType: "group", sender: { name: "A[n]n" }, envelope: { includeTimestamp: false } });
    expect(text).toBe("[QQ G] A(n)n: hi");
  });

  it("files without a type get one, so that both lists are as long", () => {
    expect(runtime.channel.reply.finalizeInboundContext({ Body: "a\r\nb", MediaPaths: ["/a", "/b"], MediaTypes: ["image/png"] })).toMatchObject({ Body: "a\nb", MediaTypes: ["image/png", "application/octet-stream"] });
  });

  it("delivers the pieces of the answer in order and counts them", async () => {
    const got: unknown[] = [];
    let typing = 0;
    dispatch = async (_ctx, _cfg, dispatcher, options) => {
      await options.onReplyStart?.();
      dispatcher.sendToolResult({ text: "tool" });
      dispatcher.sendBlockReply({ text: "block" });
      const queuedFinal = dispatcher.sendFinalReply({ text: "done" });
      return { queuedFinal, counts: dispatcher.getQueuedCounts() };
    };
    const result = await runtime.channel.reply.dispatchReplyWithBufferedBlockDispatcher({
      ctx: {}, cfg, dispatcherOptions: {
        deliver: async (payload, { kind }) => {
          await new Promise((resolve) => setImmediate(resolve));
          got.push([kind, payload.text]);
        },
        responsePrefix: "[{model}]", responsePrefixContextProvider: () => ({ model: "m" }), typingCallbacks: { onReplyStart: () => void typing++, onIdle: () => void typing-- },
      },
    });
    expect(result).toEqual({ queuedFinal: true, counts: { tool: 1, block: 1, final: 1 } });
    expect(got).toEqual([["tool", "[m] tool"], ["block", "[m] block"], ["final", "[m] done"]]);
    expect(typing).toBeLessThanOrEqual(0);
  });

  it("does not deliver what is for the gateway, and goes on after a failure", async () => {
    const skipped: unknown[] = [];
    const errors: unknown[] = [];
    const { dispatcher } = runtime.channel.reply.createReplyDispatcherWithTyping({
      deliver: (payload) => {
        if (payload.text === "bad") throw new Error("no network");
        skipped.push(payload.text);
      },
      onSkip: (_payload, { reason }) => skipped.push(reason), onError: (err, { kind }) => errors.push([kind, (err as Error).message]),
    });
    const accepted = ["", "NO_REPLY", "HEARTBEAT_OK", "bad", "good"].map((text) => dispatcher.sendFinalReply({ text }));
    dispatcher.markComplete();
    await dispatcher.waitForIdle();
    expect(accepted).toEqual([false, false, false, true, true]);
    expect(skipped).toEqual(["empty", "silent", "heartbeat", "good"]);
    expect(errors).toEqual([["final", "no network"]]);
    expect([dispatcher.getQueuedCounts().final, dispatcher.getFailedCounts().final]).toEqual([2, 1]);
  });

  it("a callback that fails holds nothing up", async () => {
    const got: unknown[] = [];
    const fail = (): never => {
      throw new Error("callback");
    };
    const { dispatcher } = runtime.channel.reply.createReplyDispatcherWithTyping({ deliver: (payload) => (payload.text === "bad" ? fail() : got.push(payload.text)), onError: fail, onIdle: fail });
    for (const text of ["bad", "good"]) dispatcher.sendBlockReply({ text });
    dispatcher.markComplete();
    await dispatcher.waitForIdle();
    expect(got).toEqual(["good"]);
  });

  it("a dispatcher is settled also when the run fails", async () => {
    const steps: string[] = [];
    const { dispatcher } = runtime.channel.reply.createReplyDispatcherWithTyping({ deliver: () => void steps.push("deliver"), onIdle: () => void steps.push("idle") });
    const run = runtime.channel.reply.withReplyDispatcher({
      dispatcher, onSettled: () => void steps.push("settled"),
      run: async () => {
        dispatcher.sendFinalReply({ text: "x" });
        throw new Error("run failed");
      },
    });
    await expect(run).rejects.toThrow("run failed");
    expect(steps).toEqual(["deliver", "idle", "settled"]);
  });
});

describe("sessions", () => {
  it("remembers where a chat is, without making it look active", async () => {
    const { session } = runtime.channel;
    const storePath = session.resolveStorePath(undefined, { agentId: "main" });
    expect(storePath).toBe(join(dir, "agents", "main", "sessions", "sessions.json"));
    const input = { storePath, sessionKey: "agent:main:zap:group:g1", ctx: { ChatType: "group", From: "zap:g1", OriginatingChannel: "zap", OriginatingTo: "g1", AccountId: "default", GroupSubject: "Team" }, onRecordError: (err: unknown) => expect(err).toBeUndefined() };
    await session.recordInboundSession({ ...input, updateLastRoute: { channel: "zap", to: "g1", accountId: "default" } });
    expect(session.readSessionUpdatedAt(input)).toBe(now);
    const first = now;
    now += 60_000;
    await session.recordInboundSession(input);
    expect(session.readSessionUpdatedAt(input)).toBe(first);
    await close();
    const entry = (JSON.parse(await readFile(storePath, "utf8")) as Record<string, unknown>)[input.sessionKey];
    expect(entry).toMatchObject({ chatType: "group", subject: "Team", lastChannel: "zap", lastTo: "g1", origin: { provider: "zap", from: "zap:g1", to: "g1" }, deliveryContext: { channel: "zap", to: "g1", accountId: "default" } });
  });

  it("an unknown session stays unknown when it is not to be made, and a store can be elsewhere", async () => {
    const { session } = runtime.channel;
    expect(await session.recordSessionMetaFromInbound({ storePath: "x", sessionKey: "agent:main:none", ctx: {}, createIfMissing: false })).toBeNull();
    expect(session.resolveStorePath("/s/{agentId}/s.json", { agentId: "Bob" })).toBe("/s/bob/s.json");
    expect(session.readSessionUpdatedAt({ storePath: join(dir, "none.json"), sessionKey: "agent:main:none" })).toBeUndefined();
  });
});

describe("pairing", () => {
  it("gives a stranger a code once", async () => {
    const { pairing } = runtime.channel;
    const request = () => pairing.upsertPairingRequest({ channel: "zap", id: "U1", meta: { name: "Ann", none: undefined }, pairingAdapter: { normalizeAllowEntry: (entry) => entry.toLowerCase() } });
    const first = await request();
    expect(first).toEqual({ code: expect.stringMatching(/^[A-Z2-9]{8}$/), created: true });
    expect(await request()).toEqual({ code: first.code, created: false });
    expect(pairing.buildPairingReply({ channel: "zap", idLine: "Your zap id: u1", code: "ABCDEFGH" })).toMatch(/Your zap id: u1\n\nPairing code: ABCDEFGH\n\n[^\n]+\n\nopenclaw pairing approve zap ABCDEFGH$/);
    expect(await pairing.readAllowFromStore("zap", undefined, "default")).toEqual([]);
    expect(await pairing.readAllowFromStore({ channel: "zap" })).toEqual([]);
  });
});

describe("media", () => {
  let server: Server | undefined;
  afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())));
  const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

  it("reads local files only where it may", async () => {
    const { loadWebMedia } = runtime.media;
    await mkdir(join(dir, "media", "inbound"), { recursive: true });
    await writeFile(join(dir, "media", "inbound", "a.png"), png);
    await writeFile(join(dir, "secret.txt"), "s");
    await symlink(join(dir, "secret.txt"), join(dir, "media", "link.txt"));
    expect(await loadWebMedia(join(dir, "media", "inbound", "a.png"))).toMatchObject({ contentType: "image/png", kind: "image", fileName: "a.png" });
    expect(await loadWebMedia(join(dir, "secret.txt"), { localRoots: [dir] })).toMatchObject({ contentType: "text/plain", kind: "document" });
    const code = (source: string, options?: object) => loadWebMedia(source, options as never).then(() => "read", (err: unknown) => (err as { code: string }).code);
    expect(await Promise.all([
      code(join(dir, "secret.txt")), code(join(dir, "media", "link.txt")), code(join(dir, "media", "none")), code("file://host/x"), code(join(dir, "media", "inbound")),
      code("/etc/hosts", { localRoots: ["/"] }), code("/etc/hosts", { localRoots: "any" }), code(""),
    ])).toEqual(["path-not-allowed", "path-not-allowed", "not-found", "invalid-file-url", "not-file", "invalid-root", "unsafe-bypass", "invalid-path"]);
  });

  it("fetches addresses within limits, and none inside the network unless told to", async () => {
    server = createServer((req, res) => {
      if (req.url === "/gone") return void res.writeHead(404).end();
      res.writeHead(200, { "content-type": "application/octet-stream", "content-disposition": 'attachment; filename="pic"' }).end(png);
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { fetchRemoteMedia } = runtime.channel.media;
    const code = (request: object) => fetchRemoteMedia(request as never).then(() => "read", (err: unknown) => (err as { code: string }).code);
    expect(await code({ url })).toBe("fetch_failed");
    const ssrfPolicy = { allowPrivateNetwork: true };
    expect(await fetchRemoteMedia({ url, ssrfPolicy })).toMatchObject({ contentType: "image/png", fileName: "pic.png" });
    expect(await code({ url: `${url}/gone`, ssrfPolicy })).toBe("http_error");
    expect(await code({ url, ssrfPolicy, maxBytes: 10 })).toBe("max_bytes");
    expect(await code({ url: "https://x", fetchImpl: async () => new Response("x".repeat(50)), maxBytes: 10 })).toBe("max_bytes");
  });

  it("saves what came into the store of media, and nowhere else", async () => {
    const { saveMediaBuffer } = runtime.channel.media;
    const saved = await saveMediaBuffer(png, undefined, "qq", undefined, "photo.png");
    expect(saved.path.startsWith(join(dir, "media", "qq", "photo---"))).toBe(true);
    expect(saved).toMatchObject({ size: png.length, contentType: "image/png" });
    await expect(saveMediaBuffer(png, undefined, "../x")).rejects.toThrow("no folder");
    await expect(saveMediaBuffer(png, "image/png", "inbound", 10)).rejects.toThrow("exceeds");
  });

  it("looks into images", async () => {
    expect(await runtime.media.getImageMetadata(png)).toEqual({ width: 1, height: 1 });
    expect((await runtime.media.resizeToJpeg({ buffer: png, maxSide: 10 })).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
    expect(await runtime.media.detectMime({ buffer: Buffer.from("PK\u0003\u0004"), filePath: "a.docx" })).toContain("wordprocessingml");
    expect(runtime.media.isVoiceCompatibleAudio({ contentType: "audio/ogg; codecs=opus" })).toBe(true);
    expect(runtime.media.mediaKindFromMime(undefined)).toBe("unknown");
  });
});

describe("system", () => {
  const node = (code: string): string[] => [process.execPath, "-e", code];

  it("queues a line for a session, and wants to know which", () => {
    expect(runtime.system.enqueueSystemEvent("hello", { sessionKey: "main", contextKey: "k" })).toBe(true);
    expect(systemLines).toEqual([["agent:main:main", "hello", { contextKey: "k", trusted: false }]]);
    expect(() => runtime.system.enqueueSystemEvent("x", { sessionKey: " " })).toThrow("sessionKey");
  });

  it("runs programs to their end, or to a limit", async () => {
    const run = runtime.system.runCommandWithTimeout;
    expect(await run(node("process.stdin.pipe(process.stdout)"), { timeoutMs: 10_000, input: "in" })).toMatchObject({ stdout: "in", code: 0, killed: false, termination: "exit" });
    expect(await run(node("process.stderr.write(process.env.X); process.exit(3)"), { timeoutMs: 10_000, env: { X: "y" } })).toMatchObject({ stderr: "y", code: 3 });
    expect(await run(node("setInterval(()=>{},1e3)"), 150)).toMatchObject({ termination: "timeout", killed: true, signal: "SIGKILL" });
    expect(await run(node("setInterval(()=>{},1e3)"), { timeoutMs: 10_000, noOutputTimeoutMs: 150 })).toMatchObject({ termination: "no-output-timeout", noOutputTimedOut: true });
    await expect(run(["no-such-program-x"], 1000)).rejects.toThrow("ENOENT");
  });

  it("gives and writes the config, and the version", async () => {
    cfg = { meta: {} };
    expect(runtime.config.loadConfig()).toBe(cfg);
    await runtime.config.writeConfigFile({ meta: { lastTouchedVersion: "x" } });
    await runtime.config.replaceConfigFile({ nextConfig: {} });
    expect(written).toEqual([{ meta: { lastTouchedVersion: "x" } }, {}]);
    expect([runtime.version, runtime.state.resolveStateDir()]).toEqual(["2026.2.25", dir]);
    expect(runtime.state.resolveStateDir({ OPENCLAW_STATE_DIR: "/elsewhere" })).toBe("/elsewhere");
  });

  it("says plainly what is not there", async () => {
    await expect(runtime.tts.textToSpeechTelephony({ text: "x" })).rejects.toThrow("no speech synthesis");
    expect(runtime.tools.createMemorySearchTool()).toBeNull();
    await expect(runtime.channel.telegram.monitorTelegramProvider()).rejects.toThrow("channels.telegram");
  });
});

describe("other channels", () => {
  it("sends through the gateway's channel, with the options it understands", async () => {
    expect(await runtime.channel.telegram.sendMessageTelegram("42", "hi", { accountId: "a", messageThreadId: 7, replyToMessageId: 3, mediaUrl: "/m" })).toEqual({ channel: "telegram", messageId: "m1" });
    expect(sent).toMatchObject([{ channel: "telegram", to: "42", text: "hi", accountId: "a", threadId: "7", replyToId: "3", mediaUrl: "/m", silent: false }]);
    expect(await runtime.channel.discord.sendPollDiscord("c", { question: "q", options: ["a", "b"], durationHours: 1 })).toEqual({ channel: "discord", messageId: "p1" });
    expect(await runtime.channel.telegram.probeTelegram("token", 500)).toMatchObject({ channel: "telegram", timeoutMs: 500 });
    expect(JSON.stringify(await runtime.channel.telegram.probeTelegram("token", 500))).not.toContain("token");
    expect(runtime.channel.telegram.messageActions.listActions()).toEqual(["send", "react"]);
    expect(await runtime.channel.telegram.messageActions.handleAction({ action: "react", params: { emoji: "x" } })).toMatchObject({ channel: "telegram", action: "react" });
  });

  it("keeps when an account was last heard", () => {
    runtime.channel.activity.record({ channel: "zap", direction: "inbound" });
    expect(runtime.channel.activity.get({ channel: "zap", accountId: "default" })).toEqual({ inboundAt: now, outboundAt: null });
  });
});
