import { join } from "node:path";
import { defineConfig } from "vitest/config";

const sdk = join(import.meta.dirname, "src", "plugin-sdk", "index.ts");

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    reporters: process.env["OPENCLAW_TEST_COUNTS"] ? ["default", "./test/count-reporter.ts"] : ["default"],
    expect: { poll: { timeout: 15_000, interval: 20 } },
    env: { OPENCLAW_SKIP_LOCAL_MODELS: "1" },
    projects: [
      {
        resolve: { alias: [{ find: /^openclaw\/plugin-sdk(\/.*)?$/, replacement: sdk }] },
        test: { name: "unit", include: ["src/**/*.test.ts", "extensions/**/*.test.ts", "test/*.test.ts"], exclude: ["src/control-ui/**/*.browser.test.ts"], testTimeout: 30_000, hookTimeout: 30_000 },
      },
      {
        resolve: { alias: [{ find: /^openclaw\/plugin-sdk(\/.*)?$/, replacement: sdk }] },
        test: { name: "integration", include: ["test/e2e/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: true },
      },
      {
        test: {
          name: "browser", include: ["test/browser/**/*.test.ts"], globalSetup: ["./test/support/chromium/global-setup.ts"], testTimeout: 60_000, hookTimeout: 90_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
