import { expect, it } from "vitest";
import { promisesReminder } from "./promised-reminder.ts";

it.each([
  "Sure, I'll remind you at 5 pm.", "I’ll definitely remind you tomorrow", "I will set a reminder for Monday.", "Done, I've set a reminder.", "OK. I'll ping you in ten minutes", "好的，我会在下午五点提醒你。", "到时候会提醒您的", "I am going to remind you.",
])("a promise: %s", (text) => expect(promisesReminder(text)).toBe(true));

it.each([
  "Remind me what you meant?", "That reminds me of a song.", "> I'll remind you\nWho said that?", "Use `I'll remind you` as the text.", "```\nI will remind you\n```", "You asked me to remind you, but there is no such job.", "提醒你一下：今天是周一", "I'll write the report.",
])("none: %s", (text) => expect(promisesReminder(text)).toBe(false));

it("takes time in proportion to the text", () => {
  expect(promisesReminder("I'll ".repeat(100_000) + "`".repeat(100_001))).toBe(false);
});
