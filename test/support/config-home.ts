import { mkdtemp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { silentLogger } from "../../src/infra/log.ts";
import { type ConfigSnapshot, loadConfig, type LoadConfigDeps } from "../../src/config/load.ts";
import { resolveStatePaths, type StatePaths } from "../../src/config/paths.ts";
import { type ConfigWriter, type ConfigWriterDeps, createConfigWriter } from "../../src/config/writer.ts";

/** A state directory of its own for one test. */
export interface TestHome {
  readonly dir: string;
  readonly paths: StatePaths;
  readonly deps: ConfigWriterDeps;
  file(name: string): string;
  write(name: string, text: string): Promise<void>;
  read(name?: string): Promise<string>;
  load(more?: Partial<LoadConfigDeps>): Promise<ConfigSnapshot>;
  writer(more?: Partial<ConfigWriterDeps>): ConfigWriter;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function createTestHome(config?: string, env: Record<string, string> = {}): Promise<TestHome> {
  const dir = await mkdtemp(join(tmpdir(), "openclaw-config-"));
  const vars = { HOME: dir, OPENCLAW_STATE_DIR: join(dir, "state"), ...env };
  const paths = resolveStatePaths(vars);
  const deps: ConfigWriterDeps = { paths, env: vars, version: "2026.2.25", log: silentLogger };
  const file = (name: string): string => join(paths.stateDir, name);
  const write = async (name: string, text: string): Promise<void> => {
    await mkdir(dirname(file(name)), { recursive: true });
    await writeFile(file(name), text);
  };
  await mkdir(paths.stateDir, { recursive: true, mode: 0o700 });
  if (config !== undefined) await write("openclaw.json", config);
  return {
    dir,
    paths,
    deps,
    file,
    write,
    read: (name = "openclaw.json") => readFile(file(name), "utf8"),
    load: (more = {}) => loadConfig({ ...deps, ...more }),
    writer: (more = {}) => createConfigWriter({ ...deps, ...more }),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}
