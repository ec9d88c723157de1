import { expect, it } from "vitest";
import { channelStatusLines } from "./channels.ts";

it("`channels status` tells under each account what is wrong and what to do about it", () => {
  const answer = {
    channelOrder: ["qqbot", "telegram", "wecom"], channelLabels: { qqbot: "QQ Bot", wecom: "WeCom" },
    channelAccounts: {
      qqbot: [{ accountId: "default", enabled: true, configured: true, running: true, connected: true, probe: { ok: true, bot: { id: "1", username: "Robot" } }, lastInboundAt: 40_000 }, { accountId: "work", enabled: true, configured: false, unconfiguredReason: "No AppSecret." }],
      telegram: [{ accountId: "default", enabled: true, configured: false, unconfiguredReason: "No token." }],
      wecom: [{ accountId: "default", enabled: true, configured: false, unconfiguredReason: "channels.wecom: Unrecognized key: \"foo\"" }],
    },
    channelIssues: [
      { channel: "qqbot", accountId: "default", kind: "config", message: "Messages of group G are refused.", fix: 'To admit it, set channels.qqbot.groups["G"] = {}' },
      { channel: "qqbot", accountId: "work", kind: "config", message: "No AppSecret.", fix: "Copy it." },
      { channel: "gone", accountId: "default", kind: "config", message: "x" },
    ],
  };
  expect(channelStatusLines(answer, { now: 100_000, isSet: (channel) => channel !== "telegram" })).toEqual([
    expect.stringMatching(/^- QQ Bot default: enabled, configured, running, connected, bot Robot, in /),
    "  ! Messages of group G are refused.",
    '    To admit it, set channels.qqbot.groups["G"] = {}',
    "- QQ Bot work: enabled, not configured, stopped",
    "  ! No AppSecret.",
    "    Copy it.",
    "- telegram default: enabled, not configured, stopped",
    "- WeCom default: enabled, not configured, stopped",
    '  ! channels.wecom: Unrecognized key: "foo"',
  ]);
  expect(channelStatusLines({}, { now: 0, isSet: () => true })).toEqual(["No channels."]);
});
