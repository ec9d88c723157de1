import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { judgeTool, type ToolPolicyInput } from "./pi-tools.policy.ts";
import { CORE_TOOL_NAMES, matchesToolEntry, OWNER_TRUST_TOOLS } from "./tool-policy.ts";

type Tools = NonNullable<OpenClawConfig["tools"]>;

function input(tools: Tools | undefined, more: Partial<ToolPolicyInput> & { own?: Tools } = {}): ToolPolicyInput {
  const { own, ...rest } = more;
  return {
    config: tools ? { tools } : {}, model: { provider: "openai", modelId: "gpt-5.2" }, isOwner: true, group: undefined, sandboxed: false, subagent: undefined,
    agent: { id: "main", config: own ? { id: "main", tools: own } : undefined } as unknown as ToolPolicyInput["agent"],
    ...rest,
  };
}
const offered = (policy: ToolPolicyInput, names = CORE_TOOL_NAMES): string[] => names.filter((name) => judgeTool(policy, { name }).kind === "allowed");

describe("entries of tool lists", () => {
  it.each([
    ["READ", "read", true], ["bash", "exec", true], ["apply-patch", "apply_patch", true], ["exec", "apply_patch", true], ["*", "anything", true],
    ["web_*", "web_fetch", true], ["web_*", "xweb_fetch", false], ["group:fs", "edit", true], ["group:sessions", "session_status", true],
    ["group:openclaw", "message", true], ["group:openclaw", "exec", false], ["a.b", "axb", false], ["read", "read_more", false],
  ])("%s names %s: %s", (entry, name, expected) => {
    expect(matchesToolEntry(entry, { name })).toBe(expected);
  });

  it("names the tools of a plugin by its id", () => {
    expect(matchesToolEntry("voice", { name: "call", pluginId: "voice" })).toBe(true);
    expect(matchesToolEntry("group:plugins", { name: "call", pluginId: "voice" })).toBe(true);
    expect(matchesToolEntry("group:openclaw", { name: "call", pluginId: "voice" })).toBe(false);
  });
});

describe("which tools a run gets", () => {
  it("follows the documented example: coding, also web_fetch, without the sessions group", () => {
    const tools = offered(input({ profile: "coding", alsoAllow: ["web_fetch"], deny: ["group:sessions"] }));
    expect(tools).toContain("web_fetch");
    expect(tools).toContain("exec");
    expect(tools).not.toContain("web_search");
    expect(tools).not.toContain("sessions_list");
    expect(tools).not.toContain("session_status");
    expect(tools).not.toContain("message");
  });

  it("names the rule that took a tool away", () => {
    expect(judgeTool(input({ deny: ["exec"] }), { name: "exec" })).toEqual({ kind: "removed", rule: "tools.deny" });
    expect(judgeTool(input({ profile: "minimal" }), { name: "exec" })).toEqual({ kind: "removed", rule: "tools.profile=minimal" });
    expect(judgeTool(input({ byProvider: { "openai/gpt-5.2": { deny: ["read"] } } }), { name: "read" })).toMatchObject({ kind: "removed", rule: expect.stringContaining("byProvider.openai/gpt-5.2") });
  });

  it("prefers deny to allow", () => {
    expect(offered(input({ allow: ["exec", "read"], deny: ["exec"] }))).toEqual(["read"]);
  });

  it("does not take the core tools away for an allow list of plugin names only", () => {
    expect(offered(input({ allow: ["my_plugin"] }))).toEqual(CORE_TOOL_NAMES);
  });

  it("withholds machine tools from people who are not the owner, unless the group grants them", () => {
    const stranger = offered(input(undefined, { isOwner: false }));
    for (const name of OWNER_TRUST_TOOLS) expect(stranger).not.toContain(name);
    expect(stranger).toContain("read");
    expect(offered(input(undefined, { isOwner: false, group: { allow: ["exec"] } }))).toContain("exec");
    expect(judgeTool(input(undefined, { isOwner: false, group: { allow: ["*"] } }), { name: "gateway", ownerOnly: true }).kind).toBe("removed");
  });

  it("lets no later rule give back what an earlier one took", () => {
    const entry = fc.constantFrom("read", "exec", "group:fs", "group:web", "*", "web_*", "message", "plugin_x");
    const list = fc.option(fc.array(entry, { maxLength: 3 }), { nil: undefined });
    const rules = fc.record({ allow: list, deny: list, alsoAllow: list, profile: fc.constantFrom(undefined, "minimal", "coding", "messaging", "full") });
    fc.assert(fc.property(rules, rules, list, fc.boolean(), fc.boolean(), (global, own, denied, isOwner, isSubagent) => {
      const base = new Set(offered(input(global as Tools, { isOwner })));
      // The agent's profile and alsoAllow replace the global ones; its lists only narrow.
      const narrowed = offered(input(global as Tools, { own: { allow: own.allow, deny: own.deny } as Tools, isOwner, subagent: isSubagent ? "leaf" : undefined, group: denied ? { deny: denied } : undefined }));
      expect(narrowed.filter((name) => !base.has(name))).toEqual([]);
      for (const entries of [global.deny, own.deny, denied]) {
        for (const name of narrowed) expect((entries ?? []).some((value) => matchesToolEntry(value, { name }))).toBe(false);
      }
    }), { numRuns: 200 });
  });

  it("keeps from sub-agents what belongs to the main agent, and from the last of them delegation, unless a list gives it back", () => {
    const of = (subagent: "leaf" | "inner", lists?: NonNullable<Tools["subagents"]>["tools"]): string[] => offered(input(lists ? { subagents: { tools: lists } } : undefined, { subagent }));
    expect(of("inner")).toEqual(expect.arrayContaining(["exec", "sessions_spawn", "subagents"]));
    for (const name of ["cron", "gateway", "session_status", "sessions_send"]) expect(of("inner")).not.toContain(name);
    expect(of("leaf")).not.toContain("sessions_spawn");
    expect(of("leaf", { alsoAllow: ["cron"] })).toEqual(expect.arrayContaining(["cron", "exec"]));
    expect(of("leaf", { allow: ["read", "session_status"] })).toEqual(["read", "session_status"]);
    expect(of("leaf", { deny: ["exec"] })).not.toContain("exec");
  });
});
