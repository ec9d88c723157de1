import { loadConfig, resolveStatePaths } from "../../src/config/index.ts";
import { createGateway } from "../../src/gateway/index.ts";
import { PACKAGE_ROOT } from "./gateway.ts";

/** A gateway as a process of its own, to be killed: prints `listening <port>`, then `ready`. */
const { env } = process;
const paths = resolveStatePaths(env);
const snapshot = await loadConfig({ paths, env });
const gateway = await createGateway({
  env, paths, snapshot, version: "2026.2.25", packageRoot: PACKAGE_ROOT, port: 0, lock: false,
  console: { level: "debug", style: "compact", write: (line) => process.stderr.write(`${line}\n`) },
});
console.log(`listening ${gateway.port}`);
await gateway.ready;
console.log("ready");
process.on("SIGTERM", () => {
  void gateway.close("stop").then(() => process.exit(0));
});
