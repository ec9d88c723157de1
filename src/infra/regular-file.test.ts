import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readRegularFile } from "./regular-file.ts";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "regular-"));
});
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

it("reads files of any size up to the limit, and those of /proc that say they have none", async () => {
  for (const size of [0, 1, 256 * 1024, 700_001]) {
    await writeFile(join(dir, "f"), Buffer.alloc(size, 7));
    expect((await readRegularFile(join(dir, "f"))).equals(Buffer.alloc(size, 7))).toBe(true);
  }
  if (process.platform === "linux") expect((await readRegularFile("/proc/self/status")).toString()).toMatch(/^Name:/);
});

it("refuses what is too large before reading it", async () => {
  await writeFile(join(dir, "sparse"), "");
  await truncate(join(dir, "sparse"), 1024 ** 3);
  await expect(readRegularFile(join(dir, "sparse"))).rejects.toThrow("has more than 67108864 bytes");
  await expect(readRegularFile(join(dir, "sparse"), { maxBytes: 10 })).rejects.toThrow("has more than 10 bytes");
});

it.skipIf(process.platform === "win32")("never waits for a pipe and never drinks from a device, by a link neither", async () => {
  execFileSync("mkfifo", [join(dir, "pipe")]);
  await symlink("/dev/zero", join(dir, "zero"));
  const outcomes = await Promise.allSettled([..."123456"].map(() => readRegularFile(join(dir, "pipe"))).concat(readRegularFile(join(dir, "zero"))));
  expect(outcomes.map((item) => (item.status === "rejected" ? String(item.reason) : item.status))).toEqual(outcomes.map(() => expect.stringContaining("is no regular file")));
});

it("names a folder and a missing file as the file system does", async () => {
  await mkdir(join(dir, "d"));
  await expect(readRegularFile(join(dir, "d"))).rejects.toMatchObject({ code: "EISDIR" });
  await expect(readRegularFile(join(dir, "none"))).rejects.toMatchObject({ code: "ENOENT" });
});
