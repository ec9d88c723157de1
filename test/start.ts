import { join } from "node:path";
import { build, isBuildFresh } from "../build.ts";

/** `pnpm start`: builds when the sources are newer than `dist/`, then is the gateway, with the arguments passed on. */
if (!(await isBuildFresh())) {
  console.log("Building OpenClaw (once) …");
  await build();
}
const entry = join(import.meta.dirname, "..", "dist", "entry.js");
process.argv = [process.execPath, entry, "gateway", ...process.argv.slice(2)];
await import(entry);
