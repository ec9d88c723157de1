import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { ifExists } from "../infra/atomic-file.ts";
import { errorText } from "../infra/errors.ts";
import { isRecord } from "./manifest.ts";

/** A channel that a plugin brings which is not installed. */
export interface OfferedChannel {
  readonly id: string;
  readonly label: string;
  readonly aliases: readonly string[];
  readonly blurb?: string | undefined;
  /** What `openclaw plugins install` takes. */
  readonly spec: string;
}

export interface ExternalCatalog {
  readonly channels: readonly OfferedChannel[];
  /** Files that could not be read, a sentence each. */
  readonly problems: readonly string[];
}

const MAX_BYTES = 4 * 1024 * 1024;
const DEFAULT_FILES = ["mpm/plugins.json", "mpm/catalog.json", "plugins/catalog.json"];

/**
 * Lists of plugins that exist elsewhere. An earlier file wins for the same channel; files named by a variable take the place
 * of those in the state folder. Source: spec plugin-sdk §2.
 */
export async function readExternalCatalog({ env, stateDir }: { readonly env: Readonly<Record<string, string | undefined>>; readonly stateDir: string }): Promise<ExternalCatalog> {
  const named = (env["OPENCLAW_PLUGIN_CATALOG_PATHS"] ?? env["OPENCLAW_MPM_CATALOG_PATHS"] ?? "").split(separatorOf).map((path) => path.trim()).filter((path) => path !== "");
  const paths = named.length > 0 ? named.map((path) => resolve(path.replace(/^~(?=$|\/)/, env["HOME"] ?? homedir()))) : DEFAULT_FILES.map((name) => join(stateDir, name));
  const channels = new Map<string, OfferedChannel>();
  const problems: string[] = [];
  for (const path of paths) {
    try {
      const bytes = await ifExists(readFile(path));
      if (!bytes) continue;
      if (bytes.length > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES} bytes`);
      for (const channel of entriesOf(JSON.parse(bytes.toString("utf8"))).flatMap((entry) => readEntry(entry, dirname(path)))) if (!channels.has(channel.id)) channels.set(channel.id, channel);
    } catch (err) {
      problems.push(`plugin catalog ${path} cannot be read: ${errorText(err)}`);
    }
  }
  return { channels: [...channels.values()], problems };
}

const separatorOf = new RegExp(`[,;${delimiter}]`);

/** The list itself, or the object around it in one of the forms seen. */
function entriesOf(raw: unknown): readonly unknown[] {
  const list = isRecord(raw) ? (raw["entries"] ?? raw["packages"] ?? raw["plugins"]) : raw;
  if (!Array.isArray(list)) throw new Error("it must hold { entries: [...] }");
  return list as unknown[];
}

function readEntry(entry: unknown, dir: string): OfferedChannel[] {
  const block = isRecord(entry) && isRecord(entry["openclaw"]) ? entry["openclaw"] : {};
  const channel = isRecord(block["channel"]) ? block["channel"] : {};
  const install = isRecord(block["install"]) ? block["install"] : {};
  const id = text(channel["id"])?.toLowerCase();
  const npmSpec = text(install["npmSpec"]) ?? (isRecord(entry) ? text(entry["name"]) : undefined);
  const localPath = text(install["localPath"]);
  const local = localPath === undefined ? undefined : resolve(dir, localPath);
  const spec = install["defaultChoice"] === "local" ? (local ?? npmSpec) : (npmSpec ?? local);
  if (id === undefined || spec === undefined) return []; // no channel, or no way to get it
  const aliases = Array.isArray(channel["aliases"]) ? (channel["aliases"] as unknown[]).flatMap((alias) => text(alias)?.toLowerCase() ?? []) : [];
  return [{ id, label: text(channel["label"]) ?? id, aliases, blurb: text(channel["blurb"]), spec }];
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);
