import type { OpenClawConfig } from "../../config/index.ts";
import type { Skill } from "./skills.ts";

/**
 * Variables that `skills.entries` gives to the skills that are in use: their `env`, and `apiKey` under the skill's primary
 * name. They reach commands only, never the gateway's own environment. Source: spec tools-and-automation §13.10.
 */
export async function skillEnvironment(cfg: OpenClawConfig, load: () => Promise<readonly Skill[]>): Promise<Record<string, string>> {
  const entries = cfg.skills?.entries ?? {};
  const env: Record<string, string> = {};
  if (!Object.values(entries).some((entry) => entry.env !== undefined || entry.apiKey !== undefined)) return env;
  for (const skill of await load()) {
    const entry = Object.hasOwn(entries, skill.skillKey) ? entries[skill.skillKey] : undefined;
    if (!skill.eligible || !entry) continue;
    if (skill.primaryEnv !== undefined && entry.apiKey) env[skill.primaryEnv] = entry.apiKey;
    Object.assign(env, entry.env);
  }
  return env;
}
