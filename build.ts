import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, cp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Builds `dist/`: the bundle and the Control UI. The stamp in it says from when the sources were. */
const root = import.meta.dirname;
const bin = (name: string): string => join(root, "node_modules", ".bin", name);
const DIST = join(root, "dist");
const STAMP = join(DIST, "build-stamp.json");

/** Newest change among what the build reads, ms. */
export async function newestSourceMs(): Promise<number> {
  let newest = 0;
  const visit = async (path: string): Promise<void> => {
    const info = await stat(path);
    if (!info.isDirectory()) {
      newest = Math.max(newest, info.mtimeMs);
      return;
    }
    for (const name of await readdir(path)) await visit(join(path, name));
  };
  for (const name of ["src", "extensions", "package.json", "pnpm-lock.yaml", "tsdown.config.ts"]) await visit(join(root, name));
  return newest;
}

/** Is there a finished build that is newer than every source? */
export async function isBuildFresh(): Promise<boolean> {
  if (!existsSync(STAMP) || !existsSync(join(DIST, "entry.js"))) return false;
  const { sourceMs } = JSON.parse(await readFile(STAMP, "utf8")) as { sourceMs: number };
  return sourceMs >= (await newestSourceMs());
}

function run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${args.join(" ")} failed with ${code}\n${output}`))));
  });
}

/** What an extension has beside its code: the manifest, a package file that points to the built entry, its skills. */
async function addExtensionFiles(target: string): Promise<void> {
  for (const id of await readdir(target).catch(() => [])) {
    const source = join(root, "extensions", id);
    await copyFile(join(source, "openclaw.plugin.json"), join(target, id, "openclaw.plugin.json"));
    const { name, version, description } = JSON.parse(await readFile(join(source, "package.json"), "utf8")) as Record<string, unknown>;
    await writeFile(join(target, id, "package.json"), JSON.stringify({ name, version, description, type: "module", openclaw: { extensions: ["./index.js"] } }));
    if (existsSync(join(source, "skills"))) await cp(join(source, "skills"), join(target, id, "skills"), { recursive: true });
  }
}

/**
 * Builds beside `dist/` and takes its place at the end: a build that fails, or two at once, leave a whole one behind.
 * @throws Error with the tool's output when a part does not build
 */
export async function build(): Promise<void> {
  const sourceMs = await newestSourceMs();
  const next = join(root, `dist.next-${process.pid}`);
  try {
    await rm(next, { recursive: true, force: true });
    await Promise.all([
      run(bin("tsdown"), ["--log-level", "warn"], { OPENCLAW_OUT_DIR: next }),
      ...(existsSync(join(root, "src", "control-ui", "index.html")) ? [run(bin("vite"), ["build", "src/control-ui", "--outDir", join(next, "control-ui"), "--emptyOutDir", "--logLevel", "warn"])] : []),
    ]);
    await addExtensionFiles(join(next, "extensions"));
    await chmod(join(next, "entry.js"), 0o755);
    await writeFile(join(next, "build-stamp.json"), JSON.stringify({ sourceMs }));
    await rm(DIST, { recursive: true, force: true });
    await rename(next, DIST);
  } finally {
    await rm(next, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const started = Date.now();
  await build();
  console.log(`built dist/ in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}
