import { expect, it } from "vitest";
import { resolveAccount, unconfiguredReason } from "./config.ts";
import { parseFaceTags } from "./gateway.ts";
import { reactionTo } from "./socket.ts";
import { normalizeTarget, parseTarget } from "./targets.ts";
import { createWindows, openWindow } from "./windows.ts";

it("faces are read by their names, broken ones stay as they are", () => {
  const ext = Buffer.from(JSON.stringify({ text: "呲牙" })).toString("base64");
  expect(parseFaceTags(`a <faceType=1,faceId="13",ext="${ext}"> b`)).toContain("呲牙");
  expect(parseFaceTags('<faceType=1,faceId="13",ext="???">')).not.toContain("undefined");
});

it("each close code has its reaction", () => {
  expect([4004, 4006, 4007, 4008, 4009, 4013, 4014, 4900, 4914, 4915, 1006].map(reactionTo)).toEqual(["new-token", "identify", "identify", "calm", "resume", "lower-intents", "lower-intents", "identify", "fatal", "fatal", "resume"]);
});

it("a window has five replies, each with a number of its own, and closes", () => {
  let now = 1_000_000;
  const windows = createWindows(() => now);
  const context = openWindow("group", "m1", now);
  const replies = Array.from({ length: 6 }, () => windows.take(context));
  expect(new Set(replies.slice(0, 5).map((reply) => reply?.msg_seq)).size).toBe(5);
  expect(replies[5]).toBeUndefined();
  const later = openWindow("group", "m2", now);
  now += 5 * 60_000;
  expect(windows.take(later)).toBeUndefined();
});

it("addresses of both dialects are understood, others are not", () => {
  expect(parseTarget("qqbot:c2c:ABC")).toEqual({ scene: "c2c", id: "ABC" });
  expect(parseTarget("group:ABC")).toEqual({ scene: "group", id: "ABC" });
  expect(normalizeTarget("0123456789abcdef0123456789ABCDEF")).toBe("qqbot:c2c:0123456789abcdef0123456789ABCDEF");
  expect(normalizeTarget("telegram:42")).toBeUndefined();
  expect(parseTarget("group:../x")).toBeUndefined();
});

it("what is wrong with an account names its key; two accounts may not be one bot", () => {
  const reason = (qqbot: object, id = "default"): string | undefined => {
    const cfg = { channels: { qqbot } } as never;
    return unconfiguredReason(resolveAccount(cfg, id, {}), cfg, {});
  };
  expect(reason({ appId: 1, clientSecret: "s" })).toBeUndefined();
  expect(reason({ clientSecret: "s" })).toContain("channels.qqbot.appId");
  expect(reason({ appId: 1 })).toContain("channels.qqbot.clientSecret");
  expect(reason({ appId: 1, clientSecret: "secretref:x" })).toContain("channels.qqbot.clientSecret");
  expect(reason({ appId: 1, clientSecret: "s", dmPolicy: "all" })).toContain("channels.qqbot.dmPolicy");
  expect(reason({ appId: "1", clientSecret: "s", accounts: { b: { appId: "1", clientSecret: "t" } } }, "b")).toContain('already used by account "default"');
});
