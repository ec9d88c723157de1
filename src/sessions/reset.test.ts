import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { lastDailyBoundaryMs, resolveResetPolicy, sessionFreshness, type ResetType } from "./reset.ts";

type Session = NonNullable<OpenClawConfig["session"]>;

describe("when a conversation ends by itself", () => {
  it.each<[string, Session | undefined, ResetType, string, object]>([
    ["nothing is set", undefined, "direct", "telegram", { mode: "daily", atHour: 4, idleMinutes: undefined }],
    ["only the old key is set", { idleMinutes: 30 }, "direct", "telegram", { mode: "idle", idleMinutes: 30 }],
    ["idle has no minutes", { reset: { mode: "idle" } }, "direct", "telegram", { mode: "idle", idleMinutes: 60 }],
    ["minutes accompany daily", { reset: { mode: "daily", atHour: 6, idleMinutes: 15 } }, "group", "telegram", { mode: "daily", atHour: 6, idleMinutes: 15 }],
    ["the type says something", { reset: { atHour: 6 }, resetByType: { group: { mode: "idle", idleMinutes: 5 } } }, "group", "telegram", { mode: "idle", atHour: 6, idleMinutes: 5 }],
    ["another type does", { reset: { atHour: 6 }, resetByType: { group: { mode: "idle" } } }, "thread", "telegram", { mode: "daily", atHour: 6 }],
    ["direct chats go by their old name", { resetByType: { dm: { mode: "idle", idleMinutes: 7 } } }, "direct", "telegram", { mode: "idle", idleMinutes: 7 }],
    ["the channel alone decides", { reset: { atHour: 6, idleMinutes: 9 }, resetByType: { direct: { mode: "idle" } }, resetByChannel: { telegram: { atHour: 2 } } }, "direct", "telegram", { mode: "daily", atHour: 2, idleMinutes: undefined }],
    ["another channel does", { reset: { atHour: 6 }, resetByChannel: { slack: { atHour: 2 } } }, "direct", "telegram", { mode: "daily", atHour: 6 }],
  ])("%s", (_when, session, type, channel, policy) => {
    expect(resolveResetPolicy(session ? { session } : {}, type, channel)).toMatchObject(policy);
  });

  it("a day begins at its hour on the host's clock, also across midnight", () => {
    const at = (day: number, hour: number): number => new Date(2026, 10, day, hour).getTime();
    expect(lastDailyBoundaryMs(at(30, 3), 4)).toBe(at(29, 4));
    expect(lastDailyBoundaryMs(at(30, 4), 4)).toBe(at(30, 4));
    expect(lastDailyBoundaryMs(at(30, 0), 0)).toBe(at(30, 0));
    const policy = { mode: "daily", atHour: 4, idleMinutes: 10 } as const;
    expect(sessionFreshness(at(30, 5), policy, at(30, 5) + 10 * 60_000)).toEqual({ fresh: true });
    expect(sessionFreshness(at(30, 5), policy, at(30, 5) + 10 * 60_000 + 1)).toEqual({ fresh: false, reason: "idle" });
    expect(sessionFreshness(at(30, 3), policy, at(30, 5))).toEqual({ fresh: false, reason: "daily" });
  });
});
