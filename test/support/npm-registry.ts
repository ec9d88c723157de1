import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** Files by path; a text or bytes. */
export type PackageFiles = Readonly<Record<string, string | Uint8Array>>;

/** A tar of plain files, as npm makes it; `type` for entries that it never makes. */
export function makeTar(files: PackageFiles, options: { readonly prefix?: string; readonly type?: string } = {}): Buffer {
  const blocks: Buffer[] = [];
  for (const [name, content] of Object.entries(files)) {
    const body = Buffer.from(content as Uint8Array);
    const header = Buffer.alloc(512);
    header.write(`${options.prefix ?? ""}${name}`, 0, 100);
    header.write("0000644\0", 100);
    header.write(`${body.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0", 136);
    header.write("        ", 148);
    header.write(options.type ?? "0", 156);
    header.write("ustar\u000000", 257);
    header.write(`${header.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `, 148);
    blocks.push(header, body, Buffer.alloc((512 - (body.length % 512)) % 512));
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export const makeTgz = (files: PackageFiles, prefix = "package/"): Buffer => gzipSync(makeTar(files, { prefix }));

export interface NpmRegistry {
  readonly url: string;
  /** Names that were asked for. */
  readonly asked: string[];
  /** Puts a version in; the newest is `latest`. `files` need no package.json. */
  publish(name: string, version: string, manifest?: Readonly<Record<string, unknown>>, files?: PackageFiles): void;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Version {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly tarball: Buffer;
}

/** The part of a registry that `npm pack` and `npm install` use, on loopback. */
export async function startNpmRegistry(): Promise<NpmRegistry> {
  const packages = new Map<string, Map<string, Version>>();
  const asked: string[] = [];
  let url = "";
  const server = createServer((req, res) => {
    const path = decodeURIComponent(new URL(req.url ?? "/", "http://localhost").pathname).slice(1);
    const tarball = /^(.+)\/-\/(.+)\.tgz$/.exec(path);
    if (tarball) {
      const found = packages.get(tarball[1] ?? "")?.get(tarball[2] ?? "");
      return void (found ? res.writeHead(200, { "content-type": "application/octet-stream" }).end(found.tarball) : res.writeHead(404).end());
    }
    asked.push(path);
    const versions = packages.get(path);
    if (!versions) return void res.writeHead(404, { "content-type": "application/json" }).end('{"error":"not found"}');
    const rows = [...versions].map(([version, { manifest, tarball: bytes }]) => [version, {
      ...manifest, name: path, version, dist: { tarball: `${url}/${path}/-/${version}.tgz`, shasum: createHash("sha1").update(bytes).digest("hex"), integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}` },
    }]);
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ name: path, "dist-tags": { latest: [...versions.keys()].at(-1) }, versions: Object.fromEntries(rows) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url, asked,
    publish(name, version, manifest = {}, files = {}) {
      const versions = packages.get(name) ?? new Map<string, Version>();
      versions.delete(version);
      versions.set(version, { manifest, tarball: makeTgz({ "package.json": JSON.stringify({ name, version, ...manifest }), ...files }) });
      packages.set(name, versions);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
