import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as sdk from "./index.ts";

describe("group rules", () => {
  const cfg = {
    channels: {
      telegram: { groups: { "-1": { requireMention: false, tools: { deny: ["exec"] }, toolsBySender: { "id:7": { allow: ["exec"] } }, topics: { "9": { requireMention: true } } } } },
      discord: { guilds: { g1: { requireMention: false, channels: { general: { requireMention: true, tools: { allow: ["read"] } } } } } },
      slack: { requireMention: false, channels: { "#ops": { requireMention: true } } },
    },
  } as never;

  it("a topic's rule goes before its group's, a person's before all others'", () => {
    expect(sdk.resolveTelegramGroupRequireMention({ cfg, groupId: "-1" })).toBe(false);
    expect(sdk.resolveTelegramGroupRequireMention({ cfg, groupId: "-1:topic:9" })).toBe(true);
    expect(sdk.resolveTelegramGroupRequireMention({ cfg, groupId: "-2" })).toBe(true);
    expect(sdk.resolveTelegramGroupToolPolicy({ cfg, groupId: "-1", senderId: "7" })).toEqual({ allow: ["exec"] });
    expect(sdk.resolveTelegramGroupToolPolicy({ cfg, groupId: "-1", senderId: "8" })).toEqual({ deny: ["exec"] });
  });

  it("finds rooms of servers by name", () => {
    expect(sdk.resolveDiscordGroupRequireMention({ cfg, groupSpace: "g1", groupChannel: "#General" })).toBe(true);
    expect(sdk.resolveDiscordGroupRequireMention({ cfg, groupSpace: "g1", groupChannel: "#other" })).toBe(false);
    expect(sdk.resolveDiscordGroupToolPolicy({ cfg, groupSpace: "g1", groupChannel: "general" })).toEqual({ allow: ["read"] });
    expect(sdk.resolveSlackGroupRequireMention({ cfg, groupId: "C1", groupChannel: "ops" })).toBe(true);
    expect(sdk.resolveSlackGroupRequireMention({ cfg, groupId: "C1", groupChannel: "x" })).toBe(false);
  });
});

describe("addresses", () => {
  it.each([
    [sdk.normalizeTelegramMessagingTarget, "https://t.me/Ann_1", "telegram:@ann_1"],
    [sdk.normalizeTelegramMessagingTarget, "tg:-100:topic:7", "telegram:-100:topic:7"],
    [sdk.normalizeDiscordMessagingTarget, "<@!123456>", "user:123456"],
    [sdk.normalizeDiscordMessagingTarget, "123456", "channel:123456"],
    [sdk.normalizeSlackMessagingTarget, "slack:U123", "user:u123"],
    [sdk.normalizeSlackMessagingTarget, "#general", "channel:general"],
    [sdk.normalizeSignalMessagingTarget, "signal:group:AbC=", "group:AbC="],
    [sdk.normalizeSignalMessagingTarget, "u:Ann.01", "username:ann.01"],
    [sdk.normalizeIMessageMessagingTarget, "imessage:A@B.c", "imessage:a@b.c"],
    [sdk.normalizeIMessageMessagingTarget, "ChatId:12", "chat_id:12"],
    [sdk.normalizeWhatsAppMessagingTarget, "whatsapp:4915@s.whatsapp.net", "+4915"],
    [sdk.normalizeWhatsAppMessagingTarget, "120-3@G.us", "120-3@g.us"],
    [sdk.normalizeWhatsAppMessagingTarget, "x@lid", undefined],
  ])("%o reads %j as %j", (normalize, raw, wanted) => {
    expect(normalize(raw)).toBe(wanted);
  });

  it("a WhatsApp message to somebody outside of the list is refused, to a group not", () => {
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "+1", allowFrom: ["+2"] })).toMatchObject({ ok: false });
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "+1", allowFrom: ["*", "+2"] })).toEqual({ ok: true, to: "+1" });
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "1@g.us", allowFrom: ["+2"] })).toEqual({ ok: true, to: "1@g.us" });
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "", allowFrom: ["+2"], mode: "implicit" })).toEqual({ ok: true, to: "+2" });
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "", allowFrom: [] })).toMatchObject({ ok: false });
  });

  it("no text makes a normaliser fail", () => {
    fc.assert(fc.property(fc.string(), (raw) => {
      for (const normalize of [sdk.normalizeTelegramMessagingTarget, sdk.normalizeDiscordMessagingTarget, sdk.normalizeSlackMessagingTarget, sdk.normalizeSignalMessagingTarget, sdk.normalizeIMessageMessagingTarget, sdk.normalizeWhatsAppMessagingTarget]) {
        const target = normalize(raw);
        expect(target === undefined || (typeof target === "string" && target !== "")).toBe(true);
      }
    }));
  });
});
