import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "../../infra/atomic-file.ts";
import { asFields, textOf } from "../runtime/section.ts";
import { runCommand } from "../runtime/run-command.ts";
import { PluginInstallError } from "./source.ts";

/** A package as the registry gave it. */
export interface PackedPackage {
  readonly archive: string;
  readonly name: string;
  readonly version: string;
  readonly integrity?: string | undefined;
  readonly shasum?: string | undefined;
}

export interface NpmRunner {
  /** Downloads without running anything. @throws PluginInstallError with npm's own words */
  pack(spec: string, targetDir: string): Promise<PackedPackage>;
  /** The dependencies of `package.json`, without scripts. @throws PluginInstallError */
  installDependencies(dir: string): Promise<void>;
}

const PACK_TIMEOUT_MS = 120_000;
const INSTALL_TIMEOUT_MS = 300_000;

/** The npm of this machine. `env` is added to the gateway's, e.g. `npm_config_registry`. */
export function createNpmRunner(options: { readonly env?: Readonly<Record<string, string | undefined>> | undefined } = {}): NpmRunner {
  const npm = async (args: readonly string[], cwd: string, timeoutMs: number): Promise<string> => {
    const program = process.platform === "win32" ? "npm.cmd" : "npm";
    try {
      const done = await runCommand([program, ...args], { timeoutMs, cwd, env: { npm_config_update_notifier: "false", ...options.env } });
      if (done.code === 0) return done.stdout;
      if (done.termination === "timeout") throw new PluginInstallError(`npm ${args[0]} took longer than ${timeoutMs / 1000} s`);
      throw new PluginInstallError(`npm ${args[0]} failed: ${lastWords(done.stderr || done.stdout)}`);
    } catch (err) {
      if (isErrno(err, "ENOENT")) throw new PluginInstallError("npm is not installed; install it, or give a folder or an archive", { cause: err });
      throw err;
    }
  };
  return {
    async pack(spec, targetDir) {
      const out = await npm(["pack", spec, "--json", "--ignore-scripts", "--pack-destination", targetDir], targetDir, PACK_TIMEOUT_MS);
      const start = out.search(/[[{]/);
      const parsed = JSON.parse(start < 0 ? "null" : out.slice(start)) as unknown;
      const info = asFields(Array.isArray(parsed) ? parsed[0] : parsed);
      const file = (await readdir(targetDir)).find((name) => name.endsWith(".tgz"));
      const [name, version] = [textOf(info["name"]), textOf(info["version"])];
      if (file === undefined || name === undefined || version === undefined) throw new PluginInstallError(`npm pack gave no package for ${spec}`);
      return { archive: join(targetDir, file), name, version, integrity: textOf(info["integrity"]), shasum: textOf(info["shasum"]) };
    },
    async installDependencies(dir) {
      await npm(["install", "--omit=dev", "--silent", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"], dir, INSTALL_TIMEOUT_MS);
    },
  };
}

const lastWords = (text: string): string => text.trim().split("\n").slice(-6).join("\n").slice(-600) || "npm said nothing";
