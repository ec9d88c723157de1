import type { Bind } from "./binds.ts";
import type { SandboxRuntime } from "./contract.ts";
import type { Mount } from "./open-inside.ts";
import type { SandboxSettings } from "./settings.ts";

/** All that a backend needs to bring a sandbox up. */
export interface SandboxPlan {
  readonly scopeKey: string;
  readonly slug: string;
  readonly settings: SandboxSettings;
  /** The workspace, and the agent's own where it may be read. */
  readonly mounts: readonly Mount[];
  readonly binds: readonly Bind[];
}

export interface SandboxBackend {
  /** @throws SandboxError */
  ensure(plan: SandboxPlan): Promise<SandboxRuntime>;
}
