import { expect, it } from "vitest";
import { unsentRest } from "./unsent-rest.ts";

it.each([
  ["nothing was sent", ["One.\n\nTwo."], [], ["One.\n\nTwo."]],
  ["the first block was sent", ["One.\n\nTwo.\n\n  Three."], ["One.\n\nTwo."], ["Three."]],
  ["all was sent, joined otherwise", ["One.\n\nTwo."], ["One. Two."], []],
  ["tool lines went out between", ["One.", "Two and more."], ["🛠️ Exec: ls", "One.", "Two"], ["and more."]],
  ["the words were others", ["One."], ["Five."], ["One."]],
])("after a restart the rest of an answer is sent when %s", (_, texts, blocks, rest) => {
  expect(unsentRest(texts.map((text) => ({ text })), blocks).map((payload) => payload.text)).toEqual(rest);
});

it("a file of the answer is sent although its text was", () => {
  expect(unsentRest([{ text: "Look", mediaUrls: ["./a.png"] }], ["Look"])).toEqual([{ text: undefined, mediaUrls: ["./a.png"] }]);
});
