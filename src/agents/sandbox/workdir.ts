import { statPlace, withPlace, OutsideSandboxError, type Mount } from "./open-inside.ts";
import { toInside } from "./files.ts";

/** Where a command works, as seen inside. What is not mounted is for the sandbox to know. @throws Error when the folder is not there */
export async function resolveSandboxWorkdir(wanted: string | undefined, mounts: readonly Mount[], home: string): Promise<string> {
  if (wanted === undefined || wanted === "") return home;
  const inside = toInside(wanted, mounts, home);
  const found = await withPlace(mounts, inside, { create: false }, statPlace).catch((err: unknown) => {
    if (err instanceof OutsideSandboxError) return undefined;
    throw new Error(`The working directory ${wanted} does not exist in the sandbox.`, { cause: err });
  });
  if (found && !found.isDirectory) throw new Error(`The working directory ${wanted} does not exist in the sandbox.`);
  return inside;
}
