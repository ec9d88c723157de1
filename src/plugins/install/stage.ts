import { createHash } from "node:crypto";
import { chmod, copyFile, cp, mkdir, readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { ifExists, isErrno } from "../../infra/atomic-file.ts";
import { isInside } from "../discovery.ts";
import { MANIFEST_FILE, readManifest, readPluginPackage } from "../manifest.ts";
import { asFields, textOf, type Fields } from "../runtime/section.ts";
import { extractArchive } from "./archive.ts";
import { scanCode, type CodeFinding } from "./code-scan.ts";
import type { NpmRunner, PackedPackage } from "./npm.ts";
import { PluginInstallError, type InstallSource } from "./source.ts";

/** A plugin that is complete in a folder of its own and can be moved into its place. */
export interface StagedPlugin {
  readonly dir: string;
  readonly id: string;
  readonly kind: string | undefined;
  readonly version: string | undefined;
  readonly findings: readonly CodeFinding[];
  readonly packed: PackedPackage | undefined;
  readonly shasum: string | undefined;
}

/** The host itself, under the names it has had: a plugin gets it from the gateway, never from the registry. */
const HOST_NAMES = ["openclaw", "clawdbot", "moltbot"];

/**
 * Fetches, unpacks and checks a plugin in `workDir`, and installs its dependencies there.
 * @throws PluginInstallError; `workDir` is the caller's to remove
 */
export async function stagePlugin(source: InstallSource, workDir: string, npm: NpmRunner): Promise<StagedPlugin> {
  const fetched = await fetchSource(source, workDir, npm);
  const { id, kind, version } = await describePlugin(fetched.dir);
  const findings = await scanCode(fetched.dir);
  if (await prepareDependencies(fetched.dir)) await npm.installDependencies(fetched.dir);
  await closeToOthers(fetched.dir);
  return { ...fetched, id, kind, version, findings };
}

/** What others may write is not loaded (spec plugin-sdk §1); a copy has the rights of its source. */
async function closeToOthers(dir: string): Promise<void> {
  const pkg = await readPluginPackage(dir);
  for (const path of [dir, ...(pkg?.extensions ?? []).map((entry) => join(dir, entry))]) await chmod(path, (await stat(path)).mode & 0o755);
}

async function fetchSource(source: InstallSource, workDir: string, npm: NpmRunner): Promise<Pick<StagedPlugin, "dir" | "packed" | "shasum">> {
  const dir = join(workDir, "plugin");
  switch (source.kind) {
    case "npm": {
      const packDir = join(workDir, "pack");
      await mkdir(packDir, { recursive: true });
      const packed = await npm.pack(source.spec, packDir);
      return { dir: await unpack(packed.archive, dir), packed, shasum: packed.shasum };
    }
    case "archive":
      return { dir: await unpack(source.path, dir), packed: undefined, shasum: createHash("sha1").update(await readFile(source.path)).digest("hex") };
    case "folder":
      await cp(await realpath(source.path), dir, { recursive: true, verbatimSymlinks: true, filter: (path) => !["node_modules", ".git"].includes(basename(path)) || path === source.path });
      return { dir, packed: undefined, shasum: undefined };
    case "file":
      await wrapFile(source.path, dir);
      return { dir, packed: undefined, shasum: undefined };
  }
}

/** npm puts everything below `package/`; others may have another folder, or none. */
async function unpack(archive: string, target: string): Promise<string> {
  await extractArchive(archive, target);
  if ((await ifExists(readFile(join(target, "package.json")))) !== undefined) return target;
  const [only, ...others] = await readdir(target);
  return only !== undefined && others.length === 0 ? join(target, only) : target;
}

/** A single file becomes a folder, with the manifest beside it or a plain one. */
async function wrapFile(path: string, dir: string): Promise<void> {
  const id = basename(path, extname(path));
  await mkdir(dir, { recursive: true });
  await copyFile(path, join(dir, basename(path)));
  const beside = await ifExists(readFile(join(dirname(path), MANIFEST_FILE), "utf8"));
  await writeFile(join(dir, MANIFEST_FILE), beside ?? `${JSON.stringify({ id, configSchema: { type: "object", additionalProperties: true } }, null, 2)}\n`);
  await writeFile(join(dir, "package.json"), `${JSON.stringify({ name: id.toLowerCase(), version: "0.0.0", openclaw: { extensions: [`./${basename(path)}`] } }, null, 2)}\n`);
}

/** What a folder says it is. @throws PluginInstallError when the gateway could not load it */
export async function describePlugin(dir: string): Promise<{ readonly id: string; readonly kind: string | undefined; readonly version: string | undefined }> {
  const pkg = await readPluginPackage(dir);
  if (!pkg) throw new PluginInstallError("extracted package missing package.json");
  if (pkg.extensions.length === 0) throw new PluginInstallError("package.json missing openclaw.extensions");
  for (const entry of pkg.extensions) {
    if (!isInside(join(dir, entry), dir)) throw new PluginInstallError(`extension entry escapes package directory: ${entry}`);
    if ((await ifExists(readFile(join(dir, entry)).catch(notAFile))) === undefined) throw new PluginInstallError(`extension entry not found: ${entry}`);
  }
  const manifest = await readManifest(dir, pkg).catch((err: unknown) => {
    throw new PluginInstallError(err instanceof Error ? err.message : String(err), { cause: err });
  });
  const id = checkId(unscoped(manifest.id) || unscoped(pkg.name ?? ""));
  return { id, kind: manifest.kind, version: manifest.version ?? pkg.version };
}

function notAFile(err: unknown): never {
  if (isErrno(err, "EISDIR")) throw new PluginInstallError("extension entry is a folder, not a file");
  throw err;
}

const unscoped = (name: string): string => name.replace(/^@[^/]+\//, "").trim();

/** @throws PluginInstallError for what is no name of a folder */
export function checkId(id: string): string {
  if (id === "" || id === "." || id === ".." || /[/\\\0]/.test(id)) throw new PluginInstallError(`invalid plugin name: ${JSON.stringify(id)}`);
  return id;
}

/** Takes the host and what only its authors need out of `package.json`. true: there are dependencies to install. */
async function prepareDependencies(dir: string): Promise<boolean> {
  const path = join(dir, "package.json");
  const pkg = asFields(JSON.parse(await readFile(path, "utf8")));
  const without = (key: string, drop: (name: string, version: unknown) => boolean): Fields => Object.fromEntries(Object.entries(asFields(pkg[key])).filter(([name, version]) => !drop(name, version)));
  const isHost = (name: string): boolean => HOST_NAMES.includes(name);
  const next: Record<string, unknown> = { ...pkg };
  for (const key of ["dependencies", "optionalDependencies", "peerDependencies"]) if (pkg[key] !== undefined) next[key] = without(key, isHost);
  if (pkg["devDependencies"] !== undefined) next["devDependencies"] = without("devDependencies", (name, version) => isHost(name) || textOf(version)?.startsWith("workspace:") === true);
  await writeFile(path, `${JSON.stringify(next, null, 2)}\n`);
  return Object.keys({ ...asFields(next["dependencies"]), ...asFields(next["optionalDependencies"]) }).length > 0;
}
