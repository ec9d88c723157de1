import { expect, it } from "vitest";
import { refuseConfigWrite } from "./commands/config.ts";
import { elevatedRefusals } from "./elevated.ts";
import { resolveRunSettings, type RunSettingsInput } from "./run-settings.ts";

const sender = { channel: "telegram", ids: ["42"] };
const cfg = (elevated?: object) => ({ tools: elevated === undefined ? {} : { elevated } });

it("elevated rights need the sender's id in the channel's list, and no gate that is shut", () => {
  const of = (elevated?: object, agent?: object): string[] => elevatedRefusals(cfg(elevated), agent, "main", sender);
  expect(of()).toEqual(["tools.elevated.allowFrom.telegram does not name this sender"]);
  expect(of({ allowFrom: { telegram: [42] } })).toEqual([]);
  expect(of({ allowFrom: { telegram: ["telegram:42"] } })).toEqual([]);
  expect(of({ allowFrom: { telegram: ["*"] } })).toEqual([]);
  expect(of({ allowFrom: { discord: [42], telegram: ["@42x"] } })).toHaveLength(1);
  expect(of({ enabled: false, allowFrom: { telegram: [42] } })).toEqual(["tools.elevated.enabled is false"]);
  expect(of({ allowFrom: { telegram: [42] } }, { enabled: false })).toEqual(["agents.list (main) tools.elevated.enabled is false"]);
  expect(of({ allowFrom: { telegram: [42, 43] } }, { allowFrom: { telegram: [43] } })).toHaveLength(1);
});

it("a level that was kept counts only as long as the sender still may", async () => {
  const models = { selectDefault: async () => ({ ref: { provider: "p", modelId: "m" } }), defaultThinking: async () => "low" };
  const settings = (allowed: boolean, elevatedLevel: string | undefined, hints = {}) =>
    resolveRunSettings({
      cfg: cfg({ allowFrom: { telegram: allowed ? [42] : [] } }), agents: { models, agent: () => ({ config: undefined }) } as unknown as RunSettingsInput["agents"], agentId: "main",
      entry: { sessionId: "s", updatedAt: 0, elevatedLevel, execSecurity: "allowlist" }, hints, ctx: { OriginatingChannel: "telegram", SenderId: "42" }, isGroup: false,
    });
  expect(await settings(true, "full")).toMatchObject({ elevated: true, exec: { host: "gateway", security: "full", ask: "off" } });
  expect(await settings(true, "ask")).toMatchObject({ elevated: true, exec: { host: "gateway", security: "allowlist" } });
  expect(await settings(false, "full")).toMatchObject({ elevated: false, exec: { security: "allowlist" } });
  expect(await settings(true, undefined)).toMatchObject({ elevated: false });
  expect(await settings(true, "full", { elevated: "off" })).toMatchObject({ elevated: false });
  expect(await settings(true, undefined, { exec: { security: "deny" }, thinking: "high" })).toMatchObject({ exec: { security: "deny" }, thinking: "high" });
});

it("a channel may be kept from changing the configuration", () => {
  const ask = (configWrites: boolean | undefined, isOwner = true) =>
    refuseConfigWrite({ cfg: { channels: { telegram: { configWrites } } }, ctx: { OriginatingChannel: "telegram" }, authority: { source: "telegram", senderId: "42", isOwner, commandAuthorized: true } });
  expect([ask(undefined), ask(true)]).toEqual([undefined, undefined]);
  expect(ask(false)).toContain("channels.telegram.configWrites is false");
  expect(ask(true, false)).toContain("Only the owner");
});
