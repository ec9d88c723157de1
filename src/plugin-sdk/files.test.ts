import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as sdk from "./index.ts";

let dir: string;
beforeAll(async () => void (dir = await mkdtemp(join(tmpdir(), "sdk-"))));
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

describe("files", () => {
  it("remembers messages over a restart", async () => {
    const options = { ttlMs: 60_000, memoryMaxSize: 100, fileMaxEntries: 2, resolveFilePath: (name: string) => join(dir, `seen-${name}.json`) };
    const first = sdk.createPersistentDedupe(options);
    expect(await Promise.all([first.checkAndRecord("a", { now: 1 }), first.checkAndRecord("a", { now: 1 })])).toEqual([true, false]);
    const later = sdk.createPersistentDedupe(options);
    expect(await later.checkAndRecord("a", { now: 2 })).toBe(false);
    expect(await later.checkAndRecord("a", { now: 70_000 })).toBe(true);
    for (const key of ["b", "c"]) await later.checkAndRecord(key, { now: 70_001 });
    expect(Object.keys(JSON.parse(await readFile(join(dir, "seen-global.json"), "utf8")) as object)).toEqual(["b", "c"]);
  });

  it("a disk that fails leaves the memory to decide", async () => {
    const errors: unknown[] = [];
    await sdk.writeJsonFileAtomically(join(dir, "file"), 1);
    const dedupe = sdk.createPersistentDedupe({ ttlMs: 1000, memoryMaxSize: 10, fileMaxEntries: 10, resolveFilePath: () => join(dir, "file", "x.json"), onDiskError: (err) => errors.push(err) });
    expect([await dedupe.checkAndRecord("a"), await dedupe.checkAndRecord("a")]).toEqual([true, false]);
    expect(errors).toHaveLength(1);
  });

  it("forgets keys that are old or too many", () => {
    const cache = sdk.createDedupeCache({ ttlMs: 100, maxSize: 2 });
    expect([cache.check("a", 0), cache.check("a", 50), cache.check("a", 200)]).toEqual([false, true, false]);
    cache.check("b", 200);
    cache.check("c", 200);
    expect([cache.size(), cache.check("a", 201)]).toEqual([2, false]);
  });

  it("writes JSON whole and private, and falls back where there is none", async () => {
    const path = join(dir, "sub", "a.json");
    expect(await sdk.readJsonFileWithFallback(path, { x: 1 })).toEqual({ value: { x: 1 }, exists: false });
    await sdk.writeJsonFileAtomically(path, { y: 2 });
    expect(await sdk.readJsonFileWithFallback(path, {})).toEqual({ value: { y: 2 }, exists: true });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("one holder of a lock at a time", async () => {
    const options = { retries: { retries: 20, factor: 1.1, minTimeout: 5, maxTimeout: 50 }, stale: 1000 };
    let inside = 0;
    await Promise.all(Array.from({ length: 4 }, () => sdk.withFileLock(join(dir, "l"), options, async () => {
      expect(++inside).toBe(1);
      await sdk.sleep(1);
      inside--;
    })));
  });

  it("runs programs with a limit", async () => {
    expect(await sdk.runPluginCommandWithTimeout({ argv: [process.execPath, "-e", "console.log('hi')"], timeoutMs: 10_000 })).toEqual({ code: 0, stdout: "hi\n", stderr: "" });
    expect(await sdk.runPluginCommandWithTimeout({ argv: [process.execPath, "-e", "setInterval(()=>{},1000)"], timeoutMs: 100 })).toMatchObject({ code: 124 });
    expect(await sdk.runPluginCommandWithTimeout({ argv: ["no-such-program-x"], timeoutMs: 1000 })).toMatchObject({ code: 1 });
  });

  it("names temporary and stored files", async () => {
    expect(sdk.buildRandomTempFilePath({ prefix: "../a b", extension: ".png", tmpDir: "/t", now: 5, uuid: "u" })).toBe("/t/a-b-5-u.png");
    expect(sdk.extractOriginalFilename("/m/report---123e4567-e89b-12d3-a456-426614174000.pdf")).toBe("report.pdf");
    expect(sdk.getFileExtension("https://e.com/a.PNG?x=1")).toBe(".png");
    const path = await sdk.withTempDownloadPath({ prefix: "x", fileName: "a.txt", tmpDir: dir }, async (temp) => temp);
    await expect(stat(path)).rejects.toThrow("ENOENT");
  });
});
