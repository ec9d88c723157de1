import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, lstat, mkdir, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTestHome, type TestHome } from "../../test/support/config-home.ts";
import { createLogger, type LogRecord } from "../infra/log.ts";
import { ensureInitialConfig } from "./initial.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { REDACTED } from "./redact-config.ts";
import { hashConfigText } from "./load.ts";
import { auditArgv, findAnomalies } from "./write-files.ts";
import { ConfigWriteError } from "./writer.ts";

const SAMPLE = `{
  // how to listen
  gateway: {
    mode: "local", // here
    auth: { mode: 'token', token: "\${TOK}" },
    port: 18789,
  },
  agents: { list: [
    { id: "a", name: "A" }, // first
    { id: "b" },
  ] },
}
`;

const withoutMeta = (text: string): string => text.replace(/\n {2}"?meta"?: \{[\s\S]*?\n {2}\},/, "");

const failure = (promise: Promise<unknown>): Promise<ConfigWriteError> =>
  promise.then(
    () => expect.unreachable("the write should have failed"),
    (err: unknown) => {
      expect(err).toBeInstanceOf(ConfigWriteError);
      return err as ConfigWriteError;
    },
  );

describe("setting keys", () => {
  it("keeps comments, order, quotes and references, and stamps the file", async () => {
    await using home = await createTestHome(SAMPLE, { TOK: "secret" });
    const { snapshot, changedPaths, files } = await home.writer().set("gateway.port", 4000);
    expect(snapshot.config.gateway).toMatchObject({ port: 4000, auth: { token: "secret" } });
    expect(changedPaths).toEqual(expect.arrayContaining(["gateway.port", "meta.lastTouchedVersion"]));
    expect(files).toEqual([home.paths.configPath]);
    expect(withoutMeta(await home.read())).toBe(withoutMeta(SAMPLE.replace("18789", "4000")));
    expect((await home.load()).config.meta?.lastTouchedVersion).toBe("2026.2.25");
  });

  it("reaches list items by brackets and removes keys", async () => {
    await using home = await createTestHome(SAMPLE, { TOK: "x" });
    await home.writer().set("agents.list[1].name", "B");
    await home.writer().unset("agents.list[0].name");
    expect((await home.load()).resolved["agents"]).toEqual({ list: [{ id: "a" }, { id: "b", name: "B" }] });
    expect(await home.read()).toContain("// first");
    expect((await failure(home.writer().unset("gateway.bind"))).code).toBe("not-found");
  });

  it("creates the file as strict JSON, readable by its owner only", async () => {
    await using home = await createTestHome();
    await rm(home.paths.stateDir, { recursive: true });
    const umask = process.umask(0);
    await home.writer().set("gateway.mode", "local");
    process.umask(umask);
    expect(JSON.parse(await home.read())).toMatchObject({
      gateway: { mode: "local" },
      meta: { lastTouchedVersion: "2026.2.25" },
    });
    expect((await stat(home.paths.configPath)).mode & 0o777).toBe(0o600);
    expect((await stat(home.paths.stateDir)).mode & 0o777).toBe(0o700);
  });

  it.each(["__proto__.x", "gateway.constructor", "a.prototype.b", "gateway..port", ""])(
    "refuses the path %j",
    async (path) => {
      await using home = await createTestHome("{}");
      expect((await failure(home.writer().set(path, 1))).code).toBe("bad-path");
      expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
      expect(await home.read()).toBe("{}");
    },
  );

  it("refuses what would not load and leaves the file alone", async () => {
    await using home = await createTestHome(SAMPLE, { TOK: "x" });
    const err = await failure(home.writer().set("gateway.port", "x"));
    expect(err).toMatchObject({ code: "invalid", issues: [{ path: "gateway.port" }] });
    expect(err.message).toContain("Config validation failed: gateway.port: Invalid input");
    expect((await failure(home.writer().set("logging.levl", "info"))).message).toContain('did you mean "level"');
    expect((await failure(home.writer().set("ui.assistant.name", "${UNSET_X}"))).message).toContain(
      'Missing env var "UNSET_X"',
    );
    expect(await home.read()).toBe(SAMPLE);
    expect(await readdir(home.paths.stateDir)).toEqual(["openclaw.json"]);
  });

  it("is not stopped by an unknown key that was there before", async () => {
    await using home = await createTestHome("{ odd: 1 }");
    expect((await home.writer().set("logging.level", "debug")).snapshot.resolved).toMatchObject({
      odd: 1,
      logging: { level: "debug" },
    });
  });

  it("writes nothing when nothing changes, also when a reference is set to its value", async () => {
    await using home = await createTestHome(SAMPLE, { TOK: "secret" });
    const result = await home.writer().set("gateway.auth.token", "secret");
    expect(result.files).toEqual([]);
    expect(await home.read()).toBe(SAMPLE);
  });
});

