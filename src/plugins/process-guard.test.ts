import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

/** A process of its own with this guard; `faults` is what was laid at the door of plugins. */
async function inProcess(code: string): Promise<{ readonly code: number; readonly faults: string }> {
  const file = (name: string): string => JSON.stringify(join(import.meta.dirname, name));
  const text = `
    const [{ guardProcess }, { inPlugin, callPlugin }, { silentLogger }] = await Promise.all([import(${file("process-guard.ts")}), import(${file("scope.ts")}), import(${file("../infra/log.ts")})]);
    const unguard = guardProcess({ log: silentLogger, onFault: (id, text) => console.log(id + ": " + text) });
    ${code}`;
  const done = await run(process.execPath, ["--input-type=module", "-e", text], { env: { PATH: process.env["PATH"] } }).catch((err: { code: number; stdout: string }) => err);
  return { code: "code" in done ? done.code : 0, faults: done.stdout };
}

it("what a plugin throws, rejects or ends with is its fault, and the process goes on", async () => {
  expect(await inProcess(`
    inPlugin("t", () => setTimeout(() => { throw new Error("by a timer"); }, 1));
    inPlugin("p", () => { void Promise.reject(new Error("by a promise")); });
    inPlugin("e", () => { try { process.exit(3); } catch {} });
    setTimeout(() => console.log("alive"), 20);
  `)).toEqual({ code: 0, faults: "e: process.exit refused\np: unhandled rejection: by a promise\nt: uncaught: by a timer\nalive\n" });
});

it("a fault of our own ends the process, as it would without the guard", async () => {
  const ended = await inProcess(`setTimeout(() => { throw new Error("ours"); }, 1); setTimeout(() => console.log("alive"), 200);`);
  expect(ended.code).not.toBe(0);
  expect(ended.faults).toBe("");
  expect((await inProcess("unguard(); process.exit(4);")).code).toBe(4);
});

it("a plugin that never answers is waited for to the end of its time, though nothing else keeps the process", async () => {
  expect((await inProcess(`await callPlugin("p", "loading", 50, () => new Promise(() => {})).catch((err) => console.log(err.message));`)).faults).toBe("loading of plugin p did not finish within 0.05 s\n");
});
