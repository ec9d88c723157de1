import { expect, it } from "vitest";
import { parseDurationMs } from "./duration.ts";

it.each<[string, number | undefined]>([
  ["30m", 1_800_000], ["1h30m", 5_400_000], ["90s", 90_000], ["250ms", 250], ["2d", 172_800_000], [" 1.5H ", 5_400_000], ["45", 2_700_000], ["0m", 0],
  ["", undefined], ["soon", undefined], ["-5m", undefined], ["5 m", undefined], ["m5", undefined],
])("%j is %s ms", (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});
