import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ensureDir } from "./atomic-file.ts";
import { acquireInstanceLock, instanceLockPath } from "./instance-lock.ts";
import { describePortOwners, findPortOwners, parseLsof, stopPortOwners } from "./port-owner.ts";

async function tempDir() {
  const path = await mkdtemp(join(tmpdir(), "openclaw-lock-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

async function listen() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { port: typeof address === "object" && address ? address.port : 0, [Symbol.asyncDispose]: () => new Promise<void>((r) => server.close(() => r())) };
}

it("refuses a second gateway at once when the first one answers, naming its pid", async () => {
  await using dir = await tempDir();
  await using server = await listen();
  const options = { configPath: join(dir.path, "openclaw.json"), port: server.port, tempDir: dir.path };
  const lock = await acquireInstanceLock(options);
  expect((await stat(dirname(lock.path))).mode & 0o777).toBe(0o700);
  const started = Date.now();
  await expect(acquireInstanceLock(options)).rejects.toThrow(`gateway already running (pid ${process.pid})`);
  expect(Date.now() - started).toBeLessThan(3000);
  await lock.release();
  await (await acquireInstanceLock(options)).release();
});

it("waits for an owner that does not serve any more, and takes over a dead one's lock", async () => {
  await using dir = await tempDir();
  const options = { configPath: join(dir.path, "c.json"), port: 1, tempDir: dir.path, waitMs: 150 };
  const first = await acquireInstanceLock(options);
  await expect(acquireInstanceLock(options)).rejects.toThrow("lock timeout after 150ms");
  const second = acquireInstanceLock({ ...options, waitMs: 5000 });
  await first.release();
  await (await second).release();

  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  const path = instanceLockPath(options.configPath, dir.path);
  await ensureDir(dirname(path));
  await writeFile(path, JSON.stringify({ pid: child.pid, createdAt: new Date().toISOString(), configPath: "c" }));
  await (await acquireInstanceLock(options)).release();
});

it("names the process that holds a port, and --force ends it", { skip: process.platform !== "linux" }, async () => {
  const script = "const s=require('net').createServer().listen(0,'127.0.0.1',()=>console.log(s.address().port))";
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(line.toString().trim());
  const owners = await findPortOwners(port);
  expect(owners).toMatchObject([{ pid: child.pid, address: `127.0.0.1:${port}` }]);
  expect(describePortOwners(port, owners).join("\n")).toContain(`pid ${child.pid}`);
  const exited = once(child, "exit");
  expect((await stopPortOwners(port)).map((o) => o.pid)).toEqual([child.pid]);
  await exited;
  expect(await findPortOwners(port)).toEqual([]);
});

it("reads the owners from lsof's field output", () => {
  expect(parseLsof("p42\ncnode\nLann\nn127.0.0.1:18789\nn[::1]:18789\n")).toEqual([{ pid: 42, command: "node", user: "ann", address: "127.0.0.1:18789" }]);
});
