import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Writes real counts over all projects to the file that OPENCLAW_TEST_COUNTS names. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    let skipped = 0;
    for (const module of modules) {
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed++;
        else if (state === "failed") failedHere++;
        else skipped++;
      }
      if (failedHere === 0 && module.state() === "failed") failedHere = 1;
      failed += failedHere;
    }
    writeFileSync(process.env["OPENCLAW_TEST_COUNTS"] as string, JSON.stringify({ passed, failed, skipped, modules: modules.length }));
  }
}
