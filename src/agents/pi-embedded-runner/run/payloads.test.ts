import { describe, expect, it } from "vitest";
import { buildEmbeddedRunPayloads, type BuildPayloadsInput } from "./payloads.ts";

const build = (more: Partial<BuildPayloadsInput>) =>
  buildEmbeddedRunPayloads({
    texts: [], errorText: undefined, reasoning: "off", messagingSends: [], current: { channel: "telegram", to: "42", accountId: "default" }, toolErrors: new Map(), verbose: "off",
    suppressToolErrors: false, ...more,
  });
const failed = (name: string, error = "no such file") => new Map([[name, { name, meta: "x", error }]]);
const say = (text: string, thinking = "") => [{ text, thinking }];
const send = (text: string | undefined, to = "42", mediaUrls: string[] = []) => [{ channel: "telegram", to, accountId: undefined, text, mediaUrls }];

describe("the final answer", () => {
  it("comes after an error and the thoughts that were asked for", () => {
    expect(build({ errorText: "⚠️ broken", texts: say("Hi", "a\n\nb"), reasoning: "on" })).toMatchObject([
      { text: "⚠️ broken", isError: true }, { text: "Reasoning:\n_a_\n\n_b_", isReasoning: true }, { text: "Hi" },
    ]);
    expect(build({ texts: say("Hi", "a"), reasoning: "stream" })).toEqual([{ text: "Hi" }]);
    expect(build({ texts: say("\n\nHi\n\nHi\n\nHo") })).toEqual([{ text: "Hi\n\nHo" }]);
    expect(build({ texts: say("NO_REPLY") })).toEqual([]);
  });

  it.each([
    ["exec", "off", "answer", false], ["exec", "on", "answer", false], ["exec", "on", "", true], ["exec", "off", "", false], ["write", "off", "answer", true], ["sessions_send", "on", "", false],
    ["web_fetch", "off", "", true], ["web_fetch", "off", "answer", false],
  ] as const)("a failed %s (verbose %s, answer %j) is told: %s", (name, verbose, answer, told) => {
    const warnings = build({ toolErrors: failed(name), verbose, texts: answer === "" ? [] : say(answer) }).filter((payload) => payload.isError);
    expect(warnings).toHaveLength(told ? 1 : 0);
  });

  it("does not tell of wrong arguments, nor of anything small when the config says so", () => {
    expect(build({ toolErrors: failed("web_fetch", "url is required") })).toEqual([]);
    expect(build({ toolErrors: failed("web_fetch"), suppressToolErrors: true })).toEqual([]);
    expect(build({ toolErrors: failed("edit"), suppressToolErrors: true })).toEqual([{ text: "⚠️ 📝 Edit: x failed: no such file", isError: true }]);
  });

  it("leaves out what the message tool said: here everything, elsewhere the same words; files it did not send stay", () => {
    expect(build({ texts: say("Something else entirely"), messagingSends: send("Hello") })).toEqual([]);
    expect(build({ texts: say("Look\nMEDIA:./a.png"), messagingSends: send("Hello", "42", ["./a.png"]) })).toEqual([]);
    expect(build({ texts: say("Look\nMEDIA:./b.png"), messagingSends: send("Hello", "42", ["./a.png"]) })).toMatchObject([{ text: undefined, mediaUrls: ["./b.png"] }]);
    expect(build({ texts: say("Here it is, as asked"), messagingSends: send(undefined, "42", ["./a.png"]) })).toMatchObject([{ text: "Here it is, as asked" }]);
    expect(build({ texts: say("I wrote: The Launch  is on Friday 🎉"), messagingSends: send("the launch is on friday", "77") })).toEqual([]);
    expect(build({ texts: say("I told them."), messagingSends: send("the launch is on friday", "77") })).toMatchObject([{ text: "I told them." }]);
    expect(build({ texts: say("ok"), messagingSends: send("ok", "77") })).toMatchObject([{ text: "ok" }]);
  });
});
