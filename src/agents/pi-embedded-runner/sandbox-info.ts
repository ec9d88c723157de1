import type { OpenClawConfig } from "../../config/index.ts";

export interface SandboxInfo {
  readonly enabled: boolean;
  readonly mode: string;
  readonly containerDir: string;
  readonly workspaceAccess: "none" | "ro" | "rw";
}

/** What the prompt and the context report say about isolation. */
export function resolveSandboxInfo(cfg: OpenClawConfig, workspaceDir: string): SandboxInfo {
  const mode = cfg.agents?.defaults?.sandbox?.mode ?? "off";
  return { enabled: false, mode, containerDir: workspaceDir, workspaceAccess: cfg.agents?.defaults?.sandbox?.workspaceAccess ?? "none" };
}
