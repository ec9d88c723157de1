import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { silentLogger } from "../infra/log.ts";
import { buildSkillsSnapshot, loadSkills, type Skill } from "./skills/index.ts";
import { ensureWorkspace } from "./workspace/ensure-workspace.ts";

let home: string;
let dir: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "agent-home-"));
  dir = join(home, "workspace");
});
afterEach(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
const has = (name: string): Promise<boolean> => stat(join(dir, name)).then(() => true, () => false);
const ensure = (seed = true): Promise<void> => ensureWorkspace(dir, { seed, clock: { now: () => 0 }, log: silentLogger });

describe("a new workspace", () => {
  it("gets its first files once; deleting BOOTSTRAP.md ends the onboarding for good", async () => {
    await ensure();
    for (const name of ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md"]) expect(await has(name)).toBe(true);
    await writeFile(join(dir, "SOUL.md"), "mine");
    await rm(join(dir, "BOOTSTRAP.md"));
    await ensure();
    await ensure();
    expect(await has("BOOTSTRAP.md")).toBe(false);
    expect(await readFile(join(dir, "SOUL.md"), "utf8")).toBe("mine");
    expect(JSON.parse(await readFile(join(dir, ".openclaw", "workspace-state.json"), "utf8"))).toEqual({ version: 1, bootstrapSeededAt: "1970-01-01T00:00:00.000Z", onboardingCompletedAt: "1970-01-01T00:00:00.000Z" });
  });

  it("is not introduced when the person already had files there", async () => {
    await mkdir(dir);
    await writeFile(join(dir, "AGENTS.md"), "mine");
    await ensure();
    expect(await has("BOOTSTRAP.md")).toBe(false);
    expect(await has("SOUL.md")).toBe(true);
    expect(await readFile(join(dir, "AGENTS.md"), "utf8")).toBe("mine");
  });

  it("stays empty when seeding is off", async () => {
    await ensure(false);
    expect(await has("AGENTS.md")).toBe(false);
  });
});

async function addSkill(root: string, name: string, front: string, body = "Do it."): Promise<void> {
  await mkdir(join(root, name), { recursive: true });
  await writeFile(join(root, name, "SKILL.md"), `---\n${front}\n---\n${body}\n`);
}
const load = (config: OpenClawConfig = {}, env: Record<string, string> = {}): Promise<Skill[]> =>
  loadSkills({ workspaceDir: dir, stateDir: join(home, "state"), bundledDir: join(home, "bundled"), pluginDirs: [], env, config, log: silentLogger });
const find = (skills: readonly Skill[], name: string): Skill | undefined => skills.find((skill) => skill.name === name && !skill.source.startsWith("agents-skills-personal"));

describe("skills", () => {
  it("of the workspace hide bundled ones of the same name", async () => {
    await addSkill(join(home, "bundled"), "a", "name: a\ndescription: bundled");
    await addSkill(join(dir, "skills"), "a", "name: a\ndescription: mine");
    expect(find(await load(), "a")).toMatchObject({ description: "mine", source: "openclaw-workspace", eligible: true });
  });

  it("without name, description or readable front matter are left out, the others stay", async () => {
    const root = join(dir, "skills");
    await addSkill(root, "nameless", "description: x");
    await addSkill(root, "broken", "name: [unclosed");
    await addSkill(root, "good", "name: good\ndescription: fine");
    await mkdir(join(root, "empty"));
    expect((await load()).filter((skill) => skill.source === "openclaw-workspace").map((skill) => skill.name)).toEqual(["good"]);
  });

  it("need their programs, keys and settings", async () => {
    const bin = join(home, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "tool"), "");
    await chmod(join(bin, "tool"), 0o755);
    await addSkill(join(dir, "skills"), "x", 'name: x\ndescription: d\nmetadata: {"openclaw":{"requires":{"bins":["tool"],"env":["X_KEY"],"config":["tools.profile"]},"primaryEnv":"X_KEY"}}');
    expect(find(await load(), "x")).toMatchObject({ eligible: false, missing: { bins: ["tool"], env: ["X_KEY"], config: ["tools.profile"] } });
    expect(find(await load({ tools: { profile: "full" }, skills: { entries: { x: { apiKey: "k" } } } }, { PATH: bin }), "x")).toMatchObject({ eligible: true });
    expect(find(await load({ skills: { entries: { x: { enabled: false } } } }, { PATH: bin, X_KEY: "1" }), "x")).toMatchObject({ eligible: false, disabled: true });
  });

  it("are offered to the model within the limits, escaped, and say how many are not listed", async () => {
    for (let i = 0; i < 5; i++) await addSkill(join(dir, "skills"), `s${i}`, `name: s${i}\ndescription: "a <b> & c"`);
    await addSkill(join(dir, "skills"), "hidden", "name: hidden\ndescription: d\ndisable-model-invocation: true");
    const skills = (await load()).filter((skill) => skill.source === "openclaw-workspace");
    const { prompt } = buildSkillsSnapshot(skills, { config: { skills: { limits: { maxSkillsInPrompt: 3 } } } });
    expect(prompt.match(/<skill>/g)).toHaveLength(3);
    expect(prompt).toContain("a &lt;b&gt; &amp; c");
    expect(prompt).toContain("(2 more skills are not listed");
    expect(prompt).not.toContain("hidden");
    expect(buildSkillsSnapshot(skills, { filter: ["s1"], config: {} }).skills.map((skill) => skill.name)).toEqual(["s1"]);
    expect(buildSkillsSnapshot([], { config: {} }).prompt).toBe("");
  });
});
