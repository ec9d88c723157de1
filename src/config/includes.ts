import { readFile, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isErrno } from "../infra/atomic-file.ts";
import { errorText } from "../infra/errors.ts";
import { type ConfigPath, isUnsafeKey } from "./config-path.ts";
import { isInside } from "./env.ts";
import { parseJson5 } from "./json5-text.ts";
import { isPlainObject, type PlainObject } from "./json-value.ts";

export const MAX_INCLUDE_DEPTH = 10;

/** One file of the configuration: its text, its own value, and the files its `$include`s name. */
export interface ConfigDocument {
  readonly file: string;
  readonly raw: string;
  /** As written, `$include` keys in place. */
  readonly value: unknown;
  /** Included files by the object that names them (key: JSON of the path inside this file), in merge order. */
  readonly includes: ReadonlyMap<string, IncludeSite>;
}

export interface IncludeSite {
  readonly at: ConfigPath;
  readonly documents: readonly ConfigDocument[];
}

/** An `$include` that cannot be followed makes the whole configuration invalid. */
export class ConfigIncludeError extends Error {
  override readonly name = "ConfigIncludeError";
  readonly code = "include";
}

export interface IncludeDeps {
  /** Default: the file system. A writer passes one that shows files as they will be. */
  readonly readText?: ((path: string) => Promise<string>) | undefined;
}

export const includeKey = (path: ConfigPath): string => JSON.stringify(path);

/**
 * Reads every included file below a parsed root (spec: cli-and-ui §1.2): strings or lists of strings, relative to the including
 * file, inside the directory of the root file also after symlinks, at most ten deep.
 * @throws ConfigIncludeError, ConfigSyntaxError
 */
export async function loadIncludes(
  file: string,
  raw: string,
  value: unknown,
  deps: IncludeDeps = {},
): Promise<ConfigDocument> {
  const context: Context = {
    rootDir: await realpath(dirname(file)).catch(() => dirname(file)),
    readText: deps.readText ?? ((path) => readFile(path, "utf8")),
  };
  return readDocument(file, raw, value, [await realpath(file).catch(() => file)], context);
}

interface Context {
  readonly rootDir: string;
  readonly readText: (path: string) => Promise<string>;
}

async function readDocument(
  file: string,
  raw: string,
  value: unknown,
  chain: readonly string[],
  context: Context,
): Promise<ConfigDocument> {
  const includes = new Map<string, IncludeSite>();
  const visit = async (node: unknown, at: ConfigPath): Promise<void> => {
    if (Array.isArray(node)) {
      for (const [i, item] of node.entries()) await visit(item, [...at, i]);
      return;
    }
    if (!isPlainObject(node)) return;
    if (Object.hasOwn(node, "$include")) {
      const documents: ConfigDocument[] = [];
      for (const name of includeNames(node["$include"], file))
        documents.push(await readIncluded(name, file, chain, context));
      includes.set(includeKey(at), { at, documents });
    }
    for (const [key, item] of Object.entries(node)) if (key !== "$include") await visit(item, [...at, key]);
  };
  await visit(value, []);
  return { file, raw, value, includes };
}

function includeNames(value: unknown, file: string): readonly string[] {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  const bad = names.find((name) => typeof name !== "string" || name.trim() === "");
  if (bad !== undefined || names.length === 0) {
    throw new ConfigIncludeError(`${file}: $include must be a path or a list of paths, not ${JSON.stringify(value)}`);
  }
  return names as readonly string[];
}

async function readIncluded(
  name: string,
  from: string,
  chain: readonly string[],
  context: Context,
): Promise<ConfigDocument> {
  const path = resolve(dirname(from), name);
  const where = `$include "${name}" in ${from}`;
  if (chain.length > MAX_INCLUDE_DEPTH) {
    throw new ConfigIncludeError(
      `${where}: includes are nested deeper than ${MAX_INCLUDE_DEPTH}: ${chain.join(" -> ")}`,
    );
  }
  const real = await realInside(path, where, context);
  if (chain.includes(real))
    throw new ConfigIncludeError(`${where}: circular include: ${[...chain, real].join(" -> ")}`);
  const raw = await readIncludeText(path, where, context);
  return readDocument(path, raw, await parseJson5(raw, path), [...chain, real], context);
}

/** The real path, proven to lie in the directory of the root file. */
async function realInside(path: string, where: string, context: Context): Promise<string> {
  let real: string;
  try {
    real = await realpath(path);
  } catch (err) {
    if (!isErrno(err, "ENOENT")) throw new ConfigIncludeError(`${where}: ${errorText(err)}`, { cause: err });
    const parent = await realpath(dirname(path)).catch(() => dirname(path));
    if (isInside(parent, context.rootDir))
      throw new ConfigIncludeError(`${where}: the file does not exist`, { cause: err });
    real = path;
  }
  if (!isInside(real, context.rootDir)) {
    throw new ConfigIncludeError(`${where}: the file lies outside ${context.rootDir}; move it into that directory`);
  }
  return real;
}

