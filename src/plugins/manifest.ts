import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "../infra/atomic-file.ts";
import { errorText } from "../infra/errors.ts";
import type { PluginManifest } from "./types.ts";

export const MANIFEST_FILE = "openclaw.plugin.json";

/** Says in one sentence why a folder is no plugin. */
export class ManifestError extends Error {
  override readonly name = "ManifestError";
}

/** The parts of a plugin's `package.json` that count. */
export interface PluginPackage {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly extensions: readonly string[];
  readonly dependencies: readonly string[];
}

/** @throws ManifestError naming the file. Source: spec plugin-sdk §2; keys of later generations are passed over */
export async function readManifest(root: string, fallback: PluginPackage | undefined): Promise<PluginManifest> {
  const path = join(root, MANIFEST_FILE);
  const raw = await readJson(path);
  if (raw === undefined) throw new ManifestError(`plugin manifest not found: ${path}`);
  if (!isRecord(raw)) throw new ManifestError("plugin manifest must be an object");
  const id = text(raw["id"]);
  if (id === undefined) throw new ManifestError("plugin manifest requires id");
  if (!isRecord(raw["configSchema"])) throw new ManifestError("plugin manifest requires configSchema");
  return {
    id,
    configSchema: raw["configSchema"],
    kind: text(raw["kind"]),
    channels: texts(raw["channels"]),
    providers: texts(raw["providers"]),
    skills: texts(raw["skills"]),
    name: text(raw["name"]) ?? fallback?.name,
    description: text(raw["description"]) ?? fallback?.description,
    version: text(raw["version"]) ?? fallback?.version,
    uiHints: isRecord(raw["uiHints"]) ? raw["uiHints"] : undefined,
    activationEnv: texts(raw["activationEnv"]),
  };
}

/** undefined where there is none, or none that can be read: a plugin needs no package. */
export async function readPluginPackage(root: string): Promise<PluginPackage | undefined> {
  const raw = await readJson(join(root, "package.json")).catch(() => undefined);
  if (!isRecord(raw)) return undefined;
  const block = isRecord(raw["openclaw"]) ? raw["openclaw"] : {};
  return {
    name: text(raw["name"]), version: text(raw["version"]), description: text(raw["description"]), extensions: texts(block["extensions"]),
    dependencies: ["dependencies", "optionalDependencies"].flatMap((key) => (isRecord(raw[key]) ? Object.keys(raw[key]) : [])),
  };
}

/** undefined when missing. @throws ManifestError when it is no JSON */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as unknown;
  } catch (err) {
    if (isErrno(err, "ENOENT", "ENOTDIR")) return undefined;
    throw new ManifestError(`failed to parse plugin manifest: ${path}: ${errorText(err)}`, { cause: err });
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function text(value: unknown): string | undefined {
  const trimmed = typeof value === "string" ? value.trim() : "";
  return trimmed === "" ? undefined : trimmed;
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(text).filter((item): item is string => item !== undefined) : []);
