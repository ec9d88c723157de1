import { expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import { createStatusReactions, type StatusReactionOptions } from "./status-reactions.ts";

function setup(timing: NonNullable<StatusReactionOptions["config"]["timing"]>, removeAtEnd = false) {
  const seen: string[] = [];
  let look = (): void => undefined;
  const status = createStatusReactions({
    config: { timing }, queuedEmoji: "👀", removeAtEnd, log: silentLogger,
    set: async (emoji) => {
      seen.push(emoji);
      look();
    },
  });
  /** Resolves when the reaction is this one. */
  const shows = (emoji: string): Promise<void> =>
    new Promise((resolve) => {
      look = () => (seen.at(-1) === emoji ? resolve() : undefined);
      look();
    });
  return { seen, status, shows };
}

it("passes over what is over in a moment, and tells the kind of work", async () => {
  const { seen, status, shows } = setup({ debounceMs: 10 });
  await shows("👀");
  status.thinking();
  status.tool("web_search");
  status.tool("exec");
  await shows("👨‍💻");
  status.tool("web_fetch");
  await shows("⚡");
  status.tool("message");
  await shows("🔥");
  status.end("done");
  status.end("error");
  status.thinking();
  await shows("👍");
  expect(seen).toEqual(["👀", "👨‍💻", "⚡", "🔥", "👍"]);
});

it("shows a model that is silent as stalled, and forgets it when it speaks again", async () => {
  const { seen, status, shows } = setup({ debounceMs: 1, stallSoftMs: 15, stallHardMs: 30 });
  status.thinking();
  await shows("😨");
  status.alive();
  await shows("🤔");
  status.end("error");
  await shows("😱");
  expect(seen.slice(-4)).toEqual(["🥱", "😨", "🤔", "😱"]);
});

it("takes the last one away after its hold", async () => {
  const { seen, status, shows } = setup({ doneHoldMs: 5 }, true);
  status.end("done");
  await shows("");
  expect(seen.slice(-2)).toEqual(["👍", ""]);
});
