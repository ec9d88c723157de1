import type { OpenClawConfig } from "../../config/index.ts";
import type { ResolvedAgent } from "../../routing/index.ts";
import { isSandboxed, resolveSandboxSettings } from "../sandbox/index.ts";

export interface SandboxInfo {
  readonly enabled: boolean;
  readonly mode: string;
  /** The working directory as the model sees it. */
  readonly containerDir: string;
  readonly workspaceAccess: "none" | "ro" | "rw";
}

/** What the prompt and the context report say about isolation. */
export function resolveSandboxInfo(cfg: OpenClawConfig, agent: Pick<ResolvedAgent, "id" | "workspaceDir">, sessionKey: string): SandboxInfo {
  const settings = resolveSandboxSettings(cfg, agent.id);
  const enabled = isSandboxed(settings, sessionKey);
  return { enabled, mode: settings.mode, containerDir: enabled ? settings.docker.workdir : agent.workspaceDir, workspaceAccess: settings.workspaceAccess };
}
