import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startFakeTelegram } from "../../../test/support/telegram-api/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { silentLogger } from "../../infra/log.ts";
import { type ChannelAccountContext, ChannelError, type ChannelPlugin, type InboundMessage, type ReceiveOutcome } from "../contract/index.ts";
import { createTelegramPlugin } from "../telegram/index.ts";
import { createChannelManager, type ChannelManager, type ChannelManagerOptions, selectOwners } from "./index.ts";

type MockConfig = Record<string, { enabled?: boolean; token?: string; group?: boolean }>;

/** A channel whose platform is this test. */
function mockChannel(id: string, over: Partial<ChannelPlugin> = {}) {
  const runs: { accountId: string; ctx: ChannelAccountContext; fail(err: Error): void; end(): void }[] = [];
  const waiters: (() => void)[] = [];
  const section = (cfg: OpenClawConfig): MockConfig => (cfg.channels?.[id] ?? {}) as MockConfig;
  const plugin: ChannelPlugin = {
    id,
    meta: { id, label: id.toUpperCase(), selectionLabel: id, docsPath: "/", blurb: "", systemImage: "message", aliases: [`${id}-alias`] },
    capabilities: { chatTypes: ["direct"] },
    config: {
      listAccountIds: (cfg) => Object.keys(section(cfg)),
      resolveAccount: (cfg, accountId) => ({ accountId, ...section(cfg)[accountId] }),
      defaultAccountId: (cfg) => Object.keys(section(cfg))[0] ?? "default",
      isEnabled: (account) => (account as { enabled?: boolean }).enabled !== false,
      unconfiguredReason: (account) => ((account as { token?: string }).token ? undefined : "no token"),
    },
    gateway: {
      startAccount: (ctx) =>
        new Promise((resolve, reject) => {
          runs.push({ accountId: ctx.accountId, ctx, fail: reject, end: resolve });
          ctx.signal.addEventListener("abort", () => resolve());
          for (const wake of waiters.splice(0)) wake();
        }),
    },
    ...over,
  };
  return {
    plugin,
    runs,
    async run(count: number) {
      while (runs.length < count) await new Promise<void>((resolve) => waiters.push(resolve));
      const found = runs[count - 1];
      if (!found) throw new Error("no such run");
      return found;
    },
  };
}

let managers: ChannelManager[] = [];
afterEach(async () => {
  await Promise.all(managers.map((manager) => manager.stopAll()));
  managers = [];
});

const message: InboundMessage = { channel: "a", accountId: "one", messageId: "1", chat: { id: "-100", type: "group" }, sender: { id: "42" }, text: "hi", timestampMs: 1, from: "a:42", to: "a:-100" };

async function manage(plugins: readonly ChannelPlugin[], channels: Record<string, unknown>, over: Partial<ChannelManagerOptions> = {}) {
  const world = { cfg: { channels } as OpenClawConfig, now: 1000, outcome: { kind: "accepted", id: "1" } as ReceiveOutcome };
  const manager = createChannelManager({
    channels: plugins.map((plugin) => ({ plugin, origin: "builtin", provider: plugin.id })),
    config: () => world.cfg,
    log: silentLogger,
    clock: { now: () => world.now },
    stateDir: await mkdtemp(join(tmpdir(), "manager-")),
    receive: async () => world.outcome,
    receiveEvent: async () => ({ kind: "accepted", id: "1" }),
    restart: { backoff: { initialMs: 1, maxMs: 2, factor: 2, jitter: 0 }, maxTries: 3, slowMs: 5 },
    ...over,
  });
  managers.push(manager);
  await manager.startAll();
  return { manager, world };
}

const settled = async (read: () => boolean): Promise<void> => {
  while (!read()) await new Promise((resolve) => setImmediate(resolve));
};