async function readIncludeText(path: string, where: string, context: Context): Promise<string> {
  try {
    return await context.readText(path);
  } catch (err) {
    throw new ConfigIncludeError(`${where}: cannot be read (${errorText(err)})`, { cause: err });
  }
}

/**
 * The document with its includes merged in: lists of files in order, then the keys beside `$include`.
 * @throws ConfigIncludeError when keys stand beside an include that is no object
 */
export function mergeDocument(document: ConfigDocument): unknown {
  const build = (node: unknown, at: ConfigPath): unknown => {
    if (Array.isArray(node)) return node.map((item: unknown, i) => build(item, [...at, i]));
    if (!isPlainObject(node)) return node;
    const own: PlainObject = {};
    for (const [key, item] of Object.entries(node)) if (key !== "$include") own[key] = build(item, [...at, key]);
    const site = document.includes.get(includeKey(at));
    if (!site) return own;
    const parts = site.documents.map(mergeDocument);
    const included = parts.length === 1 ? parts[0] : parts.reduce(mergeIncluded, {});
    if (Object.keys(own).length === 0) return included;
    if (!isPlainObject(included)) {
      throw new ConfigIncludeError(`${document.file}: keys beside $include need the included file to hold an object`);
    }
    return mergeIncluded(included, own);
  };
  return build(document.value, []);
}

/** Objects recurse, lists join, of scalars the later wins; prototype names are dropped. */
export function mergeIncluded(base: unknown, over: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(over)) return [...(base as unknown[]), ...(over as unknown[])];
  if (!isPlainObject(base) || !isPlainObject(over)) return over;
  const merged: PlainObject = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (!isUnsafeKey(key)) merged[key] = Object.hasOwn(base, key) ? mergeIncluded(base[key], value) : value;
  }
  return merged;
}

/** Every included file, in reading order, each once. */
export function includedFiles(document: ConfigDocument): string[] {
  const files = [...document.includes.values()].flatMap((site) =>
    site.documents.flatMap((part) => [part.file, ...includedFiles(part)]),
  );
  return [...new Set(files)];
}

/** A place in one file. */
export interface DocumentPlace {
  readonly document: ConfigDocument;
  readonly path: ConfigPath;
}

/**
 * The places in files that contribute to a path of the merged configuration, in merge order (the last one wins). A place is
 * given if its file holds a value exactly there; an object that is only an `$include` counts as its file's content.
 */
export function placesOf(document: ConfigDocument, path: ConfigPath): DocumentPlace[] {
  return deepestPlaces(document, path).filter((place) => place.depth === path.length && !place.isBareInclude);
}

/** Like placesOf, for removal: an object that is only an `$include` is the thing to remove, not the content of its file. */
export function placesToRemove(document: ConfigDocument, path: ConfigPath): DocumentPlace[] {
  const places = deepestPlaces(document, path).filter((place) => place.depth === path.length && place.path.length > 0);
  const bare = places.find((place) => place.isBareInclude && place.document === document);
  return bare ? [bare] : places;
}

/** Where a new key at this path belongs: the file that holds its nearest existing parent, the winning one of several. */
export function placeForNew(document: ConfigDocument, path: ConfigPath): DocumentPlace {
  const places = deepestPlaces(document, path);
  const depth = Math.max(...places.map((place) => place.depth));
  const deepest = places.filter((place) => place.depth === depth);
  // An object that is only an include has its content elsewhere: the new key goes there.
  return deepest.findLast((place) => !place.isBareInclude) ?? deepest.at(-1) ?? { document, path };
}

interface DeepPlace extends DocumentPlace {
  /** How many segments of the wanted path exist there. */
  readonly depth: number;
  readonly isBareInclude: boolean;
}

function deepestPlaces(document: ConfigDocument, path: ConfigPath, used = 0): DeepPlace[] {
  const found: DeepPlace[] = [];
  let node = document.value;
  let depth = 0;
  let isBare = false;
  for (;;) {
    const site = document.includes.get(includeKey(path.slice(0, depth)));
    isBare = site !== undefined && isPlainObject(node) && Object.keys(node).length === 1;
    if (site) for (const part of site.documents) found.push(...deepestPlaces(part, path.slice(depth), used + depth));
    const segment = path[depth];
    if (segment === undefined) break;
    const next = Array.isArray(node)
      ? (node as unknown[])[Number(segment)]
      : isPlainObject(node) && Object.hasOwn(node, String(segment))
        ? node[String(segment)]
        : undefined;
    if (next === undefined) break;
    node = next;
    depth++;
  }
  found.push({ document, path, depth: used + depth, isBareInclude: isBare });
  return found;
}
