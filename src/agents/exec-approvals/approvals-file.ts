import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { ifExists, writeFileAtomic } from "../../infra/atomic-file.ts";
import { acquireFileLock } from "../../infra/file-lock.ts";
import { stricterAsk, stricterSecurity, type ExecAsk, type ExecSecurity } from "./modes.ts";

const security = z.enum(["deny", "allowlist", "full"]);
const ask = z.enum(["off", "on-miss", "always"]);
const modes = { security: security.optional(), ask: ask.optional(), askFallback: security.optional(), autoAllowSkills: z.boolean().optional() };
const entry = z.looseObject({ id: z.string().optional(), pattern: z.string().min(1), lastUsedAt: z.number().optional(), lastUsedCommand: z.string().optional(), lastResolvedPath: z.string().optional() });
const upgradedEntry = z.union([entry, z.string().min(1).transform((pattern) => ({ pattern }))]);
const fileSchema = z.looseObject({
  version: z.literal(1).default(1),
  socket: z.looseObject({ path: z.string().optional(), token: z.string().optional() }).optional(),
  defaults: z.looseObject(modes).optional(),
  agents: z.record(z.string(), z.looseObject({ ...modes, allowlist: z.array(upgradedEntry).optional() })).optional(),
});

export type AllowlistEntry = z.output<typeof entry>;
export type ApprovalsFile = z.output<typeof fileSchema>;

