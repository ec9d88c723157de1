import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeTar, makeTgz, startNpmRegistry, type NpmRegistry } from "../../../test/support/npm-registry.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { extractArchive } from "./archive.ts";
import { createNpmRunner, createPluginInstaller, type PluginInstaller, type PluginInstallerDeps } from "./index.ts";
import { parseInstallSource } from "./source.ts";

let dir: string;
let stateDir: string;
let cfg: OpenClawConfig;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "install-"));
  stateDir = join(dir, "state");
  cfg = {};
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

const MANIFEST = (id: string, extra: object = {}): string => JSON.stringify({ id, configSchema: { type: "object" }, ...extra });
const EXTENSION = { openclaw: { extensions: ["./index.js"] } };
const pluginFiles = (id: string, extra: object = {}) => ({ "openclaw.plugin.json": MANIFEST(id, extra), "index.js": "export default () => undefined;\n" });

function installer(extra: Partial<PluginInstallerDeps> = {}): PluginInstaller {
  return createPluginInstaller({
    stateDir, config: () => cfg, writeConfig: async (next) => void (cfg = next), now: () => Date.parse("2026-12-01T00:00:00Z"),
    npm: { pack: () => Promise.reject(new Error("no registry here")), installDependencies: () => Promise.resolve() }, ...extra,
  });
}

async function folder(id: string, pkg: object = EXTENSION, files: Readonly<Record<string, string>> = pluginFiles(id)): Promise<string> {
  const root = join(dir, `src-${id}`);
  await mkdir(root, { recursive: true });
  for (const [name, text] of Object.entries({ "package.json": JSON.stringify({ name: `@me/${id}`, version: "1.2.3", ...pkg }), ...files })) await writeFile(join(root, name), text);
  return root;
}

const leftovers = async (): Promise<string[]> => [
  ...(await readdir(join(stateDir, "extensions")).catch(() => [])),
  ...(await readdir(join(stateDir, "plugins")).catch(() => [])).filter((name) => name !== ".openclaw-install-backups"),
  ...(await readdir(join(stateDir, "plugins", ".openclaw-install-backups")).catch(() => [])),
];

describe("from a folder or an archive", () => {
  it("is copied, switched on and recorded", async () => {
    const path = await folder("zap");
    await mkdir(join(path, "node_modules", "x"), { recursive: true });
    await chmod(path, 0o777);
    cfg = { plugins: { allow: ["other"] } };
    const outcome = await installer().install(path);
    const target = join(stateDir, "extensions", "zap");
    expect(outcome).toEqual({ id: "zap", dir: target, version: "1.2.3", notices: ["Installed plugin: zap", "Restart the gateway to load plugins."] });
    expect((await readdir(target)).toSorted()).toEqual(["index.js", "openclaw.plugin.json", "package.json"]);
    expect((await stat(target)).mode & 0o022).toBe(0);
    expect(cfg.plugins).toEqual({
      allow: ["other", "zap"], entries: { zap: { enabled: true } },
      installs: { zap: { source: "path", sourcePath: path, installPath: target, version: "1.2.3", installedAt: "2026-12-01T00:00:00.000Z" } },
    });
    await expect(installer().install(path)).rejects.toThrow(`plugin already exists: ${target} (delete it first)`);
  });

  it("an archive is unpacked, with or without a folder in it", async () => {
    const files = { "package.json": JSON.stringify({ name: "zap", version: "1.0.0", ...EXTENSION }), ...pluginFiles("zap") };
    for (const [name, bytes] of [["a.tgz", makeTgz(files)], ["b.tar", makeTar(files)]] as const) {
      await writeFile(join(dir, name), bytes);
      const { dir: target } = await installer().install(join(dir, name));
      expect(await readFile(join(target, "index.js"), "utf8")).toContain("export default");
      expect(cfg.plugins?.installs?.["zap"]).toMatchObject({ source: "archive", shasum: expect.stringMatching(/^[0-9a-f]{40}$/) });
      await installer().uninstall("zap");
    }
  });

  it("a linked folder stays where it is, also when the plugin goes", async () => {
    const path = await folder("zap");
    await installer().install(path, { link: true });
    expect(cfg.plugins).toMatchObject({ load: { paths: [path] }, installs: { zap: { source: "path", sourcePath: path, installPath: path } } });
    expect(await installer().uninstall("zap")).toEqual({ id: "zap", removed: ["config entry", "install record", "load path"] });
    expect(cfg.plugins).toEqual({ entries: {}, installs: {}, load: { paths: [] } });
    expect(existsSync(join(path, "index.js"))).toBe(true);
  });

  it("a single file becomes a plugin of its name", async () => {
    await writeFile(join(dir, "solo.ts"), "export default () => undefined;");
    const { id, dir: target } = await installer().install(join(dir, "solo.ts"));
    expect([id, (await readdir(target)).toSorted()]).toEqual(["solo", ["openclaw.plugin.json", "package.json", "solo.ts"]]);
  });

  it("warns of code that starts programs, and installs", async () => {
    const path = await folder("zap", EXTENSION, { ...pluginFiles("zap"), "run.js": 'import { exec } from "node:child_process";\n\nexec("ls");\n' });
    const { notices } = await installer().install(path);
    expect(notices[0]).toBe('WARNING: Plugin "zap" contains dangerous code patterns: starts programs (run.js:3)');
  });

  it("a memory plugin takes the slot and the others are switched off", async () => {
    const path = await folder("mem", EXTENSION, pluginFiles("mem", { kind: "memory" }));
    const { notices } = await installer({ memoryPlugins: () => ["memory-core", "mem"] }).install(path);
    expect(notices.slice(0, 2)).toEqual(['Exclusive slot "memory" switched from "memory-core" to "mem".', 'Disabled other "memory" slot plugins: memory-core.']);
    expect(cfg.plugins).toMatchObject({ slots: { memory: "mem" }, entries: { mem: { enabled: true }, "memory-core": { enabled: false } } });
  });
});

