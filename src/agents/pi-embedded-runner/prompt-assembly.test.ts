import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRunWorld } from "./run-fixture.ts";

async function addSkill(dir: string, name: string, description = "d"): Promise<void> {
  await mkdir(join(dir, "skills", name), { recursive: true });
  await writeFile(join(dir, "skills", name, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n---\n`);
}

describe("the system prompt of a session", () => {
  it("stays the same when workspace files change, until the session begins anew", async () => {
    await using world = await createRunWorld({ reply: () => ({ text: "ok" }), config: { skills: { load: { watch: false } } } });
    await writeFile(join(world.dir, "SOUL.md"), "first soul");
    await world.say("one");
    await writeFile(join(world.dir, "SOUL.md"), "second soul");
    await addSkill(world.dir, "late");
    await world.say("two");
    expect(world.requests[1]?.systemPrompt).toBe(world.requests[0]?.systemPrompt);
    await world.say("three", { sessionId: "other" });
    expect(world.requests[2]?.systemPrompt).toContain("second soul");
    expect(world.requests[2]?.systemPrompt).toContain("<name>late</name>");
  });

  it("offers skills that were added, changed or removed meanwhile from the next turn on", async () => {
    let changed: (() => void) | undefined;
    await using world = await createRunWorld({ reply: () => ({ text: "ok" }), config: { skills: { load: { watchDebounceMs: 20 } } }, onSkillsChange: () => changed?.() });
    /** Says hello until the prompt is as expected, once per change that was noticed. */
    const until = async (isExpected: (prompt: string) => boolean): Promise<void> => {
      for (;;) {
        const next = new Promise<void>((resolve) => {
          changed = resolve;
        });
        await world.say("hello");
        if (isExpected(world.requests.at(-1)?.systemPrompt ?? "")) return;
        await next;
      }
    };
    await until((prompt) => !prompt.includes("<available_skills>"));
    await addSkill(world.dir, "first");
    await until((prompt) => prompt.includes("<name>first</name>"));
    await addSkill(world.dir, "first", "better");
    await until((prompt) => prompt.includes("<description>better</description>"));
    await rm(join(world.dir, "skills", "first"), { recursive: true });
    await until((prompt) => !prompt.includes("<available_skills>"));
  });

  it("a cron job is not told of heartbeat and first conversation, and no group sees MEMORY.md", async () => {
    await using world = await createRunWorld({ reply: () => ({ text: "ok" }) });
    for (const name of ["AGENTS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"]) await writeFile(join(world.dir, name), `text of ${name}`);
    await world.say("job", { sessionKey: "agent:main:cron:daily" });
    await world.say("person", { sessionId: "p", includeMemory: true });
    await world.say("group", { sessionId: "g", sessionKey: "agent:main:telegram:group:1", includeMemory: false });
    const shown = world.requests.map(({ systemPrompt }) => ["AGENTS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"].filter((name) => systemPrompt?.includes(`text of ${name}`)));
    expect(shown).toEqual([["AGENTS.md"], ["AGENTS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"], ["AGENTS.md", "HEARTBEAT.md", "BOOTSTRAP.md"]]);
  });

  it("speaks of reactions on Telegram as the configuration says", async () => {
    const channel = { channel: "telegram", chatType: "direct" as const, accountId: "work", to: "1", threadId: undefined, messageId: undefined, capabilities: [] };
    for (const [telegram, expected] of [[{}, "## Reactions\nReact with an emoji only"], [{ reactionLevel: "ack" }, undefined], [{ accounts: { work: { reactionLevel: "extensive" } } }, "## Reactions\nReact with emojis freely"]] as const) {
      const message = { name: "message", label: "m", summary: "m", description: "m", parameters: { type: "object" as const }, execute: async () => ({ content: [] }) };
      await using world = await createRunWorld({ reply: () => ({ text: "ok" }), config: { channels: { telegram } }, tools: [message] });
      await world.say("hi", { channel });
      if (expected) expect(world.requests[0]?.systemPrompt).toContain(expected);
      else expect(world.requests[0]?.systemPrompt).not.toContain("## Reactions");
    }
  });
});
