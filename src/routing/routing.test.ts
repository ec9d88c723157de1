import fc from "fast-check";
import { expect, it } from "vitest";
import { resolveRoute } from "./bindings.ts";
import { buildPeerSessionKey, canonicalSessionKey, normalizeAgentId, parseAgentSessionKey, sessionKeyKind, subagentDepth } from "./session-key.ts";

const peer = { agentId: "main", channel: "Telegram", chatType: "direct", peerId: "42" } as const;

it.each([
  [{ ...peer }, "agent:main:main"],
  [{ ...peer, dmScope: "per-peer" as const }, "agent:main:direct:42"],
  [{ ...peer, dmScope: "per-channel-peer" as const }, "agent:main:telegram:direct:42"],
  [{ ...peer, dmScope: "per-account-channel-peer" as const }, "agent:main:telegram:default:direct:42"],
  [{ ...peer, chatType: "group" as const, peerId: "-100" }, "agent:main:telegram:group:-100"],
  [{ ...peer, chatType: "group" as const, peerId: "-100", threadId: "7", isForum: true }, "agent:main:telegram:group:-100:topic:7"],
  [{ ...peer, chatType: "channel" as const, peerId: "C1", threadId: "9" }, "agent:main:telegram:channel:c1:thread:9"],
  [{ ...peer, dmScope: "per-peer" as const, identityLinks: { Ann: ["telegram:42"] } }, "agent:main:direct:ann"],
])("the key of %j is %s", (input, key) => {
  expect(buildPeerSessionKey(input)).toBe(key);
});

it("an alias and its canonical key are one, and canonical keys do not change again", () => {
  const options = { defaultAgentId: "main" };
  expect(canonicalSessionKey("", options)).toBe("agent:main:main");
  expect(canonicalSessionKey("MAIN", options)).toBe("agent:main:main");
  expect(canonicalSessionKey("agent:ops:telegram:dm:7", options)).toBe("agent:ops:telegram:direct:7");
  fc.assert(fc.property(fc.string(), (raw) => {
    const once = canonicalSessionKey(raw, options);
    expect(canonicalSessionKey(once, options)).toBe(once);
  }));
});

it("every agent id ends up in the allowed shape", () => {
  fc.assert(fc.property(fc.string(), (raw) => {
    expect(normalizeAgentId(raw)).toMatch(/^[a-z0-9][a-z0-9_-]{0,63}$/);
  }));
});

it("tells kinds of keys apart", () => {
  expect(sessionKeyKind("agent:main:main")).toBe("main");
  expect(sessionKeyKind("agent:main:subagent:1:subagent:2")).toBe("subagent");
  expect(subagentDepth("agent:main:subagent:1:subagent:2")).toBe(2);
  expect(sessionKeyKind("agent:main:cron:job")).toBe("cron");
  expect(sessionKeyKind("agent:main:telegram:group:1")).toBe("group");
  expect(parseAgentSessionKey("nonsense")).toBeUndefined();
});

it("the most exact binding wins, whatever its place", () => {
  const cfg = {
    agents: { list: [{ id: "home" }, { id: "work" }, { id: "vip" }] },
    bindings: [
      { agentId: "work", match: { channel: "telegram", accountId: "*" } },
      { agentId: "vip", match: { channel: "telegram", peer: { kind: "direct" as const, id: "42" } } },
    ],
  };
  expect(resolveRoute(cfg, { channel: "telegram", peer: { kind: "direct", id: "42" } })).toEqual({ agentId: "vip", matchedBy: "binding.peer" });
  expect(resolveRoute(cfg, { channel: "telegram", accountId: "second", peer: { kind: "direct", id: "1" } })).toEqual({ agentId: "work", matchedBy: "binding.channel" });
  expect(resolveRoute(cfg, { channel: "discord" })).toEqual({ agentId: "home", matchedBy: "default" });
});
