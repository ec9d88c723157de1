import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { resolveAgent } from "../../routing/index.ts";
import { judgeTool } from "../pi-tools.policy.ts";
import { isSessionSandboxed, resolveSandboxSettings, sandboxScopeKey } from "./settings.ts";

const verdict = (config: OpenClawConfig, name: string): string => {
  const agent = resolveAgent(config, "main", { stateDir: "/state", workspaceDir: "/ws" });
  const judged = judgeTool({ config, agent, model: { provider: "p", modelId: "m" }, isOwner: true, group: undefined, sandboxed: "all", subagent: undefined }, { name });
  return judged.kind === "allowed" ? "allowed" : judged.rule;
};
const lists = (tools: object, own: object = {}): OpenClawConfig => ({ tools: { sandbox: { tools } }, agents: { list: [{ id: "main", tools: { sandbox: { tools: own } } }] } }) as OpenClawConfig;

describe("tools in a sandbox", () => {
  it.each([
    ["exec", "allowed"], ["write", "allowed"], ["image", "allowed"], ["session_status", "allowed"],
    ["web_fetch", "tools.sandbox.tools.allow (default)"], ["message", "tools.sandbox.tools.allow (default)"], ["some_mcp_tool", "tools.sandbox.tools.allow (default)"],
    ["browser", "tools.sandbox.tools.deny (default)"], ["gateway", "tools.sandbox.tools.deny (default)"], ["telegram", "tools.sandbox.tools.deny (default)"],
  ])("usually: %s is %s", (name, expected) => {
    expect(verdict({}, name)).toBe(expected);
  });

  it("a list of its own replaces the usual one, but for looking at images", () => {
    const config = lists({ allow: ["read"] });
    expect([verdict(config, "read"), verdict(config, "exec"), verdict(config, "image")]).toEqual(["allowed", "tools.sandbox.tools.allow", "allowed"]);
    expect(verdict(lists({ allow: ["read"], deny: ["image"] }), "image")).toBe("tools.sandbox.tools.deny");
  });

  it("alsoAllow adds to the usual lists, the denied ones included; an explicit deny wins", () => {
    expect(verdict(lists({ alsoAllow: ["browser", "web_fetch"] }), "browser")).toBe("allowed");
    expect(verdict(lists({ alsoAllow: ["browser"], deny: ["browser"] }), "browser")).toBe("tools.sandbox.tools.deny");
  });

  it("the agent's lists win over the general ones, and the rule names them", () => {
    expect(verdict(lists({ allow: ["exec"] }, { allow: ["read"] }), "exec")).toBe("agents.list[main].tools.sandbox.tools.allow");
    expect(verdict(lists({ deny: ["exec"] }, { deny: ["read"] }), "exec")).toBe("allowed");
  });

  it("a list of nothing but unknown names does not let everything in", () => {
    expect(verdict(lists({ allow: ["my_plugin"] }), "exec")).toBe("tools.sandbox.tools.allow");
  });

  it("a blocked tool is told with the keys that change it", () => {
    const agent = resolveAgent({}, "main", { stateDir: "/state", workspaceDir: "/ws" });
    const judged = judgeTool({ config: {}, agent, model: { provider: "p", modelId: "m" }, isOwner: true, group: undefined, sandboxed: "non-main", subagent: undefined }, { name: "cron" });
    expect(judged.kind === "removed" ? judged.explanation : "").toMatch(/^Tool "cron" blocked by sandbox tool policy \(mode=non-main\)\.\n[\s\S]*agents\.defaults\.sandbox\.mode=off[\s\S]*tools\.sandbox\.tools\.alsoAllow/);
  });
});

describe("settings of a sandbox", () => {
  const config = (defaults: object, own: object = {}): OpenClawConfig => ({ agents: { defaults: { sandbox: defaults }, list: [{ id: "main", sandbox: own }, { id: "other" }] } }) as OpenClawConfig;

  it.each([
    ["off", "agent:main:main", false], ["all", "agent:main:main", true], ["non-main", "agent:main:main", false], ["non-main", "agent:main:telegram:group:-1", true], ["non-main", "agent:main:subagent:x", true], ["non-main", "agent:main:cron:job", true],
  ])("mode %s, session %s: %s", (mode, key, expected) => {
    expect(isSessionSandboxed(config({ mode }), "main", key)).toBe(expected);
  });

  it.each([
    [{}, "agent:main"], [{ scope: "session" }, "agent:main:telegram:direct:1"], [{ scope: "shared" }, "shared"], [{ perSession: true }, "agent:main:telegram:direct:1"], [{ perSession: false }, "shared"], [{ perSession: false, scope: "agent" }, "agent:main"],
  ])("%j is the sandbox of %s", (sandbox, expected) => {
    expect(sandboxScopeKey(resolveSandboxSettings(config(sandbox), "main"), "main", "agent:main:telegram:direct:1")).toBe(expected);
  });

  it("the agent's keys win one by one; what all share has the general shape", () => {
    const general = { mode: "all", docker: { image: "a", memory: "1g", env: { A: "1" }, binds: ["/a:/a"] }, prune: { idleHours: 1 } };
    const own = { workspaceAccess: "rw", docker: { image: "b", env: { B: "2" }, binds: ["/b:/b"] } };
    expect(resolveSandboxSettings(config(general, own), "main")).toMatchObject({
      mode: "all", workspaceAccess: "rw", docker: { image: "b", memory: "1g", env: { LANG: "C.UTF-8", A: "1", B: "2" }, binds: ["/a:/a", "/b:/b"] }, prune: { idleHours: 1, maxAgeDays: 7 },
    });
    expect(resolveSandboxSettings(config({ ...general, scope: "shared" }, own), "main").docker).toMatchObject({ image: "a", env: { A: "1" }, binds: ["/a:/a"] });
    expect(resolveSandboxSettings(config(general, own), "other").docker.image).toBe("a");
  });
});