describe("replacing everything", () => {
  it("writes the difference to the effective values, without defaults", async () => {
    await using home = await createTestHome(SAMPLE, { TOK: "secret" });
    const config = structuredClone((await home.load()).config) as Record<string, unknown>;
    config["logging"] = { level: "debug", redactSensitive: "tools" };
    await home.writer().replace(config);
    const text = await home.read();
    expect(text).toContain('"${TOK}"');
    expect(text).toContain("// first");
    expect(text).not.toMatch(/mainKey|maxConcurrent/);
    expect((await home.load()).config.logging?.level).toBe("debug");
  });

  it("takes a form's JSON as values and a person's text as text", async () => {
    await using home = await createTestHome(SAMPLE, { TOK: "secret" });
    const form = {
      gateway: { mode: "local", auth: { mode: "token", token: REDACTED }, port: 1 },
      agents: { list: [{ id: "b" }, { id: "a", name: "A" }] },
    };
    await home.writer().setRaw(JSON.stringify(form, null, 2));
    expect(await home.read()).toContain("// how to listen");
    expect(await home.read()).toContain('"${TOK}"');
    expect((await home.load()).resolved["agents"]).toEqual(form.agents);
    const text = `{ /* mine */ gateway: { auth: { token: '${REDACTED}' } } }`;
    await home.writer().setRaw(text);
    expect(await home.read()).toContain('{ /* mine */ gateway: { auth: { token: "${TOK}" } }');
  });

  it("takes the defaults out of a form's JSON also when the file is plain JSON", async () => {
    await using home = await createTestHome('{ "gateway": { "port": 1 } }');
    const config = structuredClone((await home.load()).config) as Record<string, object>;
    await home.writer().setRaw(JSON.stringify({ ...config, gateway: { port: 2 } }));
    const { meta: _meta, ...written } = JSON.parse(await home.read()) as Record<string, unknown>;
    expect(written).toEqual({ gateway: { port: 2 } });
  });

  it("refuses a placeholder that stands for nothing", async () => {
    await using home = await createTestHome(SAMPLE, { TOK: "secret" });
    for (const write of [
      home.writer().setRaw(`{ channels: { telegram: { botToken: "${REDACTED}" } } } // x`),
      home.writer().mergePatch({ channels: { telegram: { botToken: REDACTED } } }),
    ]) {
      expect(await failure(write)).toMatchObject({
        code: "redacted-unknown",
        issues: [{ path: "channels.telegram.botToken" }],
      });
    }
    expect(await home.read()).toBe(SAMPLE);
  });

  it("repairs a broken file by a whole new text, and refuses to patch it", async () => {
    await using home = await createTestHome("{ oops");
    expect((await failure(home.writer().mergePatch({ gateway: {} }))).code).toBe("syntax");
    expect((await failure(home.writer().setRaw("{ still"))).code).toBe("syntax");
    await home.writer().setRaw("{ gateway: {} }");
    expect((await home.load()).valid).toBe(true);
  });
});

describe("base hash", () => {
  it("is required by RPC when the file exists, and must be the present one", async () => {
    await using home = await createTestHome("{}");
    const writer = home.writer();
    const patch = { logging: { level: "debug" } };
    expect((await failure(writer.mergePatch(patch, { requireBaseHash: true }))).message).toBe(
      "config base hash required; re-run config.get and retry",
    );
    expect((await failure(writer.mergePatch(patch, { requireBaseHash: true, baseHash: "0" }))).message).toBe(
      "config changed since last load; re-run config.get and retry",
    );
    await writer.mergePatch(patch, { requireBaseHash: true, baseHash: hashConfigText("{}") });
    expect((await home.load()).config.logging?.level).toBe("debug");
  });
});

