import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { answeringModel } from "../support/answering-model.ts";
import { brokenProvider, piece, say, sse } from "../support/broken-provider.ts";
import type { ContractChannel, ContractPlatform } from "../support/channel-contract/index.ts";
import { dingtalk } from "../support/channel-contract/dingtalk.ts";
import { feishu } from "../support/channel-contract/feishu.ts";
import { qqbot } from "../support/channel-contract/qqbot.ts";
import { telegram } from "../support/channel-contract/telegram.ts";
import { wecom } from "../support/channel-contract/wecom.ts";
import { connectClient } from "../support/client.ts";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startTestGateway } from "../support/gateway.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const asked = (last: string): string => /ask-\w+/.exec(last)?.[0] ?? (last.includes("media attached") ? "a picture" : "nothing");

/** A whole gateway with one channel; every answer names what was asked. */
async function world(channel: ContractChannel, section: object, more: (platform: ContractPlatform) => object = () => ({}), answer: (last: string) => string = (last) => `answer to ${asked(last)}`) {
  const stack = new AsyncDisposableStack();
  const platform = stack.use(await channel.start());
  for (const [name, value] of Object.entries(platform.env)) vi.stubEnv(name, value);
  stack.defer(() => void vi.unstubAllEnvs());
  const model = stack.use(await answeringModel(({ last }) => answer(last)));
  const stateDir = await mkdtemp(join(tmpdir(), `contract-${channel.id}-`));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  const workspace = join(stateDir, "workspace");
  const start = async () => {
    const gateway = await startTestGateway({
      stateDir, env: platform.env,
      config: {
        gateway: { mode: "local", auth: { mode: "token", token: "T" } }, models: { providers: model.providers }, messages: { queue: { debounceMs: 0 } }, session: { dmScope: "per-account-channel-peer" },
        agents: { defaults: { workspace, model: { primary: "mock/m" }, heartbeat: { every: "0m" } } }, channels: { [channel.id]: platform.section({ ...section, ...more(platform) }) },
      },
    });
    await gateway.gateway.ready;
    return gateway;
  };
  return { platform, model, stateDir, workspace, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe.each([telegram, feishu, qqbot, dingtalk, wecom])("$id", (channel) => {
  it("lets a stranger in by a code and answers each message once; groups that nobody listed stay outside and are named in status; what it cannot understand harms nobody", async () => {
    await using w = await world(channel, {});
    const { platform } = w;
    await using g = await w.start();
    await platform.connected();
    platform.direct("hello");
    const code = await platform.waitUntil(() => platform.texts().map((text) => new RegExp(`pairing approve ${channel.id} (\\w+)`).exec(text)?.[1]).find(Boolean), "pairing code");
    await using client = await connectClient(g.url, g.token);
    await client.call("channels.pairing.approve", { channel: channel.id, code, notify: false });

    platform.malformed();
    platform.group("ask-outside");
    const again = platform.direct("ask-one");
    await platform.waitUntil(() => platform.texts().some((text) => text.includes("answer to ask-one")), "answer");
    again();
    platform.direct("ask-two");
    await platform.waitUntil(() => platform.texts().some((text) => text.includes("answer to ask-two")), "second answer");

    expect(platform.texts().filter((text) => text.includes("answer to ask-one"))).toHaveLength(1);
    expect(platform.texts().join("\n")).not.toContain("ask-outside");
    const status = await client.call<{ channelAccounts: Record<string, Record<string, unknown>[]> }>("channels.status");
    expect(status.channelAccounts[channel.id]?.[0]).toMatchObject({ running: true, connected: true, configured: true });
    expect(JSON.stringify(status.channelAccounts[channel.id])).toContain(channel.groupId.replaceAll("\\", ""));
  });

  it("answers a listed group, sees a picture, sends a file, and brings a long answer whole and in order", async () => {
    const words = Array.from({ length: Math.ceil(channel.longChars / 10) }, (_, n) => `word-${String(n).padStart(4, "0")}`);
    await using w = await world(channel, { ...channel.openDirect, ...channel.openGroup }, undefined, (last) => {
      if (last.includes("ask-long")) return words.join(" ");
      return last.includes("ask-file") ? `here\nMEDIA:./pic.png` : `answer to ${asked(last)}`;
    });
    const { platform } = w;
    await mkdir(w.workspace, { recursive: true });
    await writeFile(join(w.workspace, "pic.png"), PNG);
    await using _g = await w.start();
    await platform.connected();
    platform.group("ask-group");
    await platform.waitUntil(() => platform.texts().some((text) => text.includes("answer to ask-group")), "answer in the group");
    platform.picture(PNG);
    await platform.waitUntil(() => platform.texts().some((text) => text.includes("answer to a picture")), "answer to the picture");
    platform.direct("ask-file");
    await platform.waitUntil(() => platform.files() === 1, "file");
    platform.direct("ask-long");
    const said = (): string[] => platform.texts().flatMap((text) => text.match(/word-\d{4}/g) ?? []);
    await platform.waitUntil(() => said().length >= words.length, "long answer");
    expect(said()).toEqual(words);
    expect(platform.texts().join("\n")).not.toContain("MEDIA:");
  }, 40_000);

  it("an answer survives a refusal for a moment and a cut connection; after a restart the next message is answered, and nothing again", async () => {
    await using w = await world(channel, channel.openDirect);
    const { platform } = w;
    const isAnswered = (word: string): Promise<unknown> => platform.waitUntil(() => platform.texts().some((text) => text.includes(`answer to ${word}`)), `answer to ${word}`);
    {
      await using g = await w.start();
      await platform.connected();
      platform.refuseNext();
      platform.direct("ask-refused");
      await isAnswered("ask-refused");
      platform.drop();
      await platform.connected(2);
      platform.direct("ask-dropped");
      await isAnswered("ask-dropped");
      await vi.waitUntil(() => g.gateway.context.outbox.countOpen() === 0, { timeout: 10_000 });
    }
    await using _g = await w.start();
    await platform.connected(3);
    platform.direct("ask-restarted");
    await isAnswered("ask-restarted");
    expect(platform.texts().flatMap((text) => text.match(/answer to ask-\w+/g) ?? [])).toEqual(["answer to ask-refused", "answer to ask-dropped", "answer to ask-restarted"]);
  }, 40_000);

  it("killed while the model works: answered once after the restart", async () => {
    let isWorking = false;
    await using provider = await brokenProvider((res) => {
      isWorking = true;
      sse(res, piece({ role: "assistant", content: "half" }));
    }, say("the whole answer"));
    await using stack = new AsyncDisposableStack();
    const stateDir = await mkdtemp(join(tmpdir(), `contract-kill-${channel.id}-`));
    stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
    const platform = stack.use(await channel.start());
    await writeFile(join(stateDir, "openclaw.json"), JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: "T" } }, ...provider.config, channels: { [channel.id]: platform.section(channel.openDirect) } }), { mode: 0o600 });
    const kill = startGatewayProcess(stateDir, platform.env);
    stack.defer(kill);
    await platform.connected();
    platform.direct("ask-killed");
    await platform.waitUntil(() => isWorking, "work");
    await kill();
    for (const [name, value] of Object.entries(platform.env)) vi.stubEnv(name, value);
    stack.defer(() => void vi.unstubAllEnvs());
    {
      await using g = await startTestGateway({ stateDir, env: platform.env });
      await platform.waitUntil(() => platform.texts().some((text) => text.includes("the whole answer")), "answer");
      await vi.waitUntil(() => g.gateway.context.outbox.countOpen() === 0, { timeout: 10_000 });
    }
    expect(platform.texts().filter((text) => text.includes("the whole answer"))).toHaveLength(1);
  }, 40_000);

  it("two accounts answer for themselves", async () => {
    await using w = await world(channel, channel.openDirect, ({ second }) => ({ accounts: second.accounts }));
    const { platform } = w;
    const { second } = platform;
    await using _g = await w.start();
    await platform.connected(2);
    platform.direct("ask-first");
    await platform.waitUntil(() => platform.texts().some((text) => text.includes("answer to ask-first")), "answer of the first");
    second.direct("ask-second");
    await platform.waitUntil(() => second.texts().some((text) => text.includes("answer to ask-second")), "answer of the second");
    expect(second.texts().join("\n")).not.toContain("ask-first");
  });
});
