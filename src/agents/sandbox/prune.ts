import type { OpenClawConfig } from "../../config/index.ts";
import type { Logger } from "../../infra/log.ts";
import { resolveDefaultAgentId } from "../../routing/index.ts";
import type { DockerCli } from "./docker-cli.ts";
import { HOT_MS, removeContainer } from "./docker.ts";
import type { SandboxEntry, SandboxRegistry } from "./registry.ts";
import { agentOfScope, resolveSandboxSettings, type SandboxSettings } from "./settings.ts";

const HOUR_MS = 3_600_000;

/** Why a container goes, if it goes. One that was used a moment ago stays whatever its age. */
export function pruneReason(entry: SandboxEntry, prune: SandboxSettings["prune"], nowMs: number): "idle" | "old" | undefined {
  const idleMs = nowMs - entry.lastUsedAtMs;
  if (idleMs < HOT_MS) return undefined;
  if (prune.idleHours > 0 && idleMs > prune.idleHours * HOUR_MS) return "idle";
  return prune.maxAgeDays > 0 && nowMs - entry.createdAtMs > prune.maxAgeDays * 24 * HOUR_MS ? "old" : undefined;
}

/** Source: spec tools-and-automation §4, `prune`. A container that cannot be removed is tried again next time. */
export async function pruneSandboxes(options: {
  readonly config: OpenClawConfig;
  readonly registry: SandboxRegistry;
  readonly docker: DockerCli;
  readonly now: () => number;
  readonly log: Logger;
}): Promise<void> {
  const { config, registry, docker, now, log } = options;
  for (const entry of await registry.list()) {
    const { prune } = resolveSandboxSettings(config, agentOfScope(entry.sessionKey) ?? resolveDefaultAgentId(config));
    const reason = pruneReason(entry, prune, now());
    if (reason === undefined) continue;
    try {
      await removeContainer(docker, registry, entry.containerName);
      log.info("an unused sandbox container was removed", { container: entry.containerName, reason });
    } catch (err) {
      log.warn("an unused sandbox container could not be removed", { container: entry.containerName, err });
    }
  }
}
