import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, writeFileAtomic } from "../../infra/atomic-file.ts";
import { acquireFileLock } from "../../infra/file-lock.ts";

const entrySchema = z.object({
  containerName: z.string().min(1), sessionKey: z.string(), createdAtMs: z.number(), lastUsedAtMs: z.number(), image: z.string(), configHash: z.string().optional(),
  cdpPort: z.number().optional(), noVncPort: z.number().optional(),
});
const fileSchema = z.object({ entries: z.array(z.unknown()) });

export type SandboxEntry = z.infer<typeof entrySchema>;

/** Containers that were made here: `<state>/sandbox/containers.json`. Other processes may write it, too. */
export interface SandboxRegistry {
  list(): Promise<SandboxEntry[]>;
  put(entry: SandboxEntry): Promise<void>;
  remove(containerName: string): Promise<void>;
}

export function createSandboxRegistry(stateDir: string, file: "containers.json" | "browsers.json" = "containers.json"): SandboxRegistry {
  const path = join(stateDir, "sandbox", file);

  /** What does not look like an entry is left out: the container is found again by its name. */
  async function list(): Promise<SandboxEntry[]> {
    const parsed = fileSchema.safeParse(await readJsonFile(path).catch(() => undefined));
    return parsed.success ? parsed.data.entries.flatMap((entry) => entrySchema.safeParse(entry).data ?? []) : [];
  }

  async function change(edit: (entries: SandboxEntry[]) => SandboxEntry[]): Promise<void> {
    await using _lock = await acquireFileLock(`${path}.lock`);
    await writeFileAtomic(path, `${JSON.stringify({ entries: edit(await list()) }, null, 2)}\n`);
  }

  return {
    list,
    put: (entry) => change((entries) => [...entries.filter((other) => other.containerName !== entry.containerName), entry]),
    remove: (containerName) => change((entries) => entries.filter((other) => other.containerName !== containerName)),
  };
}
