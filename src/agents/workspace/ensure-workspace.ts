import { execFile } from "node:child_process";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureDir, FILE_MODE, ifExists, isErrno, readJsonFile, writeFileAtomic } from "../../infra/atomic-file.ts";
import type { Clock } from "../../infra/clock.ts";
import type { Logger } from "../../infra/log.ts";
import { WORKSPACE_TEMPLATES, type TemplateName } from "./templates.ts";

const SEEDED: readonly TemplateName[] = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md"];

interface WorkspaceState {
  version: 1;
  bootstrapSeededAt?: string;
  onboardingCompletedAt?: string;
}

/**
 * Creates the folder and its first files; never touches what is there. BOOTSTRAP.md is written once, and its deletion
 * ends the onboarding. Source: spec agent-pipeline §5.1.
 */
export async function ensureWorkspace(dir: string, options: { readonly seed: boolean; readonly clock: Clock; readonly log: Logger }): Promise<void> {
  await ensureDir(dir);
  if (!options.seed) return;
  const statePath = join(dir, ".openclaw", "workspace-state.json");
  const state = parseState(await readJsonFile(statePath).catch(() => undefined));
  const now = new Date(options.clock.now()).toISOString();
  let created = 0;
  for (const name of SEEDED) if (await writeIfMissing(join(dir, name), WORKSPACE_TEMPLATES[name])) created++;
  const isNew = created === SEEDED.length;
  if (isNew && state.bootstrapSeededAt === undefined) {
    await writeIfMissing(join(dir, "BOOTSTRAP.md"), WORKSPACE_TEMPLATES["BOOTSTRAP.md"]);
    await writeFileAtomic(statePath, `${JSON.stringify({ ...state, bootstrapSeededAt: now }, null, 2)}\n`);
    await initGit(dir, options.log);
  } else if (state.bootstrapSeededAt !== undefined && state.onboardingCompletedAt === undefined && !(await exists(join(dir, "BOOTSTRAP.md")))) {
    await writeFileAtomic(statePath, `${JSON.stringify({ ...state, onboardingCompletedAt: now }, null, 2)}\n`);
  }
}

function parseState(raw: unknown): WorkspaceState {
  if (typeof raw !== "object" || raw === null) return { version: 1 };
  const { bootstrapSeededAt, onboardingCompletedAt } = raw as Record<string, unknown>;
  return {
    version: 1,
    ...(typeof bootstrapSeededAt === "string" ? { bootstrapSeededAt } : {}),
    ...(typeof onboardingCompletedAt === "string" ? { onboardingCompletedAt } : {}),
  };
}

async function writeIfMissing(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", FILE_MODE);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    return true;
  } catch (err) {
    if (isErrno(err, "EEXIST")) return false;
    throw err;
  }
}

const exists = async (path: string): Promise<boolean> => (await ifExists(stat(path))) !== undefined;

async function initGit(dir: string, log: Logger): Promise<void> {
  try {
    await promisify(execFile)("git", ["init", "--quiet"], { cwd: dir, timeout: 5000 });
  } catch (err) {
    log.debug("workspace is not under git", { dir, err });
  }
}
