import { expect, it } from "vitest";
import { createConfigOverrides } from "./overrides.ts";

it("values in memory win over the file, are checked, and go again", () => {
  const overrides = createConfigOverrides();
  const file = { messages: { responsePrefix: "file" }, agents: { defaults: { timeoutSeconds: 5 } } };
  expect(overrides.apply(file)).toBe(file);
  overrides.set("messages.responsePrefix", "memory");
  expect(overrides.apply(file)).toEqual({ ...file, messages: { responsePrefix: "memory" } });
  expect(overrides.apply(file)).toBe(overrides.apply(file));
  expect(() => overrides.set("messages.nonesuch", 1)).toThrow("nonesuch");
  expect(() => overrides.set("agents.defaults.timeoutSeconds", "soon")).toThrow("agents.defaults.timeoutSeconds");
  expect(() => overrides.set("__proto__.x", 1)).toThrow("not allowed");
  expect(overrides.unset("agents.defaults.timeoutSeconds")).toBe(false);
  expect(overrides.unset("messages.responsePrefix")).toBe(true);
  expect(overrides.apply(file).messages?.responsePrefix).toBe("file");
  overrides.set("messages.responsePrefix", "again");
  overrides.reset();
  expect(overrides.apply(file)).toBe(file);
});