describe("running accounts", () => {
  it("starts what is enabled and configured, and says why the rest is not", async () => {
    const a = mockChannel("a");
    const { manager } = await manage([a.plugin], { a: { one: { token: "x" }, two: { token: "x", enabled: false }, three: {} } });
    expect(a.runs.map((run) => run.accountId)).toEqual(["one"]);
    const rows = manager.snapshot().a;
    expect(rows?.map((row) => [row.accountId, row.running, row.enabled, row.configured, row.lastError])).toEqual([
      ["one", true, true, true, null],
      ["two", false, false, false, "disabled"],
      ["three", false, true, false, "not configured"],
    ]);
    expect(manager.summaryLines()).toEqual(["A one: running"]);
  });

  it("never lets one failing account stop its neighbours, and starts it again", async () => {
    const a = mockChannel("a");
    const broken = mockChannel("b", { gateway: { startAccount: () => { throw new Error("thrown at once"); } } });
    const { manager } = await manage([a.plugin, broken.plugin], { a: { one: { token: "x" }, two: { token: "x" } }, b: { one: { token: "x" } } });
    (await a.run(1)).fail(new ChannelError("auth", "token refused", "Make a new one."));
    const again = await a.run(3);
    expect(again.accountId).toBe("one");
    expect(manager.snapshot().a?.map((row) => row.running)).toEqual([true, true]);
    await settled(() => String(manager.snapshot().b?.[0]?.lastError).includes("3 restarts failed"));
    expect(manager.snapshot().b?.[0]?.lastError).toContain("thrown at once");
  });

  it("shows the error of an ended account until it runs again", async () => {
    const a = mockChannel("a");
    const { manager } = await manage([a.plugin], { a: { one: { token: "x" } } }, { restart: { backoff: { initialMs: 60_000, maxMs: 60_000, factor: 1, jitter: 0 } } });
    (await a.run(1)).fail(new ChannelError("auth", "token refused", "Make a new one."));
    await settled(() => manager.snapshot().a?.[0]?.running === false);
    expect(manager.snapshot().a?.[0]).toMatchObject({ running: false, connected: false, lastError: "token refused. Make a new one.", reconnectAttempts: 1, nextRetryAt: 61_000 });
    expect(manager.summaryLines()).toEqual(["A one: stopped (token refused. Make a new one.)"]);
  });

  it("does not start again what was stopped by hand", async () => {
    const a = mockChannel("a");
    const { manager, world } = await manage([a.plugin], { a: { one: { token: "x" } } });
    await manager.stop("A-ALIAS");
    expect(manager.snapshot().a?.[0]).toMatchObject({ running: false });
    world.cfg = { channels: { a: { one: { token: "y" } } } };
    expect(await manager.reload(["channels.a.one.token"])).toEqual([]);
    await manager.checkHealth();
    expect(a.runs).toHaveLength(1);
    await manager.start("a", "one");
    expect(a.runs).toHaveLength(2);
    await expect(manager.stop("nope")).rejects.toThrow('Unknown channel "nope"; known are: a.');
  });

  it("starts an account that gets credentials again after a sign-out", async () => {
    const a = mockChannel("a");
    const startAccount = a.plugin.gateway?.startAccount ?? (async () => undefined);
    const { manager, world } = await manage([{ ...a.plugin, gateway: { startAccount, logoutAccount: async () => ({ cleared: true, forget: { channels: { a: { one: {} } } } }) } }], { a: { one: { token: "x" } } }, {
      patchConfig: async (patch) => {
        world.cfg = patch as OpenClawConfig;
      },
    });
    expect(await manager.logout("a", "one")).toEqual({ cleared: true });
    await manager.reload(["channels.a.one.token"]);
    expect(manager.snapshot().a?.[0]).toMatchObject({ running: false, lastError: "not configured" });
    world.cfg = { channels: { a: { one: { token: "x" } } } };
    expect(await manager.reload(["channels.a.one.token"])).toEqual(["a:one"]);
    expect((await a.run(2)).accountId).toBe("one");
  });

  it("restarts only accounts that a config change concerns", async () => {
    const a = mockChannel("a");
    const b = mockChannel("b", { reload: { configPrefixes: ["b"], noopPrefixes: ["channels.b"] } });
    const { manager, world } = await manage([a.plugin, b.plugin], { a: { one: { token: "x" }, two: { token: "x" } }, b: { one: { token: "x" } } });
    world.cfg = { channels: { a: { one: { token: "x" }, two: { token: "NEW" }, three: { token: "x" } }, b: { one: { token: "NEW" } } } };
    expect((await manager.reload(["channels.a", "channels.b"])).toSorted()).toEqual(["a:three", "a:two"]);
    expect(a.runs.map((run) => run.accountId).toSorted()).toEqual(["one", "three", "two", "two"]);
    expect(b.runs).toHaveLength(1);
    world.cfg = { channels: { a: { one: { token: "x" } }, b: { one: { token: "NEW" } } } };
    await manager.reload(["channels.a.two"]);
    expect(a.runs.filter((run) => !run.ctx.signal.aborted).map((run) => run.accountId)).toEqual(["one"]);
    expect(manager.snapshot().a?.map((row) => row.accountId)).toEqual(["one"]);
    expect(await manager.reload(["gateway.port"])).toEqual([]);
  });

  it("restarts an account that stays unconnected, three times an hour at most", async () => {
    const a = mockChannel("a");
    const { manager, world } = await manage([a.plugin], { a: { one: { token: "x" } } });
    for (let round = 0; round < 12; round++) {
      (await a.run(a.runs.length)).ctx.setStatus({ connected: false });
      await manager.checkHealth();
      world.now += 300_000;
    }
    expect(a.runs.length).toBe(4);
  });

  it("ignores late reports of a run that is over", async () => {
    const a = mockChannel("a");
    const { manager } = await manage([a.plugin], { a: { one: { token: "x" } } });
    const first = await a.run(1);
    first.fail(new Error("gone"));
    await a.run(2);
    first.ctx.setStatus({ lastError: "late" });
    expect(manager.snapshot().a?.[0]?.lastError).toBeNull();
  });

  it("does not wait forever for a channel that will not stop", async () => {
    const stuck = mockChannel("a", { gateway: { startAccount: () => new Promise(() => undefined) } });
    const { manager } = await manage([stuck.plugin], { a: { one: { token: "x" } } }, { restart: { stopTimeoutMs: 10 } });
    await manager.stopAll();
    expect(manager.snapshot().a?.[0]?.running).toBe(false);
  });
});

