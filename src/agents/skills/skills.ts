import { readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { parse as parseYaml } from "yaml";
import type { OpenClawConfig } from "../../config/index.ts";
import { isErrno } from "../../infra/atomic-file.ts";
import type { Logger } from "../../infra/log.ts";
import { readRegularFile } from "../../infra/regular-file.ts";
import type { ResolvedSkill, SkillsSnapshot } from "../../sessions/index.ts";

export interface SkillRequirements {
  readonly bins: readonly string[];
  readonly anyBins: readonly string[];
  readonly env: readonly string[];
  readonly config: readonly string[];
  readonly os: readonly string[];
}

export interface Skill extends ResolvedSkill {
  readonly skillKey: string;
  readonly bundled: boolean;
  readonly always: boolean;
  readonly userInvocable: boolean;
  /** The tool that its command calls by itself, without the model (front matter `command-dispatch: tool`). */
  readonly commandTool?: string | undefined;
  readonly emoji?: string | undefined;
  readonly homepage?: string | undefined;
  readonly primaryEnv?: string | undefined;
  readonly requirements: SkillRequirements;
  readonly missing: SkillRequirements;
  readonly disabled: boolean;
  readonly blockedByAllowlist: boolean;
  readonly eligible: boolean;
}

export interface SkillRoots {
  readonly workspaceDir: string;
  readonly stateDir: string;
  readonly bundledDir: string;
  /** Folders of skills that plugins bring. */
  readonly pluginDirs: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: OpenClawConfig;
  readonly log: Logger;
}

const MAX_FILE_BYTES = 256_000;
const MAX_PER_SOURCE = 200;
const MAX_CANDIDATES = 300;
const MAX_IN_PROMPT = 150;
const MAX_PROMPT_CHARS = 30_000;

type SkillSource = readonly [dir: string, source: string];

function skillSources({ config, bundledDir, pluginDirs, stateDir, workspaceDir }: Pick<SkillRoots, "config" | "bundledDir" | "pluginDirs" | "stateDir" | "workspaceDir">): SkillSource[] {
  return [
    ...[...(config.skills?.load?.extraDirs ?? []), ...pluginDirs].map((dir): SkillSource => [dir, "openclaw-extra"]),
    [bundledDir, "openclaw-bundled"],
    [join(stateDir, "skills"), "openclaw-managed"],
    [join(homedir(), ".agents", "skills"), "agents-skills-personal"],
    [join(workspaceDir, ".agents", "skills"), "agents-skills-project"],
    [join(workspaceDir, "skills"), "openclaw-workspace"],
  ];
}

/** Folders whose skills may change while the gateway runs. */
export function changingSkillDirs(roots: Parameters<typeof skillSources>[0]): string[] {
  return skillSources(roots).flatMap(([dir, source]) => (source === "openclaw-bundled" ? [] : [dir]));
}

/** All skills, a later source hiding an earlier one of the same name. Source: spec agent-pipeline §5.2 (skills block). */
export async function loadSkills(roots: SkillRoots): Promise<Skill[]> {
  const sources = skillSources(roots);
  const byName = new Map<string, Skill>();
  for (const [dir, source] of sources) {
    for (const skill of await loadFrom(dir, source, roots)) byName.set(skill.name, skill);
  }
  return [...byName.values()].sort((a, b) => a.name.localeCompare(b.name, "en"));
}

async function loadFrom(dir: string, source: string, roots: SkillRoots): Promise<Skill[]> {
  let names: string[];
  try {
    names = (await readdir(dir, { withFileTypes: true }))
      .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith(".") && entry.name !== "node_modules")
      .map((entry) => entry.name)
      .sort();
  } catch (err) {
    if (!isErrno(err, "ENOENT", "ENOTDIR")) roots.log.warn("skills folder not readable", { dir, err });
    return [];
  }
  const skills: Skill[] = [];
  for (const name of names.slice(0, roots.config.skills?.limits?.maxCandidatesPerRoot ?? MAX_CANDIDATES)) {
    if (skills.length >= (roots.config.skills?.limits?.maxSkillsLoadedPerSource ?? MAX_PER_SOURCE)) break;
    const skill = await loadSkill(join(dir, name), source, roots);
    if (skill) skills.push(skill);
  }
  return skills;
}

async function loadSkill(baseDir: string, source: string, roots: SkillRoots): Promise<Skill | undefined> {
  const filePath = join(baseDir, "SKILL.md");
  try {
    const { size } = await stat(filePath);
    if (size > (roots.config.skills?.limits?.maxSkillFileBytes ?? MAX_FILE_BYTES)) {
      roots.log.warn("skill left out: SKILL.md is too large", { filePath, size });
      return undefined;
    }
    const front = parseFrontMatter((await readRegularFile(filePath)).toString("utf8"));
    const name = text(front["name"]);
    const description = text(front["description"]);
    if (!name || !description) {
      roots.log.warn("skill left out: its front matter needs name and description", { filePath });
      return undefined;
    }
    return await describeSkill({ front, name, description, filePath, baseDir, source, roots });
  } catch (err) {
    if (!isErrno(err, "ENOENT", "ENOTDIR")) roots.log.warn("skill left out", { filePath, err });
    return undefined;
  }
}

