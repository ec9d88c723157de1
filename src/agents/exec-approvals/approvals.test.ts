import { mkdir, mkdtemp, readFile, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { approvalsForAgent, createApprovalsStore, fullFallbacks, parseApprovals } from "./approvals-file.ts";
import { takeFingerprint, type BindingInput } from "./binding.ts";
import { showCommand } from "./display.ts";
import { asDecision } from "./modes.ts";
import { createApprovalRequests, type ApprovalRequest } from "./requests.ts";

let home: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "approvals-")));
});
afterEach(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
const store = () => createApprovalsStore({ home, now: () => 1000 });

describe("the approvals file", () => {
  it("is made at the first question, private, with a token of its own", async () => {
    await store().forAgent("main");
    const path = join(home, ".openclaw", "exec-approvals.json");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ version: 1, socket: { path: "~/.openclaw/exec-approvals.sock", token: expect.stringMatching(/^[\w-]{32}$/) } });
  });

  it("is read in its old forms: plain patterns, the agent named default", () => {
    const file = parseApprovals(JSON.stringify({ version: 1, agents: { default: { allowlist: ["/bin/a", { pattern: "/bin/b", lastUsedAt: 5 }] }, main: { security: "full", allowlist: [] }, "*": { allowlist: ["/bin/every"], ask: "always" } } }), "f");
    expect(file.agents?.["default"]).toBeUndefined();
    expect(approvalsForAgent(file, "main")).toEqual({ security: "full", ask: "always", askFallback: "deny", patterns: ["/bin/every", "/bin/a", "/bin/b"] });
    expect(approvalsForAgent(file, "other").patterns).toEqual(["/bin/every"]);
    for (const id of ["__proto__", "constructor", "toString"]) expect(approvalsForAgent(file, id).patterns).toEqual(["/bin/every"]);
  });

  it("never runs anything for want of an answer, whatever it says", () => {
    const file = parseApprovals(JSON.stringify({ defaults: { askFallback: "full" }, agents: { main: { askFallback: "allowlist" }, x: { askFallback: "full" } } }), "f");
    expect([approvalsForAgent(file, "main").askFallback, approvalsForAgent(file, "x").askFallback, approvalsForAgent(file, "y").askFallback]).toEqual(["allowlist", "deny", "deny"]);
    expect(fullFallbacks(file)).toEqual(["defaults.askFallback", "agents.x.askFallback"]);
  });

  it.each(["", "[]", "{", '{"agents":{"main":{"security":"ful"}}}', '{"version":2}', '{"agents":{"main":{"allowlist":[1]}}}'])("that holds %j is refused with its place, not read as empty", async (text) => {
    await mkdir(join(home, ".openclaw"));
    await writeFile(store().path, text);
    await expect(store().forAgent("main")).rejects.toThrow(/exec-approvals\.json cannot be used .*Correct it/);
  });

  it("is changed by one at a time, and only on what was read", async () => {
    const [one, two] = [store(), store()];
    await Promise.all(["/bin/a", "/bin/b", "/bin/c", "/bin/d"].map((path, at) => (at % 2 ? one : two).allow("main", [path])));
    const { hash, file } = await one.read();
    expect(approvalsForAgent(file, "main").patterns.toSorted()).toEqual(["/bin/a", "/bin/b", "/bin/c", "/bin/d"]);
    await expect(one.replace({ version: 1 }, undefined)).rejects.toThrow("base hash required");
    await one.recordUse("main", [{ pattern: "/bin/a", path: "/bin/a" }], "a -x");
    await expect(one.replace({ version: 1 }, hash)).rejects.toThrow("changed since last load");
    await expect(one.replace({ agents: 1 }, (await one.read()).hash)).rejects.toThrow("agents:");
    expect((await one.read()).file.agents?.["main"]?.allowlist?.find((entry) => entry.pattern === "/bin/a")).toMatchObject({ lastUsedAt: 1000, lastUsedCommand: "a -x", lastResolvedPath: "/bin/a", id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });
});

describe("what an approval is bound to", () => {
  const input = (more: Partial<BindingInput> = {}): BindingInput => ({
    command: "./tool x", shell: ["/bin/sh", "-c"], cwd: join(home, "cwd"), env: { A: "1" }, host: "gateway", sessionKey: "s", agentId: "main", programs: [join(home, "real", "tool")], operands: [], ...more,
  });
  beforeEach(async () => {
    await mkdir(join(home, "real"));
    await mkdir(join(home, "other"));
    await symlink(join(home, "real"), join(home, "cwd"));
    for (const dir of ["real", "other"]) await writeFile(join(home, dir, "tool"), "#!/bin/sh\n", { mode: 0o755 });
    await writeFile(join(home, "real", "s.py"), "1");
  });

  it.each<[string, () => Promise<unknown>]>([
    ["the program's text", () => writeFile(join(home, "real", "tool"), "#!/bin/sh\nid\n")],
    ["the program's file", async () => { await rename(join(home, "real", "tool"), join(home, "x")); await writeFile(join(home, "real", "tool"), "#!/bin/sh\n", { mode: 0o755 }); }],
    ["the program is a link now", async () => { await rm(join(home, "real", "tool")); await symlink(join(home, "other", "tool"), join(home, "real", "tool")); }],
    ["the folder's link", async () => { await rm(join(home, "cwd")); await symlink(join(home, "other"), join(home, "cwd")); }],
    ["the folder", async () => { await rename(join(home, "real"), join(home, "moved")); await mkdir(join(home, "real")); }],
  ])("%s", async (_what, change) => {
    const before = await takeFingerprint(input());
    expect(await takeFingerprint(input())).toBe(before);
    await change();
    expect(await takeFingerprint(input())).not.toBe(before);
  });

  it("words, shell, variables, session, and scripts that are named, also in what is not understood", async () => {
    const all: Partial<BindingInput>[] = [{}, { command: "./tool  x" }, { shell: ["/bin/sh", "-lc"] }, { env: { A: "2" } }, { env: { A: "1", B: "" } }, { sessionKey: "t" }, { agentId: "b" }, { host: "node" }];
    const prints = await Promise.all(all.map((more) => takeFingerprint(input(more))));
    expect(new Set(prints).size).toBe(all.length);
    const script = input({ command: "python3 s.py > out" });
    const before = await takeFingerprint(script);
    await writeFile(join(home, "real", "out"), "noise");
    expect(await takeFingerprint(script)).toBe(before);
    await writeFile(join(home, "real", "s.py"), "2");
    expect(await takeFingerprint(script)).not.toBe(before);
  });
});

describe("a question", () => {
  const request: ApprovalRequest = { command: "x", cwd: null, nodeId: null, host: null, security: null, ask: null, agentId: null, resolvedPath: null, sessionKey: null };
  const open = () => {
    const seen: string[] = [];
    const requests = createApprovalRequests(() => Date.now(), { onRequested: ({ id }) => seen.push(`asked ${id}`), onResolved: ({ id, decision }) => seen.push(`${decision} ${id}`), onExpired: ({ id }) => seen.push(`expired ${id}`) });
    return { requests, seen };
  };

  it("is answered once, and can be looked up a moment after", async () => {
    const { requests, seen } = open();
    const { outcome } = requests.open(request, { id: "one", timeoutMs: 60_000 });
    requests.resolve("one", "allow-once", "me");
    expect(await outcome).toMatchObject({ id: "one", decision: "allow-once" });
    expect(() => requests.resolve("one", "deny", "me")).toThrow("unknown approval id");
    expect(() => requests.open(request, { id: "one", timeoutMs: 1 })).toThrow("approval id already pending");
    expect(await requests.wait("one")).toMatchObject({ decision: "allow-once" });
    await expect(requests.wait("two")).rejects.toThrow("approval expired or not found");
    expect(seen).toEqual(["asked one", "allow-once one"]);
  });

  it("ends without an answer after its time, and takes none then", async () => {
    const { requests, seen } = open();
    const { outcome } = requests.open(request, { id: "late", timeoutMs: 5 });
    expect(await outcome).toMatchObject({ decision: null });
    expect(() => requests.resolve("late", "allow-once", "me")).toThrow("unknown approval id");
    expect(seen).toEqual(["asked late", "expired late"]);
  });

  it("can be named by the start of its id, if that is long enough", () => {
    const { requests } = open();
    requests.open(request, { id: "12345678-a", timeoutMs: 60_000 });
    requests.open(request, { id: "12345678-b", timeoutMs: 60_000 });
    expect([requests.find("1234567").length, requests.find("12345678").length, requests.find("12345678-a").length, requests.find("").length]).toEqual([0, 2, 1, 0]);
    requests.close();
  });

  it("are bounded in number", () => {
    const { requests } = open();
    for (let n = 0; n < 200; n++) requests.open(request, { timeoutMs: 60_000 });
    expect(() => requests.open(request, { timeoutMs: 60_000 })).toThrow("200 approvals are waiting");
    requests.close();
  });
});

it("approvers see every character of a command", () => {
  expect(showCommand("a\u001B[2K\u202Eb\u200Bc\u00A0d\te\nf \u{E0041}")).toBe("a\\u{1b}[2K\\u{202e}b\\u{200b}c\\u{a0}d\\u{9}e\nf \\u{e0041}");
  expect(showCommand("echo 你好 'é' 🎉")).toBe("echo 你好 'é' 🎉");
});

it.each([["once", "allow-once"], ["ALWAYS", "allow-always"], ["reject", "deny"], ["block", "deny"], ["maybe", undefined], ["constructor", undefined]])("the word %s decides %s", (word, decision) => {
  expect(asDecision(word)).toBe(decision);
});
