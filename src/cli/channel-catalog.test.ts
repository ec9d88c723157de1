import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { writePlugin } from "../../test/support/plugin.ts";
import { collect, createHome, spawnCli, type CliHome, type Run } from "./test-support.ts";

const CHANNEL = `
export default { register(api) {
  api.registerChannel({ plugin: {
    id: "pigeon", meta: { id: "pigeon", label: "Pigeon", selectionLabel: "Pigeon", docsPath: "/pigeon", blurb: "x" }, capabilities: { chatTypes: ["direct"] },
    config: { listAccountIds: () => ["default"], resolveAccount: () => ({ enabled: true }) },
    setup: { applyAccountConfig: ({ cfg, input }) => ({ ...cfg, channels: { ...cfg.channels, pigeon: { token: input.token } } }) },
    outbound: { deliveryMode: "direct", sendText: async () => ({ channel: "pigeon", messageId: "1" }) },
  } });
} };`;

let home: CliHome;
let source: string;
beforeAll(async () => {
  home = await createHome();
  await home.writeConfig(JSON.stringify({ gateway: { mode: "local" }, channels: { pigeon: { token: "t" } } }));
  source = await writePlugin(join(home.home, "aviary"), "pigeon-plugin", { "index.js": CHANNEL, "package.json": JSON.stringify({ name: "pigeon-plugin", version: "1.0.0", openclaw: { extensions: ["./index.js"] } }) }, { channels: ["pigeon"] });
  await mkdir(join(home.stateDir, "plugins"), { recursive: true });
  await writeFile(join(home.stateDir, "plugins", "catalog.json"), JSON.stringify({
    entries: [
      { name: "@birds/pigeon", openclaw: { channel: { id: "Pigeon", label: "Pigeon Post", aliases: ["dove"] }, install: { npmSpec: "@birds/pigeon@1", localPath: "../../aviary/pigeon-plugin", defaultChoice: "local" } } },
      { name: "@birds/owl", openclaw: { channel: { id: "owl" } } }, { name: "no-channel" }, 7,
    ],
  }));
});
afterAll(() => home[Symbol.asyncDispose]());

function openclaw(input: string, env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run> {
  const child = spawnCli(home.home, env, args, "pipe");
  child.stdin?.end(input);
  return collect(child);
}

it("a channel of a catalog that is not installed is named with the plugin that brings it", async () => {
  const [remove, wrong, elsewhere, broken] = await Promise.all([
    home.run("channels", "remove", "--channel", "dove"), home.run("channels", "remove", "--channel", "crow"),
    home.runWith({ OPENCLAW_PLUGIN_CATALOG_PATHS: "/nowhere.json" }, "channels", "remove", "--channel", "dove"), home.runWith({ OPENCLAW_PLUGIN_CATALOG_PATHS: home.configPath }, "channels", "remove", "--channel", "dove"),
  ]);
  expect(remove.stderr).toContain(`Pigeon Post is brought by a plugin that is not installed.\nopenclaw plugins install ${source}`);
  expect(wrong.stderr).toMatch(/Unknown channel: crow\nChannels: telegram.*\nWith a plugin: pigeon, owl\n/);
  expect(elsewhere.stderr).toContain("Unknown channel: dove");
  expect(broken.stderr).toContain(`plugin catalog ${home.configPath} cannot be read: it must hold { entries: [...] }`);
  expect((await home.run("doctor", "--non-interactive")).stdout).toContain(`unknown channel id: pigeon; install the plugin that brings it: openclaw plugins install ${source}`);
});

it("adding such a channel installs its plugin first, once it is agreed to", async () => {
  const refused = await openclaw("n\n", {}, "channels", "add", "--channel", "pigeon", "--token", "t1");
  expect(refused.stdout).toBe(`Pigeon Post needs a plugin. Install ${source}? [Y/n]\n`);
  expect(refused.code).toBe(1);
  const added = await openclaw("yes\n", {}, "channels", "add", "--channel", "pigeon", "--token", "t1");
  expect(added.stderr).toBe("");
  expect(added.stdout).toContain("Installed plugin: pigeon-plugin\n");
  expect(added.stdout).toContain('Added Pigeon account "default".');
  expect(JSON.parse(await readFile(home.configPath, "utf8"))).toMatchObject({ channels: { pigeon: { token: "t1" } }, plugins: { entries: { "pigeon-plugin": { enabled: true } } } });
});