describe("merge patch", () => {
  it("deletes by null, merges lists by id and keeps references", async () => {
    await using home = await createTestHome(SAMPLE, { TOK: "secret" });
    await home
      .writer()
      .mergePatch({ gateway: { port: null }, agents: { list: [{ id: "b", name: "B" }, { id: "c" }] } });
    expect((await home.load()).source).toMatchObject({
      gateway: { mode: "local", auth: { mode: "token", token: "${TOK}" } },
      agents: { list: [{ id: "a", name: "A" }, { id: "b", name: "B" }, { id: "c" }] },
    });
    expect(await home.read()).not.toContain("18789");
    expect((await failure(home.writer().mergePatch([1]))).message).toBe("config.patch raw must be an object");
  });

  it("moves legacy keys on the way", async () => {
    await using home = await createTestHome('{ telegram: { botToken: "1:x" } }');
    await home.writer().mergePatch({ logging: { level: "debug" } });
    expect((await home.load()).resolved).toMatchObject({ channels: { telegram: { botToken: "1:x" } } });
  });

  const plain = fc.dictionary(
    fc.constantFrom("a", "b", "c"),
    fc.letrec((tie) => ({
      v: fc.oneof(
        { maxDepth: 2 },
        fc.integer(),
        fc.string(),
        fc.constant(null),
        fc.array(fc.integer()),
        fc.dictionary(fc.constantFrom("a", "b", "c"), tie("v")),
      ),
    })).v,
  );

  it("applied twice is as applied once, and an empty patch changes nothing", () => {
    fc.assert(
      fc.property(plain, plain, (base, patch) => {
        const once = applyMergePatch(base, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
        expect(applyMergePatch(base, {})).toEqual(base);
        expect(JSON.stringify(applyMergePatch({}, patch)) ?? "").not.toContain("__proto__");
      }),
    );
  });
});

describe("includes", () => {
  const ROOT =
    '{\n  // root\n  gateway: { $include: "gw.json5" },\n  channels: { $include: ["tg.json5"], discord: { enabled: false } },\n  bindings: [],\n}\n';
  const GW = '// gateway part\n{ port: 1, auth: { token: "${TOK}" } }\n';
  const TG = "{ telegram: { allowFrom: [1, 2], /* note */ dmPolicy: 'allowlist' } }\n";
  const withIncludes = async (): Promise<TestHome> => {
    const home = await createTestHome(ROOT, { TOK: "s" });
    await home.write("gw.json5", GW);
    await home.write("tg.json5", TG);
    return home;
  };

  it("writes a key into the file that holds it, and a new one beside its siblings", async () => {
    await using home = await withIncludes();
    const { files } = await home.writer().mergePatch({
      gateway: { port: 2, bind: "lan" },
      channels: { telegram: { allowFrom: [1, 2, 3] }, discord: { enabled: true } },
    });
    expect(files.toSorted()).toEqual([home.file("gw.json5"), home.paths.configPath, home.file("tg.json5")].toSorted());
    expect(await home.read("gw.json5")).toBe('// gateway part\n{ port: 2, auth: { token: "${TOK}" }, bind: "lan" }\n');
    expect(await home.read("tg.json5")).toBe(TG.replace("[1, 2]", "[1, 2, 3]"));
    expect(withoutMeta(await home.read())).toBe(ROOT.replace("enabled: false", "enabled: true"));
  });

  it("edits the items of a list joined from two files where they stand", async () => {
    await using home = await createTestHome('{ $include: ["a.json5", "b.json5"] }');
    await home.write("a.json5", '{ agents: { list: [{ id: "a" }, { id: "b" }] } }');
    await home.write("b.json5", '{ agents: { list: [{ id: "c" }] } }');
    await home.writer().mergePatch({ agents: { list: [{ id: "b", name: "B" }, { id: "c", name: "C" }, { id: "d" }] } });
    expect(await home.read("a.json5")).toBe('{ agents: { list: [{ id: "a" }, { id: "b", name: "B" }] } }');
    expect(await home.read("b.json5")).toBe('{ agents: { list: [{ id: "c", name: "C" }, { id: "d" }] } }');
  });

  it("refuses what no single file can express", async () => {
    await using home = await createTestHome('{ $include: ["a.json5"], agents: { list: [{ id: "x" }] } }');
    await home.write("a.json5", '{ agents: { list: [{ id: "a" }] } }');
    const err = await failure(home.writer().update((source) => ({ ...source, agents: { list: 5 } })));
    expect(["not-editable", "invalid"]).toContain(err.code);
    expect(await home.read("a.json5")).toBe('{ agents: { list: [{ id: "a" }] } }');
  });

  it("removes an include with its key", async () => {
    await using home = await withIncludes();
    await home.writer().unset("gateway");
    expect(await home.read()).not.toContain("gw.json5");
    expect(await home.read("gw.json5")).toBe(GW);
  });
});

describe("safety on disk", () => {
  it("keeps five backups, all 0600, the newest first", async () => {
    await using home = await createTestHome("{}");
    await chmod(home.paths.configPath, 0o644);
    for (let port = 1; port <= 7; port++) await home.writer().set("gateway.port", port);
    const names = (await readdir(home.paths.stateDir)).filter((name) => name.includes(".bak")).toSorted();
    expect(names).toEqual([
      "openclaw.json.bak",
      "openclaw.json.bak.1",
      "openclaw.json.bak.2",
      "openclaw.json.bak.3",
      "openclaw.json.bak.4",
    ]);
    for (const name of [...names, "openclaw.json"])
      expect((await stat(home.file(name))).mode & 0o777, name).toBe(0o600);
    expect(JSON.parse(await home.read("openclaw.json.bak"))).toMatchObject({ gateway: { port: 6 } });
    expect(JSON.parse(await home.read("openclaw.json.bak.4"))).toMatchObject({ gateway: { port: 2 } });
  });

  it("keeps a symlinked file a symlink", async () => {
    await using home = await createTestHome();
    await writeFile(join(home.dir, "dotfile.json"), "{}");
    await symlink(join(home.dir, "dotfile.json"), home.paths.configPath);
    await home.writer().set("gateway.port", 5);
    expect((await lstat(home.paths.configPath)).isSymbolicLink()).toBe(true);
    expect((await home.load()).config.gateway?.port).toBe(5);
  });

  it("leaves the old file when the lock cannot be taken, and writes again after", async () => {
    await using home = await createTestHome("{}");
    await mkdir(join(home.file("openclaw.json.lock"), "in-the-way"), { recursive: true });
    await expect(home.writer().set("gateway.port", 1)).rejects.toThrow();
    expect(await home.read()).toBe("{}");
    await rm(home.file("openclaw.json.lock"), { recursive: true });
    await home.writer().set("gateway.port", 2);
    expect((await home.load()).config.gateway?.port).toBe(2);
  });

  it("leaves a whole file, the old or the new one, when its process is killed at any moment", async () => {
    await using home = await createTestHome(SAMPLE, { TOK: "x" });
    const script = `
      const { createConfigWriter } = await import(${JSON.stringify(new URL("./writer.ts", import.meta.url).href)});
      const { resolveStatePaths } = await import(${JSON.stringify(new URL("./paths.ts", import.meta.url).href)});
      const { silentLogger } = await import(${JSON.stringify(new URL("../infra/log.ts", import.meta.url).href)});
      const env = process.env;
      const writer = createConfigWriter({ paths: resolveStatePaths(env), env, version: "1", log: silentLogger });
      console.log("ready");
      for (let i = 1; ; i++) { await writer.set("gateway.port", 1000 + (i % 5000)); if (i % 3 === 0) console.log("wrote"); }`;
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        env: { ...home.deps.env, PATH: process.env["PATH"] },
        stdio: ["ignore", "pipe", "inherit"],
      });
      for await (const chunk of child.stdout) if (String(chunk).includes("wrote")) break;
      child.kill("SIGKILL");
      await once(child, "close");
      expect(await home.load()).toMatchObject({ exists: true, valid: true });
      expect(await home.read()).toContain("// how to listen");
    }
    await home.writer().set("gateway.port", 9);
    expect((await home.load()).config.gateway?.port).toBe(9);
  });

  it("loses nothing of many writers at once", async () => {
    await using home = await createTestHome("{ // start\n}");
    const writers = [home.writer(), home.writer(), home.writer()];
    await Promise.all(
      writers.flatMap((writer, w) =>
        Array.from({ length: 10 }, (_, i) => writer.set(`env.vars.V${w}_${i}`, String(i))),
      ),
    );
    const { config } = await home.load();
    expect(Object.keys(config.env?.vars ?? {})).toHaveLength(30);
    expect(await home.read()).toContain("// start");
    expect((await readdir(home.paths.stateDir)).filter((name) => /lock|tmp/.test(name))).toEqual([]);
  });

  it("logs every write and its anomalies, and never a secret", async () => {
    const records: LogRecord[] = [];
    const log = createLogger([{ threshold: () => "info", write: (record) => void records.push(record) }]);
    await using home = await createTestHome(
      `{ gateway: { mode: "local", auth: { token: "canary-secret" } }, ui: { assistant: { name: "${"x".repeat(50)}" } } } // ${"y".repeat(600)}`,
    );
    await home.writer({ log }).setRaw('{ gateway: { auth: { token: "canary-secret-2" } } }');
    const lines = (await home.read("logs/config-audit.jsonl"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toEqual([
      expect.objectContaining({
        event: "config.write",
        source: "config-io",
        result: "rename",
        existsBefore: true,
        gatewayModeBefore: "local",
        gatewayModeAfter: null,
        hasMetaAfter: true,
      }),
    ]);
    expect(lines[0]?.["suspicious"]).toEqual([
      expect.stringContaining("size-drop:"),
      "missing-meta-before-write",
      "gateway-mode-removed",
    ]);
    expect((await stat(home.file("logs/config-audit.jsonl"))).mode & 0o777).toBe(0o600);
    expect(records.map((record) => record.message)).toEqual([
      expect.stringContaining("Config overwrite:"),
      expect.stringContaining("Config write anomaly:"),
    ]);
    expect(JSON.stringify([lines, records])).not.toContain("canary");
  });

  it("masks what a command line may hide", () => {
    expect(auditArgv(["node", "openclaw", "config", "set", "gateway.auth.token", "hunter2", "--json"])).toEqual([
      "node",
      "openclaw",
      "config",
      "set",
      "gateway.auth.token",
      "***",
      "--json",
    ]);
    expect(
      auditArgv(["node", "openclaw", "onboard", "--openai-api-key", "k", "--gateway-token=t", "--port", "1", "x"]),
    ).toEqual(["node", "openclaw", "onboard", "--openai-api-key", "***", "--gateway-token=***", "--port", "1"]);
    expect(findAnomalies({ path: "", before: undefined, after: "", valueBefore: {}, valueAfter: {} })).toEqual([]);
  });
});

