import { readdirSync, readFileSync, existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { builtInCommands } from "../src/auto-reply/index.ts";
import { keyTable } from "../src/config/schema/table.ts";

const root = join(import.meta.dirname, "..");
const pagesOf = (language: string): string[] =>
  readdirSync(join(root, "docs", language), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md")).toSorted();
const english = pagesOf("en");
const files = ["README.md", ...english.map((name) => `docs/en/${name}`), ...pagesOf("zh-CN").map((name) => `docs/zh-CN/${name}`)];
const read = (file: string): string => readFileSync(join(root, file), "utf8");
/** What stands in single backticks, outside of blocks of code. */
const codeOf = (text: string): string[] => [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");

/** Methods of the gateway share words with sections of the configuration. */
const METHOD = /^(?:channels\.(?:status|logout|pairing\.\w+)|models\.list|skills\.\w+|config\.\w+|agents\.(?:list|files\.\w+))$/;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

/** Keys of a channel that an extension brings, by the schema in its manifest. */
function isExtensionKey(id: string, keys: readonly string[]): boolean {
  const manifest = join(root, "extensions", id, "openclaw.plugin.json");
  if (!existsSync(manifest)) return false;
  let schema: Schema | undefined = (JSON.parse(readFileSync(manifest, "utf8")) as { configSchema: Schema }).configSchema;
  for (const key of keys) {
    const more: Schema | boolean | undefined = schema.additionalProperties;
    schema = schema.properties?.[key] ?? (typeof more === "object" ? more : undefined);
    if (!schema) return false;
  }
  return true;
}

function isKnownKey(path: string): boolean {
  const parts = path.replaceAll(/\[[^\]]*\]/g, "").replace(/\.\*$/, "").split(".");
  if (parts[0] === "channels" && isExtensionKey(parts[1] ?? "", parts.slice(2))) return true;
  let node: ReturnType<typeof keyTable> | undefined = keyTable();
  for (const part of parts) {
    const next: ReturnType<typeof keyTable> | undefined = node.children.get(part) ?? node.rest;
    if (!next) return false;
    node = next;
  }
  return true;
}

it("has every page in English and in Chinese", () => {
  expect(english.length).toBeGreaterThan(8);
  expect(pagesOf("zh-CN")).toEqual(english);
});

it.each(files)("%s names only configuration keys that exist", (file) => {
  const roots = new Set(keyTable().children.keys());
  const paths = codeOf(read(file)).filter((code) => /^[a-zA-Z]+(?:\.[\w<>*-]+|\[[^\]]*\])+$/.test(code) && roots.has(code.split(/[.[]/)[0] ?? "") && !METHOD.test(code));
  expect(paths.filter((path) => !isKnownKey(path))).toEqual([]);
});

it.each(files)("%s names only slash commands that exist", (file) => {
  const names = new Set(builtInCommands().flatMap((command) => [command.name, ...command.aliases]));
  const used = codeOf(read(file)).flatMap((code) => /^\/([a-z]+)(?: [^/]*)?$/.exec(code)?.[1] ?? []);
  const places = new Set(["bin", "usr", "tmp", "run", "workspace", "agent", "healthz", "health", "readyz", "ready", "setprivacy", "newbot", "revoke", "setcommands"]);
  expect(used.filter((name) => !names.has(name) && !places.has(name))).toEqual([]);
});

it.each(["en", "zh-CN"])("describes every slash command (%s)", (language) => {
  const page = read(`docs/${language}/slash-commands.md`);
  const offered = builtInCommands().filter((command) => command.listed?.({ commands: { bash: true, config: true, debug: true } }) ?? true);
  expect(offered.map((command) => command.name).filter((name) => !page.includes(`\`/${name}`))).toEqual([]);
});

it.each(files)("%s links to files that are there", (file) => {
  const links = [...read(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? "");
  expect(links.filter((link) => !existsSync(resolve(root, dirname(file), link))).map((link) => `${relative(root, file)}: ${link}`)).toEqual([]);
});

it("starts the README with the two commands", () => {
  expect(read("README.md").slice(0, 600)).toMatch(/npx -y pnpm@10 start[\s\S]*npx -y pnpm@10 test/);
});
