import { expect, it } from "vitest";
import { FUNCTION_NAMES, VALUE_NAMES } from "./names.fixture.ts";
import * as sdk from "./index.ts";

const exported: Readonly<Record<string, unknown>> = sdk;

it("a plugin finds every function and class that the reference exports", () => {
  expect(FUNCTION_NAMES).toHaveLength(243);
  expect(FUNCTION_NAMES.filter((name) => typeof exported[name] !== "function")).toEqual([]);
});

it("a plugin finds every other value that the reference exports", () => {
  expect(VALUE_NAMES).toHaveLength(38);
  expect(VALUE_NAMES.filter((name) => exported[name] === undefined || typeof exported[name] === "function")).toEqual([]);
});
