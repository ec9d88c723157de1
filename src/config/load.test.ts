import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseDotenv } from "./env.ts";
import { createTestHome } from "../../test/support/config-home.ts";

describe("syntax", () => {
  it("reads comments, trailing commas and bare keys", async () => {
    await using home = await createTestHome("{ // hi\n gateway: { port: 1, }, }");
    const snapshot = await home.load();
    expect(snapshot).toMatchObject({ valid: true, exists: true, config: { gateway: { port: 1 } } });
    expect(Object.isFrozen(snapshot.config.gateway)).toBe(true);
    expect(snapshot.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it("points at the line and column of a fault", async () => {
    await using home = await createTestHome('{\n  gateway: {\n    port: 1 bind: "lan"\n  }\n}');
    const { issues, valid } = await home.load();
    expect(valid).toBe(false);
    expect(issues).toEqual([
      expect.objectContaining({
        path: "",
        line: 3,
        column: 13,
        message: `${home.paths.configPath}:3:13: unexpected "b"; expected a key, a value, a comma or a closing bracket`,
      }),
    ]);
  });

  it.each([
    ["", "empty"],
    ["{ a: 1", "ends too early"],
    ["[]", "must be an object"],
  ])("refuses %j in plain words", async (text, words) => {
    await using home = await createTestHome(text);
    expect((await home.load()).issues[0]?.message).toContain(words);
  });

  it("takes a missing file as empty, with defaults", async () => {
    await using home = await createTestHome();
    expect(await home.load()).toMatchObject({
      exists: false,
      valid: true,
      raw: null,
      config: {
        session: { mainKey: "main" },
        agents: { defaults: { maxConcurrent: 4, compaction: { mode: "safeguard" } } },
      },
    });
  });

  it("drops keys that reach into prototypes", async () => {
    await using home = await createTestHome('{"__proto__": {"x": 1}, "gateway": {"constructor": {"y": 1}}}');
    const { valid, resolved } = await home.load();
    expect(valid).toBe(true);
    expect(resolved).toEqual({ gateway: {} });
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it("says how to repair a file that cannot be read", async () => {
    await using home = await createTestHome("{}");
    const readText = (path: string): Promise<string> =>
      Promise.reject(Object.assign(new Error(`EACCES: permission denied, open '${path}'`), { code: "EACCES" }));
    const { valid, issues } = await home.load({ readText });
    expect(valid).toBe(false);
    expect(issues[0]?.message).toContain("chown");
  });
});

describe("includes", () => {
  it("merges files in order, joins lists, and lets keys beside it win", async () => {
    await using home = await createTestHome(
      '{ $include: ["a.json5", "sub/b.json5"], gateway: { port: 3 }, bindings: [] }',
    );
    await home.write("a.json5", '{ gateway: { port: 1, bind: "lan" }, agents: { list: [{ id: "a" }] } }');
    await home.write("sub/b.json5", '{ gateway: { port: 2 }, agents: { list: { $include: "./c.json5" } } }');
    await home.write("sub/c.json5", '[{ id: "c" }]');
    const snapshot = await home.load();
    expect(snapshot.resolved).toEqual({
      gateway: { port: 3, bind: "lan" },
      agents: { list: [{ id: "a" }, { id: "c" }] },
      bindings: [],
    });
    expect(snapshot.includes).toEqual([home.file("a.json5"), home.file("sub/b.json5"), home.file("sub/c.json5")]);
  });

  it("names the file and line of a fault inside an include", async () => {
    await using home = await createTestHome('{ logging: { $include: "log.json5" } }');
    await home.write("log.json5", '{\n  levle: "info" }');
    expect((await home.load()).warnings).toEqual([
      expect.objectContaining({ path: "logging", file: home.file("log.json5"), line: 2, column: 3 }),
    ]);
  });

  it("refuses a file outside, also behind a symlink, and does not show its content", async () => {
    await using home = await createTestHome('{ $include: "../secret.json5" }');
    await writeFile(join(home.dir, "secret.json5"), '{ gateway: { auth: { token: "canary" } } }');
    const outside = await home.load();
    expect(outside.issues[0]?.message).toMatch(/outside/);
    await home.write("openclaw.json", '{ $include: "link.json5" }');
    await symlink(join(home.dir, "secret.json5"), home.file("link.json5"));
    const linked = await home.load();
    expect(linked.issues[0]?.message).toMatch(/outside/);
    await home.write("openclaw.json", '{ $include: "dir/secret.json5" }');
    await symlink(home.dir, home.file("dir"));
    expect((await home.load()).issues[0]?.message).toMatch(/outside/);
    expect(JSON.stringify([outside, linked])).not.toContain("canary");
  });

  it.each([
    ['{ $include: "missing.json5" }', /does not exist/],
    ['{ $include: "loop.json5" }', /circular include: .*loop\.json5 -> .*loop\.json5/],
    ["{ $include: [1] }", /must be a path or a list of paths/],
    ['{ gateway: { $include: "list.json5", port: 1 } }', /need the included file to hold an object/],
    ['{ $include: "bad.json5" }', /bad\.json5:1:3/],
  ])("makes %s invalid at the root", async (text, message) => {
    await using home = await createTestHome(text);
    await home.write("loop.json5", '{ $include: "loop.json5" }');
    await home.write("list.json5", "[1]");
    await home.write("bad.json5", "{ ]");
    const { valid, issues } = await home.load();
    expect(valid).toBe(false);
    expect(issues).toEqual([expect.objectContaining({ path: "", message: expect.stringMatching(message) as string })]);
  });

  it("follows ten levels and no more", async () => {
    await using home = await createTestHome('{ $include: "1.json5" }');
    for (let i = 1; i < 10; i++) await home.write(`${i}.json5`, `{ $include: "${i + 1}.json5" }`);
    await home.write("10.json5", "{ gateway: { port: 9 } }");
    expect((await home.load()).config.gateway?.port).toBe(9);
    await home.write("10.json5", '{ $include: "11.json5" }');
    await home.write("11.json5", "{}");
    expect((await home.load()).issues[0]?.message).toMatch(/deeper than 10/);
  });
});

describe("environment", () => {
  it("puts variables in, keeps escapes and lower case", async () => {
    await using home = await createTestHome(
      '{ env: { BASE: "http://h", vars: { V: "v" } }, ui: { assistant: { name: "${BASE}/${V}-$${V}-${low}" } } }',
    );
    expect((await home.load()).config.ui?.assistant?.name).toBe("http://h/v-${V}-${low}");
  });

  it("names an unset variable and its place; empty counts as unset", async () => {
    await using home = await createTestHome('{ gateway: { auth: {\n token: "${NOPE}" } } }', { NOPE: "" });
    const { issues, config } = await home.load();
    expect(issues).toEqual([
      expect.objectContaining({
        path: "gateway.auth.token",
        line: 2,
        message: 'Missing env var "NOPE" referenced at config path: gateway.auth.token',
      }),
    ]);
    expect(config.gateway?.auth?.token).toBeUndefined();
  });

  it("lets the process win over .env files, these over the env block", async () => {
    await using home = await createTestHome(
      '{ env: { A_TOKEN: "block", B_TOKEN: "block", C_TOKEN: "block", D_TOKEN: "block" } }',
      { A_TOKEN: "process" },
    );
    const cwd = join(home.dir, "cwd");
    await mkdir(cwd);
    await writeFile(join(cwd, ".env"), "A_TOKEN=cwd\nB_TOKEN=cwd\n");
    await home.write(".env", "A_TOKEN=state\nB_TOKEN=state\nC_TOKEN=state\n");
    const { env } = await home.load({ cwd });
    expect(["A_TOKEN", "B_TOKEN", "C_TOKEN", "D_TOKEN"].map((name) => env.get(name))).toEqual([
      "process",
      "cwd",
      "state",
      "block",
    ]);
    expect(env.sourceOf("D_TOKEN")).toBe("config");
    expect(process.env["D_TOKEN"]).toBeUndefined();
  });

  it("takes harmless names only from the .env of the working directory, and none inside a workspace", async () => {
    await using home = await createTestHome('{ agents: { list: [{ id: "a", workspace: "~/ws" }] } }');
    const text =
      "X_API_KEY=1\nOPENCLAW_GATEWAY_TOKEN=2\nNODE_OPTIONS=3\nLD_TOKEN=4\nPATH=5\nFOO=6\nNODE_AUTH_TOKEN=7\n";
    for (const dir of ["cwd", "ws/sub"]) {
      await mkdir(join(home.dir, dir), { recursive: true });
      await writeFile(join(home.dir, dir, ".env"), text);
    }
    const { env } = await home.load({ cwd: join(home.dir, "cwd") });
    expect(Object.keys(env.vars).filter((name) => env.sourceOf(name) === "cwd-dotenv")).toEqual(["X_API_KEY"]);
    expect((await home.load({ cwd: join(home.dir, "ws/sub") })).env.get("X_API_KEY")).toBeUndefined();
  });

  it("ignores loader variables of the env block and says so", async () => {
    await using home = await createTestHome(
      '{ env: { vars: { LD_PRELOAD: "/x.so", NODE_OPTIONS: "--require x", OK: "1" } } }',
    );
    const { env, warnings } = await home.load();
    expect([env.get("LD_PRELOAD"), env.get("NODE_OPTIONS"), env.get("OK")]).toEqual([undefined, undefined, "1"]);
    expect(warnings.map((issue) => issue.message)).toEqual([
      expect.stringContaining("env.LD_PRELOAD is ignored"),
      expect.stringContaining("env.NODE_OPTIONS is ignored"),
    ]);
  });

  it("asks the login shell only for names that are missing, and survives its failure", async () => {
    await using home = await createTestHome("{ env: { shellEnv: { enabled: true, timeoutMs: 5 } } }", {
      OPENAI_API_KEY: "own",
    });
    const asked: number[] = [];
    const good = await home.load({
      readShellEnv: async (timeoutMs) => (asked.push(timeoutMs), { OPENAI_API_KEY: "shell", ZAI_API_KEY: "z" }),
    });
    expect([asked, good.env.get("OPENAI_API_KEY"), good.env.get("ZAI_API_KEY")]).toEqual([[5], "own", "z"]);
    const bad = await home.load({ readShellEnv: () => Promise.reject(new Error("no shell")) });
    expect(bad).toMatchObject({ valid: true, warnings: [{ path: "env.shellEnv", message: "no shell" }] });
  });

  it("reads the .env notation", () => {
    expect(parseDotenv("export A=1 # c\nB='x # y'\nC=\"a\\nb\"\n# D=1\nE = spaced \nbad line\nF=")).toEqual({
      A: "1",
      B: "x # y",
      C: "a\nb",
      E: "spaced",
      F: "",
    });
  });
});

describe("checks", () => {
  it("a key without effect is told also below a name that holds a dot", async () => {
    await using home = await createTestHome('{ agents: { defaults: { models: { "openai/gpt-5.2": { alias: "g", streaming: false } } } } }');
    expect((await home.load()).unusedKeys).toEqual(["agents.defaults.models.openai/gpt-5.2.streaming"]);
  });

  it("starts with an unknown key and names line and nearest key", async () => {
    await using home = await createTestHome("{\n  sesion: {},\n  logging: { lvl: 1 } }");
    expect(await home.load()).toMatchObject({
      valid: true,
      warnings: [
        { path: "", line: 2, message: 'Unrecognized key: "sesion" (did you mean "session"?)' },
        { path: "logging", line: 3 },
      ],
    });
  });

  it("refuses an unknown key where it could open a door, and a wrong type anywhere", async () => {
    await using home = await createTestHome('{ tools: { denny: [] }, session: { idleMinutes: "5" } }');
    expect((await home.load()).issues.map((issue) => issue.path)).toEqual(["tools", "session.idleMinutes"]);
  });

  it("keeps port and auth of a configuration with faults elsewhere", async () => {
    await using home = await createTestHome('{ gateway: { port: 4000, bind: 1, auth: { token: "t" } }, session: 5 }');
    expect(await home.load()).toMatchObject({
      valid: false,
      config: { gateway: { port: 4000, auth: { token: "t" } } },
    });
    await home.write("openclaw.json", '{ gateway: { port: 4001 }, tools: { $include: "gone.json5" } }');
    expect(await home.load()).toMatchObject({ valid: false, config: { gateway: { port: 4001 } } });
  });

  it.each([
    [
      '{ channels: { telegram: { dmPolicy: "open" } } }',
      "channels.telegram.allowFrom",
      /requires allowFrom to include "\*"/,
    ],
    [
      '{ channels: { telegram: { accounts: { x: { dmPolicy: "open", allowFrom: ["1"] } } } } }',
      "channels.telegram.accounts.x.allowFrom",
      /open/,
    ],
    ['{ channels: { telegram: { token: "a", botToken: "b" } } }', "channels.telegram.token", /two names of one thing/],
    ['{ agents: { list: [{ id: "A" }, { id: "a" }] } }', "agents.list", /share the directory/],
    ['{ agents: { list: [{ id: "a", identity: { avatar: "~/x.png" } }] } }', "agents.list[0].identity.avatar", /~/],
    [
      '{ agents: { list: [{ id: "a", identity: { avatar: "../x.png" } }] } }',
      "agents.list[0].identity.avatar",
      /inside the workspace/,
    ],
    ['{ agents: { list: [{ id: "a", identity: { avatar: "file:///x" } }] } }', "agents.list[0].identity.avatar", /URL/],
    ['{ agents: { defaults: { heartbeat: { target: "" } } } }', "agents.defaults.heartbeat.target", /empty/],
    ['{ gateway: { token: "x" } }', "gateway.token", /gateway\.auth\.token/],
    ['{ telegram: { botToken: "x" } }', "telegram", /channels\.telegram/],
    [
      '{ bindings: [{ agentId: "a", match: { channel: "x", accountID: "y" } }] }',
      "bindings[0].match.accountID",
      /accountId/,
    ],
  ])("refuses %s", async (text, path, message) => {
    await using home = await createTestHome(text);
    const { valid, issues } = await home.load();
    expect(valid).toBe(false);
    expect(issues[0]).toMatchObject({ path, message: expect.stringMatching(message) as string });
  });

  it("warns of a file that a newer version wrote", async () => {
    await using home = await createTestHome('{ meta: { lastTouchedVersion: "2026.3.1" } }');
    expect((await home.load({ version: "2026.2.25" })).warnings[0]?.message).toContain("2026.3.1");
    expect((await home.load({ version: "2026.10.0" })).warnings).toEqual([]);
  });

  it("passes plugins and channels it is told about", async () => {
    await using home = await createTestHome(
      '{ channels: { qqbot: {}, odd: {} }, plugins: { allow: ["p", "q"], entries: { p: { config: { a: 1 } } } }, agents: { defaults: { heartbeat: { target: "qqbot" } } } }',
    );
    const known = {
      channelIds: new Set(["qqbot"]),
      pluginIds: new Set(["p"]),
      validatePluginConfig: () => ["a must be a string"],
    };
    const snapshot = await home.load({ known: () => known });
    expect(snapshot.issues.map((issue) => `${issue.path}: ${issue.message}`)).toEqual([
      "plugins.entries.p.config: invalid config: a must be a string",
    ]);
    expect(snapshot.warnings.map((issue) => issue.message)).toEqual(["unknown channel id: odd", "plugin not found: q"]);
  });

  it("lets a plugin wait for its settings", async () => {
    await using home = await createTestHome("{ plugins: { entries: { p: { enabled: true } } } }");
    const snapshot = await home.load({ known: () => ({ pluginIds: new Set(["p"]), validatePluginConfig: () => ["must have required properties key"] }) });
    expect(snapshot.issues).toEqual([]);
    expect(snapshot.warnings.map(({ path, message }) => `${path}: ${message}`)).toEqual(["plugins.entries.p.config: invalid config: must have required properties key"]);
  });
});

describe("defaults", () => {
  it("joins the second spellings", async () => {
    await using home = await createTestHome(
      '{ channels: { telegram: { token: "t", accounts: { a: { token: "u" } } } }, heartbeat: { enabled: false }, agents: { list: [{ id: "a", heartbeat: { every: "5m" } }] } }',
    );
    const { config } = await home.load();
    expect(config.channels?.telegram).toMatchObject({
      botToken: "t",
      dmPolicy: "pairing",
      groupPolicy: "allowlist",
      accounts: { a: { botToken: "u" } },
    });
    expect(config.channels?.telegram?.accounts?.["a"]?.dmPolicy).toBeUndefined();
    expect([config.agents?.defaults?.heartbeat?.every, config.agents?.list?.[0]?.heartbeat?.every]).toEqual([
      "0m",
      "0m",
    ]);
  });

  it("sets cache and heartbeat by how Anthropic is signed in", async () => {
    await using home = await createTestHome(
      '{ agents: { defaults: { models: { "anthropic/claude-opus-4-6": {}, "openai/gpt-5.2": { alias: "mine" } } } } }',
      { ANTHROPIC_API_KEY: "k" },
    );
    expect((await home.load()).config.agents?.defaults).toMatchObject({
      contextPruning: { mode: "cache-ttl", ttl: "1h" },
      heartbeat: { every: "30m" },
      models: {
        "anthropic/claude-opus-4-6": { alias: "opus", params: { cacheRetention: "short" } },
        "openai/gpt-5.2": { alias: "mine" },
      },
    });
  });

  it("completes model entries", async () => {
    await using home = await createTestHome(
      '{ models: { providers: { p: { baseUrl: "u", models: [{ id: "m", name: "M", contextWindow: 4096, cost: { input: 1 } }] } } } }',
    );
    expect((await home.load()).config.models?.providers?.["p"]?.models?.[0]).toEqual({
      id: "m",
      name: "M",
      reasoning: false,
      input: ["text"],
      contextWindow: 4096,
      maxTokens: 4096,
      cost: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 },
    });
  });
});

it("loads and checks a small configuration in a few milliseconds", async () => {
  await using home = await createTestHome(
    '{ "gateway": { "mode": "local", "auth": { "mode": "token", "token": "t" } }, "channels": { "telegram": { "botToken": "1:x" } } }',
  );
  await home.load();
  const before = process.cpuUsage();
  for (let i = 0; i < 10; i++) await home.load();
  expect(process.cpuUsage(before).user / 1000 / 10).toBeLessThan(25);
});
