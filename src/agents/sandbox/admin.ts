import { join } from "node:path";
import type { OpenClawConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import { canonicalSessionKey, listAgentIds, mainSessionKey, resolveAgent, resolveDefaultAgentId, type AgentRoots } from "../../routing/index.ts";
import { resolveSandboxToolLists, type SandboxToolLists } from "../pi-tools.policy.ts";
import { assertPossible } from "./bwrap.ts";
import { assertIsolating } from "./docker-args.ts";
import { createDockerCli } from "./docker-cli.ts";
import { containerState, inspectImage, removeContainer } from "./docker.ts";
import { findOnPath, selectProgram } from "./executable.ts";
import { createSandboxRegistry, type SandboxEntry } from "./registry.ts";
import { isSandboxed, resolveSandboxSettings, sandboxScopeKey, type SandboxSettings } from "./settings.ts";

export interface SandboxRow extends SandboxEntry {
  /** `unknown`: the engine does not answer. */
  readonly state: "running" | "stopped" | "gone" | "unknown";
}

export interface SandboxSelection {
  readonly all?: boolean | undefined;
  readonly session?: string | undefined;
  readonly agent?: string | undefined;
}

/** Containers as a person looks after them, with or without a gateway. */
export interface SandboxAdmin {
  list(): Promise<SandboxRow[]>;
  /** Of browsers there are only entries of other versions. */
  browsers(): Promise<SandboxEntry[]>;
  select(selection: SandboxSelection): Promise<SandboxEntry[]>;
  /** The next run makes it anew, with the settings of then. @throws SandboxError */
  remove(entry: SandboxEntry): Promise<void>;
}

export function createSandboxAdmin({ config, stateDir, env }: { readonly config: OpenClawConfig; readonly stateDir: string; readonly env: Readonly<Record<string, string | undefined>> }): SandboxAdmin {
  const registry = createSandboxRegistry(stateDir);
  const docker = createDockerCli(findOnPath("docker", env["PATH"]) ?? "docker", env);
  return {
    async list() {
      const entries = await registry.list();
      return Promise.all(entries.map(async (entry) => ({ ...entry, state: (await containerState(docker, entry)) ?? "unknown" })));
    },
    browsers: () => createSandboxRegistry(stateDir, "browsers.json").list(),
    async select({ all, session, agent }) {
      const entries = await registry.list();
      if (all) return entries;
      const key = session === undefined ? undefined : canonicalSessionKey(session, { defaultAgentId: resolveDefaultAgentId(config) });
      return entries.filter(({ sessionKey }) => (key !== undefined && sessionKey === key) || (agent !== undefined && (sessionKey === `agent:${agent}` || sessionKey.startsWith(`agent:${agent}:`))));
    },
    remove: (entry) => removeContainer(docker, registry, entry.containerName),
  };
}

/** What would keep a sandboxed run from starting, one sentence each; nothing where no sandbox is asked for. */
export async function findSandboxProblems({ config, env }: { readonly config: OpenClawConfig; readonly env: Readonly<Record<string, string | undefined>> }): Promise<string[]> {
  const wanted = listAgentIds(config).map((id) => resolveSandboxSettings(config, id)).filter(({ mode }) => mode !== "off");
  const problems = new Set<string>();
  for (const { docker } of wanted) {
    try {
      assertIsolating(docker);
      const program = selectProgram(env);
      if (program.kind === "docker") await inspectImage(createDockerCli(program.path, env), docker.image);
      else assertPossible(docker);
    } catch (err) {
      problems.add(errorText(err));
    }
  }
  return [...problems];
}

export interface SandboxExplanation {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly mainSessionKey: string;
  readonly sandbox: Pick<SandboxSettings, "mode" | "scope" | "workspaceAccess" | "sessionToolsVisibility"> & {
    readonly workspaceRoot: string;
    readonly sessionIsSandboxed: boolean;
    readonly scopeKey: string;
    readonly tools: SandboxToolLists;
  };
  readonly elevated: { readonly enabled: boolean; readonly channels: readonly string[] };
  readonly fixIt: readonly string[];
}

/** Where a session's tools work and which rules say so. */
export function explainSandbox(config: OpenClawConfig, roots: AgentRoots, agentId: string, sessionKey: string): SandboxExplanation {
  const settings = resolveSandboxSettings(config, agentId);
  const agent = resolveAgent(config, agentId, roots);
  const { mode, scope, workspaceAccess, sessionToolsVisibility } = settings;
  return {
    agentId, sessionKey, mainSessionKey: mainSessionKey(agentId),
    sandbox: {
      mode, scope, workspaceAccess, sessionToolsVisibility, workspaceRoot: settings.workspaceRoot ?? join(roots.stateDir, "sandboxes"),
      sessionIsSandboxed: isSandboxed(settings, sessionKey), scopeKey: sandboxScopeKey(settings, agentId, sessionKey), tools: resolveSandboxToolLists(config, agent),
    },
    elevated: {
      enabled: config.tools?.elevated?.enabled !== false && agent.config?.tools?.elevated?.enabled !== false,
      channels: Object.entries(config.tools?.elevated?.allowFrom ?? {}).filter(([, ids]) => ids.length > 0).map(([channel]) => channel),
    },
    fixIt: ["agents.defaults.sandbox.mode", "agents.list[].sandbox.mode", "tools.sandbox.tools.alsoAllow", "tools.sandbox.tools.deny", "agents.list[].tools.sandbox.tools.alsoAllow", "tools.elevated.allowFrom.<channel>"],
  };
}

