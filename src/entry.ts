#!/usr/bin/env node
// Runs on every Node that knows ES modules, far enough to say that it is too old: nothing may be imported here by a name that an
// old Node lacks, and nothing of the product before the check.
import module from "node:module";
import { enableCache, isVersionRequest, readVersion, tooOldText } from "./cli/bootstrap.ts";

const complaint = tooOldText(process.versions.node);
if (complaint !== undefined) {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 1;
} else if (isVersionRequest(process.argv.slice(2))) {
  process.stdout.write(`${readVersion(import.meta.url)}\n`);
} else {
  enableCache(module, process.argv.slice(2), process.env);
  const { main } = await import("./cli/index.ts");
  await main(process.argv.slice(2));
}
