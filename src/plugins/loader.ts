import { pathToFileURL } from "node:url";
import { join } from "node:path";
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

/**
 * TypeScript and JavaScript without a build step. What was compiled is kept in the state folder, so that a second start only
 * reads it; a plugin's own dependencies are loaded by Node itself. Source: spec decisions §9.1.
 */
export function createPluginLoader(options: PluginLoaderOptions): PluginLoader {
  let sdk: Promise<object> | undefined;

  async function importModule(candidate: PluginCandidate): Promise<unknown> {
    // What the build made needs no compiler: its SDK import already points to our module.
    if (candidate.origin === "bundled" && candidate.entry.endsWith(".js")) return import(pathToFileURL(candidate.entry).href);
    const [{ createJiti }, module, pack] = await Promise.all([import("jiti"), (sdk ??= options.loadSdk()), readPluginPackage(candidate.root)]);
    const jiti = createJiti(candidate.entry, {
      virtualModules: new Proxy({}, { has: (_target, name) => typeof name === "string" && SDK_NAME.test(name), get: () => module }),
      moduleCache: false, tryNative: false, fsCache: join(options.stateDir, "cache", "jiti"), nativeModules: [...(pack?.dependencies ?? [])], interopDefault: true,
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

function readModule(exported: unknown): PluginModule | undefined {
  for (const value of [exported, defaultOf(exported), defaultOf(defaultOf(exported))]) {
    if (typeof value === "function") return { register: (api) => (value as (api: unknown) => unknown)(api) };
    if (typeof value !== "object" || value === null) continue;
    const { register, activate } = value as { register?: unknown; activate?: unknown };
    const begin = typeof register === "function" ? register : typeof activate === "function" ? activate : undefined;
    if (begin) return { ...(value as PluginModule), register: (api) => (begin as (api: unknown) => unknown).call(value, api) };
  }
  return undefined;
}

const defaultOf = (value: unknown): unknown => (typeof value === "object" && value !== null && "default" in value ? value.default : undefined);
