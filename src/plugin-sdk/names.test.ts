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

it("what acts on a gateway says so without one, and works in the module itself as soon as there is one", () => {
  expect(() => sdk.registerLogTransport(() => undefined)).toThrow("registerLogTransport works only in a plugin that a running gateway has loaded");
  const said: unknown[] = [];
  sdk.createPluginSdk({ ...sdk.offlineHost({} as never), registerLogTransport: (transport) => (said.push(transport), () => void said.push("gone")) });
  const transport = (): void => undefined;
  sdk.registerLogTransport(transport)();
  expect(said).toEqual([transport, "gone"]);
});
