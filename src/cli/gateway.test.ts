import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectClient } from "../../test/support/client.ts";
import { createHome, freePort, openGateway, spawnCli, type CliHome, type RunningGateway } from "./test-support.ts";

let home: CliHome;
let gateway: RunningGateway;
beforeAll(async () => {
  home = await createHome();
  gateway = await home.startGateway();
});
afterAll(() => home[Symbol.asyncDispose]());

describe("a gateway started with nothing configured", () => {
  it("writes a token, and never prints it where no person looks", async () => {
    const { stdout } = await home.run("config", "get", "gateway.auth.token");
    const token = stdout.trim();
    expect(token).toMatch(/^[0-9a-f]{48}$/);
    expect(gateway.output()).toContain(`Dashboard: http://127.0.0.1:${gateway.port}/\n`);
    expect(gateway.output()).not.toContain(token);
    const logs = await readdir(join(home.stateDir, "logs"));
    for (const name of logs) expect(await readFile(join(home.stateDir, "logs", name), "utf8")).not.toContain(token);
    expect((await home.run("dashboard", "--no-open")).stdout).toBe(`Dashboard URL: http://127.0.0.1:${gateway.port}/#token=${token}\n`);
  });

  it("shows in status, health, probe and gateway status", async () => {
    const [status, json, health, probe, info] = await Promise.all([
      home.run("status"), home.json("status", "--json", "--deep"), home.run("health"), home.json("gateway", "probe", "--json", "--timeout", "20000"), home.json("gateway", "status", "--json", "--timeout", "20000"),
    ]);
    expect(status.stdout).toMatch(/reachable \d+ ms/);
    expect(json.value).toMatchObject({ gateway: { reachable: true, error: null }, health: { ok: true } });
    expect(health.stdout).toContain("Agents: main (default)");
    expect(probe.value).toMatchObject({ ok: true, primaryTargetId: "localLoopback" });
    expect(info.value).toMatchObject({ rpc: { ok: true }, port: { status: "busy" }, service: { runtime: { status: "running", pid: gateway.child.pid } } });
    expect([status.code, health.code, probe.code, info.code]).toEqual([0, 0, 0, 0]);
  });

  it("answers a turn, as text and as JSON, and lists the session", async () => {
    const text = await home.run("agent", "-m", "ping");
    expect(text.code).toBe(0);
    expect(text.stdout).toContain("offline guide");
    const { value } = await home.json("agent", "--message", "ping", "--agent", "main", "--json");
    expect(value).toMatchObject({ status: "ok", summary: "completed", result: { payloads: [{ text: expect.stringContaining("offline guide") as string }] } });
    expect((await home.run("agent", "-m", "x", "--agent", "nobody")).stderr).toContain('unknown agent id "nobody"');
    const call = await home.json("gateway", "call", "sessions.list", "--params", '{"limit":5}', "--json");
    expect(call.value).toMatchObject({ count: 1, sessions: [{ key: "agent:main:main" }] });
    expect((await home.run("agent", "--local", "-m", "x")).stderr).toContain("would answer messages twice");
  });

  it("calls methods, and tells refusals by their text", async () => {
    const unknown = await home.run("gateway", "call", "no.such");
    expect([unknown.code, unknown.stderr]).toEqual([1, "Gateway call failed: Error: unknown method: no.such\n"]);
    expect((await home.run("gateway", "call", "health", "--params", "{")).stderr).toContain("--params is not JSON");
  });

  it("adds, lists, changes, runs and removes jobs", async () => {
    const added = await home.json("cron", "add", "--name", "tea", "--every", "1h", "--system-event", "drink tea", "--json");
    const id = String((added.value as { id: string }).id);
    expect(added.value).toMatchObject({ name: "tea", schedule: { kind: "every", everyMs: 3_600_000 }, sessionTarget: "main", payload: { kind: "systemEvent", text: "drink tea" } });
    expect((await home.run("cron", "list")).stdout).toMatch(new RegExp(`${id}.*tea.*every 1h`));
    expect((await home.run("cron", "edit", id, "--cron", "0 9 * * *", "--tz", "Asia/Shanghai", "--exact")).stdout).toBe(`Changed tea (${id}).\n`);
    expect((await home.run("cron", "run", id)).stdout).toContain(`Ran ${id}`);
    expect((await home.run("cron", "runs", "--id", id)).stdout).toContain("drink tea");
    expect((await home.run("cron", "disable", id)).code).toBe(0);
    expect((await home.json("cron", "list", "--json")).value).toMatchObject({ jobs: [] });
    expect((await home.json("cron", "list", "--all", "--json")).value).toMatchObject({ jobs: [{ id, enabled: false, schedule: { kind: "cron", expr: "0 9 * * *", tz: "Asia/Shanghai", staggerMs: 0 } }] });
    expect((await home.run("cron", "add", "--name", "x", "--every", "1h")).stderr).toContain("Give --system-event <text> for a reminder, or --message <text> for a task.");
    expect((await home.run("cron", "add", "--name", "x", "--message", "m")).stderr).toContain("Use one of --at, --every and --cron");
    expect((await home.run("cron", "add", "--name", "x", "--cron", "bad", "--message", "m")).stderr).toContain("5 or 6 fields");
    expect((await home.run("cron", "rm", id)).stdout).toBe(`Removed ${id}.\n`);
    expect((await home.run("cron", "rm", id)).code).toBe(1);
  });

  it("shows and changes which programs run without being asked about, in the file and through the gateway", async () => {
    expect((await home.run("approvals", "allowlist", "add", "git")).stderr).toContain("git is no path.");
    expect((await home.run("approvals", "allowlist", "add", "/usr/bin/git")).stdout).toBe("Added /usr/bin/git (*).\n");
    expect((await home.run("exec-approvals", "allowlist", "add", "~/tools/**", "--agent", "main", "--gateway")).stdout).toBe("Added ~/tools/** (main).\n");
    const [own, through] = await Promise.all([home.json("approvals", "get", "--json"), home.json("approvals", "get", "--gateway", "--json")]);
    expect(through.value).toEqual(own.value);
    expect(own.value).toMatchObject({ exists: true, path: join(home.home, ".openclaw", "exec-approvals.json"), file: { agents: { "*": { allowlist: [{ pattern: "/usr/bin/git" }] }, main: { allowlist: [{ pattern: "~/tools/**" }] } } } });
    expect(JSON.stringify(own.value)).not.toContain("token");
    const token = (await home.run("config", "get", "gateway.auth.token")).stdout.trim();
    await using node = await connectClient(`http://127.0.0.1:${gateway.port}`, token, { node: { displayName: "Pi", commands: ["system.execApprovals.get"] } });
    node.socket.on("message", (data: Buffer) => {
      const { payload } = JSON.parse(data.toString("utf8")) as { payload?: { id?: string; nodeId?: string; command?: string } };
      if (payload?.command) void node.request("node.invoke.result", { id: payload.id, nodeId: payload.nodeId, ok: true, payload: { path: "/pi/exec-approvals.json", exists: true, hash: "h", file: { version: 1 } } });
    });
    const [there, nowhere] = await Promise.all([home.json("approvals", "get", "--node", "pi", "--json"), home.run("approvals", "get", "--node", "nobody")]);
    expect(there.value).toMatchObject({ path: "/pi/exec-approvals.json", exists: true });
    expect(nowhere.stderr).toContain('unknown node "nobody"');
    const { value: devices } = await home.json("devices", "list", "--json");
    const guest = (devices["paired"] as { deviceId: string; roles: string[] }[]).find((device) => device.roles.includes("node"));
    expect((await home.run("devices", "remove", guest?.deviceId ?? "")).code).toBe(0);
    expect((await home.run("approvals", "allowlist", "remove", "/usr/bin/git")).stdout).toBe("Removed /usr/bin/git (*).\n");
    const file = join(home.home, "new.json");
    await writeFile(file, JSON.stringify({ version: 1, defaults: { security: "allowlist", askFallback: "full" } }));
    expect((await home.run("approvals", "set", "--file", file)).stdout).toContain("Defaults: security=allowlist askFallback=full");
    expect((await home.run("doctor")).stdout).toContain("defaults.askFallback in ~/.openclaw/exec-approvals.json is full, which is read as deny");
    await writeFile(file, JSON.stringify({ version: 1 }));
    expect((await home.run("approvals", "set", "--file", file)).code).toBe(0);
  });

  it("sends no secret of its own to another address, and names target and source", async () => {
    const url = `ws://127.0.0.1:${gateway.port}`;
    const run = await home.run("devices", "list", "--url", url);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/token missing[^]*Gateway target: ws:.*\nSource: cli --url\nConfig: .*\nBind: loopback\n.*give --token or --password/);
    const { stdout } = await home.run("config", "get", "gateway.auth.token");
    expect((await home.run("devices", "list", "--url", url, "--token", stdout.trim())).code).toBe(0);
  });

  it("forgets a device token that has become worthless and goes on with the shared one", async () => {
    const path = join(home.stateDir, "identity", "device-auth.json");
    const { deviceId, tokens } = JSON.parse(await readFile(path, "utf8")) as { deviceId: string; tokens: { operator: { token: string } } };
    const revoke = await home.run("devices", "revoke", "--device", deviceId, "--role", "operator");
    expect(revoke.code).toBe(0);
    expect((await home.run("health")).code).toBe(0);
    await writeFile(path, JSON.stringify({ version: 1, deviceId, tokens: { operator: { ...tokens.operator, token: "stale" } } }), { mode: 0o600 });
    expect((await home.run("health")).code).toBe(0);
    expect(await readFile(path, "utf8")).not.toContain("stale");
  });

  it("lists, rotates and removes devices", async () => {
    const { value } = await home.json("devices", "list", "--json");
    const [device] = value["paired"] as { deviceId: string }[];
    expect(device?.deviceId).toMatch(/^[0-9a-f]{64}$/);
    const id = device?.deviceId ?? "";
    expect((await home.run("devices", "list")).stdout).toContain("Paired (1)");
    expect((await home.run("devices", "rotate", "--device", id, "--role", "operator")).stdout).toContain("New token for");
    expect((await home.run("devices", "approve")).stderr).toContain("No device waits for approval.");
    expect((await home.run("devices", "clear")).stderr).toContain("--yes");
    expect((await home.run("devices", "remove", id)).code).toBe(0);
    expect((await home.run("health")).code).toBe(0);
  });

  it("prints its log from the gateway", async () => {
    const [plain, json] = await Promise.all([home.run("logs", "--limit", "50"), home.run("logs", "--json")]);
    expect(plain.stdout).toMatch(/info gateway listening/);
    const lines = json.stdout.trim().split("\n").map((line) => JSON.parse(line) as { type: string });
    expect(lines[0]).toMatchObject({ type: "meta" });
    expect(lines.slice(1).every((line) => line.type === "log")).toBe(true);
  });

  it("takes a change by the CLI without a restart, and doctor finds nothing wrong", async () => {
    expect((await home.run("config", "set", "messages.responsePrefix", "hi")).code).toBe(0);
    const doctor = await home.run("doctor");
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toMatch(/Port: ok\nGateway: ok/);
  });

  it("refuses a second gateway and names the first; --version and help still work", async () => {
    const second = await home.run("gateway");
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`gateway already running (pid ${gateway.child.pid})`);
    await using other = await createHome();
    const clash = await other.run("gateway", "--port", String(gateway.port));
    expect(clash.code).toBe(1);
    expect(clash.stderr).toContain(`another gateway instance is already listening on ws://127.0.0.1:${gateway.port}`);
    expect(clash.stderr).toContain(`pid ${gateway.child.pid}`);
  });

  it("restarts in its own process on SIGUSR1, keeps the last good config, and ends cleanly", async () => {
    await using h = await createHome();
    const g = await h.startGateway();
    const pid = g.child.pid;
    await h.writeConfig("{ broken");
    g.child.kill("SIGUSR1");
    await g.until("] ready", 2);
    expect(g.output()).toContain("goes on with the last good one");
    expect(g.child.pid).toBe(pid);
    expect(await fetch(`http://127.0.0.1:${g.port}/healthz`).then((r) => r.status)).toBe(200);
    expect(await g.stop()).toBe(0);
    expect((await h.run("gateway", "stop")).stdout).toContain("is running.");
  });

  it("takes Ctrl-C that arrives twice at once as one, and drains", async () => {
    await using h = await createHome();
    const g = await h.startGateway();
    g.child.kill("SIGINT");
    g.child.kill("SIGINT");
    expect(await g.ended).toBe(0);
    expect(g.output()).toContain("stopping");
  });

  it("is stopped by `gateway stop`, and its log is still read afterwards", async () => {
    await using h = await createHome();
    const g = await h.startGateway();
    expect((await h.json("gateway", "stop", "--json")).value).toMatchObject({ ok: true, action: "stop", result: "stopped" });
    expect(await g.ended).toBe(0);
    const logs = await h.run("logs");
    expect(logs.code).toBe(0);
    expect(logs.stdout).toContain("stopping");
    expect(logs.stderr).toContain("The gateway is down");
    const turn = await h.run("agent", "-m", "ping", "--json");
    expect(turn.stderr).toContain("running in this process instead");
    expect(JSON.parse(turn.stdout)).toMatchObject({ payloads: [{ text: expect.stringContaining("offline guide") as string }] });
  });
});

