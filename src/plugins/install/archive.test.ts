import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeTar } from "../../../test/support/npm-registry.ts";
import { makeZip, type ZipEntry } from "../../../test/support/zip.ts";
import { extractArchive } from "./archive.ts";

let dir: string;
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), "archive-"))));
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

async function extract(bytes: Uint8Array): Promise<string> {
  await writeFile(join(dir, "a.zip"), bytes);
  const out = join(dir, "in", "out");
  await extractArchive(join(dir, "a.zip"), out);
  return out;
}

const file = (name: string, more: Partial<ZipEntry> = {}): ZipEntry => ({ name, content: `content of ${name}`, ...more });

describe("a zip", () => {
  it("is unpacked, packed or as it is, with its folders", async () => {
    const out = await extract(makeZip([{ name: "p/", content: "", method: 0, mode: 0o040755 }, file("p/package.json"), file("p/深い/a.js", { method: 0 }), file("empty", { content: "" })]));
    expect(await Promise.all(["p/package.json", "p/深い/a.js", "empty"].map((name) => readFile(join(out, name), "utf8")))).toEqual(["content of p/package.json", "content of p/深い/a.js", ""]);
  });

  it("of another program is read like ours", async () => {
    const script = "import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED)\nz.comment=b'a comment'\nz.writestr('a/b.txt','x'*5000)\nz.close()";
    const made = spawnSync("python3", ["-c", script, join(dir, "other.zip")]);
    if (made.status !== 0) await writeFile(join(dir, "other.zip"), makeZip([{ name: "a/b.txt", content: "x".repeat(5000) }]));
    expect(await readFile(join(await extract(await readFile(join(dir, "other.zip"))), "a/b.txt"), "utf8")).toBe("x".repeat(5000));
  });

  it.each<[string, readonly ZipEntry[], RegExp]>([
    ["a path that climbs out", [file("../../evil.js")], /leads out of it: "\.\.\/\.\.\/evil\.js"/],
    ["the same with other slashes", [file("..\\..\\evil.js")], /leads out of it/],
    ["an absolute path", [file("/etc/evil")], /leads out of it/],
    ["a drive", [file("C:\\evil")], /leads out of it/],
    ["a zero byte in a name", [file("a\0b")], /leads out of it/],
    ["a link", [file("link", { mode: 0o120777, content: "/etc/passwd" })], /"link", which is no plain file/],
    ["a device", [file("dev", { mode: 0o020644, content: "" })], /"dev", which is no plain file/],
    ["a file and a folder of one name", [file("a"), file("a/b")], /"a\/b", but "a" is a file/],
    ["a file under the name of a folder", [file("./")], /"\.\/", which is no plain file/],
    ["encryption", [file("a", { flags: 1 })], /"a", which is encrypted/],
    ["a packing of another kind", [file("a", { method: 14 })], /"a", which is packed in a way that is not supported \(method 14\)/],
    ["a wrong checksum", [file("a", { crc: 7 })], /damaged/],
    ["less than it claims", [file("a", { size: 5000 })], /damaged/],
    ["more than it claims", [file("a", { content: "x".repeat(100_000), size: 10 })], /damaged/],
    ["more than fits", [file("a", { size: 300 * 1024 * 1024 })], /more than \d+ bytes/],
    ["sizes of the 64-bit kind", [file("a", { size: 0xffff_ffff })], /more than \d+ bytes/],
  ])("with %s is refused, and nothing of it is left outside", async (_name, entries, message) => {
    await expect(extract(makeZip(entries))).rejects.toThrow(message);
    expect(existsSync(join(dir, "evil.js")) || existsSync(join(dir, "in", "evil.js"))).toBe(false);
  });

  it("with too many files is refused before they are read", async () => {
    await expect(extract(makeZip(Array.from({ length: 20_001 }, (_, i) => file(`f${i}`, { content: "", method: 0 }))))).rejects.toThrow("more than 20000 files");
  });

  it("cut short or changed anywhere is unpacked right or told as damaged, never by a bare error", async () => {
    const whole = makeZip([file("a", { content: "a".repeat(300) }), file("b/c", { method: 0 })]);
    await fc.assert(fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), fc.boolean(), async (at, byte, cuts) => {
      const bytes = cuts ? whole.subarray(0, at) : Buffer.from(whole);
      if (!cuts) bytes[at] = byte;
      const said = await extract(bytes).then(() => "unpacked", (err: Error) => `${err.name}: ${err.message}`);
      expect(said).toMatch(/^unpacked$|^PluginInstallError: .*(?:damaged|holds)/);
      await rm(join(dir, "in"), { recursive: true, force: true, maxRetries: 5 });
    }), { numRuns: 300 });
  });
});

describe("a tar", () => {
  it("with a file and a folder of one name is refused", async () => {
    await expect(extract(makeTar({ a: "1", "a/b": "2" }))).rejects.toThrow('"a/b", but "a" is a file');
  });
});
