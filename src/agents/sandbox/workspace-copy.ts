import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { ensureDir, isErrno } from "../../infra/atomic-file.ts";
import type { Logger } from "../../infra/log.ts";
import { createSandboxFiles } from "./files.ts";

/** What an agent is told about itself goes along; its memory stays. */
const BOOTSTRAP_FILES = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "BOOTSTRAP.md", "HEARTBEAT.md"];
const MAX_SKILL_FILES = 500;
const MAX_SKILL_FILE_BYTES = 2 * 1024 * 1024;
const INSIDE = "/workspace";

/** A private copy for one sandbox: made once, then its own. */
export async function ensureWorkspaceCopy({ copyDir, agentDir, log }: { readonly copyDir: string; readonly agentDir: string; readonly log: Logger }): Promise<void> {
  await ensureDir(copyDir);
  const files = filesOf(copyDir);
  for (const name of BOOTSTRAP_FILES) {
    try {
      const info = await lstat(join(agentDir, name));
      if (!info.isFile() || info.nlink > 1 || info.size > MAX_SKILL_FILE_BYTES) continue;
      const copy = await files.forWrite(name);
      if (await copy.stat().then(() => true, () => false)) continue;
      await copy.write(await readFile(join(agentDir, name)));
    } catch (err) {
      if (!isErrno(err, "ENOENT")) log.warn("a file of the workspace was not copied into the sandbox", { name, err });
    }
  }
}

/**
 * Puts the folders of skills under `skills/<name>` of the copy. What runs inside may have put links there: files are written
 * as file tools write them. Links inside of skills do not come along.
 */
export async function mirrorSkills({ copyDir, skills, log }: { readonly copyDir: string; readonly skills: readonly { readonly name: string; readonly filePath: string }[]; readonly log: Logger }): Promise<void> {
  const files = filesOf(copyDir);
  for (const skill of skills) {
    const from = dirname(skill.filePath);
    try {
      for (const path of await listFiles(from)) {
        const source = join(from, path);
        const { mode } = await lstat(source);
        await (await files.forWrite(posix.join(INSIDE, "skills", basename(from), path))).write(await readFile(source), (mode & 0o111) === 0 ? 0o644 : 0o755);
      }
    } catch (err) {
      log.warn("a skill was not copied into the sandbox", { skill: skill.name, err });
    }
  }
}

async function listFiles(dir: string): Promise<string[]> {
  const found: string[] = [];
  const visit = async (at: string): Promise<void> => {
    for (const entry of await readdir(join(dir, at), { withFileTypes: true })) {
      const path = posix.join(at, entry.name);
      if (entry.isDirectory() && entry.name !== "node_modules" && entry.name !== ".git") await visit(path);
      else if (entry.isFile() && (await lstat(join(dir, path))).size <= MAX_SKILL_FILE_BYTES) found.push(path);
      if (found.length > MAX_SKILL_FILES) throw new Error(`it has more than ${MAX_SKILL_FILES} files`);
    }
  };
  await visit("");
  return found;
}

const filesOf = (copyDir: string): ReturnType<typeof createSandboxFiles> =>
  createSandboxFiles({ workdir: INSIDE, readRoots: [], mounts: () => Promise.resolve([{ target: INSIDE, source: copyDir, writable: true }]) });
