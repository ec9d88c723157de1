import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../infra/clock.ts";
import { listAgentIds, resolveAgent, resolveDefaultAgentId, type AgentRoots } from "../routing/index.ts";
import { createPluginCatalog, type PluginCatalog } from "./catalog.ts";
import { createPluginTrust } from "./trust.ts";

export interface PluginPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly packageRoot: string;
  readonly roots: AgentRoots;
  readonly clock: Clock;
}

/** Plugins as configuration and commands see them, without a gateway. */
export function openPluginCatalog({ env, stateDir, packageRoot, roots, clock }: PluginPlaces): PluginCatalog {
  return createPluginCatalog({
    env, stateDir, clock, trust: createPluginTrust(stateDir, () => clock.now()), bundledDir: bundledPluginsDir(env, packageRoot),
    workspaceDirs(config) {
      const first = resolveDefaultAgentId(config);
      return [...new Set([first, ...listAgentIds(config)].map((id) => resolveAgent(config, id, roots).workspaceDir))];
    },
  });
}

/** The built ones where there is a build and we run from it, else the sources. */
function bundledPluginsDir(env: PluginPlaces["env"], packageRoot: string): string | undefined {
  const given = env["OPENCLAW_BUNDLED_PLUGINS_DIR"]?.trim();
  if (given) return given;
  const runsFromBuild = !import.meta.filename.endsWith(".ts");
  return [...(runsFromBuild ? [join(packageRoot, "dist", "extensions")] : []), join(packageRoot, "extensions")].find((dir) => existsSync(dir));
}