describe("status", () => {
  it("has the shape of channels.status", async () => {
    const a = mockChannel("a", { status: { probeAccount: async () => ({ ok: true }) } });
    const slow = mockChannel("b", { status: { probeAccount: () => new Promise(() => undefined) } });
    const { manager } = await manage([a.plugin, slow.plugin], { a: { one: { token: "x" } }, b: { one: { token: "x" } } });
    const result = await manager.status({ probe: true, timeoutMs: 1 });
    expect(Object.keys(result)).toEqual(["ts", "channelOrder", "channelLabels", "channelDetailLabels", "channelSystemImages", "channelMeta", "channels", "channelAccounts", "channelDefaultAccountId"]);
    expect(result).toMatchObject({
      ts: 1000,
      channelOrder: ["a", "b"],
      channelLabels: { a: "A" },
      channelMeta: [{ id: "a", label: "A", detailLabel: "A", systemImage: "message" }, { id: "b" }],
      channels: { a: { configured: true, running: true, lastStartAt: 1000, lastError: null, probe: { ok: true }, lastProbeAt: 1000 }, b: { probe: { ok: false, error: "no answer within 1000 ms" } } },
      channelAccounts: { a: [{ accountId: "one", running: true, lastInboundAt: null, lastOutboundAt: null }] },
      channelDefaultAccountId: { a: "one" },
    });
  });

  it("remembers the last message in and out, and the line that would admit a refused group", async () => {
    const a = mockChannel("a", {
      security: {
        normalizeEntry: (entry) => entry,
        resolveAccess: () => ({ dmPolicy: "pairing", allowFrom: [], groupPolicy: "allowlist", groupAllowFrom: [], groupListed: false, groupEnabled: true, requireMention: true, groupConfigHint: 'channels.a.groups["-100"] = {}' }),
      },
    });
    const { manager, world } = await manage([a.plugin], { a: { one: { token: "x" } } });
    const { ctx } = await a.run(1);
    world.now = 2000;
    world.outcome = { kind: "dropped", reason: "group-not-listed" };
    await ctx.receive(message);
    await ctx.receive({ ...message, messageId: "2" });
    world.now = 3000;
    manager.noteOutbound("a", "one");
    expect(manager.snapshot().a?.[0]).toMatchObject({ lastInboundAt: 2000, lastOutboundAt: 3000, groupHints: [{ chatId: "-100", hint: 'channels.a.groups["-100"] = {}' }] });
    expect(manager.issues()).toEqual([{ channel: "a", accountId: "one", kind: "config", message: "Messages of group -100 are refused.", fix: 'To admit it, set channels.a.groups["-100"] = {}' }]);
  });

  it("tells what a channel warns of, in the log at start and among the issues", async () => {
    const logged: string[] = [];
    const log = { ...silentLogger, child: () => log, warn: (text: string) => void logged.push(text) };
    const security = { normalizeEntry: (entry: string) => entry, resolveAccess: () => { throw new Error("not asked"); }, collectWarnings: (account: unknown) => [`${(account as { accountId: string }).accountId} is open to everybody.`] };
    const { manager } = await manage([mockChannel("a", { security }).plugin], { a: { one: { token: "x" }, off: { token: "x", enabled: false } } }, { log });
    expect(logged).toEqual(["one is open to everybody."]);
    expect(manager.issues()).toEqual([{ channel: "a", accountId: "one", kind: "config", message: "one is open to everybody." }]);
  });

  it("gives each id to one owner: the user's plugin before bundled before built in", () => {
    const make = (provider: string, origin: "config" | "bundled" | "builtin") => ({ plugin: mockChannel("a").plugin, origin, provider });
    const { owners, conflicts } = selectOwners([make("a", "builtin"), make("my-a", "config"), make("ext-a", "bundled")]);
    expect(owners.map((owner) => owner.provider)).toEqual(["my-a"]);
    expect(conflicts.map((conflict) => [conflict.loser.provider, conflict.reason])).toEqual([["ext-a", "channel a provided by my-a"], ["a", "channel a provided by my-a"]]);
  });
});

