import { describe, expect, it } from "vitest";
import * as sdk from "./index.ts";

describe("lists of who may write", () => {
  it("keeps entries as trimmed texts", () => {
    expect(sdk.addWildcardAllowFrom([" b ", 1])).toEqual(["b", "1", "*"]);
    expect(sdk.addWildcardAllowFrom(["*"])).toEqual(["*"]);
    expect(sdk.mergeAllowFromEntries([" a", 1], ["1", "", "c"])).toEqual(["a", "1", "c"]);
    expect(sdk.mergeAllowlist({ existing: ["Ann"], additions: ["ann", "Bo"] })).toEqual(["Ann", "Bo"]);
  });

  it("an empty list admits nobody, a star everybody, case does not matter", () => {
    expect(sdk.isNormalizedSenderAllowed({ senderId: "A", allowFrom: [] })).toBe(false);
    expect(sdk.isNormalizedSenderAllowed({ senderId: "A", allowFrom: ["*"] })).toBe(true);
    expect(sdk.isNormalizedSenderAllowed({ senderId: "Zalo:A", allowFrom: ["zalo:a"], stripPrefixRe: /^zalo:/i })).toBe(true);
  });

  it("names count only where they were allowed to", () => {
    expect(sdk.resolveAllowlistMatchSimple({ allowFrom: ["ann"], senderId: "1", senderName: "Ann" })).toEqual({ allowed: false });
    expect(sdk.resolveAllowlistMatchSimple({ allowFrom: ["ann"], senderId: "1", senderName: "Ann", allowNameMatching: true })).toEqual({ allowed: true, matchKey: "ann", matchSource: "name" });
  });

  it("a stranger may ask for pairing, unless a policy says no", () => {
    const ask = (dmPolicy: string, storeAllowFrom: string[] = []) => sdk.resolveDmGroupAccessWithLists({ isGroup: false, dmPolicy, allowFrom: ["me"], storeAllowFrom, isSenderAllowed: (list) => list.includes("you") });
    expect(ask("pairing")).toMatchObject({ decision: "pairing", reason: "dmPolicy=pairing (not allowlisted)" });
    expect(ask("pairing", ["you"])).toMatchObject({ decision: "allow" });
    expect(ask("allowlist", ["you"])).toMatchObject({ decision: "block" });
    expect(ask("disabled")).toMatchObject({ decision: "block", reason: "dmPolicy=disabled" });
    expect(ask("open")).toMatchObject({ decision: "allow", reason: "dmPolicy=open" });
  });

  it("those who were paired in direct chats are not admitted to groups by it", () => {
    const group = sdk.resolveDmGroupAccessWithLists({ isGroup: true, groupPolicy: "allowlist", storeAllowFrom: ["you"], isSenderAllowed: (list) => list.includes("you") });
    expect(group).toMatchObject({ decision: "block", reason: "groupPolicy=allowlist (empty allowlist)", effectiveAllowFrom: ["you"], effectiveGroupAllowFrom: [] });
  });

  it("a channel without a section blocks groups and says so", () => {
    expect(sdk.resolveAllowlistProviderRuntimeGroupPolicy({ providerConfigPresent: false, defaultGroupPolicy: "open" })).toEqual({ groupPolicy: "allowlist", providerMissingFallbackApplied: true });
    expect(sdk.resolveOpenProviderRuntimeGroupPolicy({ providerConfigPresent: true })).toEqual({ groupPolicy: "open", providerMissingFallbackApplied: false });
    expect(sdk.resolveAllowlistProviderRuntimeGroupPolicy({ providerConfigPresent: true, defaultGroupPolicy: "disabled" })).toEqual({ groupPolicy: "disabled", providerMissingFallbackApplied: false });
  });

  it("a command of somebody without the right to it is blocked", () => {
    const gate = (allowed: boolean) => sdk.resolveControlCommandGate({ useAccessGroups: true, authorizers: [{ configured: true, allowed }], allowTextCommands: true, hasControlCommand: true });
    expect(gate(false)).toEqual({ commandAuthorized: false, shouldBlock: true });
    expect(gate(true)).toEqual({ commandAuthorized: true, shouldBlock: false });
  });
});
