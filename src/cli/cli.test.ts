import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isVersionRequest, tooOldText } from "./bootstrap.ts";
import { toEvent } from "./commands/logs.ts";
import { displayWidth, renderTable } from "./table.ts";
import { createHome, type CliHome } from "./test-support.ts";

let home: CliHome;
beforeAll(async () => {
  home = await createHome();
});
afterAll(() => home[Symbol.asyncDispose]());

describe("the command line", () => {
  it("prints the version alone, for all three spellings", async () => {
    const runs = await Promise.all(["--version", "-V", "-v"].map((flag) => home.run(flag)));
    for (const run of runs) expect(run).toEqual({ code: 0, stdout: "2026.2.25\n", stderr: "" });
    expect(isVersionRequest(["status", "-v"])).toBe(false);
  });

  it("tells a Node that is too old in one line", () => {
    expect(tooOldText("20.20.2")).toMatch(/^openclaw needs Node\.js 22\.18 or newer, but this is 20\.20\.2: .*$/);
    expect(tooOldText("22.17.9")).toBeDefined();
    expect([tooOldText("22.18.0"), tooOldText("24.0.0")]).toEqual([undefined, undefined]);
  });

  it("answers what it cannot do with a reason and the right exit code", async () => {
    const cases: [string[], number, string][] = [
      [["wat"], 1, "error: unknown command 'wat'"],
      [["status", "--wat"], 1, "error: unknown option '--wat'"],
      [["devices", "wat"], 1, "error: unknown command 'wat'"],
      [["status", "--timeout", "abc"], 1, "must be a whole number of milliseconds"],
      [["gateway", "--bind", "moon"], 1, "must be one of: loopback, lan, tailnet, auto, custom"],
      [["gateway", "--port", "70000"], 1, "from 1 to 65535"],
      [["gateway", "--reset"], 1, "Use --reset with --dev."],
      [["agent"], 1, "required option '-m, --message <text>'"],
      [["--log-level", "loud", "status"], 1, "must be one of: silent"],
      [["--dev", "--profile", "x", "status"], 2, "--dev"],
      [["--profile", "../x", "status"], 2, "is not a name"],
      [["config", "get", "no.such"], 1, "Config path not found: no.such"],
      [["health"], 1, "Gateway target: ws://127.0.0.1:"],
      [["pairing", "approve", "telegram", "ABCDEFGH"], 1, "No pending pairing request with code ABCDEFGH on telegram."],
    ];
    const runs = await Promise.all(cases.map(([args]) => home.run(...args)));
    cases.forEach(([args, code, text], i) => {
      expect([args, runs[i]?.code, runs[i]?.stdout]).toEqual([args, code, ""]);
      expect(runs[i]?.stderr).toContain(text);
      expect(runs[i]?.stderr).not.toMatch(/\n\s+at /);
    });
  });

  it("prints one JSON document with --json, for errors as well", async () => {
    const cases = [["status", "--json", "--wat"], ["health", "--json"], ["devices", "list", "--json"], ["gateway", "call", "x", "--json"], ["channels", "status", "--json"], ["config", "get", "x.y", "--json"]];
    for (const { code, value } of await Promise.all(cases.map((args) => home.json(...args)))) {
      expect(code).toBe(1);
      expect(value).toMatchObject({ error: { message: expect.any(String) as string } });
    }
    const { code, value } = await home.json("status", "--json");
    expect(code).toBe(0);
    expect(Object.keys(value)).toEqual(expect.arrayContaining(["sessions", "os", "gateway", "gatewayService", "agents", "securityAudit"]));
    expect(value["gateway"]).toMatchObject({ reachable: false, mode: "local" });
  });

  it("shows help of a group and creates nothing", async () => {
    await using fresh = await createHome();
    const [root, gateway, help] = await Promise.all([fresh.run(), fresh.run("gateway", "--help"), fresh.run("help", "pairing")]);
    expect(root?.stdout).toContain("Commands:");
    expect(gateway?.stdout).toContain("--allow-unconfigured");
    expect(help?.stdout).toContain("approve");
    expect([root?.code, gateway?.code, help?.code]).toEqual([0, 0, 0]);
    expect(existsSync(fresh.stateDir)).toBe(false);
  });
});

