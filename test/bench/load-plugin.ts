/** Loads the TypeScript plugin of a folder with the compiler's cache of a state folder. Prints the ms as JSON. */
import { createPluginLoader } from "../../src/plugins/loader.ts";

const [root = "", stateDir = ""] = process.argv.slice(2);
const loader = createPluginLoader({ stateDir, loadSdk: () => import("../../src/plugin-sdk/index.ts") });
await Promise.all([import("jiti"), import("../../src/plugin-sdk/index.ts")]);
const from = performance.now();
await loader.load({ root, entry: `${root}/index.ts`, origin: "config" } as Parameters<typeof loader.load>[0]);
console.log(JSON.stringify({ ms: performance.now() - from }));
