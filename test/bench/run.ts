import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, isBuildFresh } from "../../build.ts";
import { connectClient, type TestClient } from "../support/client.ts";
import { ENTRY, median, startGateway, timeCommand, type BenchGateway } from "./process.ts";
import { writeLargePlugin } from "./large-plugin.ts";
import { startStubModel } from "./stub-model.ts";

/**
 * Measures this build against its budgets, with the yardsticks in the same run. `--soak N` sets the number of soak turns
 * (default 1000), `--json` prints only JSON.
 */
interface Row {
  readonly what: string;
  readonly budget: string;
  readonly measured: string;
  readonly yardstick?: string | undefined;
  readonly ok: boolean;
}

const rows: Row[] = [];
const onlyJson = process.argv.includes("--json");
const soakTurns = Number(process.argv[process.argv.indexOf("--soak") + 1] || 0) || 1000;
const say = (text: string): void => {
  if (!onlyJson) console.log(text);
};
const add = (row: Row): void => {
  rows.push(row);
  say(`${row.ok ? "ok  " : "OVER"} ${row.what.padEnd(58)} ${row.measured.padEnd(26)} budget ${row.budget}${row.yardstick ? ` (${row.yardstick})` : ""}`);
};

if (!(await isBuildFresh())) await build();
await using model = await startStubModel(3);

async function home(): Promise<{ dir: string; env: NodeJS.ProcessEnv }> {
  const dir = await mkdtemp(join(tmpdir(), "openclaw-bench-"));
  const config = {
    gateway: { mode: "local", auth: { mode: "token", token: "T" } },
    models: { providers: { stub: { baseUrl: model.url, apiKey: "key", api: "openai-completions", models: [{ id: "stub", name: "Stub", contextWindow: 128_000, maxTokens: 8192 }] } } },
    agents: { defaults: { model: { primary: "stub/stub" }, maxConcurrent: 50 } },
  };
  await writeFile(join(dir, "openclaw.json"), JSON.stringify(config), { mode: 0o600 });
  return { dir, env: { PATH: process.env["PATH"], HOME: dir, SHELL: "/bin/bash", OPENCLAW_STATE_DIR: dir, OPENCLAW_SKIP_LOCAL_MODELS: "1" } };
}

const connect = (gateway: BenchGateway): Promise<TestClient> => connectClient(`http://127.0.0.1:${gateway.port}`, "T");

async function turn(client: TestClient, sessionKey: string): Promise<number> {
  const from = performance.now();
  await turnShared(client, sessionKey);
  client.frames.length = 0;
  return performance.now() - from;
}

const { dir, env } = await home();
const bareNode = timeCommand(["-e", "0"], env);
const version = timeCommand([ENTRY, "--version"], env);
add({ what: "openclaw --version", budget: "≤ 120 ms", measured: `${version.toFixed(0)} ms`, yardstick: `bare Node ${bareNode.toFixed(0)} ms`, ok: version <= 120 });

const cold = await startGateway(env);
add({ what: "first start after the build → first HTTP 200", budget: "≤ 1000 ms", measured: `${cold.startMs.toFixed(0)} ms`, ok: cold.startMs <= 1000 });
await cold.stop();

const starts: number[] = [];
const routes: number[] = [];
for (let i = 0; i < 5; i++) {
  const gateway = await startGateway(env);
  starts.push(gateway.startMs);
  await gateway.stop();
  const route = await startGateway(env, [join(import.meta.dirname, "one-route.ts")]);
  routes.push(route.startMs);
  await route.stop();
}
add({ what: "gateway start → first HTTP 200, warm", budget: "≤ 400 ms", measured: `${median(starts).toFixed(0)} ms`, yardstick: `one route, unbundled ${median(routes).toFixed(0)} ms`, ok: median(starts) <= 400 });

const gateway = await startGateway(env);
const beforePi = gateway.rssMb();
add({ what: "resident memory idle, before Pi is warm", budget: "≤ 120 MB", measured: `${beforePi.toFixed(0)} MB`, ok: beforePi <= 120 });
// The gateway warms up by itself after three idle seconds.
await new Promise((resolve) => setTimeout(resolve, 5000));
{
  await using client = await connect(gateway);
  const first = await turn(client, "first");
  add({ what: "first turn after start, 5 s later", budget: "≤ 150 ms", measured: `${first.toFixed(0)} ms`, ok: first <= 150 });
}
await new Promise((resolve) => setTimeout(resolve, 1500));
const afterPi = gateway.rssMb();
add({ what: "resident memory idle, Pi warm", budget: "≤ 180 MB", measured: `${afterPi.toFixed(0)} MB`, ok: afterPi <= 180 });

const body = model.last();
const promptChars = (body?.messages ?? []).reduce((sum, message) => sum + (typeof message.content === "string" ? message.content.length : JSON.stringify(message.content).length), 0);
const promptTokens = Math.ceil(promptChars / 4);
add({ what: '"ping" in a new workspace: prompt and messages', budget: "≤ 3000 tokens", measured: `${promptTokens} tokens`, ok: promptTokens <= 3000 });
const toolTokens = Math.ceil(JSON.stringify(body?.tools ?? []).length / 4);
add({ what: "the same, tool schemas as JSON", budget: "≤ 4000 tokens", measured: `${toolTokens} tokens`, ok: toolTokens <= 4000 });

const status = timeCommand([ENTRY, "status"], { ...env, OPENCLAW_GATEWAY_PORT: String(gateway.port) }, 5);
add({ what: "openclaw status, gateway up", budget: "≤ 600 ms", measured: `${status.toFixed(0)} ms`, ok: status <= 600 });

