import { readFile } from "node:fs/promises";
import { join } from "node:path";
import JSON5 from "json5";
import { expect, it } from "vitest";
import { findUnusedKeys } from "../src/config/index.ts";
import { keyTable } from "../src/config/schema/table.ts";
import { createTestHome } from "./support/config-home.ts";

const text = await readFile(join(import.meta.dirname, "..", "openclaw.example.json5"), "utf8");

it("loads the example configuration without a complaint", async () => {
  await using home = await createTestHome(text);

  const snapshot = await home.load();

  expect(snapshot.issues).toEqual([]);
  expect(snapshot.valid).toBe(true);
  expect(snapshot.warnings).toEqual([]);
  expect(snapshot.unusedKeys).toEqual([]);
});

it("shows every section of the configuration", () => {
  const shown = new Set([...text.matchAll(/^ {2}(?:\/\/ )?([$\w]+): /gm)].map((match) => match[1]));

  expect([...keyTable().children.keys()].filter((key) => !shown.has(key))).toEqual([]);
});

it("sets nothing that has no effect, and says so of what it shows", () => {
  const config = JSON5.parse<Record<string, unknown>>(text);
  expect(findUnusedKeys(config)).toEqual([]);

  const marked = text.slice(text.indexOf("Accepted, without effect"));
  const names = [...marked.matchAll(/^ {2}\/\/ ([$\w]+): /gm)].map((match) => match[1] ?? "");
  expect(findUnusedKeys(Object.fromEntries(names.filter((name) => name !== "heartbeat").map((name) => [name, {}])))).toEqual(names.filter((name) => name !== "heartbeat").map((name) => [name]));
});

it("is valid with everything that is commented out as well", async () => {
  const open = text
    .split("\n")
    .map((line) => (/^\s+\/\/ +(?:"[^"]+"|[$\w]+): [^ ]*[^a-zA-Z ,.]|^\s+\/\/ +\}|^\s+\/\/ +\{ agentId|^\s+\/\/ +\{ id:/.test(line) ? line.replace("// ", "") : line))
    .join("\n")
    .replace("${HOME_LLM_KEY}", "key");
  await using home = await createTestHome(open);

  const snapshot = await home.load();

  expect(snapshot.issues).toEqual([]);
  expect(JSON.stringify(snapshot.config)).toContain("claw.example.com");
  expect(snapshot.config.mcp?.servers?.["files"]?.command).toBe("mcp-files");
});
