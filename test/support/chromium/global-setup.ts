import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { prepareChromium } from "./index.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Of the browser project: the browser, and the app it shows, built from the present sources. */
export default async function setup(project: TestProject): Promise<void> {
  project.provide("chromium", await prepareChromium());
  // Apart from dist/, which a build may be replacing at this moment.
  const outDir = `${root}node_modules/.cache/control-ui`;
  const { build } = await import("vite");
  await build({ configFile: `${root}src/control-ui/vite.config.ts`, logLevel: "warn", build: { outDir } });
  project.provide("controlUiDir", outDir);
}
