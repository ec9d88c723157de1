import { join } from "node:path";
import type { OpenClawConfig } from "../../config/index.ts";
import { ensureDir } from "../../infra/atomic-file.ts";
import type { Clock } from "../../infra/clock.ts";
import type { Logger } from "../../infra/log.ts";
import { resolveAgent, resolveDefaultAgentId, type AgentRoots, type ResolvedAgent } from "../../routing/index.ts";
import { loadSkills } from "../skills/index.ts";
import type { SandboxBackend, SandboxPlan } from "./backend.ts";
import { resolveBinds } from "./binds.ts";
import { createBwrapBackend } from "./bwrap.ts";
import { SandboxError, type SandboxRuntime, type SandboxSession } from "./contract.ts";
import { createDockerCli } from "./docker-cli.ts";
import { createDockerBackend } from "./docker.ts";
import { findOnPath, selectProgram } from "./executable.ts";
import { createSandboxFiles } from "./files.ts";
import { sandboxSlug } from "./names.ts";
import type { Mount } from "./open-inside.ts";
import { pruneSandboxes } from "./prune.ts";
import { createSandboxRegistry } from "./registry.ts";
import { AGENT_MOUNT, isSessionSandboxed, resolveSandboxSettings, sandboxScopeKey, type SandboxSettings } from "./settings.ts";
import { ensureWorkspaceCopy, mirrorSkills } from "./workspace-copy.ts";

export interface SandboxServiceOptions {
  readonly config: () => OpenClawConfig;
  readonly roots: AgentRoots;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly bundledSkillsDir: string;
  /** Folders of skills that plugins bring. */
  readonly pluginSkillDirs: () => readonly string[];
  readonly docsDir: string | undefined;
}

export interface SandboxService {
  /** undefined: this session runs on the host. Nothing is started by asking. */
  session(agentId: string, sessionKey: string): SandboxSession | undefined;
  /** Removes containers that nobody has used for long. Runs by itself once a sandbox was up. */
  prune(): Promise<void>;
  close(): void;
}

const PRUNE_EVERY_MS = 5 * 60_000;

export function createSandboxService(options: SandboxServiceOptions): SandboxService {
  const { config, roots, clock, env } = options;
  const log = options.log.child({ subsystem: "sandbox" });
  const registry = createSandboxRegistry(roots.stateDir);
  /** What was mirrored into which copy. */
  const mirrored = new Map<string, string>();
  let backend: SandboxBackend | undefined;
  let pruneTimer: NodeJS.Timeout | undefined;

  const openBackend = (): SandboxBackend => {
    const program = selectProgram(env);
    return program.kind === "docker" ? createDockerBackend({ docker: createDockerCli(program.path, env), registry, now: () => clock.now(), log }) : createBwrapBackend({ path: program.path, env });
  };

  const prune = (): Promise<void> => {
    const path = findOnPath("docker", env["PATH"]);
    return path === undefined ? Promise.resolve() : pruneSandboxes({ config: config(), registry, docker: createDockerCli(path, env), now: () => clock.now(), log });
  };

  /** The agent whose workspace is worked on; one that all share has the default agent's. */
  const agentFor = (settings: SandboxSettings, agentId: string): ResolvedAgent => resolveAgent(config(), settings.scope === "shared" ? resolveDefaultAgentId(config()) : agentId, roots);

  async function plan(settings: SandboxSettings, scopeKey: string, agent: ResolvedAgent): Promise<SandboxPlan> {
    const workspaceRoot = settings.workspaceRoot ?? join(roots.stateDir, "sandboxes");
    const slug = sandboxSlug(scopeKey, workspaceRoot);
    const own = settings.workspaceAccess === "rw";
    const source = own ? agent.workspaceDir : join(workspaceRoot, slug);
    if (settings.workspaceAccess !== "none") {
      await ensureDir(agent.workspaceDir);
      if (`${roots.stateDir}/`.startsWith(`${agent.workspaceDir}/`)) {
        throw new SandboxError("settings", `The workspace ${agent.workspaceDir} holds the gateway's own state and cannot be shown to a sandbox. Set agents.defaults.workspace to another folder, or sandbox.workspaceAccess to "none".`);
      }
    }
    if (!own) await ensureWorkspaceCopy({ copyDir: source, agentDir: agent.workspaceDir, log });
    const mounts: Mount[] = [{ target: settings.docker.workdir, source, writable: true }];
    if (settings.workspaceAccess === "ro") mounts.push({ target: AGENT_MOUNT, source: agent.workspaceDir, writable: false });
    const binds = await resolveBinds({ docker: settings.docker, roots: [agent.workspaceDir, workspaceRoot], stateDir: roots.stateDir });
    return { scopeKey, slug, settings, mounts, binds };
  }

  async function refreshSkills({ settings, slug, mounts }: SandboxPlan, agent: ResolvedAgent): Promise<void> {
    const copyDir = mounts[0]?.source;
    if (settings.workspaceAccess === "rw" || copyDir === undefined) return;
    const all = await loadSkills({ workspaceDir: agent.workspaceDir, stateDir: roots.stateDir, bundledDir: options.bundledSkillsDir, pluginDirs: options.pluginSkillDirs(), env, config: config(), log });
    const filter = agent.config?.skills;
    const skills = all.filter((skill) => skill.eligible && (filter === undefined || filter.includes(skill.name)));
    const signature = skills.map((skill) => `${skill.name}\0${skill.filePath}\0${skill.description}`).join("\n");
    if (mirrored.get(slug) === signature) return;
    await mirrorSkills({ copyDir, skills, log });
    mirrored.set(slug, signature);
  }

  return {
    session(agentId, sessionKey) {
      if (!isSessionSandboxed(config(), agentId, sessionKey)) return undefined;
      const settings = resolveSandboxSettings(config(), agentId);
      const scopeKey = sandboxScopeKey(settings, agentId, sessionKey);
      const agent = agentFor(settings, agentId);
      let planned: Promise<SandboxPlan> | undefined;
      let up: Promise<SandboxRuntime> | undefined;
      const planOnce = (): Promise<SandboxPlan> => (planned ??= plan(settings, scopeKey, agent));
      return {
        settings,
        scopeKey,
        ready: () =>
          (up ??= (async () => {
            backend ??= openBackend();
            const wanted = await planOnce();
            await refreshSkills(wanted, agent);
            pruneTimer ??= setInterval(() => {
              prune().catch((err: unknown) => log.warn("old sandbox containers were not removed", { err }));
            }, PRUNE_EVERY_MS).unref();
            return backend.ensure(wanted);
          })()),
        files: createSandboxFiles({
          workdir: settings.docker.workdir,
          mounts: async () => {
            const { mounts, binds } = await planOnce();
            return [...mounts, ...binds];
          },
          // Received files have names that nobody guesses: who names one was told of it.
          readRoots: [join(roots.stateDir, "media"), options.bundledSkillsDir, ...options.pluginSkillDirs(), join(roots.stateDir, "skills"), join(agent.workspaceDir, "skills"), ...(options.docsDir === undefined ? [] : [options.docsDir])],
        }),
      };
    },
    prune,
    close: () => clearInterval(pruneTimer),
  };
}
