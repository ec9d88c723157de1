import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestGateway, TOKEN } from "./test-support.ts";

const script = `
  import { OpenClawClient } from ${JSON.stringify(import.meta.resolve("openclaw-node"))};
  const client = new OpenClawClient({ url: process.argv[1], token: process.argv[2] });
  await client.connect();
  await client.disconnect();
  process.exit(0);`;

it("the published client openclaw-node connects, keeps its device, and connects again", async () => {
  await using gateway = await startTestGateway();
  const home = await mkdtemp(join(tmpdir(), "openclaw-home-"));
  try {
    for (let round = 0; round < 2; round++) {
      const child = spawn(process.execPath, ["--input-type=module", "-e", script, `ws://127.0.0.1:${gateway.port}`, TOKEN], {
        env: { PATH: process.env["PATH"], HOME: home, NODE_NO_WARNINGS: "1" },
        stdio: ["ignore", "inherit", "inherit"],
      });
      expect(await once(child, "exit")).toEqual([0, null]);
    }
    const { paired } = gateway.devices.list();
    expect(paired.map((d) => [d.clientId, d.clientMode, d.approvedScopes])).toEqual([["gateway-client", "backend", ["operator.read", "operator.write"]]]);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
});
