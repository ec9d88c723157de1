import type { Clock } from "../../infra/clock.ts";
import { loadSkills, type Skill, type SkillRoots } from "./skills.ts";

/** Skills of a workspace, read once for sessions that begin together. */
export interface SkillShelf {
  /** `version`: of the watched folders. Programs that skills need may be installed meanwhile, so a list is soon read anew. */
  load(roots: SkillRoots, version: number): Promise<readonly Skill[]>;
}

const KEEP_MS = 5000;

export function createSkillShelf(clock: Clock): SkillShelf {
  const lists = new Map<string, { readonly version: number; readonly config: SkillRoots["config"]; readonly until: number; readonly skills: Promise<readonly Skill[]> }>();
  return {
    load(roots, version) {
      const key = [roots.workspaceDir, ...roots.pluginDirs].join("\n");
      const known = lists.get(key);
      if (known && known.version === version && known.config === roots.config && clock.now() < known.until) return known.skills;
      const skills = loadSkills(roots);
      lists.set(key, { version, config: roots.config, until: clock.now() + KEEP_MS, skills });
      return skills;
    },
  };
}
