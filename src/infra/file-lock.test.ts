import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { acquireFileLock, FileLockError, processStartTime, readLockOwner } from "./file-lock.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "lock-"));
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

it("lets one holder in at a time and leaves no file behind", async () => {
  const path = join(dir, "sub", "x.lock");
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      await using lock = await acquireFileLock(path, { pollMs: 1 });
      expect(lock.path).toBe(path);
      most = Math.max(most, ++inside);
      await readFile(path, "utf8");
      inside--;
    }),
  );
  expect(most).toBe(1);
  expect(await readdir(join(dir, "sub"))).toEqual([]);
});

it("names the living holder when it gives up", async () => {
  const path = join(dir, "x.lock");
  await using _lock = await acquireFileLock(path, { details: { configPath: "/c" } });
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ pid: process.pid, configPath: "/c" });
  const err = await acquireFileLock(path, { timeoutMs: 0 }).catch((e: unknown) => e);
  expect(err).toBeInstanceOf(FileLockError);
  expect((err as FileLockError).owner?.pid).toBe(process.pid);
});

it("takes the lock of a dead process without waiting for it to get old", async () => {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  const path = join(dir, "x.lock");
  await writeFile(path, JSON.stringify({ pid: child.pid, createdAt: new Date().toISOString() }));
  const start = performance.now();
  await using _lock = await acquireFileLock(path);
  expect(performance.now() - start).toBeLessThan(2000);
  expect((await readLockOwner(path))?.pid).toBe(process.pid);
});

it.runIf(process.platform === "linux")("takes a lock whose pid now belongs to another process", async () => {
  const path = join(dir, "x.lock");
  const startTime = ((await processStartTime(process.pid)) ?? 0) - 1;
  await writeFile(path, JSON.stringify({ pid: process.pid, createdAt: new Date().toISOString(), startTime }));
  await using _lock = await acquireFileLock(path, { timeoutMs: 0 });
  expect((await readLockOwner(path))?.startTime).toBe(startTime + 1);
});

it("takes a lock of its own pid that it did not make, and an old one that does not say when its process started", async () => {
  const path = join(dir, "x.lock");
  await writeFile(path, JSON.stringify({ pid: process.pid, createdAt: new Date().toISOString() }));
  await (await acquireFileLock(path, { timeoutMs: 0 })).release();
  const held = (ageMs: number): Promise<void> => writeFile(path, JSON.stringify({ pid: process.ppid, createdAt: new Date(Date.now() - ageMs).toISOString() }));
  await held(1000);
  await expect(acquireFileLock(path, { timeoutMs: 0, vagueStaleMs: 30_000 })).rejects.toBeInstanceOf(FileLockError);
  await held(31_000);
  await expect(acquireFileLock(path, { timeoutMs: 0 })).rejects.toBeInstanceOf(FileLockError);
  await (await acquireFileLock(path, { timeoutMs: 0, vagueStaleMs: 30_000 })).release();
});

it("does not remove a lock that another holder took over", async () => {
  const path = join(dir, "x.lock");
  const lock = await acquireFileLock(path);
  await writeFile(path, JSON.stringify({ pid: process.pid, createdAt: "later" }));
  await lock.release();
  expect(await readLockOwner(path)).toMatchObject({ createdAt: "later" });
});
