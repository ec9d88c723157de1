import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AgentTool, ToolResult } from "../contract.ts";
import { createExecTool, type ExecToolOptions } from "./exec-tool.ts";
import { createApprovalsStore } from "../../exec-approvals/index.ts";
import { outputLimits } from "./limits.ts";
import { cleanOutput } from "./output.ts";
import { createProcessJobs, type ProcessJobs } from "./process-jobs.ts";
import { createProcessTool } from "./process-tool.ts";

let dir: string;
let jobs: ProcessJobs;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "exec-"));
  jobs = createProcessJobs({ now: () => Date.now(), keepMs: () => 60_000, limits: outputLimits({}) });
});
afterEach(async () => {
  await jobs.killAll();
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
});

const env = { PATH: process.env["PATH"], HOME: "/home/tester", SHELL: "/bin/sh", LANG: "C", OPENAI_API_KEY: "sk-secret", OPENCLAW_GATEWAY_TOKEN: "token" };
const ctx = (signal = new AbortController().signal) => ({ toolCallId: "t", signal, onUpdate: () => undefined });
const textOf = (result: ToolResult): string => result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
const run = (tool: AgentTool, args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult> => tool.execute(tool.prepare?.(args) ?? args, ctx(signal));

function exec(args: Record<string, unknown>, more: Partial<ExecToolOptions> = {}, signal?: AbortSignal): Promise<ToolResult> {
  const approvals: ExecToolOptions["approvals"] = {
    store: createApprovalsStore({ home: dir, now: () => Date.now() }),
    ask: (request, timeoutMs) => {
      const pending = { id: randomUUID(), request, createdAtMs: 0, expiresAtMs: timeoutMs };
      return { pending, outcome: Promise.resolve({ ...pending, decision: null }), isAnswerable: false };
    },
    notify: () => undefined,
  };
  return run(createExecTool({ jobs, scope: "s", agentId: "main", workspaceDir: dir, settings: undefined, env, configEnv: {}, elevated: false, approvals, ...more }), args, signal);
}
const processTool = (args: Record<string, unknown>, scope = "s"): Promise<ToolResult> => run(createProcessTool({ jobs, scope, now: () => Date.now() }), args);
const idOf = (result: ToolResult): string => (result.details as { sessionId: string }).sessionId;

/** A zombie that nobody has collected yet is dead; where there is no /proc, the system's first process collects at once. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) [ZX] /.test(stat);
}

describe("a command", () => {
  it.each([
    ["echo out; echo err >&2", "out\nerr", false],
    ["true", "(no output)", false],
    ["echo bad; exit 3", "bad\n\n(Command exited with code 3)", false],
    ["no-such-command-here", "Command not found", true],
    ["kill -9 $$", "Command aborted by signal SIGKILL", true],
  ])("%s ends as expected", async (command, text, isError) => {
    const result = await exec({ command });
    expect(textOf(result)).toContain(text);
    expect(result.isError === true).toBe(isError);
  });

  it("says that a file is not executable", async () => {
    expect(textOf(await exec({ cmd: "echo x > f; ./f" }))).toContain("Command not executable (permission denied)");
  });

  it("runs in the workspace or a folder of it", async () => {
    expect(textOf(await exec({ command: "mkdir sub; pwd" }))).toContain(dir);
    expect(textOf(await exec({ command: "pwd", workdir: "sub" }))).toContain(join(dir, "sub"));
    await expect(exec({ command: "pwd", workdir: "none" })).rejects.toThrow(/working directory .*none does not exist/);
  });

  it("is killed with all its children when its time is over", async () => {
    const result = await exec({ command: "sleep 300 & echo $!; wait", timeout: 0.3 });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("Command timed out after 0.3 seconds");
    await expect.poll(() => isAlive(Number.parseInt(textOf(result), 10))).toBe(false);
  });

  it("is killed with children that ignore SIGTERM when the run is stopped", async () => {
    const stop = new AbortController();
    const pending = exec({ command: "(trap '' TERM; sleep 300) & echo $! > child; echo go > ready; wait" }, {}, stop.signal);
    await expect.poll(() => readFile(join(dir, "ready"), "utf8").catch(() => "")).toBe("go\n");
    stop.abort();
    const result = await pending;
    expect(result.isError).toBe(true);
    const child = Number(await readFile(join(dir, "child"), "utf8"));
    await expect.poll(() => isAlive(child)).toBe(false);
  });

  it("keeps the end of endless output", async () => {
    const text = textOf(await exec({ command: "i=0; while [ $i -lt 6000 ]; do echo 'a line of forty characters or thereabouts'; i=$((i+1)); done; echo THE END" }));
    expect(text.length).toBeLessThan(201_000);
    expect(text).toMatch(/^\[earlier output dropped\]/);
    expect(text).toMatch(/THE END$/);
  });
});

describe("environment of a command", () => {
  it("holds neither keys of the gateway nor anything beyond the list", async () => {
    const text = textOf(await exec({ command: "env" }, { configEnv: { MY_VAR: "1", LD_PRELOAD: "/x.so" } }));
    expect(text).toContain("MY_VAR=1");
    expect(text).toContain("HOME=/home/tester");
    for (const hidden of ["sk-secret", "OPENCLAW_GATEWAY_TOKEN", "LD_PRELOAD"]) expect(text).not.toContain(hidden);
  });

  it("takes variables of the call, but none that could hijack the process", async () => {
    expect(textOf(await exec({ command: "echo $A", env: { A: "1" } }))).toBe("1");
    await expect(exec({ command: "true", env: { PATH: "/evil" } })).rejects.toThrow("Security Violation: Custom 'PATH' variable is forbidden during host execution.");
    for (const key of ["LD_PRELOAD", "ld_library_path", "NODE_OPTIONS", "BASH_ENV", "DYLD_INSERT_LIBRARIES", "OPENCLAW_STATE_DIR", "HOME", "BASH_FUNC_ls%%"]) {
      await expect(exec({ command: "true", env: { [key]: "x" } })).rejects.toThrow(`Security Violation: Environment variable '${key}' is forbidden`);
    }
  });

  it("puts configured folders in front of PATH", async () => {
    expect(textOf(await exec({ command: "echo $PATH" }, { settings: { pathPrepend: ["/opt/mine"] } }))).toMatch(/^\/opt\/mine:/);
  });
});

describe("settings that forbid", () => {
  it.each<[ExecToolOptions["settings"], Record<string, unknown>, string]>([
    [{ security: "deny" }, {}, "exec denied: host=gateway security=deny"],
    [undefined, { security: "deny" }, "exec denied: host=gateway security=deny"],
    [{ security: "allowlist" }, {}, "needs an approval"],
    [{ host: "gateway", security: "full" }, { security: "allowlist" }, "needs an approval"],
    [{ ask: "always" }, {}, "needs an approval"],
    [{ host: "gateway" }, {}, "needs an approval"],
    [{ host: "gateway", ask: "off" }, {}, "exec denied: allowlist miss"],
    [{ host: "gateway", ask: "off", security: "full" }, { ask: "always" }, "needs an approval"],
    [{ host: "sandbox" }, {}, "exec host=sandbox is configured, but sandbox runtime is unavailable for this session"],
    [undefined, { host: "sandbox" }, "exec host=sandbox is configured, but sandbox runtime is unavailable for this session"],
    [{ host: "node" }, {}, "exec host=node requires a paired node (none available)"],
    [undefined, { host: "gateway" }, "exec host not allowed (requested gateway; configure tools.exec.host=sandbox to allow)."],
    [{ host: "gateway" }, { host: "node" }, "exec host not allowed (requested node; configure tools.exec.host=gateway to allow)."],
    [{ node: "n1" }, { node: "n2" }, "exec node not allowed (bound to n1)"],
    [undefined, { elevated: true }, "elevated is not available right now"],
  ])("%j with %j refuses", async (settings, args, text) => {
    const result = await exec({ command: "touch ran", ...args }, { settings });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(text);
    expect(existsSync(join(dir, "ran"))).toBe(false);
  });

  it("do not forbid more than they say", async () => {
    for (const [settings, args, elevated] of [[undefined, { ask: "always", security: "allowlist" }, false], [{ host: "gateway", security: "full", ask: "off" }, { host: "gateway" }, false], [{ host: "gateway", security: "full", ask: "off" }, { elevated: true }, true]] as const) {
      expect(textOf(await exec({ command: "echo ran", ...args }, { settings, elevated }))).toBe("ran");
    }
  });
});

describe("background commands", () => {
  it("can be listed, written to, polled and read again", async () => {
    const started = await exec({ command: "echo hello; read line; echo got $line", background: true, pty: true });
    expect(textOf(started)).toContain("Command still running (session ");
    const id = idOf(started);
    expect(textOf(await processTool({ action: "list" }))).toMatch(new RegExp(`^${id} running`));
    expect(textOf(await processTool({ action: "clear", sessionId: id }))).toContain("still running");
    await vi.waitUntil(async () => textOf(await processTool({ action: "log", sessionId: id })).includes("hello"), { timeout: 10_000 });
    let seen = "";
    expect(textOf(await processTool({ action: "submit", sessionId: id, data: "abc" }))).toContain("Wrote 4 bytes");
    for (let round = 0; round < 20 && !seen.includes("exited"); round++) seen += textOf(await processTool({ action: "poll", sessionId: id, timeout: 2000 }));
    expect(seen).toContain("got abc");
    expect(seen).toContain("Process exited with code 0.");
    expect(textOf(await processTool({ action: "log", sessionId: id, offset: 1, limit: 1 }))).toBe("hello");
    expect(textOf(await processTool({ action: "write", sessionId: id, data: "x" }))).toContain("stdin is not writable");
    expect(textOf(await processTool({ action: "clear", sessionId: id }))).toContain("Cleared");
    expect(textOf(await processTool({ action: "list" }))).toBe("No running or recent sessions.");
  });

  it("continues in the background after the wait", async () => {
    const started = await exec({ command: "echo early; sleep 300", yieldMs: 300 });
    expect(textOf(started)).toContain("early");
    expect(started.details).toMatchObject({ status: "running" });
    const id = idOf(started);
    await processTool({ action: "kill", sessionId: id });
    expect(textOf(await processTool({ action: "poll", sessionId: id }))).toContain("Process exited with signal SIGTERM.");
  });

  it("belong to their session", async () => {
    const id = idOf(await exec({ command: "sleep 300", background: true }));
    expect(textOf(await processTool({ action: "list" }, "other"))).toBe("No running or recent sessions.");
    expect(await processTool({ action: "kill", sessionId: id }, "other")).toMatchObject({ isError: true });
    expect(textOf(await processTool({ action: "fly", sessionId: id }))).toBe("Unknown action fly");
    expect(textOf(await processTool({ action: "poll" }))).toContain("sessionId is required");
    expect(textOf(await processTool({ action: "remove", sessionId: id }))).toContain("Removed");
  });

  it("end with the gateway", async () => {
    const { pid } = (await exec({ command: "sleep 300; true", background: true })).details as { pid: number };
    const job = jobs.list("s")[0];
    await jobs.killAll();
    expect(job?.endedAt).toBeDefined();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

describe("output", () => {
  it.each([
    ["\u001B[31mred\u001B[0m", "red"], ["a\r\nb\tc", "a\nb\tc"], ["x\u202Ey\u200B\u0007z", "xyz"], ["half \uD83D", "half \uFFFD"],
  ])("%j is shown as %j", (raw, shown) => {
    expect(cleanOutput(raw)).toBe(shown);
  });

  it("keeps a character whose bytes arrive in two pieces", async () => {
    expect(textOf(await exec({ command: "printf '\\303'; sleep 0.1; printf '\\251'" }))).toBe("é");
  });
});
