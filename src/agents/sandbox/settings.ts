import type { AgentsDefaultsSandboxConfig, OpenClawConfig } from "../../config/index.ts";
import { agentIdOfKey, expandPath, normalizeAgentId, sessionKeyKind } from "../../routing/index.ts";

type DockerConfig = NonNullable<AgentsDefaultsSandboxConfig["docker"]>;

export const DEFAULT_SANDBOX_IMAGE = "openclaw-sandbox:bookworm-slim";
/** Where the agent's own workspace is seen when it may only be read. */
export const AGENT_MOUNT = "/agent";

export interface DockerSettings extends DockerConfig {
  readonly image: string;
  readonly containerPrefix: string;
  readonly workdir: string;
  readonly readOnlyRoot: boolean;
  readonly tmpfs: readonly string[];
  readonly network: string;
  readonly capDrop: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface SandboxSettings {
  readonly mode: "off" | "non-main" | "all";
  readonly scope: "session" | "agent" | "shared";
  readonly workspaceAccess: "none" | "ro" | "rw";
  readonly sessionToolsVisibility: "spawned" | "all";
  /** Where private copies lie, if not in `<state>/sandboxes`. */
  readonly workspaceRoot: string | undefined;
  readonly docker: DockerSettings;
  /** 0: never for that reason. */
  readonly prune: { readonly idleHours: number; readonly maxAgeDays: number };
}

/** Settings of one agent: its own over the general ones, key by key. Source: spec tools-and-automation §4. */
export function resolveSandboxSettings(cfg: OpenClawConfig, agentId: string): SandboxSettings {
  const general = cfg.agents?.defaults?.sandbox;
  const own = ownSection(cfg, agentId);
  const workspaceRoot = own?.workspaceRoot ?? general?.workspaceRoot;
  const scope = scopeOf(own) ?? scopeOf(general) ?? "agent";
  // One container cannot be of two shapes: what all agents share has the general shape.
  const docker = { ...general?.docker, ...(scope === "shared" ? {} : own?.docker) };
  const env = { LANG: "C.UTF-8", ...general?.docker?.env, ...(scope === "shared" ? {} : own?.docker?.env) };
  const binds = [...(general?.docker?.binds ?? []), ...(scope === "shared" ? [] : (own?.docker?.binds ?? []))];
  return {
    mode: own?.mode ?? general?.mode ?? "off",
    scope,
    workspaceAccess: own?.workspaceAccess ?? general?.workspaceAccess ?? "none",
    sessionToolsVisibility: own?.sessionToolsVisibility ?? general?.sessionToolsVisibility ?? "spawned",
    workspaceRoot: workspaceRoot === undefined ? undefined : expandPath(workspaceRoot),
    docker: {
      ...docker,
      image: docker.image ?? DEFAULT_SANDBOX_IMAGE,
      containerPrefix: docker.containerPrefix ?? "openclaw-sbx-",
      workdir: docker.workdir ?? "/workspace",
      readOnlyRoot: docker.readOnlyRoot ?? true,
      tmpfs: docker.tmpfs ?? ["/tmp", "/var/tmp", "/run"],
      network: docker.network ?? "none",
      capDrop: docker.capDrop ?? ["ALL"],
      env,
      ...(binds.length > 0 ? { binds } : {}),
    },
    prune: { idleHours: own?.prune?.idleHours ?? general?.prune?.idleHours ?? 24, maxAgeDays: own?.prune?.maxAgeDays ?? general?.prune?.maxAgeDays ?? 7 },
  };
}

const ownSection = (cfg: OpenClawConfig, agentId: string): AgentsDefaultsSandboxConfig | undefined =>
  cfg.agents?.list?.find((agent) => normalizeAgentId(agent.id) === normalizeAgentId(agentId))?.sandbox;

function scopeOf(config: AgentsDefaultsSandboxConfig | undefined): SandboxSettings["scope"] | undefined {
  return config?.scope ?? (config?.perSession === undefined ? undefined : config.perSession ? "session" : "shared");
}

/** Must runs of this session be inside? */
export function isSandboxed(settings: Pick<SandboxSettings, "mode">, sessionKey: string): boolean {
  return settings.mode === "all" || (settings.mode === "non-main" && sessionKeyKind(sessionKey) !== "main");
}

/** The same question from the configuration; answered without building anything where no sandbox is asked for. */
export function isSessionSandboxed(cfg: OpenClawConfig, agentId: string, sessionKey: string): boolean {
  return isSandboxed({ mode: ownSection(cfg, agentId)?.mode ?? cfg.agents?.defaults?.sandbox?.mode ?? "off" }, sessionKey);
}

export function sandboxScopeKey(settings: Pick<SandboxSettings, "scope">, agentId: string, sessionKey: string): string {
  switch (settings.scope) {
    case "session":
      return sessionKey;
    case "agent":
      return `agent:${normalizeAgentId(agentId)}`;
    case "shared":
      return "shared";
  }
}

/** The agent whose settings govern a scope; undefined for what is shared. */
export function agentOfScope(scopeKey: string): string | undefined {
  return /^agent:([^:]+)$/.exec(scopeKey)?.[1] ?? (scopeKey === "shared" ? undefined : agentIdOfKey(scopeKey, ""));
}
