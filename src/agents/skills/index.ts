export { buildSkillsSnapshot, changingSkillDirs, loadSkills, type Skill, type SkillRoots } from "./skills.ts";
export { createSkillShelf, type SkillShelf } from "./shelf.ts";
export { createSkillsWatcher, type SkillsWatcher } from "./watcher.ts";
export { skillEnvironment } from "./skill-env.ts";