describe("what blocks a start", () => {
  it.each([
    ['{ gateway: { mode: "remote", remote: { url: "ws://h:1" } } }', [], "gateway.mode is remote"],
    ['{ gateway: { auth: { mode: "password" } } }', [], "no password is set"],
    ["{}", ["--bind", "lan"], "allowedOrigins"],
    ['{ telegram: { botToken: "1:a" } }', [], "Run: openclaw doctor --fix"],
  ])("%s %j", async (config, flags, text) => {
    await using h = await createHome();
    await h.writeConfig(config);
    const run = await h.run("gateway", ...flags);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(text);
  });

  it("an occupied port gives way to --force", async () => {
    await using h = await createHome();
    const port = await freePort();
    const squatter = spawnCli(h.home, { OPENCLAW_STATE_DIR: join(h.home, "other"), OPENCLAW_CONFIG_PATH: join(h.home, "other", "openclaw.json") }, ["gateway", "--port", String(port)]);
    const first = openGateway(squatter, port);
    await first.until("] ready");
    const forced = openGateway(spawnCli(h.home, {}, ["gateway", "--port", String(port), "--force"]), port);
    await forced.until("] ready");
    expect(forced.output()).toContain(`force: ended pid ${squatter.pid}`);
    await first.ended;
    expect(await forced.stop()).toBe(0);
    expect(existsSync(join(h.stateDir, "openclaw.json"))).toBe(true);
  });
});
