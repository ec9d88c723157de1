import { expect, it } from "vitest";
import { fallbackChange } from "./fallback-notice.ts";

it("a switch to another model is said once, a further switch again, and the return once", () => {
  const first = fallbackChange({}, "p/a", { active: "q/b", reason: "rate_limit" });
  expect(first).toEqual({
    patch: { fallbackNoticeSelectedModel: "p/a", fallbackNoticeActiveModel: "q/b", fallbackNoticeReason: "rate_limit" },
    notice: "↪️ q/b answers in place of p/a (rate_limit).",
  });
  const noticed = { fallbackNoticeSelectedModel: "p/a", fallbackNoticeActiveModel: "q/b", fallbackNoticeReason: "rate_limit" };
  expect(fallbackChange(noticed, "p/a", { active: "q/b", reason: "timeout" })).toBeUndefined();
  expect(fallbackChange(noticed, "p/a", { active: "q/c", reason: "timeout" })?.notice).toContain("q/c");
  expect(fallbackChange(noticed, "p/z", { active: "q/b", reason: "timeout" })?.notice).toContain("p/z");
  expect(fallbackChange(noticed, "p/a", undefined)).toEqual({
    patch: { fallbackNoticeSelectedModel: null, fallbackNoticeActiveModel: null, fallbackNoticeReason: null },
    notice: "↪️ p/a answers again.", clearedFrom: "q/b",
  });
  expect(fallbackChange({}, "p/a", undefined)).toBeUndefined();
});