/** The YAML between the first two `---` lines, as an object. @throws YAMLParseError */
export function parseFrontMatter(markdown: string): Record<string, unknown> {
  const match = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(markdown);
  const value: unknown = match?.[1] ? parseYaml(match[1]) : undefined;
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

async function describeSkill(input: {
  front: Record<string, unknown>; name: string; description: string; filePath: string; baseDir: string; source: string; roots: SkillRoots;
}): Promise<Skill> {
  const { front, name, description, filePath, baseDir, source, roots } = input;
  const meta = openclawMetadata(front["metadata"]);
  const requires = record(meta["requires"]);
  const skillKey = text(meta["skillKey"]) ?? name;
  const settings = roots.config.skills?.entries?.[skillKey];
  const primaryEnv = text(meta["primaryEnv"]);
  const requirements: SkillRequirements = {
    bins: strings(requires["bins"]), anyBins: strings(requires["anyBins"]), env: strings(requires["env"]),
    config: strings(requires["config"]), os: strings(meta["os"]),
  };
  const hasEnv = (key: string): boolean =>
    Boolean(roots.env[key] || settings?.env?.[key] || (key === primaryEnv && settings?.apiKey));
  const missing: SkillRequirements = {
    bins: await missingBins(requirements.bins, roots.env),
    anyBins: requirements.anyBins.length > 0 && (await missingBins(requirements.anyBins, roots.env)).length === requirements.anyBins.length ? requirements.anyBins : [],
    env: requirements.env.filter((key) => !hasEnv(key)),
    config: requirements.config.filter((path) => !configTruthy(roots.config, path)),
    os: requirements.os.length > 0 && !requirements.os.includes(process.platform) ? requirements.os : [],
  };
  const bundled = source === "openclaw-bundled";
  const always = meta["always"] === true;
  const disabled = settings?.enabled === false;
  const allow = roots.config.skills?.allowBundled;
  const blockedByAllowlist = bundled && allow !== undefined && allow.length > 0 && !allow.includes(skillKey) && !allow.includes(name);
  const met = missing.os.length === 0 && (always || Object.values(missing).every((list) => list.length === 0));
  return {
    name, description, filePath, baseDir, source, skillKey, bundled, always, primaryEnv, requirements, missing, disabled, blockedByAllowlist,
    userInvocable: front["user-invocable"] !== false && front["user-invocable"] !== "false",
    disableModelInvocation: front["disable-model-invocation"] === true || front["disable-model-invocation"] === "true",
    commandTool: text(front["command-dispatch"]) === "tool" ? text(front["command-tool"]) : undefined,
    emoji: text(meta["emoji"]), homepage: text(meta["homepage"]) ?? text(front["homepage"]),
    requiredEnv: requirements.env.length > 0 ? [...requirements.env] : undefined,
    eligible: met && !disabled && !blockedByAllowlist,
  };
}

function openclawMetadata(raw: unknown): Record<string, unknown> {
  let value = raw;
  if (typeof raw === "string") {
    try {
      value = JSON.parse(raw);
    } catch {
      return {}; // plain text, allowed by the skill format
    }
  }
  const meta = record(value);
  return record(meta["openclaw"] ?? meta["clawdbot"] ?? meta["moltbot"]);
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const text = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : typeof value === "string" ? [value] : [];

async function missingBins(bins: readonly string[], env: SkillRoots["env"]): Promise<string[]> {
  const dirs = (env["PATH"] ?? "").split(delimiter).filter(Boolean);
  const out: string[] = [];
  for (const bin of bins) {
    const hits = await Promise.all(dirs.map((dir) => stat(join(dir, bin)).then((s) => s.isFile(), () => false)));
    if (!hits.includes(true)) out.push(bin);
  }
  return out;
}

function configTruthy(config: OpenClawConfig, path: string): boolean {
  let value: unknown = config;
  for (const part of path.split(".")) value = record(value)[part];
  return Boolean(value);
}

/** What the session remembers of its skills, and the block for the prompt. Stable until the next snapshot. */
export function buildSkillsSnapshot(skills: readonly Skill[], options: { filter?: readonly string[] | undefined; config: OpenClawConfig }): SkillsSnapshot {
  const offered = skills.filter((skill) => skill.eligible && !skill.disableModelInvocation && (options.filter === undefined || options.filter.includes(skill.name)));
  const limits = options.config.skills?.limits;
  const shown = offered.slice(0, limits?.maxSkillsInPrompt ?? MAX_IN_PROMPT);
  let prompt = skillsBlock(shown);
  const maxChars = limits?.maxSkillsPromptChars ?? MAX_PROMPT_CHARS;
  while (shown.length > 0 && prompt.length > maxChars) {
    shown.pop();
    prompt = skillsBlock(shown);
  }
  if (shown.length < offered.length) prompt += `\n(${offered.length - shown.length} more skills are not listed: skills.limits)`;
  return {
    prompt: shown.length === 0 ? "" : prompt,
    skills: offered.map((skill) => ({ name: skill.name, primaryEnv: skill.primaryEnv, requiredEnv: skill.requiredEnv })),
    ...(options.filter ? { skillFilter: [...options.filter] } : {}),
    resolvedSkills: offered.map(({ name, description, filePath, baseDir, source, disableModelInvocation, requiredEnv }) => ({
      name, description, filePath, baseDir, source, disableModelInvocation, requiredEnv,
    })),
  };
}

function skillsBlock(skills: readonly Skill[]): string {
  const home = homedir();
  const lines = skills.map((skill) => {
    const location = skill.filePath.startsWith(`${home}/`) ? `~${skill.filePath.slice(home.length)}` : skill.filePath;
    return `  <skill>\n    <name>${xml(skill.name)}</name>\n    <description>${xml(skill.description)}</description>\n    <location>${xml(location)}</location>\n  </skill>`;
  });
  return `<available_skills>\n${lines.join("\n")}\n</available_skills>`;
}

const xml = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
