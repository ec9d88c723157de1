export { buildSkillsSnapshot, loadSkills, parseFrontMatter, type Skill, type SkillRoots } from "./skills.ts";
