import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { checkPluginConfig } from "./config-check.ts";
import { discoverPlugins, type Discovery } from "./discovery.ts";
import { enableState } from "./enable-state.ts";
import { createPluginTrust } from "./trust.ts";
import type { PluginManifest, PluginOrigin } from "./types.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "discovery-"));
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

async function plugin(where: string, id: string, more: { readonly manifest?: object | string | null; readonly pack?: object; readonly entry?: string } = {}): Promise<string> {
  const root = join(dir, where);
  await mkdir(root, { recursive: true });
  const { manifest = { id, configSchema: {} } } = more;
  if (manifest !== null) await writeFile(join(root, "openclaw.plugin.json"), typeof manifest === "string" ? manifest : JSON.stringify(manifest));
  if (more.pack) await writeFile(join(root, "package.json"), JSON.stringify(more.pack));
  await writeFile(join(root, more.entry ?? "index.ts"), "export default () => undefined;");
  return root;
}

const find = (config: OpenClawConfig = {}, trusted = true): Promise<Discovery> =>
  discoverPlugins(config, { stateDir: join(dir, "state"), workspaceDirs: [join(dir, "ws")], bundledDir: join(dir, "bundled"), isTrusted: async () => trusted });
const ids = ({ candidates }: Discovery): string[] => candidates.map(({ manifest, origin, overriddenBy }) => `${origin}:${manifest.id}${overriddenBy ? ` < ${overriddenBy}` : ""}`);
const said = ({ diagnostics }: Discovery): string => diagnostics.map(({ level, message }) => `${level}: ${message}`).join("\n");

describe("plugins on disk", () => {
  it("are found in the order of their origins; the first of an id wins, and the other is told", async () => {
    await plugin("ws/.openclaw/extensions/x", "x");
    await plugin("state/extensions/x", "x");
    await plugin("bundled/b", "b");
    await plugin("mine", "m");
    const found = await find({ plugins: { load: { paths: [join(dir, "mine")] } } });
    expect(ids(found)).toEqual(["config:m", "workspace:x", "global:x < workspace", "bundled:b"]);
    expect(said(found)).toContain("warn: duplicate plugin id detected; later plugin may be overridden (");
  });

  it("of a workspace need trust, which ends when a file changes", async () => {
    const root = await plugin("ws/.openclaw/extensions/x", "x");
    expect(ids(await find({}, false))).toEqual([]);
    const trust = createPluginTrust(join(dir, "state"), () => 0);
    expect(await trust.isTrusted(root)).toBe(false);
    await trust.trust(root);
    expect(await trust.isTrusted(root)).toBe(true);
    await writeFile(join(root, "extra.js"), "1");
    expect(await trust.isTrusted(root)).toBe(false);
  });

  it("of a workspace stay untrusted when their files say the same in another way, or lie elsewhere", async () => {
    const trust = createPluginTrust(join(dir, "state"), () => 0);
    const root = await plugin("ws/.openclaw/extensions/x", "x");
    await writeFile(join(root, "w.txt"), "harmless\0z.js\0run()");
    await trust.trust(root);
    await writeFile(join(root, "w.txt"), "harmless");
    await writeFile(join(root, "z.js"), "run()");
    expect(await trust.isTrusted(root)).toBe(false);
    await mkdir(join(dir, "ws/src"), { recursive: true });
    await symlink(join(dir, "ws/src"), join(root, "lib"));
    await expect(trust.trust(root)).rejects.toThrow("lib is a link that leads out of the plugin");
    await rm(join(root, "lib"));
    await symlink(join(root, "z.js"), join(root, "alias.js"));
    await trust.trust(root);
    expect(await trust.isTrusted(root)).toBe(true);
  });

  it.each([
    ["a folder that is put aside", async () => plugin("state/extensions/x.bak", "x"), ""],
    ["no manifest", async () => plugin("state/extensions/x", "x", { manifest: null }), "error: plugin manifest not found: "],
    ["a broken manifest", async () => plugin("state/extensions/x", "x", { manifest: "{" }), "error: failed to parse plugin manifest: "],
    ["a manifest that is a list", async () => plugin("state/extensions/x", "x", { manifest: [] }), "error: plugin manifest must be an object"],
    ["a manifest without an id", async () => plugin("state/extensions/x", "x", { manifest: { configSchema: {} } }), "error: plugin manifest requires id"],
    ["a manifest without a schema", async () => plugin("state/extensions/x", "x", { manifest: { id: "x" } }), "error: plugin manifest requires configSchema"],
    ["an entry outside", async () => plugin("state/extensions/x", "x", { pack: { openclaw: { extensions: ["../../evil.ts"] } } }), "error: extension entry escapes package directory: ../../evil.ts"],
    ["a world-writable folder", async () => chmod(await plugin("state/extensions/x", "x"), 0o777), "warn: blocked plugin candidate: path_world_writable"],
    ["an entry that is a link out of the folder", async () => {
      const root = await plugin("state/extensions/x", "x", { entry: "other.txt" });
      await writeFile(join(dir, "outside.ts"), "");
      await symlink(join(dir, "outside.ts"), join(root, "index.ts"));
    }, "warn: blocked plugin candidate: source_escapes_root"],
  ])("%s is no plugin", async (_name, make, message) => {
    await make();
    const found = await find();
    expect(ids(found)).toEqual([]);
    expect(said(found)).toContain(message);
  });

  it("may be a file, a package with entries or a folder of plugins; a wrong path is named", async () => {
    await plugin("pack", "pack", { pack: { name: "@me/pack", openclaw: { extensions: ["./src.ts"] } }, entry: "src.ts" });
    await plugin("many/one", "one");
    await plugin("many/two", "two");
    const paths = ["pack", "many", "nowhere", "pack/package.json"].map((name) => join(dir, name));
    const found = await find({ plugins: { load: { paths } } });
    expect(ids(found)).toEqual(["config:pack", "config:one", "config:two"]);
    expect(said(found)).toContain(`plugin path not found: ${paths[2]}`);
    expect(said(found)).toContain(`plugin path is not a supported file: ${paths[3]}`);
  });

  it("are found although a place beside them cannot be read", async () => {
    await plugin("state/extensions/x", "x");
    await plugin("ws/.openclaw/extensions/y", "y");
    await writeFile(join(dir, "bundled"), "no folder");
    await writeFile(join(dir, "file"), "no folder");
    await mkdir(join(dir, "odd", "package.json"), { recursive: true });
    const paths = [join(dir, "file", "below"), "nul\0byte", join(dir, "odd")];
    const found = await discoverPlugins({ plugins: { load: { paths } } }, {
      stateDir: join(dir, "state"), workspaceDirs: [join(dir, "ws"), join(dir, "file")], bundledDir: join(dir, "bundled"), isTrusted: () => Promise.reject(new Error("the list is broken")),
    });
    expect(ids(found)).toEqual(["global:x"]);
    expect(said(found)).toContain(`plugin path not found: ${paths[0]}`);
    expect(said(found)).toContain("plugin path cannot be read: nul");
    expect(said(found)).toContain("whether it is trusted cannot be told: the list is broken");
    expect(said(found)).toContain(`plugin path cannot be read: ${join(dir, "bundled")}`);
  });

  it("whose folder bears another name than the manifest is loaded with a warning", async () => {
    await plugin("state/extensions/folder", "real");
    const found = await find();
    expect(ids(found)).toEqual(["global:real"]);
    expect(said(found)).toContain('plugin id mismatch (manifest uses "real", entry hints "folder")');
  });
});

