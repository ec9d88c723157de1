import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The installed package's folder, from sources and from the bundle alike. @throws Error when the code was moved out of it */
export function findPackageRoot(from: string = import.meta.dirname): string {
  for (let dir = from; ; dir = dirname(dir)) {
    const file = join(dir, "package.json");
    if (existsSync(file) && (JSON.parse(readFileSync(file, "utf8")) as { name?: unknown }).name === "openclaw") return dir;
    if (dirname(dir) === dir) throw new Error(`The openclaw package was not found above ${from}`);
  }
}

export function readPackageVersion(root: string): string {
  return String((JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version?: unknown }).version ?? "dev");
}
