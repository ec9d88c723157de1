export { buildSkillsSnapshot, loadSkills, type Skill, type SkillRoots } from "./skills.ts";