/** The file is there and is not what it should be: nothing is allowed by it. */
export class ApprovalsFileError extends Error {
  override readonly name = "ApprovalsFileError";
  readonly code: "invalid" | "hash-required" | "changed";
  constructor(code: ApprovalsFileError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface ApprovalsSnapshot {
  readonly path: string;
  readonly exists: boolean;
  /** sha256 of the raw file; of nothing while there is none. */
  readonly hash: string;
  readonly file: ApprovalsFile;
}

/** What the file says for one agent; modes it does not name are undefined. */
export interface AgentApprovals {
  readonly security: ExecSecurity | undefined;
  readonly ask: ExecAsk | undefined;
  /** `full` in the file is read as `deny`: an unanswered question never runs anything that was not allowed. */
  readonly askFallback: "deny" | "allowlist";
  readonly patterns: readonly string[];
}

export interface ApprovalsStore {
  readonly path: string;
  /** @throws ApprovalsFileError "invalid" */
  read(): Promise<ApprovalsSnapshot>;
  /** Replaces the file; the token of the socket is kept. @throws ApprovalsFileError, ZodError-like messages as "invalid" */
  replace(file: unknown, baseHash: string | undefined): Promise<ApprovalsSnapshot>;
  forAgent(agentId: string): Promise<AgentApprovals>;
  allow(agentId: string, paths: readonly string[]): Promise<void>;
  recordUse(agentId: string, used: readonly { readonly pattern: string; readonly path: string }[], command: string): Promise<void>;
}

/** Follows the home directory, not the state directory. Source: spec tools-and-automation §3.3. */
export const approvalsPath = (home: string): string => join(home, ".openclaw", "exec-approvals.json");

/** Of a command that is noted with its entry. */
const MAX_NOTED_CHARS = 500;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Reads any earlier form: entries that are plain strings, `agents.default` for `main`. @throws ApprovalsFileError */
export function parseApprovals(text: string, path: string): ApprovalsFile {
  try {
    return normalize(fileSchema.parse(JSON.parse(text)));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? cause.issues.map((issue) => `${issue.path.join(".") || "file"}: ${issue.message}`).join("; ") : "it is no JSON";
    throw new ApprovalsFileError("invalid", `${path} cannot be used (${why}). Correct it, or remove it to start with an empty one.`, { cause });
  }
}

function normalize(file: ApprovalsFile): ApprovalsFile {
  const agents: NonNullable<ApprovalsFile["agents"]> = {};
  for (const [id, agent] of Object.entries(file.agents ?? {})) {
    const key = id === "default" ? "main" : id;
    const before = Object.hasOwn(agents, key) ? agents[key] : undefined;
    const allowlist = [...(before?.allowlist ?? []), ...(agent.allowlist ?? [])].map((item) => ({ ...item, id: ("id" in item ? item.id : undefined) ?? randomUUID() }));
    agents[key] = { ...before, ...agent, ...(allowlist.length > 0 || agent.allowlist ? { allowlist } : {}) };
  }
  return { ...file, ...(file.agents ? { agents } : {}) };
}

export function approvalsForAgent(file: ApprovalsFile, agentId: string): AgentApprovals {
  const of = (id: string): NonNullable<ApprovalsFile["agents"]>[string] | undefined => (file.agents && Object.hasOwn(file.agents, id) ? file.agents[id] : undefined);
  const [own, every] = [of(agentId), of("*")];
  const fallback = own?.askFallback ?? every?.askFallback ?? file.defaults?.askFallback;
  return {
    security: own?.security ?? every?.security ?? file.defaults?.security,
    ask: own?.ask ?? every?.ask ?? file.defaults?.ask,
    askFallback: fallback === "allowlist" ? "allowlist" : "deny",
    patterns: [...(every?.allowlist ?? []), ...(own?.allowlist ?? [])].map((item) => item.pattern),
  };
}

/** Places in the file where an unanswered question would run anything; they are read as `deny`. */
export function fullFallbacks(file: ApprovalsFile): string[] {
  return [
    ...(file.defaults?.askFallback === "full" ? ["defaults.askFallback"] : []),
    ...Object.entries(file.agents ?? {}).flatMap(([id, agent]) => (agent.askFallback === "full" ? [`agents.${id}.askFallback`] : [])),
  ];
}

export function createApprovalsStore(options: { readonly home: string; readonly now: () => number }): ApprovalsStore {
  const path = approvalsPath(options.home);

  async function read(): Promise<ApprovalsSnapshot> {
    const text = await ifExists(readFile(path, "utf8"));
    return { path, exists: text !== undefined, hash: hashOf(text ?? ""), file: text === undefined ? { version: 1 } : parseApprovals(text, path) };
  }

  async function write(file: ApprovalsFile): Promise<void> {
    const { socket } = file;
    const complete = { ...file, version: 1, socket: { path: socket?.path ?? "~/.openclaw/exec-approvals.sock", token: socket?.token ?? randomBytes(24).toString("base64url") } };
    await writeFileAtomic(path, `${JSON.stringify(complete, null, 2)}\n`, { sync: true });
  }

  /** One writer at a time, this process or another. */
  async function update(change: (file: ApprovalsFile) => ApprovalsFile): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await using _held = await acquireFileLock(`${path}.lock`);
    await write(change((await read()).file));
  }

  return {
    path,
    read,
    async replace(given, baseHash) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await using _held = await acquireFileLock(`${path}.lock`);
      const text = await ifExists(readFile(path, "utf8"));
      if (text !== undefined && baseHash === undefined) throw new ApprovalsFileError("hash-required", "exec approvals base hash required; re-run exec.approvals.get and retry");
      if (baseHash !== undefined && baseHash !== hashOf(text ?? "")) throw new ApprovalsFileError("changed", "exec approvals changed since last load; re-run exec.approvals.get and retry");
      const file = parseApprovals(JSON.stringify(given), "the given exec approvals");
      await write({ ...file, socket: { ...file.socket, ...tokenOf(text) } });
      return read();
    },
    async forAgent(agentId) {
      const { exists, file } = await read();
      if (!exists) await update((empty) => empty);
      return approvalsForAgent(file, agentId);
    },
    async allow(agentId, paths) {
      await update((file) => {
        const agent = file.agents?.[agentId] ?? {};
        const known = new Set((agent.allowlist ?? []).map((item) => item.pattern));
        const added = paths.map(escapePattern).filter((pattern) => !known.has(pattern)).map((pattern) => ({ id: randomUUID(), pattern, lastUsedAt: options.now() }));
        return { ...file, agents: { ...file.agents, [agentId]: { ...agent, allowlist: [...(agent.allowlist ?? []), ...added] } } };
      });
    },
    async recordUse(agentId, used, command) {
      if (used.length === 0) return;
      const paths = new Map(used.map((item) => [item.pattern, item.path]));
      await update((file) => ({
        ...file,
        agents: Object.fromEntries(Object.entries(file.agents ?? {}).map(([id, agent]) => [
          id,
          id !== agentId && id !== "*" ? agent : { ...agent, ...(agent.allowlist ? { allowlist: agent.allowlist.map((item) => (paths.has(item.pattern) ? { ...item, lastUsedAt: options.now(), lastUsedCommand: command.slice(0, MAX_NOTED_CHARS).toWellFormed(), lastResolvedPath: paths.get(item.pattern) } : item)) } : {}) },
        ])),
      }));
    },
  };
}

/** A path with `*` or `?` in its name is stored so that it names only itself as far as the grammar can: `?` for each. */
const escapePattern = (path: string): string => path.replaceAll("*", "?");

function tokenOf(text: string | undefined): { token?: string } {
  try {
    const parsed = fileSchema.safeParse(JSON.parse(text ?? "{}"));
    return parsed.data?.socket?.token === undefined ? {} : { token: parsed.data.socket.token };
  } catch {
    return {}; // the old file was no JSON: a new token is made
  }
}

/** The strictest of what configuration, call and file say. Source: spec tools-and-automation §3.1. */
export function effectiveModes(given: { readonly security: ExecSecurity; readonly ask: ExecAsk }, file: Pick<AgentApprovals, "security" | "ask">): { readonly security: ExecSecurity; readonly ask: ExecAsk } {
  return { security: stricterSecurity(given.security, file.security), ask: stricterAsk(given.ask, file.ask) };
}