describe("config", () => {
  it("sets, gets and unsets; comments stay; the real token is shown", async () => {
    await using h = await createHome();
    await h.writeConfig('// mine\n{ gateway: { auth: { token: "the-real-token" } } }\n');
    expect((await h.run("config", "get", "gateway.auth.token")).stdout).toBe("the-real-token\n");
    expect((await h.run("config", "set", "gateway.port", "19555")).stdout).toBe("Updated gateway.port.\n");
    expect(await readFile(h.configPath, "utf8")).toContain("// mine");
    expect((await h.run("config", "get", "gateway.port")).stdout).toBe("19555\n");
    expect((await h.json("config", "get", "gateway", "--json")).value).toMatchObject({ port: 19555 });
    expect((await h.run("config", "unset", "gateway.port")).code).toBe(0);
    expect((await h.run("config", "unset", "gateway.port")).stderr).toContain("Config path not found: gateway.port");
    expect((await h.run("config", "file")).stdout).toBe(`${h.configPath}\n`);
  });

  it("refuses what would make the file invalid and leaves it alone", async () => {
    await using h = await createHome();
    await h.writeConfig("{ gateway: { port: 19555 } }");
    const unknown = await h.run("config", "set", "gateway.prot", "1");
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain('Unrecognized key: "prot" (did you mean "port"?)');
    expect((await h.run("config", "set", "gateway.port", "{", "--strict-json")).stderr).toContain("Not JSON5");
    const open = await h.run("config", "set", "channels.telegram.dmPolicy", "open");
    expect(open.code).toBe(1);
    expect(open.stderr).toContain("openclaw config set channels.telegram.allowFrom '[\"*\"]'");
    expect(await readFile(h.configPath, "utf8")).toBe("{ gateway: { port: 19555 } }");
  });

  it("names file, line and problem of a broken one; status goes on with port and auth", async () => {
    await using h = await createHome();
    await h.writeConfig('{\n  gateway: { port: 19555, auth: { token: "t" } },\n  tools: { nonsense: 1 }\n}');
    const [get, status, validate] = await Promise.all([h.run("config", "get", "gateway"), h.runWith({ OPENCLAW_GATEWAY_PORT: "" }, "status"), h.json("config", "validate", "--json")]);
    expect(get.code).toBe(1);
    expect(get.stderr).toMatch(/Config invalid\nFile: .*openclaw\.json\nProblem:\n {2}- tools: .*nonsense.*:3\)\n\nRun: openclaw doctor --fix/);
    expect(status.code).toBe(0);
    expect(status.stdout).toContain("ws://127.0.0.1:19555");
    expect(validate.value).toMatchObject({ valid: false, issues: [{ line: 3 }] });
    await h.writeConfig("{ gateway: ");
    const syntax = await h.run("gateway");
    expect(syntax.code).toBe(1);
    expect(syntax.stderr).toMatch(/openclaw\.json:1/);
    expect(syntax.stderr).not.toMatch(/\n\s+at /);
  });
});

