import type { PluginInstaller } from "../plugins/install/index.ts";
import type { Cli } from "./cli.ts";
import { createWriter, requireConfig } from "./config-access.ts";
import { CliError } from "./errors.ts";
import { openCatalog, tryPlugin } from "./plugins.ts";

/** Installs into the state folder of this command. Its refusals become the command's with `refusals`. */
export async function openInstaller(cli: Cli): Promise<PluginInstaller> {
  const snapshot = await requireConfig(cli);
  let current = snapshot.config;
  const { createPluginInstaller } = await import("../plugins/install/index.ts");
  const memories = (await (await openCatalog(cli)).inspect(current)).plugins.filter(({ kind }) => kind === "memory").map(({ id }) => id);
  return createPluginInstaller({
    stateDir: cli.paths.stateDir, config: () => current, now: Date.now, memoryPlugins: () => memories, tryLoad: (dir, id) => tryPlugin(cli, snapshot, dir, id),
    async writeConfig(next) {
      current = (await createWriter(cli).replace(next)).snapshot.config;
    },
  });
}

/** @throws CliError with what the installer says */
export async function refusals<T>(work: Promise<T>): Promise<T> {
  const { PluginInstallError } = await import("../plugins/install/index.ts");
  return work.catch((err: unknown) => {
    throw err instanceof PluginInstallError ? new CliError(err.message, { cause: err }) : err;
  });
}

/** Installs one plugin and says so. @throws CliError */
export async function installPlugin(cli: Cli, spec: string, options: { readonly link?: boolean; readonly pin?: boolean } = {}): Promise<void> {
  const { notices } = await refusals((await openInstaller(cli)).install(spec, options));
  for (const line of notices) cli.print(line);
}
