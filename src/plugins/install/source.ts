import { existsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expandPath } from "../../routing/index.ts";

/** A plugin could not be installed, updated or removed; nothing was changed. */
export class PluginInstallError extends Error {
  override readonly name = "PluginInstallError";
}

/** Where a plugin comes from. Source: spec plugin-sdk-survey §2. */
export type InstallSource =
  | { readonly kind: "folder" | "archive" | "file"; readonly path: string }
  | { readonly kind: "npm"; readonly spec: string; readonly name: string };

const ARCHIVE = /\.(?:tgz|tar\.gz|tar|zip)$/i;
const SOURCE = /(?<!\.d)\.(?:ts|js|mts|cts|mjs|cjs)$/;
const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const VERSION = /^[A-Za-z0-9^~<>=*][A-Za-z0-9.+^~<>=*-]*$/;

/** An existing path first, then a name of the npm registry. @throws PluginInstallError saying what the text is not */
export function parseInstallSource(text: string): InstallSource {
  const given = text.trim();
  if (given === "") throw new PluginInstallError("unsupported npm spec: nothing is named");
  const path = pathOf(given);
  if (existsSync(path)) return sourceAt(path);
  if (looksLikePath(given)) throw new PluginInstallError(`Path not found: ${path}`);
  return npmSource(given);
}

function pathOf(text: string): string {
  if (text.startsWith("file://")) return fileURLToPath(text);
  return resolve(expandPath(text.replace(/^file:/, "")));
}

function sourceAt(path: string): InstallSource {
  if (statSync(path).isDirectory()) return { kind: "folder", path };
  if (ARCHIVE.test(path)) return { kind: "archive", path };
  if (SOURCE.test(path)) return { kind: "file", path };
  throw new PluginInstallError(`unsupported plugin file: ${basename(path)} (give a folder, .tgz, .tar.gz, .tar, .zip, or a .ts or .js file)`);
}

const looksLikePath = (text: string): boolean => /^(?:file:|\.|~|\/|[A-Za-z]:[\\/])/.test(text) || ARCHIVE.test(text) || SOURCE.test(text);

function npmSource(spec: string): InstallSource {
  const refuse = (why: string): never => {
    throw new PluginInstallError(`unsupported npm spec: ${spec} (${why}; give <name> or <name>@<version|tag>)`);
  };
  if (/\s/.test(spec)) return refuse("it holds blanks");
  if (/:\/\/|[#:]/.test(spec)) return refuse("addresses and repositories are not installed");
  const at = spec.indexOf("@", 1);
  const name = at < 0 ? spec : spec.slice(0, at);
  const version = at < 0 ? undefined : spec.slice(at + 1);
  if (!NAME.test(name) || name.length > 214) return refuse("it is no package name");
  if (version !== undefined && !VERSION.test(version)) return refuse("it is no version");
  return { kind: "npm", spec, name };
}