describe("doctor", () => {
  it("moves old keys, drops unknown ones, tightens modes, removes dead locks and makes a token", async () => {
    await using h = await createHome();
    await h.writeConfig('{ telegram: { botToken: "123456:abc" }, gateway: { prot: 1, port: 19555 }, sesion: {} }');
    await chmod(h.configPath, 0o644);
    await mkdir(join(h.stateDir, "credentials"), { recursive: true });
    await chmod(join(h.stateDir, "credentials"), 0o755);
    await writeFile(join(h.stateDir, "credentials", "x.json"), "{}", { mode: 0o644 });
    const locks = join(h.stateDir, "agents", "main", "sessions");
    await mkdir(locks, { recursive: true });
    await writeFile(join(locks, "sessions.json.lock"), JSON.stringify({ pid: 999_999_999, createdAt: new Date().toISOString() }));
    const look = await h.run("doctor");
    expect(look.code).toBe(1);
    expect(look.stdout).toContain('Run "openclaw doctor --fix" to apply changes.');
    expect(await readFile(h.configPath, "utf8")).toContain("prot");
    const fix = await h.run("doctor", "--fix");
    expect(fix.stdout).toContain("Moved telegram → channels.telegram.");
    expect(fix.stdout).toContain("Removed unknown key gateway.prot.");
    expect(fix.code).toBe(0);
    const config = JSON.parse((await h.run("config", "get", "channels.telegram.botToken", "--json")).stdout) as unknown;
    expect(config).toBe("123456:abc");
    expect((await h.run("config", "get", "gateway.auth.token")).stdout.trim()).toMatch(/^[0-9a-f]{48}$/);
    const modes = await Promise.all([h.configPath, join(h.stateDir, "credentials"), join(h.stateDir, "credentials", "x.json")].map(async (p) => (await stat(p)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o700, 0o600]);
    expect(existsSync(join(locks, "sessions.json.lock"))).toBe(false);
    expect((await h.run("doctor", "--fix")).stdout).not.toContain("✓");
  });
});

describe("setting up", () => {
  it("setup leaves a gateway that can start; onboard writes endpoint, model and token", async () => {
    await using h = await createHome();
    expect((await h.run("setup")).stdout).toMatch(/^Wrote .*\nWorkspace OK: .*\nSessions OK: /);
    expect((await h.run("setup")).stdout).toMatch(/^Config OK/);
    expect((await h.run("onboard")).code).toBe(1);
    const flags = ["onboard", "--non-interactive", "--accept-risk"];
    const twoKeys = await h.run(...flags, "--openai-api-key", "a", "--xai-api-key", "b");
    expect([twoKeys.code, twoKeys.stderr]).toEqual([1, expect.stringContaining("--auth-choice")]);
    const { code, value } = await h.json(...flags, "--json", "--custom-base-url", "http://127.0.0.1:4061/v1", "--custom-model-id", "gpt-4o", "--gateway-port", "19777");
    expect([code, value]).toMatchObject([0, { mode: "local", authChoice: "custom-api-key", gateway: { port: 19777 } }]);
    expect((await h.run("models", "status", "--plain")).stdout).toBe("custom-127-0-0-1-4061/gpt-4o\n");
    expect((await h.run("config", "validate")).stdout).toContain("Config is valid");
  });

  it("chooses models and their fallbacks, and knows a reference that does not exist", async () => {
    await using h = await createHome();
    expect((await h.run("models", "set", "openai/gpt-4o")).stdout).toBe("Default model: openai/gpt-4o\n");
    expect((await h.run("models", "fallbacks", "add", "anthropic/claude-sonnet-4-5")).code).toBe(0);
    expect((await h.json("config", "get", "agents.defaults.model", "--json")).value).toEqual({ primary: "openai/gpt-4o", fallbacks: ["anthropic/claude-sonnet-4-5"] });
    const [wrong, check, list] = await Promise.all([h.run("models", "set", "openai/no-such-model-9"), h.run("models", "status", "--check"), h.json("models", "list", "--json")]);
    expect(wrong?.code).toBe(1);
    expect(check?.code).toBe(1);
    expect(list?.value).toMatchObject({ count: expect.any(Number) as number });
  });
});

describe("an address where something else answers", () => {
  it("is named as such, in time", async () => {
    const server = createServer((_req, res) => res.end("hello"));
    const silent = createTcpServer(() => undefined);
    for (const s of [server, silent]) await new Promise<void>((resolve) => s.listen(0, "127.0.0.1", () => resolve()));
    const [web, mute] = [server, silent].map((s) => String((s.address() as AddressInfo).port));
    try {
      const [a, b] = await Promise.all([home.runWith({ OPENCLAW_GATEWAY_PORT: web ?? "" }, "health"), home.runWith({ OPENCLAW_GATEWAY_PORT: mute ?? "" }, "health", "--timeout", "300")]);
      expect([a?.code, a?.stderr]).toEqual([1, expect.stringContaining("answered HTTP 200 instead of opening a WebSocket")]);
      expect([b?.code, b?.stderr]).toEqual([1, expect.stringContaining("within 300 ms")]);
    } finally {
      server.close();
      silent.close();
    }
  });
});

describe("pairing", () => {
  const request = (code: string, id: string, minutesAgo = 1) => ({ id, code, createdAt: new Date(Date.now() - minutesAgo * 60_000).toISOString(), lastSeenAt: new Date().toISOString(), meta: { name: "Ann", accountId: "default" } });
  const knock = async (h: CliHome, ...requests: object[]): Promise<void> => {
    await mkdir(join(h.stateDir, "credentials"), { recursive: true, mode: 0o700 });
    await writeFile(join(h.stateDir, "credentials", "telegram-pairing.json"), JSON.stringify({ version: 1, requests }), { mode: 0o600 });
  };

  it("makes the first approved sender the owner and says so; the second is none", async () => {
    await using h = await createHome();
    await knock(h, request("AAAABBBB", "42"), request("CCCCDDDD", "43"), request("EEEEFFFF", "44", 90));
    const list = await h.json("pairing", "list", "telegram", "--json");
    expect(list.value).toMatchObject({ channel: "telegram", requests: [{ code: "AAAABBBB" }, { code: "CCCCDDDD" }] });
    const first = await h.run("pairing", "approve", "telegram", "aaaabbbb");
    expect(first.stdout).toContain("telegram:42 is now an OWNER of this installation");
    expect((await h.json("config", "get", "commands.ownerAllowFrom", "--json")).value).toEqual(["telegram:42"]);
    const second = await h.run("pairing", "approve", "CCCCDDDD");
    expect(second.stdout).toContain("The sender is not an owner");
    expect(JSON.parse(await readFile(join(h.stateDir, "credentials", "telegram-default-allowFrom.json"), "utf8"))).toMatchObject({ allowFrom: ["42", "43"] });
    expect((await h.run("pairing", "approve", "telegram", "EEEEFFFF")).code).toBe(1);
  });

  it("lets the operator decline ownership", async () => {
    await using h = await createHome();
    await knock(h, request("AAAABBBB", "42"));
    expect((await h.run("pairing", "approve", "telegram", "AAAABBBB", "--no-owner")).stdout).not.toContain("OWNER");
    expect((await h.run("config", "get", "commands.ownerAllowFrom")).code).toBe(1);
  });
});

describe("channels", () => {
  it("adds, lists, switches off and deletes an account", async () => {
    await using h = await createHome();
    const token = "123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc";
    const add = await h.run("channels", "add", "--channel", "telegram", "--token", token);
    expect([add.code, add.stdout]).toEqual([0, 'Added Telegram account "default". A running gateway starts it now, or within half a minute when it has to load the channel first.\n']);
    expect((await h.json("channels", "list", "--json")).value).toMatchObject({ chat: { telegram: ["default"] } });
    expect((await h.run("channels", "remove", "--channel", "telegram")).code).toBe(0);
    expect((await h.run("config", "get", "channels.telegram.enabled")).stdout).toBe("false\n");
    expect((await h.run("channels", "remove", "--channel", "telegram", "--delete")).code).toBe(0);
    expect((await h.json("channels", "list", "--json")).value).toMatchObject({ chat: {} });
    const feishu = await h.run("channels", "add", "--channel", "lark", "--token", "cli_a1b2c3d4e5f60708:secret");
    expect([feishu.code, feishu.stdout]).toEqual([0, expect.stringContaining('Added Feishu account "default".') as string]);
    expect((await h.json("config", "get", "channels.feishu", "--json")).value).toMatchObject({ enabled: true, appId: "cli_a1b2c3d4e5f60708" });
    expect((await h.json("channels", "list", "--json")).value).toMatchObject({ chat: { feishu: ["default"] } });
    expect((await h.run("channels", "add", "--channel", "pigeon")).stderr).toMatch(/Unknown channel: pigeon\nChannels: telegram, feishu, .*qqbot/s);
  });
});

describe("what is shown", () => {
  it("keeps every table within the terminal, whatever is in it", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: "grapheme", maxLength: 200 }), fc.string({ maxLength: 10 })), { maxLength: 5 }), fc.integer({ min: 60, max: 120 }), (rows, width) => {
        const clean = rows.map((row) => row.map((cell) => cell.replace(/[\p{Cc}\p{Cf}]/gu, "")));
        const lines = renderTable([{ title: "A", flexible: true }, { title: "B" }], clean, width).split("\n");
        const widths = new Set(lines.map(displayWidth));
        expect(widths.size).toBe(1);
        expect(Math.max(...widths)).toBeLessThanOrEqual(width);
      }),
      { numRuns: 60 },
    );
    expect(displayWidth("\u001B[31m漢字\u001B[0m")).toBe(4);
  });

  it("reads log lines of its own and of others", () => {
    const name = '{"subsystem":"gateway/ws"}';
    const line = JSON.stringify({ "0": name, "1": "listening", "2": { port: 1 }, _meta: { name, logLevelName: "WARN" }, time: "2026-01-01T00:00:00.000Z" });
    expect(toEvent(line)).toMatchObject({ type: "log", level: "warn", subsystem: "gateway/ws", message: 'listening {"port":1}', time: "2026-01-01T00:00:00.000Z" });
    expect(toEvent(JSON.stringify({ "0": "from the console", _meta: { name: "x", logLevelName: "INFO" } }))).toMatchObject({ type: "log", message: "from the console" });
    fc.assert(fc.property(fc.string(), (raw) => ["raw", "log"].includes(toEvent(raw).type)));
  });
});