{
  await using client = await connect(gateway);
  for (let i = 0; i < 10; i++) await turn(client, "warm");
  const times: number[] = [];
  for (let i = 0; i < 40; i++) times.push(await turn(client, "warm"));
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, "bare-pi.ts"), model.url, "50"], { env });
  const bare = JSON.parse(stdout) as { medianMs: number };
  const ratio = median(times) / bare.medianMs;
  add({ what: "warm turn, model answering in 3 ms", budget: "≤ 2 × bare Pi", measured: `${median(times).toFixed(1)} ms (${ratio.toFixed(2)} ×)`, yardstick: `bare Pi ${bare.medianMs.toFixed(1)} ms`, ok: ratio <= 2 });
}

{
  await using client = await connect(gateway);
  const from = performance.now();
  await Promise.all(Array.from({ length: 50 }, async (_, session) => {
    for (let i = 0; i < 4; i++) await turnShared(client, `load-${session}`);
  }));
  const rate = 200 / ((performance.now() - from) / 1000);
  add({ what: "50 sessions at once, 4 turns each", budget: "≥ 150 turns/s", measured: `${rate.toFixed(0)} turns/s`, ok: rate >= 150 });
  add({ what: "resident memory after that", budget: "≤ 300 MB", measured: `${gateway.rssMb().toFixed(0)} MB`, ok: gateway.rssMb() <= 300 });
}

async function turnShared(client: TestClient, sessionKey: string): Promise<void> {
  const runId = randomUUID();
  await client.call("chat.send", { sessionKey, message: "ping", idempotencyKey: runId });
  const end = await client.chatEnd(runId);
  if (end.payload?.["state"] !== "final") throw new Error(`a turn failed: ${JSON.stringify(end.payload)}`);
}

{
  await using client = await connect(gateway);
  const marks: number[] = [];
  for (let i = 0; i < soakTurns; i++) {
    await turn(client, `soak-${i % 20}`);
    if (i === Math.floor(soakTurns / 2) || i === soakTurns - 1) marks.push(gateway.rssMb());
  }
  const [half = 0, end = 0] = marks;
  add({ what: `soak of ${soakTurns} turns: growth in the second half`, budget: "flat (≤ 10 %)", measured: `${half.toFixed(0)} → ${end.toFixed(0)} MB`, ok: end <= half * 1.1 + 5 });
}
await gateway.stop();

await withManySessions();
await withLargePlugin();

/** A second start reads what the first has compiled. Source: spec decisions §9.1. */
async function withLargePlugin(): Promise<void> {
  const { dir: stateDir } = await home();
  const root = join(stateDir, "large");
  await writeLargePlugin(root);
  const load = async (): Promise<number> => (JSON.parse((await promisify(execFile)(process.execPath, [join(import.meta.dirname, "load-plugin.ts"), root, stateDir], { env })).stdout) as { ms: number }).ms;
  const first = await load();
  const second = median([await load(), await load(), await load()]);
  add({ what: "plugin of 300 TypeScript files, loaded once more", budget: "≤ 500 ms", measured: `${second.toFixed(0)} ms`, yardstick: `compiled the first time in ${first.toFixed(0)} ms`, ok: second <= 500 });
}

/** 10,000 entries of the size that real ones have. */
async function withManySessions(): Promise<void> {
  const many = await home();
  const sessionsDir = join(many.dir, "agents", "main", "sessions");
  await mkdir(sessionsDir, { recursive: true });
  const filler = "x".repeat(5500);
  const entries = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, i) => [
      `agent:main:telegram:direct:${i}`,
      { sessionId: randomUUID(), updatedAt: Date.now() - i * 1000, systemSent: true, skillsSnapshot: { prompt: filler, skills: [] } },
    ]),
  );
  await writeFile(join(sessionsDir, "sessions.json"), JSON.stringify(entries, null, 2));
  const few = await startGateway(env);
  let base: number;
  {
    await using client = await connect(few);
    for (let i = 0; i < 5; i++) await turn(client, "few");
    const times: number[] = [];
    for (let i = 0; i < 20; i++) times.push(await turn(client, "few"));
    base = median(times);
  }
  await few.stop();
  const loaded = await startGateway(many.env);
  await using client = await connect(loaded);
  for (let i = 0; i < 5; i++) await turn(client, "many");
  let longest = 0;
  let polling = true;
  const poll = (async () => {
    while (polling) {
      const from = performance.now();
      await fetch(`http://127.0.0.1:${loaded.port}/healthz`).then((res) => res.text());
      longest = Math.max(longest, performance.now() - from);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const times: number[] = [];
  for (let i = 0; i < 20; i++) times.push(await turn(client, "many"));
  await new Promise((resolve) => setTimeout(resolve, 2500));
  polling = false;
  await poll;
  const from = performance.now();
  await client.call("sessions.list", { limit: 1000 });
  const listMs = performance.now() - from;
  const ratio = median(times) / base;
  add({ what: "10,000 sessions: turn against an empty store", budget: "≤ 1.5 ×", measured: `${ratio.toFixed(2)} × (${median(times).toFixed(1)} ms)`, ok: ratio <= 1.5 });
  add({ what: "10,000 sessions: longest /healthz while turns are written", budget: "≤ 50 ms", measured: `${longest.toFixed(0)} ms`, ok: longest <= 50 });
  add({ what: "10,000 sessions: sessions.list of the newest 1,000", budget: "≤ 100 ms", measured: `${listMs.toFixed(0)} ms`, ok: listMs <= 100 });
  await client[Symbol.asyncDispose]();
  await loaded.stop();
  await rm(many.dir, { recursive: true, force: true, maxRetries: 5 });
}

await rm(dir, { recursive: true, force: true, maxRetries: 5 });
if (onlyJson) console.log(JSON.stringify(rows, null, 2));
else console.log(`\n${JSON.stringify(rows)}`);
process.exit(0);
