import { access, chmod, constants, lstat, readdir, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DIR_MODE, ensureDir, FILE_MODE, isErrno } from "../../infra/atomic-file.ts";
import { errorText } from "../../infra/errors.ts";
import { isLockOwnerAlive, readLockOwner } from "../../infra/file-lock.ts";
import { instanceLockPath } from "../../infra/instance-lock.ts";
import { shortenHome } from "../format.ts";
import type { Check, CheckInput, Problem } from "./check.ts";

/** Folders of the state directory whose files hold secrets or conversations. What plugins and workspaces keep is theirs. */
const PRIVATE_DIRS = ["credentials", "identity", "devices", "agents", "logs", "media", "cron", "memory"];
const MAX_ENTRIES = 20_000;

async function list(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (err) {
    if (isErrno(err, "ENOENT", "ENOTDIR", "EACCES")) return [];
    throw err;
  }
}

interface Wide {
  readonly path: string;
  readonly mode: number;
  readonly wanted: number;
}

/** Everything under `path` that others may read or change. */
async function findWide(path: string, found: Wide[], budget: { left: number }): Promise<void> {
  if (budget.left-- <= 0) return;
  const info = await lstat(path).catch(() => undefined);
  if (!info || info.isSymbolicLink()) return;
  const mode = info.mode & 0o777;
  if ((mode & 0o077) !== 0 && (info.isDirectory() || info.isFile())) found.push({ path, mode, wanted: info.isDirectory() ? DIR_MODE : FILE_MODE });
  if (info.isDirectory()) for (const name of await list(path)) await findWide(join(path, name), found, budget);
}

async function findModes({ cli }: CheckInput): Promise<readonly Problem[]> {
  if (process.platform === "win32") return [];
  const { stateDir, configPath, home } = cli.paths;
  const found: Wide[] = [];
  const budget = { left: MAX_ENTRIES };
  const info = await lstat(stateDir).catch(() => undefined);
  if (info?.isDirectory() && (info.mode & 0o077) !== 0) found.push({ path: stateDir, mode: info.mode & 0o777, wanted: DIR_MODE });
  for (const path of [configPath, ...[".bak", ".bak.1", ".bak.2", ".bak.3", ".bak.4"].map((end) => configPath + end)]) await findWide(path, found, budget);
  for (const name of await list(stateDir)) {
    if (PRIVATE_DIRS.includes(name) || /\.(?:sqlite|json|env)(?:-wal|-shm)?$|^\.env$/.test(name)) if (join(stateDir, name) !== configPath) await findWide(join(stateDir, name), found, budget);
  }
  if (found.length === 0) return [];
  const shown = found.slice(0, 5).map(({ path, mode, wanted }) => `${shortenHome(path, home)} is ${mode.toString(8)}, should be ${wanted.toString(8)}`);
  return [
    {
      severity: "warn",
      text: `Others on this machine may read:\n${[...shown, ...(found.length > 5 ? [`and ${found.length - 5} more`] : [])].join("\n")}`,
      repair: {
        kind: "safe",
        run: async () => {
          for (const { path, wanted } of found) await chmod(path, wanted);
          return [`Tightened the modes of ${found.length} files and folders.`];
        },
      },
    },
  ];
}

async function findStateDir({ cli }: CheckInput): Promise<readonly Problem[]> {
  const { stateDir, home } = cli.paths;
  const problems: Problem[] = [];
  if (!existsSync(stateDir)) {
    problems.push({ severity: "note", text: `${shortenHome(stateDir, home)} does not exist yet`, repair: { kind: "careful", run: async () => (await ensureDir(stateDir), [`Created ${shortenHome(stateDir, home)}.`]) } });
  } else {
    const isWritable = await access(stateDir, constants.R_OK | constants.W_OK | constants.X_OK).then(() => true, () => false);
    if (!isWritable) problems.push({ severity: "error", text: `${stateDir} cannot be written by this user. Make it yours: sudo chown -R "$(id -un)" ${JSON.stringify(stateDir)}` });
  }
  const others = [".openclaw", ".clawdbot", ".moldbot", ".moltbot"].map((name) => join(home, name)).filter((dir) => dir !== stateDir && existsSync(dir));
  for (const dir of others) problems.push({ severity: "note", text: `${shortenHome(dir, home)} is another state directory; it is not used now` });
  return problems;
}

async function findStaleLocks({ cli }: CheckInput): Promise<readonly Problem[]> {
  const agents = await list(cli.paths.agentsDir);
  const sessionLocks = await Promise.all(
    agents.map(async (id) => {
      const dir = join(cli.paths.agentsDir, id, "sessions");
      return (await list(dir)).filter((name) => name.endsWith(".lock")).map((name) => join(dir, name));
    }),
  );
  const problems: Problem[] = [];
  for (const path of [instanceLockPath(cli.paths.configPath), `${cli.paths.configPath}.lock`, ...sessionLocks.flat()]) {
    if (!existsSync(path)) continue;
    const owner = await readLockOwner(path).catch(() => undefined);
    if (owner && (await isLockOwnerAlive(owner))) continue;
    problems.push({
      severity: "warn",
      text: `${shortenHome(path, cli.paths.home)} was left by a process that is gone`,
      repair: { kind: "safe", run: async () => (await rm(path, { force: true, recursive: true }), [`Removed the stale lock ${shortenHome(path, cli.paths.home)}.`]) },
    });
  }
  return problems;
}

/** An unanswered question about a command never runs it, whatever the file says. */
async function findApprovals({ cli }: CheckInput): Promise<readonly Problem[]> {
  const { createApprovalsStore, fullFallbacks } = await import("../../agents/index.ts");
  const store = createApprovalsStore({ home: cli.paths.home, now: () => Date.now() });
  const name = shortenHome(store.path, cli.paths.home);
  try {
    const keys = fullFallbacks((await store.read()).file);
    return keys.map((key) => ({ severity: "warn", text: `${key} in ${name} is full, which is read as deny: when nobody answers, nothing runs. Set it to deny or allowlist.` }));
  } catch (err) {
    return [{ severity: "error", text: errorText(err) }];
  }
}

export const stateChecks: readonly Check[] = [
  { title: "State directory", find: findStateDir },
  { title: "File modes", find: findModes },
  { title: "Locks", find: findStaleLocks },
  { title: "Exec approvals", find: findApprovals },
];