it("one that lacks its settings is installed and says so; as a memory it leaves the slot where it is", async () => {
  const tryLoad = async () => ({ kind: "unconfigured", reason: "must have required properties key" }) as const;
  const { notices } = await installer({ tryLoad }).install(await folder("zap"));
  expect(notices[0]).toBe('Plugin "zap" does not run yet: must have required properties key. Its settings go to plugins.entries.zap.config');
  await installer({ tryLoad, memoryPlugins: () => ["memory-core", "mem"] }).install(await folder("mem", EXTENSION, pluginFiles("mem", { kind: "memory" })));
  expect(cfg.plugins).toMatchObject({ entries: { zap: { enabled: true }, mem: { enabled: true } } });
  expect([cfg.plugins?.slots, cfg.plugins?.entries?.["memory-core"]]).toEqual([undefined, undefined]);
});

describe("what cannot be installed leaves nothing behind", () => {
  it.each([
    ["no extensions", {}, {}, "package.json missing openclaw.extensions"],
    ["no manifest", EXTENSION, { "openclaw.plugin.json": "" }, "failed to parse plugin manifest"],
    ["an entry outside", { openclaw: { extensions: ["../x.js"] } }, {}, "extension entry escapes package directory: ../x.js"],
    ["a missing entry", { openclaw: { extensions: ["./none.js"] } }, {}, "extension entry not found: ./none.js"],
    ["a climbing id", EXTENSION, { "openclaw.plugin.json": MANIFEST("@a/..") }, "invalid plugin name"],
  ])("%s", async (_name, pkg, files, message) => {
    const path = await folder("zap", pkg, { ...pluginFiles("zap"), ...files });
    await expect(installer().install(path)).rejects.toThrow(message);
    expect([cfg, await leftovers()]).toEqual([{}, []]);
  });

  it.each([
    ["npm that fails", { npm: { pack: () => Promise.reject(new Error("x")), installDependencies: () => Promise.reject(new Error("npm install failed: E404 none")) } }, "E404"],
    ["a plugin that cannot be loaded", { tryLoad: async () => ({ kind: "broken" as const, reason: "SyntaxError" }) }, 'plugin "zap" cannot be loaded: SyntaxError'],
    ["a config that is not valid", { writeConfig: () => Promise.reject(new Error("invalid")) }, "the plugin was taken out again: invalid"],
  ] as const)("%s", async (_name, extra, message) => {
    const path = await folder("zap", { ...EXTENSION, dependencies: { none: "1.0.0" } });
    await expect(installer(extra).install(path)).rejects.toThrow(message);
    expect([cfg, await leftovers()]).toEqual([{}, []]);
  });

  it("an archive with links, or with paths that lead out", async () => {
    for (const [name, bytes] of [["out.tgz", gzipSync(makeTar({ "../../evil.js": "x" }))], ["link.tgz", gzipSync(makeTar({ "a": "" }, { type: "2" }))], ["abs.tar", makeTar({ "/etc/x": "x" })]] as const) {
      await writeFile(join(dir, name), bytes);
      await expect(installer().install(join(dir, name))).rejects.toThrow(/leads out of it|no plain file/);
    }
    expect(existsSync(join(dir, "evil.js"))).toBe(false);
  });

  it("a broken archive is told as one", async () => {
    await fc.assert(fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 700 }), async (bytes) => {
      await writeFile(join(dir, "x.tgz"), bytes);
      await expect(extractArchive(join(dir, "x.tgz"), join(dir, "out"))).rejects.toThrow(/damaged|holds/);
    }), { numRuns: 30 });
  });
});

