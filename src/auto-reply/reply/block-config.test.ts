import { expect, it } from "vitest";
import type { ChannelPlugin } from "../../channels/contract/index.ts";
import { resolveBlockReply } from "./block-config.ts";

const plugin = (blockStreaming: boolean | undefined): ChannelPlugin => ({
  id: "a", meta: { id: "a", label: "A", selectionLabel: "A", docsPath: "/", blurb: "", systemImage: "message" }, capabilities: { chatTypes: ["direct"], blockStreaming },
  config: { listAccountIds: () => ["default"], resolveAccount: () => ({}), defaultAccountId: () => "default", isEnabled: () => true, unconfiguredReason: () => undefined },
});
const isOn = (capability: boolean | undefined, general: "on" | "off" | undefined, own?: boolean): boolean =>
  resolveBlockReply({ agents: { defaults: { blockStreamingDefault: general } }, channels: { a: { blockStreaming: own } } }, plugin(capability), "default", undefined) !== undefined;

it.each([
  [undefined, "on", undefined, true],
  [undefined, undefined, undefined, false],
  [true, "on", undefined, true],
  [false, "on", undefined, false],
  [false, "off", true, true],
  [true, "on", false, false],
] as const)("a channel that says %s, with the general default %s and its own key %s, answers in blocks: %s", (capability, general, own, expected) => {
  expect(isOn(capability, general, own)).toBe(expected);
});
