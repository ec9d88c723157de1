import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { PACKAGE_ROOT } from "../support/gateway.ts";

const run = promisify(execFile);
const bin = (name: string): string => join(PACKAGE_ROOT, "node_modules", ".bin", name);

const PLUGIN = `
import { createServer } from "node:http";
import { buildChannelConfigSchema, DmPolicySchema, jsonResult, SlackConfigSchema, type OpenClawPluginApi } from "openclaw/plugin-sdk";
import { normalizeAccountId } from "openclaw/plugin-sdk/account-id";
type Policy = "pairing" | "allowlist" | "open" | "disabled";
const policy: Policy = DmPolicySchema.parse("open");
// @ts-expect-error a policy is no number
const wrong: number = DmPolicySchema.parse("open");
const wider = SlackConfigSchema.extend({ dmPolicy: DmPolicySchema.optional() });
export default {
  id: "mine",
  configSchema: buildChannelConfigSchema(wider).schema,
  register(api: OpenClawPluginApi) {
    void createServer;
    // @ts-expect-error there is no such member
    api.registerNothing();
    api.registerTool({ name: "mine_look", description: "Looks", parameters: {}, execute: async () => jsonResult({ policy, wrong, id: normalizeAccountId("A") }) });
  },
};
`;

/** The package as `npm install openclaw` would put it there: its declarations, and what it depends on for types. */
async function installedBeside(project: string): Promise<void> {
  const home = join(project, "node_modules", "openclaw");
  await mkdir(home, { recursive: true });
  await copyFile(join(PACKAGE_ROOT, "package.json"), join(home, "package.json"));
  await run(bin("tsdown"), ["--filter", "sdk-types", "--log-level", "error"], { cwd: PACKAGE_ROOT, env: { ...process.env, OPENCLAW_OUT_DIR: join(home, "dist") } });
  const { dependencies } = JSON.parse(await readFile(join(home, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies).filter((dependency) => dependency.startsWith("@types/"))) {
    const real = await realpath(join(PACKAGE_ROOT, "node_modules", name));
    await mkdir(join(project, "node_modules", "@types"), { recursive: true });
    await symlink(real, join(project, "node_modules", name));
  }
}

it("an author who has installed nothing but the gateway gets types that hold", async () => {
  const project = await mkdtemp(join(tmpdir(), "author-"));
  try {
    await installedBeside(project);
    await writeFile(join(project, "index.ts"), PLUGIN);
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: { strict: true, module: "nodenext", target: "es2023", noEmit: true, skipLibCheck: false }, include: ["index.ts"] }));
    const { stdout } = await run(bin("tsc"), ["-p", project]).catch((err: { stdout: string }) => err);
    expect(stdout).toBe("");
  } finally {
    await rm(project, { recursive: true, force: true, maxRetries: 5 });
  }
});