describe("Telegram under the manager", () => {
  it("runs two bots side by side; one with a wrong token fails alone; a shared token is refused", async () => {
    await using api = await startFakeTelegram();
    const second = api.addBot("222222:second-bot-token", "second_bot");
    api.addChat({ id: 7, type: "private", first_name: "Bob" }, second);
    const received: InboundMessage[] = [];
    const plugin = createTelegramPlugin({ env: {}, throttle: false, timings: { pollSeconds: 2 } });
    const { manager } = await manage(
      [plugin as ChannelPlugin],
      { telegram: { apiRoot: api.url, accounts: { a: { botToken: api.token }, b: { botToken: second.token }, c: { botToken: "3:wrong-token" }, d: { botToken: api.token } } } },
      { receive: async (m) => (received.push(m), { kind: "accepted", id: "1" }) },
    );
    api.text("to a");
    api.text("to b", { from: { id: 7, name: "Bob" } }, second);
    await api.waitUntil(() => received.length === 2, "both messages");
    expect(received.map((m) => `${m.accountId}: ${m.text}`).toSorted()).toEqual(["a: to a", "b: to b"]);
    await api.waitUntil(() => String(manager.snapshot().telegram?.[2]?.lastError).includes("refused the bot token"), "error of c");
    const rows = manager.snapshot().telegram ?? [];
    expect(rows.map((row) => [row.accountId, row.configured, row.connected])).toEqual([["a", true, true], ["b", true, true], ["c", true, expect.anything()], ["d", false, undefined]]);
    expect(rows[3]?.unconfiguredReason).toContain('account "a"');
    const status = await manager.status({ probe: true, timeoutMs: 2000 });
    expect(status.channels.telegram).toMatchObject({ configured: true, running: true, tokenSource: "config", mode: "polling", probe: { ok: true, bot: { username: "test_bot" } } });
    expect(JSON.stringify(status)).not.toContain(api.token);
    expect(manager.summaryLines()[0]).toBe("Telegram a: connected (polling)");
  });
});
