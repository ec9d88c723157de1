import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EmbeddedPiRunResult, ReplyPayload } from "../agents/index.ts";
import { isWithinActiveHours } from "./active-hours.ts";
import { hasTasks } from "./heartbeat-file.ts";
import { currentTimeLine } from "../infra/text/index.ts";
import { cronEventPrompt } from "./heartbeat-prompts.ts";
import { judgeHeartbeat } from "./judge.ts";
import { heartbeatAgentIds, resolveHeartbeat, summarizeHeartbeats } from "./settings.ts";

const at = (iso: string): number => Date.parse(iso);

describe("active hours", () => {
  it.each<[string | undefined, string | undefined, string, boolean]>([
    ["09:00", "17:00", "2026-11-30T09:00:00Z", true],
    ["09:00", "17:00", "2026-11-30T16:59:00Z", true],
    ["09:00", "17:00", "2026-11-30T17:00:00Z", false],
    ["22:00", "06:00", "2026-11-30T23:30:00Z", true],
    ["22:00", "06:00", "2026-11-30T05:59:00Z", true],
    ["22:00", "06:00", "2026-11-30T12:00:00Z", false],
    ["00:00", "24:00", "2026-11-30T23:59:00Z", true],
    ["08:00", undefined, "2026-11-30T23:59:00Z", true],
    [undefined, "08:00", "2026-11-30T09:00:00Z", false],
    ["09:00", "09:00", "2026-11-30T09:00:00Z", false],
    ["9am", "17:00", "2026-11-30T03:00:00Z", true],
    ["09:00", "25:00", "2026-11-30T03:00:00Z", true],
  ])("%s to %s at %s: %s", (start, end, iso, expected) => {
    expect(isWithinActiveHours({ ...(start ? { start } : {}), ...(end ? { end } : {}) }, at(iso), "UTC")).toBe(expected);
  });

  it("are told in the user's zone, a named one, or that of the host; an unknown zone does not limit", () => {
    const hours = (timezone: string): boolean => isWithinActiveHours({ start: "09:00", end: "10:00", timezone }, at("2026-11-30T01:30:00Z"), "Asia/Shanghai");
    expect([hours("user"), hours("Asia/Shanghai"), hours("UTC"), hours("Nowhere/Land")]).toEqual([true, true, false, true]);
  });
});

describe("HEARTBEAT.md", () => {
  it.each<[string, boolean]>([
    ["", false], ["# Heartbeat\n\n## Tasks\n", false], ["- \n* [ ]\n1.\n", false], ["---\ntitle: x\n---\n# T\n", false], ["<!-- add\nsomething -->\n", false],
    ["- check the mail", true], ["# T\nwater the plants\n", true], ["- [ ] call", true],
  ])("%j has tasks: %s", (text, expected) => {
    expect(hasTasks(text)).toBe(expected);
  });
});

describe("the answer", () => {
  const judge = (lastText: string, ...payloads: ReplyPayload[]) => judgeHeartbeat({ lastText, payloads } as Pick<EmbeddedPiRunResult, "payloads" | "lastText">, { ackMaxChars: 300, includeReasoning: false }).kind;
  it.each<[string, string, ReplyPayload[]]>([
    ["nothing", "ok-empty", []],
    ["HEARTBEAT_OK", "ok-token", []],
    ["HEARTBEAT_OK all quiet", "ok-token", [{ text: "all quiet" }]],
    ["**HEARTBEAT_OK**", "ok-token", []],
    ["The server is down", "alert", [{ text: "The server is down" }]],
    [`${"x".repeat(400)}\nHEARTBEAT_OK`, "alert", [{ text: "x".repeat(400) }]],
    ["HEARTBEAT_OK", "alert", [{ text: "see", mediaUrls: ["./a.png"] }]],
    ["say HEARTBEAT_OK in the middle of it", "alert", [{ text: "say HEARTBEAT_OK in the middle of it" }]],
    ["", "alert", [{ text: "⚠️ write failed", isError: true }]],
  ])("%j is %s", (lastText, kind, payloads) => {
    expect(judge(lastText, ...payloads)).toBe(kind);
  });

  it("an alert carries the thoughts only when asked to", () => {
    const payloads: ReplyPayload[] = [{ text: "Reasoning:\n_hm_", isReasoning: true }, { text: "Fire!" }];
    const verdict = (includeReasoning: boolean) => judgeHeartbeat({ lastText: "Fire!", payloads }, { ackMaxChars: 300, includeReasoning });
    expect(verdict(false)).toMatchObject({ kind: "alert", text: "Fire!", payloads: [{ text: "Fire!" }] });
    expect(verdict(true)).toMatchObject({ payloads: [{ isReasoning: true }, { text: "Fire!" }] });
  });

  it("that is only the token with short text around it is always an acknowledgement", () => {
    fc.assert(fc.property(fc.stringMatching(/^[a-z ]{0,100}$/), (text) => {
      expect(judge(`HEARTBEAT_OK ${text}`.trim(), ...(text.trim() ? [{ text }] : []))).toBe("ok-token");
    }));
  });
});

describe("settings", () => {
  it("go to the default agent, unless agents have a block of their own", () => {
    expect(heartbeatAgentIds({})).toEqual(["main"]);
    const cfg = { agents: { list: [{ id: "a" }, { id: "b", heartbeat: { every: "2h" } }], defaults: { heartbeat: { every: "45", target: "LAST" } } } };
    expect(heartbeatAgentIds(cfg)).toEqual(["b"]);
    expect(resolveHeartbeat(cfg, "b")).toMatchObject({ everyMs: 7_200_000, target: "last", ackMaxChars: 300, directPolicy: "allow" });
    expect(resolveHeartbeat(cfg, "a").everyMs).toBe(0);
    expect(summarizeHeartbeats(cfg)).toEqual([{ agentId: "a", enabled: false, every: "disabled", everyMs: null }, { agentId: "b", enabled: true, every: "2h", everyMs: 7_200_000 }]);
  });

  it.each([[{}, 1_800_000], [{ every: "0m" }, 0], [{ enabled: false }, 0], [{ every: "nonsense" }, 1_800_000], [{ every: "10" }, 600_000]])("%j: every %i ms", (heartbeat, everyMs) => {
    expect(resolveHeartbeat({ agents: { defaults: { heartbeat } } }, "main").everyMs).toBe(everyMs);
  });

  it("are off altogether with heartbeat.enabled false", () => {
    expect(resolveHeartbeat({ heartbeat: { enabled: false } }, "main").everyMs).toBe(0);
  });
});

it("the time is said as a person would", () => {
  expect(currentTimeLine(at("2026-11-30T21:15:00Z"), "UTC")).toBe("Current time: Monday, November 30th, 2026 — 9:15 PM (UTC)");
  expect(currentTimeLine(at("2026-11-11T00:05:00Z"), "UTC")).toContain("November 11th, 2026 — 12:05 AM");
  expect([1, 2, 3, 12, 22].map((day) => currentTimeLine(Date.UTC(2026, 0, day), "UTC").match(/\d+(?:st|nd|rd|th)/)?.[0])).toEqual(["1st", "2nd", "3rd", "12th", "22nd"]);
});

it("a reminder's prompt holds its text", () => {
  expect(cronEventPrompt(["Drink water"], true)).toMatch(/^A scheduled reminder has been triggered\. The reminder content is:\n\nDrink water\n\n/);
  expect(cronEventPrompt(["x"], false)).toContain("HEARTBEAT_OK");
});
