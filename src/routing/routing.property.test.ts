import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { resolveRoute, type RouteInput } from "./bindings.ts";
import { resolveSessionKey } from "./resolve-session-key.ts";
import { agentIdOfKey, buildPeerSessionKey, canonicalSessionKey, isThreadKey, normalizeStoredKey, sessionKeyKind, type DmScope } from "./session-key.ts";

const id = fc.stringMatching(/^[a-zA-Z0-9@._+-]{1,12}$/);
const channel = fc.constantFrom("telegram", "discord", "slack");
const dmScope = fc.constantFrom<DmScope>("main", "per-peer", "per-channel-peer", "per-account-channel-peer");
const chatType = fc.constantFrom("direct" as const, "group" as const, "channel" as const);
const peer = fc.record({ agentId: fc.constantFrom("main", "ops"), channel, accountId: fc.constantFrom("default", "work"), chatType, peerId: id, dmScope });

describe("session keys", () => {
  it("are what every other spelling of them leads to", () => {
    fc.assert(fc.property(peer, fc.option(id, { nil: undefined }), fc.boolean(), (input, threadId, isForum) => {
      const key = buildPeerSessionKey({ ...input, threadId, isForum });
      const options = { defaultAgentId: "main" };
      expect(key).toBe(key.toLowerCase());
      expect(canonicalSessionKey(key, options)).toBe(key);
      expect(canonicalSessionKey(key.toUpperCase().replace(":DIRECT:", ":DM:"), options)).toBe(key);
      expect(normalizeStoredKey(key.replace(":direct:", ":dm:").toUpperCase())).toBe(key);
      expect(agentIdOfKey(key, "other")).toBe(input.agentId);
      expect(isThreadKey(key)).toBe(threadId !== undefined);
      if (threadId === undefined) expect(sessionKeyKind(key)).toBe(input.chatType === "direct" && input.dmScope === "main" ? "main" : input.chatType);
    }));
  });

  it("keep two chats apart unless the scope says otherwise", () => {
    fc.assert(fc.property(peer, peer, (a, b) => {
      const same = buildPeerSessionKey(a) === buildPeerSessionKey({ ...b, dmScope: a.dmScope, agentId: a.agentId });
      const equal = (field: "channel" | "accountId" | "chatType" | "peerId"): boolean => a[field].toLowerCase() === b[field].toLowerCase();
      if (a.chatType !== "direct" || b.chatType !== "direct") expect(same).toBe(equal("chatType") && equal("channel") && equal("peerId"));
      else if (a.dmScope === "main") expect(same).toBe(true);
      else if (a.dmScope === "per-peer") expect(same).toBe(equal("peerId"));
      else expect(same).toBe(equal("peerId") && equal("channel") && (a.dmScope === "per-channel-peer" || equal("accountId")));
    }));
  });

  it("are one for a person known under several ids, but for the main scope", () => {
    fc.assert(fc.property(fc.uniqueArray(id, { minLength: 2, maxLength: 2, selector: (each) => each.toLowerCase() }), dmScope, ([one = "", two = ""], scope) => {
      const key = (peerId: string, on: string): string =>
        buildPeerSessionKey({ agentId: "main", channel: on, chatType: "direct", peerId, dmScope: scope, identityLinks: { Ann: [one, `slack:${two}`] } });
      if (scope === "main") expect(key(one, "slack")).toBe("agent:main:main");
      else expect(key(one, "slack")).toBe(key(two, "slack"));
      if (scope === "per-peer") expect([key(one, "telegram"), key(two, "slack"), key(two, "telegram")]).toEqual(["agent:main:direct:ann", "agent:main:direct:ann", `agent:main:direct:${two.toLowerCase()}`]);
    }));
  });

  it.each(["agent:main:telegram:group:dm:7", "agent:main:cron:dm:x", "agent:main:telegram:channel:x:thread:dm:1"])("of which %s names no direct chat stay as they are", (key) => {
    const expected = key === "agent:main:cron:dm:x" ? "agent:main:cron:direct:x" : key;
    expect(normalizeStoredKey(key)).toBe(expected);
  });
});

const place = { channel: "discord", accountId: "default", sender: { id: "9", roles: ["mods"] } };
const list = ["home", "p", "q", "g", "r", "t", "a", "c"].map((agentId) => ({ id: agentId }));
const byTier = {
  "binding.peer": { agentId: "p", match: { channel: "discord", peer: { kind: "channel" as const, id: "77" } } },
  "binding.peer.parent": { agentId: "q", match: { channel: "discord", peer: { kind: "channel" as const, id: "70" } } },
  "binding.guild+roles": { agentId: "r", match: { channel: "discord", guildId: "G", roles: ["mods", "x"] } },
  "binding.guild": { agentId: "g", match: { channel: "discord", guildId: "G" } },
  "binding.team": { agentId: "t", match: { channel: "discord", teamId: "T" } },
  "binding.account": { agentId: "a", match: { channel: "Discord" } },
  "binding.channel": { agentId: "c", match: { channel: "discord", accountId: "*" } },
};
const input: RouteInput = { ...place, peer: { kind: "channel", id: "77" }, parentPeer: { kind: "channel", id: "70" }, guildId: "g", teamId: "t", roles: ["mods"] };

describe("bindings", () => {
  it("of a higher tier win, in whatever order they stand; inside a tier the first does", () => {
    const tiers = Object.entries(byTier);
    fc.assert(fc.property(fc.shuffledSubarray(tiers.flatMap(([tier, binding]) => [{ tier, binding }, { tier, binding: { ...binding, agentId: "home" } }])), (chosen) => {
      const found = resolveRoute({ agents: { list }, bindings: chosen.map(({ binding }) => binding) }, input);
      const best = tiers.map(([tier]) => chosen.find((each) => each.tier === tier)).find((each) => each !== undefined);
      expect(found).toEqual(best ? { agentId: best.binding.agentId, matchedBy: best.tier } : { agentId: "home", matchedBy: "default" });
    }));
  });

  it.each([
    ["another channel", { channel: "slack" }], ["another account", { accountId: "second" }], ["an invalid peer", { peer: { kind: "channel" as const, id: "" } }],
    ["another kind of peer", { peer: { kind: "direct" as const, id: "77" } }], ["another guild", { guildId: "H" }], ["roles one does not have", { guildId: "G", roles: ["admins"] }], ["another team", { teamId: "U" }],
  ])("of %s never apply", (_what, match) => {
    expect(resolveRoute({ agents: { list }, bindings: [{ agentId: "p", match: { channel: "discord", ...match } }] }, input).matchedBy).toBe("default");
  });

  it("of a thread's parent apply to the thread, which keeps a session of its own", () => {
    const cfg: OpenClawConfig = { agents: { list }, bindings: [byTier["binding.peer.parent"]] };
    const chat = { id: "77", type: "channel" as const, parentId: "70", guildId: "G", inheritsParent: true };
    expect(resolveSessionKey(cfg, { ...place, chat })).toEqual({ agentId: "q", sessionKey: "agent:q:discord:channel:77", parentSessionKey: "agent:q:discord:channel:70" });
    expect(resolveSessionKey({ ...cfg, session: { scope: "global" } }, { ...place, chat }).sessionKey).toBe("global");
    expect(resolveSessionKey({}, { ...place, chat: { id: "-1", type: "group", threadId: "5", isForum: true } })).toEqual({ agentId: "main", sessionKey: "agent:main:discord:group:-1:topic:5", parentSessionKey: undefined });
  });
});
