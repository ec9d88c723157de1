import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILES = 300;
const FUNCTIONS = 60;

/** Writes a plugin of 300 TypeScript files, 3.5 MB, that need compiling (enums) and import each other. */
export async function writeLargePlugin(root: string): Promise<void> {
  await mkdir(join(root, "src"), { recursive: true });
  await writeFile(join(root, "package.json"), JSON.stringify({ name: "large", version: "1.0.0", type: "module", openclaw: { extensions: ["./index.ts"] } }));
  await writeFile(join(root, "openclaw.plugin.json"), JSON.stringify({ id: "large", configSchema: { type: "object" } }));
  for (let i = 0; i < FILES; i++) {
    const functions = Array.from({ length: FUNCTIONS }, (_, j) =>
      `export function part${j}(input: { readonly a: number; readonly b?: string | undefined }): string {\n  const { a, b = "none" } = input;\n  return \`\${a + ${j}}:\${b}\`.padEnd(${j + 10});\n}`);
    const parent = i === 0 ? [] : [`import { part0 as before } from "./m${i >> 1}.js";`];
    await writeFile(join(root, "src", `m${i}.ts`), [...parent, `enum Kind { One = ${i}, Two }`, ...functions, `export const value = ${i === 0 ? "" : "before({ a: 1 }) + "}part0({ a: Kind.Two });`].join("\n"));
  }
  const imports = Array.from({ length: FILES }, (_, i) => `import { value as v${i} } from "./src/m${i}.js";`);
  await writeFile(join(root, "index.ts"), [
    'import { normalizeAccountId, type OpenClawPluginApi } from "openclaw/plugin-sdk";', ...imports, `const all = [${imports.map((_, i) => `v${i}`).join(", ")}];`,
    'export default { id: "large", register(api: OpenClawPluginApi) { api.registerCommand({ name: "large", description: "x", handler: () => ({ text: normalizeAccountId(all.join("")) }) }); } };',
  ].join("\n"));
}
