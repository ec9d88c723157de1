import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { createHome, freePort, openGateway, spawnCli } from "../../src/cli/test-support.ts";
import { PACKAGE_ROOT } from "../support/gateway.ts";
import { writePlugin } from "../support/plugin.ts";

/** As the build makes it: plain JavaScript that imports the one SDK module by its path. */
const BUNDLED = `
import { defineChannel, emitDiagnosticEvent, listDevicePairing, onDiagnosticEvent, readStoreAllowFromForDmPolicy, registerPluginHttpRoute } from ${JSON.stringify(pathToFileURL(join(PACKAGE_ROOT, "src", "plugin-sdk", "index.ts")).href)};
const seen = [];
export default { id: "inhouse", register(api) {
  onDiagnosticEvent((event) => seen.push(event.type + " " + event.seq));
  emitDiagnosticEvent({ type: "register" });
  setTimeout(() => emitDiagnosticEvent({ type: "timer" }), 1);
  api.on("gateway_start", () => emitDiagnosticEvent({ type: "hook" }));
  api.registerService({ id: "s", start: () => emitDiagnosticEvent({ type: "service" }) });
  api.registerGatewayMethod("inhouse.ask", async () => ({ paired: (await listDevicePairing()).paired.length }));
  registerPluginHttpRoute({ path: "/inhouse", pluginId: "inhouse", handler: async (req, res) => { emitDiagnosticEvent({ type: "route" }); res.end(JSON.stringify({ seen, paired: (await listDevicePairing()).paired.length })); } });
  api.registerChannel({ plugin: defineChannel({
    id: "inhouse", meta: { id: "inhouse", label: "In-house", selectionLabel: "In-house", docsPath: "/x", blurb: "x" }, capabilities: { chatTypes: ["direct"] },
    config: { listAccountIds: () => ["default"], resolveAccount: () => ({}), defaultAccountId: () => "default", isEnabled: () => true, unconfiguredReason: () => undefined },
    gateway: { async startAccount(ctx) { setTimeout(() => { throw new Error("by the channel"); }, 1); emitDiagnosticEvent({ type: "channel" + (await readStoreAllowFromForDmPolicy({ provider: "inhouse", accountId: "default" })).length }); await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve)); } },
  }) });
} };`;

it("a plugin that comes with the build reaches its gateway through the shared SDK, wherever its code is called from", async () => {
  await using home = await createHome();
  const bundled = join(home.home, "bundled");
  await mkdir(bundled, { recursive: true });
  await writePlugin(bundled, "inhouse", { "index.js": BUNDLED, "package.json": JSON.stringify({ name: "inhouse", type: "module", openclaw: { extensions: ["./index.js"] } }) }, { channels: ["inhouse"] });
  await home.writeConfig(JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: "T" } }, channels: { inhouse: {} } }));
  const port = await freePort();
  const env = { OPENCLAW_BUNDLED_PLUGINS_DIR: bundled, OPENCLAW_GATEWAY_PORT: String(port) };
  const gateway = openGateway(spawnCli(home.home, env, ["gateway"]), port);
  try {
    await gateway.until("] ready");
    const ask = async (): Promise<{ seen: string[]; paired: number }> => (await fetch(`http://127.0.0.1:${port}/inhouse`)).json() as Promise<{ seen: string[]; paired: number }>;
    await expect.poll(async () => (await ask()).seen.map((line) => line.split(" ", 1).join("")).filter((type) => type !== "route").toSorted()).toEqual(["channel0", "hook", "register", "service", "timer"]);
    expect((await ask()).paired).toBe(0);
    const asked = await home.runWith(env, "gateway", "call", "inhouse.ask", "--json");
    expect(JSON.parse(asked.stdout)).toEqual({ paired: 1 }); // the command has paired itself
    const { plugins } = JSON.parse((await home.runWith(env, "gateway", "call", "status", "--json")).stdout) as { plugins?: { faulty: unknown[] } };
    expect(plugins?.faulty).toEqual([expect.objectContaining({ id: "inhouse", error: "uncaught: by the channel" })]);
    // Without a gateway it loads too, and what it registers there waits for nobody.
    expect((await home.runWith(env, "plugins", "info", "inhouse", "--json")).stdout).toContain('"status": "loaded"');
  } finally {
    await gateway.stop();
  }
});
