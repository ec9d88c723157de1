import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupCommandText, expandBang } from "./command-text.ts";
import type { CommandContext, CommandDefinition } from "./contract.ts";
import { takeDirectives, takeWord, takeWords } from "./directives.ts";
import { buildSkillCommands } from "./skills.ts";
import { nativeMenu } from "./native-menu.ts";

const directive = (name: string, take: (after: string) => number): CommandDefinition => ({
  name, aliases: [], description: name, category: "options", acceptsArgs: true, native: true, run: async () => ({ kind: "silent" }), directive: { take, hint: async () => ({}) },
});
const level = directive("think", (after) => takeWord(after, (word) => ["high", "low"].includes(word)));
const options = directive("queue", (after) => takeWords(after, (word) => /^(?:steer|cap:\d+)$/.test(word)));
const find = (word: string) => {
  if (word === "think" || word === "t") return { command: level };
  if (word === "queue") return { command: options };
  return word === "opus" ? { command: directive("model", () => 0), args: "opus" } : undefined;
};
const take = async (text: string): Promise<[string[], string]> => {
  const { uses, rest } = await takeDirectives(text, find, {} as unknown as CommandContext);
  return [uses.map((use) => `${use.command.name} ${use.args}`), rest];
};

describe("directives in a message", () => {
  it.each([
    ["/think high", ["think high"], ""],
    ["/think: high do it", ["think high"], "do it"],
    ["/think:high do it", ["think high"], "do it"],
    ["do /T LOW it", ["think LOW"], "do it"],
    ["do it /think low", ["think low"], "do it"],
    ["a\n/think low\nb", ["think low"], "a\nb"],
    ["/think high\n\n  code", ["think high"], "\n  code"],
    ["/queue steer cap:3 go /think low now", ["queue steer cap:3", "think low"], "go now"],
    ["/opus write /opus", ["model opus", "model opus"], "write"],
    ["/think about it", [], "/think about it"],
    ["a/think high", [], "a/think high"],
    ["see /etc/think high", [], "see /etc/think high"],
    ["```\n/think high\n```", [], "```\n/think high\n```"],
    ["/thinker high", [], "/thinker high"],
  ])("%j", async (text, uses, rest) => {
    expect(await take(text)).toEqual([uses, rest]);
  });

  it("are all that is taken: the words around keep every character", async () => {
    const part = fc.string({ unit: "grapheme", maxLength: 40 }).filter((text) => !/[/`~]/.test(text));
    await fc.assert(fc.asyncProperty(part, part, async (before, after) => {
      const lead = before === "" || /\s$/.test(before) ? before : `${before} `;
      const tail = after === "" || /^\s/.test(after) ? after : ` ${after}`;
      const [uses, rest] = await take(`${lead}/think high${tail}`);
      expect(uses).toEqual(["think high"]);
      expect(rest.replace(/\s/g, "")).toBe(`${before}${after}`.replace(/\s/g, ""));
      expect([lead.length + tail.length, lead.length + tail.length - 1]).toContain(rest.length);
      expect((await take(before + after))[1]).toBe(before + after);
    }));
  });
});

describe("what stands around a command", () => {
  it.each([
    ["@bot /status", "/status"], ["/status @bot", "/status"], ["@bot, /status", "/status"], ["[Mon 10:00] Bob: /status", "/status"], ["Bob: hello", "Bob: hello"], ["plain /status text", "plain /status text"],
    ["@小助手 /status", "/status"], ["@Ассистент, /status", "/status"], ["@小助手，停止", "停止"], ["@小助手你好", "@小助手你好"], ["@bot你好", "@bot你好"], ["@a @小助手 /status", "/status"],
  ])("in a group %j is read as %j", (text, read) => expect(groupCommandText(text)).toBe(read));

  it.each([["! ls -l", "/bash ls -l"], ["!poll", "/bash poll"], ["!important", "!important"], ["what!", "what!"], ["!", "!"]])("%j is read as %j", (text, read) => expect(expandBang(text)).toBe(read));
});

describe("commands of skills", () => {
  const known = (name: string, more = {}) => ({ name, description: `Does ${name}.`, eligible: true, userInvocable: true, ...more });

  it("have plain names that nothing else has", () => {
    const commands = buildSkillCommands([known("Tidy-Up!"), known("tidy up"), known("help"), known("你好"), known("x".repeat(40)), known("off", { eligible: false })], new Set(["help"]));
    expect(commands.map((command) => command.name)).toEqual(["tidy_up", "tidy_up_2", "help_2", "skill", "x".repeat(32)]);
  });

  it("stand in a platform's menu unless the configuration says no", () => {
    const list = [...buildSkillCommands([known("tidy")], new Set()), level, { ...level, name: "export-session" }, { ...level, name: "bash", native: false }];
    const names = (cfg: object, isAuto = true) => nativeMenu(cfg, "telegram", "default", list, isAuto).map((entry) => entry.name);
    expect(names({})).toEqual(["tidy", "think", "export_session"]);
    expect(names({}, false)).toEqual([]);
    expect(names({ commands: { native: true } }, false)).toEqual(["think", "export_session"]);
    expect(names({ commands: { nativeSkills: false } })).toEqual(["think", "export_session"]);
    expect(names({ commands: { native: false } })).toEqual([]);
    expect(names({ commands: { native: false }, channels: { telegram: { commands: { native: true } } } })).toEqual(["tidy", "think", "export_session"]);
  });
});
