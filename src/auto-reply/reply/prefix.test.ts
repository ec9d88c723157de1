import { expect, it } from "vitest";
import { applyPrefix } from "../../infra/text/index.ts";
import { resolveResponsePrefix } from "./prefix.ts";

const values = { provider: "anthropic", modelId: "claude-opus-4-6-20260101", thinkingLevel: "high", identityName: "Otto" };

it.each([
  ["[{model}]", "[claude-opus-4-6]"], ["{modelFull}", "anthropic/claude-opus-4-6-20260101"], ["{PROVIDER} {think} {thinkingLevel}", "anthropic high high"],
  ["{identity.name}/{identityName}", "Otto/Otto"], ["{nonesuch}:", "{nonesuch}:"], ["auto", "[Otto]"], ["", undefined],
])("the prefix %j reads %j", (responsePrefix, expected) => {
  expect(resolveResponsePrefix({ messages: { responsePrefix } }, "telegram", "default", values)).toBe(expected);
});

it("an account's prefix goes before the channel's, and that before the general one; none is put twice or before nothing", () => {
  const cfg = (telegram: object) => ({ messages: { responsePrefix: "all" }, channels: { telegram } });
  const of = (telegram: object): string | undefined => resolveResponsePrefix(cfg(telegram), "telegram", "work", values);
  expect([of({}), of({ responsePrefix: "channel" }), of({ responsePrefix: "channel", accounts: { work: { responsePrefix: "account" } } }), of({ responsePrefix: "" })]).toEqual(["all", "channel", "account", undefined]);
  expect([applyPrefix("P", "text"), applyPrefix("P", "P text"), applyPrefix("P", ""), applyPrefix(undefined, "text")]).toEqual(["P text", "P text", "", "text"]);
});
