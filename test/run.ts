import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Everything that must hold: types, lint and layers, dead code, the build, then all tests. Checks run two at a time and
 * count as one each. The last line is `N passed, N failed`.
 */
const root = join(import.meta.dirname, "..");
const bin = (name: string): string => join(root, "node_modules", ".bin", name);
const onCi = process.env["CI"] === "true";

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

const checks: readonly Check[] = [
  { name: "types", command: [bin("tsc"), "--noEmit"] },
  { name: "types of the Control UI", command: [bin("tsc"), "-p", "src/control-ui", "--noEmit"] },
  { name: "types of the browser tests", command: [bin("tsc"), "-p", "test/browser", "--noEmit"] },
  { name: "lint and layers", command: [bin("oxlint"), "--type-aware", "--deny-warnings"] },
  { name: "dead code", command: [bin("knip"), "--no-progress"] },
  { name: "build", command: [process.execPath, "build.ts"] },
];

function run(command: readonly string[], env: NodeJS.ProcessEnv = process.env, quiet = true): Promise<{ code: number; output: string }> {
  const [file = "", ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd: root, env, stdio: ["ignore", quiet ? "pipe" : "inherit", quiet ? "pipe" : "inherit"] });
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (err) => resolve({ code: 1, output: err.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

let passed = 0;
let failed = 0;

const waiting = [...checks];
async function worker(): Promise<void> {
  for (let check = waiting.shift(); check; check = waiting.shift()) {
    const started = Date.now();
    const { code, output } = await run(check.command);
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    if (code === 0) passed++;
    else failed++;
    console.log(`${code === 0 ? "ok  " : "FAIL"} ${check.name} (${seconds} s)`);
    if (code !== 0) console.log(output);
  }
}
await Promise.all([worker(), worker()]);

const dir = mkdtempSync(join(tmpdir(), "openclaw-counts-"));
const counts = join(dir, "counts.json");
const { code } = await run([bin("vitest"), "run", ...process.argv.slice(2)], { ...process.env, OPENCLAW_TEST_COUNTS: counts }, false);
try {
  const result = JSON.parse(readFileSync(counts, "utf8")) as { passed: number; failed: number; skipped: number };
  passed += result.passed;
  failed += result.failed;
  // On CI a test that did not run proves nothing.
  if (onCi) failed += result.skipped;
  if (code !== 0 && result.failed === 0 && failed === 0) failed++;
} catch {
  console.log("vitest wrote no counts");
  failed++;
}
rmSync(dir, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
