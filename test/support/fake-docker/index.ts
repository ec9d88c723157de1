import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FakeDockerState } from "./cli.ts";

export interface FakeDocker extends AsyncDisposable {
  /** Folder with the command, for the front of a PATH. */
  readonly binDir: string;
  readonly path: string;
  /** Every call so far, without `docker`. */
  calls(): Promise<string[][]>;
  state(): Promise<FakeDockerState>;
  change(edit: (state: FakeDockerState) => void): Promise<void>;
}

/** A `docker` command that is as strict as the real one, and its engine in a file. */
export async function createFakeDocker(initial: Partial<FakeDockerState> = {}): Promise<FakeDocker> {
  const dir = await mkdtemp(join(tmpdir(), "openclaw-fake-docker-"));
  const binDir = join(dir, "bin");
  const path = join(binDir, "docker");
  const file = join(dir, "state.json");
  await mkdir(binDir);
  await writeFile(join(dir, "calls.jsonl"), "");
  await writeFile(file, JSON.stringify({ engine: "up", images: ["openclaw-sandbox:bookworm-slim"], registry: ["debian:bookworm-slim"], containers: {}, ...initial }));
  await writeFile(join(dir, "package.json"), JSON.stringify({ type: "module" }));
  for (const name of ["cli", "flags"]) {
    const source = await readFile(join(import.meta.dirname, `${name}.ts`), "utf8");
    await writeFile(join(binDir, `${name}.js`), stripTypeScriptTypes(source).replace("./flags.ts", "./flags.js"));
  }
  await writeFile(path, `#!${process.execPath}\nimport { runFakeDocker } from "./cli.js";\nprocess.exitCode = await runFakeDocker(${JSON.stringify(dir)}, process.argv.slice(2));\n`);
  await chmod(path, 0o755);
  const state = async (): Promise<FakeDockerState> => JSON.parse(await readFile(file, "utf8")) as FakeDockerState;
  return {
    binDir,
    path,
    calls: async () => (await readFile(join(dir, "calls.jsonl"), "utf8")).split("\n").filter(Boolean).map((line) => JSON.parse(line) as string[]),
    state,
    async change(edit) {
      const now = await state();
      edit(now);
      await writeFile(file, JSON.stringify(now));
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}
