import { describe, expect, it } from "vitest";
import * as sdk from "./index.ts";

/** Answers in order; what was asked is kept. */
function prompter(answers: unknown[]): sdk.WizardPrompter & { readonly asked: string[] } {
  const asked: string[] = [];
  const next = (message: string): unknown => {
    asked.push(message);
    if (answers.length === 0) throw new Error(`unexpected question: ${message}`);
    return answers.shift();
  };
  return {
    asked, note: async () => undefined,
    select: async <T>(question: { message: string }) => next(question.message) as T,
    text: async (question) => String(next(question.message)), confirm: async (question) => Boolean(next(question.message)),
  };
}

describe("setting up a channel", () => {
  it("writes the token into the channel's section and switches it on", async () => {
    const { cfg, accountId } = await sdk.discordOnboardingAdapter.configure({ cfg: { channels: { discord: { enabled: false } } }, prompter: prompter([" tok "]) });
    expect([cfg, accountId]).toEqual([{ channels: { discord: { enabled: true, token: "tok" } } }, "default"]);
    expect((await sdk.discordOnboardingAdapter.getStatus({ cfg })).configured).toBe(true);
  });

  it("an account of another name gets a section of its own", async () => {
    const asking = prompter(["__new__", "My Work", "1:abc"]);
    const { cfg, accountId } = await sdk.telegramOnboardingAdapter.configure({ cfg: { channels: { telegram: { botToken: "0:base" } } }, prompter: asking, shouldPromptAccountIds: true });
    expect(accountId).toBe("my-work");
    expect(cfg.channels?.telegram).toEqual({ botToken: "0:base", accounts: { "my-work": { enabled: true, botToken: "1:abc" } } });
    expect(asking.asked).toContain("Telegram bot token");
  });

  it("keeps what is there when asked to, and adds people to the list", async () => {
    const { cfg } = await sdk.slackOnboardingAdapter.configure({ cfg: { channels: { slack: { botToken: "xoxb-1", allowFrom: ["U1", "*"] } } }, prompter: prompter([true, "u1, U2"]), forceAllowFrom: true });
    expect(cfg.channels?.slack).toEqual({ botToken: "xoxb-1", enabled: true, dmPolicy: "allowlist", allowFrom: ["U1", "U2"] });
  });

  it("WhatsApp has no key: it is linked later", async () => {
    expect((await sdk.whatsappOnboardingAdapter.getStatus({ cfg: {} })).configured).toBe(false);
    const { cfg } = await sdk.whatsappOnboardingAdapter.configure({ cfg: {}, prompter: prompter([]) });
    expect(cfg).toEqual({ channels: { whatsapp: { enabled: true } } });
  });

  it("switches off, and opens with a star", () => {
    expect(sdk.signalOnboardingAdapter.disable({ channels: { signal: { account: "+1" } } })).toEqual({ channels: { signal: { account: "+1", enabled: false } } });
    expect(sdk.imessageOnboardingAdapter.dmPolicy.setPolicy({}, "open")).toEqual({ channels: { imessage: { dmPolicy: "open", allowFrom: ["*"] } } });
    expect(sdk.imessageOnboardingAdapter.dmPolicy.getCurrent({})).toBe("pairing");
  });

  it("asks which groups are admitted", async () => {
    expect(await sdk.promptChannelAccessConfig({ prompter: prompter([true, "allowlist", "a, b\nc"]), label: "Zap" })).toEqual({ policy: "allowlist", entries: ["a", "b", "c"] });
    expect(await sdk.promptChannelAccessConfig({ prompter: prompter([false]), label: "Zap" })).toBeNull();
  });
});

describe("a plugin inside a gateway", () => {
  const host = () => {
    const routes = new Map<string, sdk.HostRoute>();
    const events: sdk.DiagnosticEvent[] = [];
    const value: sdk.SdkHost = {
      registerRoute(route) {
        routes.set(route.path, route);
        return () => void (routes.get(route.path) === route && routes.delete(route.path));
      },
      hasRoute: (path) => routes.has(path), registerLogTransport: () => () => undefined, now: () => 5,
      diagnostics: { emit: (event) => void events.push(event), on: () => () => undefined },
      devices: { list: async () => ({ pending: [], paired: [] }), approve: async () => null, reject: async () => null },
      runtime: {
        media: { loadWebMedia: async () => ({ buffer: Buffer.from("x"), kind: "unknown" as const }) },
        channel: { session: { recordInboundSession: async () => undefined }, pairing: { readAllowFromStore: async () => ["7"] } },
      },
    };
    return { value, routes, events };
  };

  it("puts routes in, replaces its stale one, and takes its own out only", () => {
    const { value, routes } = host();
    const bound = sdk.createPluginSdk(value);
    const lines: string[] = [];
    const route = (id: string) => bound.registerPluginHttpRoute({ path: "x", accountId: id, pluginId: "p", handler: () => undefined, log: (line) => lines.push(line) });
    const first = route("one");
    const second = route("two");
    first();
    expect([...routes.keys()]).toEqual(["/x"]);
    expect(lines).toEqual(['plugin: replacing stale webhook path /x for account "two" (p)']);
    second();
    expect(routes.size).toBe(0);
  });

  it("numbers diagnostic events, and warns once of a missing section", () => {
    const { value, events } = host();
    const bound = sdk.createPluginSdk(value);
    bound.emitDiagnosticEvent({ type: "a" });
    bound.emitDiagnosticEvent({ type: "b" });
    expect(events).toEqual([{ type: "a", seq: 1, ts: 5 }, { type: "b", seq: 2, ts: 5 }]);
    const warn = () => bound.warnMissingProviderGroupPolicyFallbackOnce({ providerMissingFallbackApplied: true, providerKey: "zap", log: () => undefined });
    expect([warn(), warn()]).toEqual([true, false]);
  });

  it("reads who was paired only where the policy counts them", async () => {
    const bound = sdk.createPluginSdk(host().value);
    expect(await bound.readStoreAllowFromForDmPolicy({ provider: "zap", accountId: "default", dmPolicy: "pairing" })).toEqual(["7"]);
    expect(await bound.readStoreAllowFromForDmPolicy({ provider: "zap", accountId: "default", dmPolicy: "allowlist" })).toEqual([]);
  });

  it("runs through its registrations in a command without a gateway", async () => {
    const bound = sdk.createPluginSdk(sdk.offlineHost(host().value.runtime));
    bound.registerPluginHttpRoute({ path: "/x", handler: () => undefined })();
    bound.onDiagnosticEvent(() => undefined)();
    bound.emitDiagnosticEvent({ type: "a" });
    await expect(bound.listDevicePairing()).rejects.toThrow("needs the gateway");
  });

  it("keeps its runtime, and says what is missing before it has one", () => {
    const store = sdk.createPluginRuntimeStore<number>("zap is not registered");
    expect(() => store.getRuntime()).toThrow("zap is not registered");
    store.setRuntime(1);
    expect(store.getRuntime()).toBe(1);
  });
});
