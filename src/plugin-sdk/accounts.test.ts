import { describe, expect, it } from "vitest";
import * as sdk from "./index.ts";

describe("a channel's section of the config", () => {
  const cfg = { channels: { zap: { name: "Base", token: "t", accounts: { Work: { token: "w" } } } } } as never;
  const section = (next: unknown): unknown => (next as { channels?: { zap?: unknown } }).channels?.zap;

  it("switches an account on where it stands", () => {
    expect(section(sdk.setAccountEnabledInConfigSection({ cfg: {}, sectionKey: "zap", accountId: "default", enabled: true, allowTopLevel: true }))).toEqual({ enabled: true });
    expect(section(sdk.setAccountEnabledInConfigSection({ cfg, sectionKey: "zap", accountId: "work", enabled: false, allowTopLevel: true }))).toMatchObject({ accounts: { Work: { token: "w", enabled: false } } });
    expect(section(sdk.setAccountEnabledInConfigSection({ cfg: {}, sectionKey: "zap", accountId: "default", enabled: true }))).toEqual({ accounts: { default: { enabled: true } } });
  });

  it("deletes an account and what is empty then", () => {
    expect(section(sdk.deleteAccountFromConfigSection({ cfg, sectionKey: "zap", accountId: "work" }))).toEqual({ name: "Base", token: "t" });
    expect(sdk.deleteAccountFromConfigSection({ cfg: { channels: { zap: { token: "t" } } } as never, sectionKey: "zap", accountId: "default", clearBaseFields: ["token"] })).toEqual({});
  });

  it("names accounts, and moves the name of the first when a second comes", () => {
    expect(section(sdk.applyAccountNameToChannelSection({ cfg: {}, channelKey: "zap", accountId: "default", name: " Ann " }))).toEqual({ name: "Ann" });
    const moved = sdk.migrateBaseNameToDefaultAccount({ cfg, channelKey: "zap" });
    expect(section(moved)).toMatchObject({ token: "t", accounts: { default: { name: "Base" }, Work: { token: "w" } } });
    expect(section(moved)).not.toHaveProperty("name");
    expect(section(sdk.applyAccountNameToChannelSection({ cfg, channelKey: "zap", accountId: "work", name: "W" }))).toMatchObject({ name: "Base", accounts: { Work: { name: "W" } } });
  });

  it("lists accounts sorted, and the default one first to be chosen", () => {
    const list = sdk.createAccountListHelpers("zap");
    expect(list.listAccountIds({})).toEqual(["default"]);
    expect(list.listAccountIds({ channels: { zap: { accounts: { b: {}, A: {} } } } } as never)).toEqual(["a", "b"]);
    expect(list.resolveDefaultAccountId({ channels: { zap: { accounts: { b: {}, A: {} } } } } as never)).toBe("a");
  });

  it("the environment serves the default account only", () => {
    const both = { channels: { discord: { accounts: { default: {}, two: {} } } } } as never;
    const env = { DISCORD_BOT_TOKEN: "Bot abc" };
    expect(sdk.resolveDiscordAccount({ cfg: both, env })).toMatchObject({ accountId: "default", token: "abc", tokenSource: "env", enabled: true });
    expect(sdk.resolveDiscordAccount({ cfg: both, accountId: "two", env })).toMatchObject({ token: "", tokenSource: "none", configured: false });
    expect(sdk.resolveTelegramAccount({ cfg: { channels: { telegram: { token: "1:a", accounts: { x: {} } } } } as never, accountId: "x", env: {} })).toMatchObject({ token: "", configured: false });
    expect(sdk.resolveTelegramAccount({ cfg: { channels: { telegram: { botToken: "1:a", accounts: { x: { botToken: "2:b", name: "X" } } } } }, accountId: "X", env: {} })).toMatchObject({ accountId: "x", token: "2:b", name: "X", tokenSource: "config" });
  });
});
