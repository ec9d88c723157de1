import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPluginLoader } from "./loader.ts";
import type { PluginCandidate } from "./types.ts";

let dir: string;
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), "loader-"))));
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(dir, "p", name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

/** What the plugin's register returns. */
async function load(entry = "index.ts"): Promise<unknown> {
  const loader = createPluginLoader({ stateDir: join(dir, "state"), loadSdk: async () => ({ sdkName: "ours" }) });
  return (await loader.load({ root: join(dir, "p"), entry: join(dir, "p", entry), origin: "config" } as PluginCandidate)).register({});
}

describe("files that a TypeScript plugin names as JavaScript", () => {
  const files = {
    "package.json": JSON.stringify({ name: "p", type: "module" }),
    "index.ts": `import { a } from "./a.js";
      import './effect.js';
      import { real } from "../p/real.js";
      import folder from "./folder";
      import { both } from "./both.js";
      export * from "./a.js";
      import { sdkName } from "openclaw/plugin-sdk/core";
      enum Kind { One = 1 }
      const text = 'import x from "./a.js"';
      export default { register: async () => [a, (globalThis as any).loaderEffect, real, folder, both, sdkName, Kind.One, text, (await import("./later.js")).later] };`,
    "a.ts": `import type { T } from "./types.js"; export const a: T = "a";`,
    "types.ts": "export type T = string;",
    "effect.ts": "(globalThis as any).loaderEffect = 'effect';",
    "real.js": "export const real = 'js';",
    "folder/index.ts": `import { up } from "../up.js"; export default up as string;`,
    "up.tsx": "export const up: string = 'up';",
    "both.ts": "export const both = 'ts';",
    "both.js": "export const both = 'js';",
    "later.ts": "export const later: string = 'later';",
  };

  it("are found, whichever way they are named; a JavaScript file of that name is taken first; texts stay as they are", async () => {
    await write(files);
    const said = ["a", "effect", "js", "up", "js", "ours", 1, 'import x from "./a.js"', "later"];
    expect(await load()).toEqual(said);
    expect(await load()).toEqual(said);
  });

  it("are found in an update in which one of them is JavaScript, though the file that names it is the same", async () => {
    await write(files);
    await load();
    await rm(join(dir, "p", "a.ts"));
    await write({ "a.js": "export const a = 'A';" });
    expect(await load()).toEqual(expect.arrayContaining(["A", "later"]));
    await rename(join(dir, "p", "a.js"), join(dir, "p", "a.mts"));
    expect(await load()).toEqual(expect.arrayContaining(["A", "later"]));
  });

  it("that are missing or do not parse are named", async () => {
    await write({ "index.ts": 'import { none } from "./none.js";\nexport default () => none;' });
    await expect(load()).rejects.toThrow(/none\.js/);
    await write({ "index.ts": 'import { bad } from "./bad.js";\nexport default () => bad;', "bad.ts": "export const bad: = 1;" });
    await expect(load()).rejects.toThrow(/bad/);
  });
});