it("keeps comments and references over random edits", async () => {
  const paths = fc.constantFrom(
    "gateway.port",
    "agents.list[0].name",
    "agents.list[1].name",
    "session.idleMinutes",
    "logging.level",
    "ui.assistant.name",
  );
  const values: Record<string, unknown[]> = {
    "gateway.port": [1, 2],
    "session.idleMinutes": [1, 2],
    "logging.level": ["info", "debug"],
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(paths, fc.nat(1), fc.boolean()), { minLength: 1, maxLength: 6 }),
      async (steps) => {
        await using home = await createTestHome(SAMPLE, { TOK: "secret" });
        const writer = home.writer();
        for (const [path, which, remove] of steps) {
          if (remove)
            await writer.unset(path).catch((err: unknown) => expect((err as ConfigWriteError).code).toBe("not-found"));
          else await writer.set(path, values[path]?.[which] ?? `n${which}`);
        }
        const text = await home.read();
        for (const kept of ["// how to listen", "// here", "// first", '"${TOK}"', "'token'"])
          expect(text).toContain(kept);
      },
    ),
    { numRuns: 25 },
  );
});

describe("the first start", () => {
  it("writes local mode and a token, once", async () => {
    await using home = await createTestHome();
    const first = await ensureInitialConfig(await home.load(), home.writer());
    expect(first.source).toMatchObject({
      gateway: { mode: "local", auth: { mode: "token", token: expect.stringMatching(/^[0-9a-f]{48}$/) as string } },
    });
    const text = await home.read();
    await ensureInitialConfig(await home.load(), home.writer());
    expect(await home.read()).toBe(text);
  });

  it("adds only what an existing file lacks, and nothing to an invalid one or beside a token in the environment", async () => {
    await using home = await createTestHome("{ // mine\n}");
    await ensureInitialConfig(await home.load(), home.writer());
    expect(await home.read()).toContain("// mine");
    expect((await home.load()).config.gateway?.auth?.token).toHaveLength(48);
    await using other = await createTestHome("{ gateway: {} }", { OPENCLAW_GATEWAY_TOKEN: "t" });
    await ensureInitialConfig(await other.load(), other.writer());
    expect(await other.read()).toBe("{ gateway: {} }");
  });
});