const manifest = (id: string, more: Partial<PluginManifest> = {}): PluginManifest => ({ id, configSchema: {}, channels: [], providers: [], skills: [], activationEnv: [], ...more });
const state = (plugins: OpenClawConfig["plugins"], origin: PluginOrigin = "global", more: Partial<PluginManifest> = {}, channels?: object, env: Record<string, string> = {}): string => {
  const result = enableState({ plugins, ...(channels ? { channels } : {}) } as OpenClawConfig, { origin, manifest: manifest("x", more) }, env);
  return result.enabled ? "on" : result.reason;
};

describe("whether a plugin is on", () => {
  it.each<[string, string, string]>([
    ["found in a folder", state({}), "on"],
    ["all off", state({ enabled: false, entries: { x: { enabled: true } } }), "plugins disabled"],
    ["denied", state({ deny: ["x"], allow: ["x"] }), "blocked by denylist"],
    ["not among the allowed", state({ allow: ["y"], entries: { x: { enabled: true } } }), "not in allowlist"],
    ["switched off", state({ entries: { x: { enabled: false } } }), "disabled in config"],
    ["bundled", state({}, "bundled"), "bundled (disabled by default)"],
    ["bundled and asked for", state({ entries: { x: { enabled: true } } }, "bundled"), "on"],
    ["bundled with its channel's section", state({}, "bundled", { channels: ["qq"] }, { qq: {} }), "on"],
    ["bundled with its channel switched off", state({}, "bundled", { channels: ["qq"] }, { qq: { enabled: false } }), "bundled (disabled by default)"],
    ["bundled with its variable", state({}, "bundled", { channels: ["qq"], activationEnv: ["QQ_ID"] }, undefined, { QQ_ID: "1" }), "on"],
    ["a second memory", state({ entries: { x: { enabled: true } } }, "global", { kind: "memory" }), 'memory slot set to "memory-core"'],
    ["the memory in the slot", state({ slots: { memory: "x" } }, "global", { kind: "memory" }), "on"],
    ["no memory wanted", state({ slots: { memory: "None" } }, "global", { kind: "memory" }), "memory slot disabled"],
  ])("%s: %s", (_name, result, expected) => expect(result).toBe(expected));
});

it("settings are held against the plugin's schema, and the fault names the key", () => {
  const configSchema = { type: "object", required: ["key"], additionalProperties: false, properties: { key: { type: "string" }, n: { type: "integer", default: 3 } } };
  expect(checkPluginConfig({ configSchema }, { key: "a" })).toEqual([]);
  expect(checkPluginConfig({ configSchema }, { n: "many", more: 1 })).toEqual(["must have required properties key", "must not have additional properties: more", "n: must be integer"]);
});
