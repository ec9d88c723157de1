import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Puts a plugin into a folder: its manifest, and its files by name. */
export async function writePlugin(dir: string, id: string, files: Readonly<Record<string, string>>, manifest: object = {}): Promise<string> {
  const root = join(dir, id);
  await mkdir(root, { recursive: true });
  await writeFile(join(root, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: { type: "object", additionalProperties: false, properties: {} }, ...manifest }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  return root;
}
