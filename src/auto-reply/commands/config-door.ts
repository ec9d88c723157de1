import { type ConfigSource, getAtPath, parseConfigPath, redactConfigValue } from "../../config/index.ts";
import type { ConfigDoor } from "./contract.ts";

/** The whole is shown as it is written, `${VAR}` references in place; one key with its value in use. Secrets are replaced. */
export function createConfigDoor(source: Pick<ConfigSource, "snapshot" | "writer" | "reload">): ConfigDoor {
  async function written(write: Promise<{ readonly changedPaths: readonly string[] }>): Promise<readonly string[]> {
    const { changedPaths } = await write;
    await source.reload();
    return changedPaths.filter((path) => !path.startsWith("meta."));
  }
  return {
    read(path) {
      const { config, source: asWritten } = source.snapshot();
      if (path === undefined) return redactConfigValue(asWritten);
      return getAtPath(redactConfigValue(config, asWritten), parseConfigPath(path));
    },
    set: (path, value) => written(source.writer.set(path, value)),
    unset: (path) => written(source.writer.unset(path)),
  };
}
