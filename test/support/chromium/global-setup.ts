import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { prepareChromium } from "./index.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Of the browser project: the browser, and the app it shows when no build is there yet. */
export default async function setup(project: TestProject): Promise<void> {
  project.provide("chromium", await prepareChromium());
  if (existsSync(`${root}dist/control-ui/index.html`)) return;
  const { build } = await import("vite");
  await build({ configFile: `${root}src/control-ui/vite.config.ts`, logLevel: "warn" });
}
