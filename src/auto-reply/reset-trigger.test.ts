import { expect, it } from "vitest";
import { matchResetTrigger } from "./reset-trigger.ts";

it.each([
  ["/new", [], ""],
  ["/NEW", [], ""],
  [" /reset  tell me a joke ", [], "tell me a joke"],
  ["/new@my_bot opus", [], "opus"],
  ["neu anfangen", ["neu"], "anfangen"],
  ["重新开始", ["重新开始"], ""],
  ["/new", ["neu"], ""],
  ["neuland", ["neu"], undefined],
  ["please /new", [], undefined],
  ["/newer", [], undefined],
  ["anything", [" "], undefined],
])("%j with the words %j leaves %j", (body, triggers, rest) => {
  expect(matchResetTrigger(body, triggers)).toBe(rest);
});
