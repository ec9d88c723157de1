import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** The program of this name on PATH; relative folders of PATH do not count. */
export function findOnPath(name: string, path: string | undefined): string | undefined {
  const suffix = process.platform === "win32" ? ".exe" : "";
  return (path ?? "").split(delimiter).filter(isAbsolute).map((dir) => join(dir, `${name}${suffix}`)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // not there, or not for us to run
  }
}
