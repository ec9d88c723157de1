import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CommandDefinition } from "./contract.ts";
import { createCommandRegistry } from "./registry.ts";

const command = (name: string, more: Partial<CommandDefinition> = {}): CommandDefinition => ({
  name, aliases: [], description: name, category: "status", acceptsArgs: false, native: true, run: async () => ({ kind: "silent" }), ...more,
});
const registry = createCommandRegistry([
  command("status", { inline: true }), command("whoami", { aliases: ["id"], inline: true }), command("think", { aliases: ["t"], acceptsArgs: true }), command("stop"),
]);
const match = (text: string, botUsername?: string) => {
  const found = registry.match(text, { botUsername });
  return found && [found.command.name, found.invokedAs, found.args];
};

describe("a message that is a command", () => {
  it.each([
    ["/think high", ["think", "think", "high"]],
    ["/think: high", ["think", "think", "high"]],
    ["/think:high", ["think", "think", "high"]],
    ["  /T   low  ", ["think", "t", "low"]],
    ["/think", ["think", "think", ""]],
    ["/think@my_bot high", ["think", "think", "high"]],
    ["/ID", ["whoami", "id", ""]],
    ["/think a\nb", ["think", "think", "a\nb"]],
    ["/stop now please", undefined],
    ["/unknown thing", undefined],
    ["/usr/bin/env", undefined],
    ["say /think high", undefined],
    ["/thinking", undefined],
    ["", undefined],
  ])("%j", (text, expected) => {
    expect(match(text, "My_Bot")).toEqual(expected);
  });

  it("is not meant for us when it names another bot", () => {
    expect(match("/think@other_bot high", "my_bot")).toBeUndefined();
    expect(match("/think@any high")).toEqual(["think", "think", "high"]);
  });
});

describe("a command inside other text", () => {
  it("is answered and taken out, and the rest keeps its lines and indentation", () => {
    const { matches, rest } = registry.takeInline("look /status at this:\n\n```py\ndef f():\n    return  1\n```\n  indented  end");
    expect(matches.map((found) => found.command.name)).toEqual(["status"]);
    expect(rest).toBe("look at this:\n\n```py\ndef f():\n    return  1\n```\n  indented  end");
  });

  it.each([
    ["/status what now", ["status"], "what now"],
    ["a /id b /status c /status", ["whoami", "status"], "a b c"],
    ["read http://x.test/status please", [], "read http://x.test/status please"],
    ["/statusbar", [], "/statusbar"],
    ["use /think high here", [], "use /think high here"],
    ["run:\n```\n/status\n```", [], "run:\n```\n/status\n```"],
  ])("%j", (text, names, left) => {
    const { matches, rest } = registry.takeInline(text);
    expect([matches.map((found) => found.command.name), rest]).toEqual([names, left]);
  });

  it("leaves every text without one byte for byte", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 80 }).filter((text) => !/\/(status|whoami|id)/i.test(text)), (text) => {
      expect(registry.takeInline(text)).toEqual({ matches: [], rest: text });
    }));
  });
});
