import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { answeringModel } from "../support/answering-model.ts";
import { connectClient } from "../support/client.ts";
import { PACKAGE_ROOT, startTestGateway } from "../support/gateway.ts";

const run = promisify(execFile);

/** What plugins of strangers ask on this machine. */
async function listener() {
  const asked: { readonly path: string; readonly body: string }[] = [];
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => (body += chunk.toString()));
    req.on("end", () => {
      asked.push({ path: req.url ?? "", body });
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ facts: [] }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

it("published plugins are installed from the registry as they are, and do their work", async () => {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await listener());
  const stateDir = await mkdtemp(join(tmpdir(), "published-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  let call = 0;
  const model = stack.use(await answeringModel(() => [{ tool: "ollama_web_search", args: { query: "tides" } }, { tool: "graphiti_search", args: { query: "tides" } }][call++] ?? "done"));
  const configPath = join(stateDir, "openclaw.json");
  await writeFile(configPath, JSON.stringify({
    gateway: { mode: "local", auth: { mode: "token", token: "T" } }, models: { providers: model.providers }, messages: { queue: { debounceMs: 0 } },
    agents: { defaults: { workspace: join(stateDir, "workspace"), model: { primary: "mock/m" }, heartbeat: { every: "0m" } } },
    plugins: { entries: { graphiti: { config: { url: service.url } } } },
  }), { mode: 0o600 });
  const openclaw = (...args: string[]) =>
    run(process.execPath, [join(PACKAGE_ROOT, "src", "entry.ts"), ...args], { env: { ...process.env, HOME: stateDir, OPENCLAW_STATE_DIR: stateDir, OPENCLAW_SKIP_LOCAL_MODELS: "1" }, timeout: 120_000 });
  for (const name of ["@robertogongora/graphiti@0.6.2", "@ollama/openclaw-web-search@0.2.2", "jasper-context-compactor@0.4.1"]) await openclaw("plugins", "install", name);
  const { installs, entries } = (JSON.parse(await readFile(configPath, "utf8")) as { plugins: { installs: Record<string, { integrity?: string }>; entries: Record<string, { enabled?: boolean }> } }).plugins;
  expect(Object.keys(installs).toSorted()).toEqual(["context-compactor", "graphiti", "openclaw-web-search"]);
  for (const id of Object.keys(installs)) expect([installs[id]?.integrity?.slice(0, 7), entries[id]?.enabled]).toEqual(["sha512-", true]);

  const g = stack.use(await startTestGateway({ stateDir }));
  await g.gateway.ready;
  const client = stack.use(await connectClient(g.url, g.token));
  const records = g.gateway.context.plugins.list().plugins.filter(({ origin }) => origin === "global");
  expect(records.map(({ id, status, error }) => [id, status, error])).toEqual([["context-compactor", "loaded", undefined], ["graphiti", "loaded", undefined], ["openclaw-web-search", "loaded", undefined]]);
  expect((await client.chat("what moves the sea?")).text).toContain("done");
  expect(model.asked[0]?.tools).toEqual(expect.arrayContaining(["ollama_web_search", "ollama_web_fetch", "graphiti_search", "graphiti_ingest"]));
  expect(service.asked).toContainEqual({ path: "/search", body: expect.stringContaining('"query":"tides"') as string });
  expect(model.asked[2]?.last).toContain("No relevant facts found");
  expect((await client.chat("/context-stats")).text).toMatch(/session|context|token/i);
  expect((await client.request("context-compactor.stats")).ok).toBe(true);
  await openclaw("plugins", "uninstall", "graphiti", "--force");
  expect((await openclaw("plugins", "list", "--json")).stdout).not.toContain('"graphiti"');
}, 180_000);
