import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { extractArchive } from "./archive.ts";

interface Entry {
  readonly name: string;
  readonly text?: string;
  /** What the local header says in place of `name`. */
  readonly localName?: string;
  /** Unix mode, with the kind of file. */
  readonly mode?: number;
  readonly stored?: boolean;
  readonly flags?: number;
  readonly method?: number;
  readonly crc?: number;
  readonly size?: number;
  readonly packed?: number;
  /** Lies where the first entry lies. */
  readonly sameBody?: boolean;
}

interface Shape {
  readonly comment?: string;
  readonly count?: number;
  readonly cut?: number;
}

/** A .zip in which every field can be told wrong. */
function makeZip(entries: readonly Entry[], { comment = "", count = entries.length, cut = 0 }: Shape = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, text = "", localName = name, mode = 0o100644, stored = false, flags = 0, method = stored ? 0 : 8, crc = crc32(text), size = Buffer.byteLength(text), sameBody = false, ...told } of entries) {
    const packed = stored ? Buffer.from(text) : deflateRawSync(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(told.packed ?? packed.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(Buffer.byteLength(localName), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, Buffer.from(localName), packed]);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(sameBody ? 0 : at, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, rest, Buffer.from(name)]));
    if (sameBody) continue;
    bodies.push(local);
    at += local.length;
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(Buffer.byteLength(comment), 20);
  const all = Buffer.concat([...bodies, ...directory, end, Buffer.from(comment)]);
  return all.subarray(0, all.length - cut);
}

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "zip-"));
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

async function extract(bytes: Uint8Array): Promise<string> {
  await writeFile(join(dir, "x.zip"), bytes);
  await extractArchive(join(dir, "x.zip"), join(dir, "out"));
  return join(dir, "out");
}

describe("a .zip", () => {
  it("gives its files as they were: packed or stored, empty, in folders, with a remark behind them", async () => {
    const out = await extract(makeZip(
      [{ name: "a/", mode: 0o040755, stored: true }, { name: "a/b.js", text: "x".repeat(5000) }, { name: "c.txt", text: "kept", stored: true }, { name: "empty" }, { name: "爪.md", text: "爪" }],
      { comment: "made PK\x05\x06 by hand" },
    ));
    expect((await readdir(out, { recursive: true })).toSorted()).toEqual(["a", "a/b.js", "c.txt", "empty", "爪.md"]);
    expect([await readFile(join(out, "a/b.js"), "utf8"), await readFile(join(out, "c.txt"), "utf8"), await readFile(join(out, "爪.md"), "utf8")]).toEqual(["x".repeat(5000), "kept", "爪"]);
  });

  const good: Entry = { name: "good.js", text: "1" };
  it.each<[string, readonly Entry[], Shape, RegExp]>([
    ["a path upwards", [{ name: "../evil.js", text: "x" }], {}, /leads out of it: "\.\.\/evil\.js"/],
    ["a path upwards with backslashes", [{ name: "a\\..\\..\\evil.js", text: "x" }], {}, /leads out of it/],
    ["an absolute path", [{ name: "/etc/evil", text: "x" }], {}, /leads out of it/],
    ["a drive", [{ name: "C:evil", text: "x" }], {}, /leads out of it/],
    ["no name", [{ name: "", text: "x" }], {}, /leads out of it/],
    ["a harmless name in one place and another in the other", [{ ...good, localName: "evil.js" }], {}, /damaged/],
    ["a link", [{ name: "link", text: "/etc/passwd", mode: 0o120777 }], {}, /"link", which is no plain file/],
    ["a device", [{ name: "dev", mode: 0o020666 }], {}, /no plain file/],
    ["one file twice", [good, good], {}, /"good\.js" twice/],
    ["a file where a folder must be", [{ name: "a", text: "x" }, { name: "a/b", text: "x" }], {}, /damaged/],
    ["encrypted content", [{ ...good, flags: 1 }], {}, /encrypted/],
    ["a method nobody knows", [{ ...good, method: 99 }], {}, /damaged/],
    ["content of another checksum", [{ ...good, crc: 7 }], {}, /damaged/],
    ["stored content of another checksum", [{ ...good, stored: true, crc: 7 }], {}, /damaged/],
    ["more content than told", [{ name: "bomb", text: "x".repeat(100_000), size: 10 }], {}, /damaged/],
    ["less content than told", [{ ...good, size: 10 }], {}, /damaged/],
    ["stored content larger than told", [{ name: "bomb", text: "x".repeat(1000), stored: true, size: 1 }], {}, /damaged/],
    ["sizes of more than is taken", [{ ...good, size: 300 * 1024 * 1024 }], {}, /more than 268435456 bytes/],
    ["one content for many files", [{ name: "0", text: "x".repeat(1000), stored: true }, ...Array.from({ length: 50 }, (_, n) => ({ name: "0", text: "x".repeat(1000), stored: true, sameBody: true, localName: String(n) }))], {}, /damaged|twice/],
    ["content beyond its end", [{ ...good, packed: 5000 }], {}, /damaged/],
    ["the mark of zip64", [good], { count: 0xffff }, /zip64/],
    ["a size for zip64", [{ ...good, size: 0xffffffff }], {}, /zip64/],
    ["more files told than there are", [good], { count: 2 }, /damaged/],
    ["too many files", [good], { count: 30_000 }, /more than 20000 files/],
    ["an end that is missing", [good], { cut: 10 }, /damaged/],
  ])("with %s is refused, and nothing is written", async (_name, entries, shape, message) => {
    await expect(extract(makeZip(entries, shape))).rejects.toThrow(message);
    expect([existsSync(join(dir, "evil.js")), existsSync(join(dir, "out", "good.js"))]).toEqual([false, false]);
  });

  it("of which a part was changed or is missing is told as damaged, or gives what it held", async () => {
    const whole = makeZip([{ name: "a.js", text: "hello ".repeat(50) }, { name: "b.js", text: "there", stored: true }]);
    await fc.assert(fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), fc.boolean(), async (at, byte, isCut) => {
      const bytes = isCut ? whole.subarray(0, at) : Buffer.from(whole);
      if (!isCut) bytes[at] = byte;
      await rm(join(dir, "out"), { recursive: true, force: true });
      const fault = await extract(bytes).then(() => undefined, (err: Error) => err);
      if (fault) expect(fault).toMatchObject({ name: "PluginInstallError" });
      else expect([await readFile(join(dir, "out", "a.js"), "utf8").catch(() => "hello ".repeat(50)), (await readdir(join(dir, "out"))).length]).toEqual(["hello ".repeat(50), 2]);
    }), { numRuns: 300 });
  });
});