describe("what a person may name", () => {
  it.each([["./none", "Path not found"], ["none.tgz", "Path not found"], ["https://e.com/x", "unsupported npm spec"], ["a b", "unsupported npm spec"], ["git#x", "unsupported npm spec"], ["x@npm:y", "unsupported npm spec"], ["x@a/b", "unsupported npm spec"], ["UPPER", "unsupported npm spec"], ["@", "unsupported npm spec"], ["", "unsupported npm spec"]])("not %j", (text, message) => {
    expect(() => parseInstallSource(text)).toThrow(message);
  });
  it.each([["zap", "zap"], ["@me/zap", "@me/zap"], ["@me/zap@^1.2.0", "@me/zap"], ["zap@latest", "zap"]])("but %j", (text, name) => {
    expect(parseInstallSource(text)).toEqual({ kind: "npm", spec: text, name });
  });
});

describe("from a registry", () => {
  let registry: NpmRegistry;
  let own: PluginInstaller;
  beforeEach(async () => {
    registry = await startNpmRegistry();
    const env = { npm_config_registry: registry.url, npm_config_cache: join(dir, "cache"), npm_config_userconfig: join(dir, "npmrc"), HOME: dir };
    own = installer({ npm: createNpmRunner({ env }) });
  });
  afterEach(() => registry[Symbol.asyncDispose]());
  const publish = (version: string, text = "1"): void =>
    registry.publish("@me/zap", version, { ...EXTENSION, dependencies: { dep: "1.0.0", openclaw: "*" }, devDependencies: { mine: "workspace:*" }, scripts: { postinstall: "touch ran" } }, { ...pluginFiles("zap"), "v.txt": text });

  it("comes with its dependencies, without the host, and runs no scripts; later it is renewed", async () => {
    registry.publish("dep", "1.0.0", { main: "i.js" }, { "i.js": "module.exports = 1;" });
    publish("1.0.0");
    const { dir: target } = await own.install("@me/zap");
    expect([existsSync(join(target, "node_modules", "dep", "i.js")), existsSync(join(target, "node_modules", "openclaw")), existsSync(join(target, "ran"))]).toEqual([true, false, false]);
    expect(registry.asked).not.toContain("openclaw");
    expect(cfg.plugins?.installs?.["zap"]).toMatchObject({
      source: "npm", spec: "@me/zap", resolvedName: "@me/zap", resolvedVersion: "1.0.0", resolvedSpec: "@me/zap@1.0.0", integrity: expect.stringMatching(/^sha512-/), shasum: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    expect(await own.update("all")).toEqual([{ id: "zap", kind: "unchanged", version: "1.0.0" }]);

    publish("1.1.0", "2");
    expect(await own.update(["zap"], { dryRun: true })).toEqual([{ id: "zap", kind: "would-update", from: "1.0.0", to: "1.1.0" }]);
    expect(await readFile(join(target, "v.txt"), "utf8")).toBe("1");
    expect(await own.update(["zap", "other"])).toEqual([{ id: "zap", kind: "updated", from: "1.0.0", to: "1.1.0" }, { id: "other", kind: "skipped", reason: expect.any(String) }]);
    expect([await readFile(join(target, "v.txt"), "utf8"), cfg.plugins?.installs?.["zap"]?.resolvedVersion]).toEqual(["2", "1.1.0"]);
    expect(await leftovers()).toEqual(["zap"]);
  });

  it("a package that is not there says so in npm's words", async () => {
    await expect(own.install("no-such-package")).rejects.toThrow(/npm pack failed: [^]*404/);
    expect(await leftovers()).toEqual([]);
  });
});

/** A registry of one package whose content is what `content` says. */
function packing(content: () => string): NonNullable<PluginInstallerDeps["npm"]> {
  return {
    async pack(_spec, targetDir) {
      const bytes = makeTgz({ "package.json": JSON.stringify({ name: "@me/zap", version: "1.0.0", ...EXTENSION }), ...pluginFiles("zap"), "v.txt": content() });
      await writeFile(join(targetDir, "zap.tgz"), bytes);
      return { archive: join(targetDir, "zap.tgz"), name: "@me/zap", version: "1.0.0", integrity: `sha512-${content()}` };
    },
    installDependencies: async () => undefined,
  };
}

it("a failed update keeps the old version, and other bytes under the same one need a yes", async () => {
  let content = "1";
  const npm = packing(() => content);
  const own = installer({ npm });
  const { dir: target } = await own.install("@me/zap", { pin: true });
  const installed = (): Promise<string> => readFile(join(target, "v.txt"), "utf8");
  expect(cfg.plugins?.installs?.["zap"]?.spec).toBe("@me/zap@1.0.0");
  content = "2";
  expect(await own.update("all")).toMatchObject([{ kind: "failed", reason: expect.stringContaining("other content") }]);
  expect(await installed()).toBe("1");
  expect(await own.update("all", { confirmDrift: async (drift) => drift.expected === "sha512-1" && drift.actual === "sha512-2" })).toMatchObject([{ kind: "updated" }]);
  expect(await installed()).toBe("2");
  content = "3";
  const failing = installer({ npm, writeConfig: () => Promise.reject(new Error("disk full")) });
  expect(await failing.update("all", { confirmDrift: async () => true })).toEqual([{ id: "zap", kind: "failed", reason: "disk full" }]);
  expect([await installed(), await leftovers()]).toEqual(["2", ["zap"]]);
});

it("what an install or an update that was killed left behind is cleared away by the next, and an old version comes back", async () => {
  const own = installer();
  await own.install(await folder("zap"));
  const work = join(stateDir, "plugins");
  await mkdir(join(work, ".staging-dead", "plugin"), { recursive: true });
  // Killed between taking the old version aside and putting the new one in.
  await mkdir(join(work, ".openclaw-install-backups"), { recursive: true });
  await rename(join(stateDir, "extensions", "zap"), join(work, ".openclaw-install-backups", "zap"));
  await own.install(await folder("other"));
  expect((await leftovers()).toSorted()).toEqual(["other", "zap"]);
  // Killed after the new one was in: the old one is of no use.
  await mkdir(join(work, ".openclaw-install-backups", "zap"), { recursive: true });
  await own.uninstall("other");
  expect(await leftovers()).toEqual(["zap"]);
  expect(existsSync(join(stateDir, "extensions", "zap", "index.js"))).toBe(true);
});

describe("taking out", () => {
  it("tells what it would do, then does it", async () => {
    await installer().install(await folder("zap"));
    cfg = { ...cfg, plugins: { ...cfg.plugins, allow: ["zap"], slots: { memory: "zap" } } };
    const target = join(stateDir, "extensions", "zap");
    const expected = { id: "zap", removed: ["config entry", "install record", "allowlist entry", "memory slot"], dir: target };
    expect(await installer().uninstall("zap", { dryRun: true })).toEqual(expected);
    expect(existsSync(target)).toBe(true);
    expect(await installer().uninstall("zap")).toEqual(expected);
    expect([cfg.plugins, await leftovers()]).toEqual([{ allow: [], slots: {}, entries: {}, installs: {} }, []]);
    await expect(installer().uninstall("zap")).rejects.toThrow("Plugin not found: zap");
  });

  it("keeps the files when asked to, and when the config cannot be written", async () => {
    await installer().install(await folder("zap"));
    await expect(installer({ writeConfig: () => Promise.reject(new Error("disk full")) }).uninstall("zap")).rejects.toThrow("disk full");
    expect(await leftovers()).toEqual(["zap"]);
    expect(await installer().uninstall("zap", { keepFiles: true })).not.toHaveProperty("dir");
    expect(await leftovers()).toEqual(["zap"]);
  });
});
