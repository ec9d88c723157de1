import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { readPluginPackage } from "./manifest.ts";
import type { PluginCandidate } from "./types.ts";

/** What a plugin's module exports, in any of its forms. Source: spec plugin-sdk §5. */
export interface PluginModule {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  readonly configSchema?: unknown;
  register(api: unknown): unknown;
}

export interface PluginLoaderOptions {
  readonly stateDir: string;
  /** The module that answers `openclaw/plugin-sdk`; loaded with the first plugin. */
  loadSdk(): Promise<object>;
}

export interface PluginLoader {
  /** @throws Error when the module cannot be loaded or has nothing to register */
  load(candidate: PluginCandidate): Promise<PluginModule>;
}

/** Also the names that the product had before. */
const SDK_NAME = /^(?:openclaw|clawdbot|moltbot)\/plugin-sdk(?:\/.*)?$/;

/** In the order in which they are tried. Source: spec plugin-sdk §5. */
const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".mtsx", ".ctsx", ".js", ".mjs", ".cjs", ".json"];
/** Of a statement at the beginning of a line, so that code in a text stays as it is. */
const JS_SPECIFIER = /^([ \t]*(?:import|export)\b[^"'`;]*)(["'])(\.{1,2}\/[^"'\n]*)\.js\2/gm;

/**
 * TypeScript names `./a.ts` as `./a.js`, which the compiler looks for in some 200 places before it thinks of the other. Named
 * without its extension it is found at once, and a file that is JavaScript later is found too.
 */
function shortenSpecifiers(source: string, filename: string): string {
  return source.replace(JS_SPECIFIER, (whole, before: string, quote: string, name: string) => {
    const path = join(dirname(filename), name);
    const isTypeScript = !existsSync(`${path}.js`) && (existsSync(`${path}.ts`) || existsSync(`${path}.tsx`)) && statSync(path, { throwIfNoEntry: false })?.isFile() !== true;
    return isTypeScript ? `${before}${quote}${name}${quote}` : whole;
  });
}

/**
 * TypeScript and JavaScript without a build step. What was compiled is kept in the state folder, so that a second start only
 * reads it; a plugin's own dependencies are loaded by Node itself. Source: spec decisions §9.1.
 */
export function createPluginLoader(options: PluginLoaderOptions): PluginLoader {
  let sdk: Promise<object> | undefined;

  async function importModule(candidate: PluginCandidate): Promise<unknown> {
    // What the build made needs no compiler: its SDK import already points to our module.
    if (candidate.origin === "bundled" && candidate.entry.endsWith(".js")) {
      await (sdk ??= options.loadSdk()); // binds that module's names too
      return import(pathToFileURL(candidate.entry).href);
    }
    const [{ createJiti }, module, pack] = await Promise.all([import("jiti"), (sdk ??= options.loadSdk()), readPluginPackage(candidate.root)]);
    const compiler = createJiti(candidate.entry, { fsCache: false });
    const jiti = createJiti(candidate.entry, {
      virtualModules: new Proxy({}, { has: (_target, name) => typeof name === "string" && SDK_NAME.test(name), get: () => module }),
      moduleCache: false, tryNative: false, fsCache: join(options.stateDir, "cache", "jiti"), nativeModules: [...(pack?.dependencies ?? [])], interopDefault: true, extensions: EXTENSIONS,
      transform: (unit) => ({ code: compiler.transform({ ...unit, source: shortenSpecifiers(unit.source, unit.filename ?? candidate.entry) }) }),
    });
    return jiti.import(candidate.entry);
  }

  return {
    async load(candidate) {
      const module = readModule(await importModule(candidate));
      if (!module) throw new Error(`${candidate.entry} exports neither a function nor an object with register(api)`);
      return module;
    },
  };
}

/** The innermost default first: around it the loader lays a view that has its functions, but not its name and kind. */
function readModule(exported: unknown): PluginModule | undefined {
  for (const value of [defaultOf(defaultOf(exported)), defaultOf(exported), exported]) {
    if (typeof value === "function") return { register: (api) => (value as (api: unknown) => unknown)(api) };
    if (typeof value !== "object" || value === null) continue;
    const { register, activate } = value as { register?: unknown; activate?: unknown };
    const begin = typeof register === "function" ? register : typeof activate === "function" ? activate : undefined;
    if (begin) return { ...(value as PluginModule), register: (api) => (begin as (api: unknown) => unknown).call(value, api) };
  }
  return undefined;
}

const defaultOf = (value: unknown): unknown => (typeof value === "object" && value !== null && "default" in value ? value.default : undefined);
