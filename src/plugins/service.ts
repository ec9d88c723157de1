import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentTool } from "../agents/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { ifExists } from "../infra/atomic-file.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { createPluginApi } from "./api.ts";
import { skillDirsOf, type PluginCatalog } from "./catalog.ts";
import { isInside } from "./discovery.ts";
import { memorySlot, memoryState } from "./enable-state.ts";
import type { HookRunner } from "./hooks.ts";
import { createPluginLoader, type PluginModule } from "./loader.ts";
import { createPluginRegistry, type ChannelOffer, type PluginHost, type PluginRegistry, type PluginToolContext } from "./registry.ts";
import { callPlugin, inPlugin } from "./scope.ts";
import { pluginTools } from "./tools.ts";
import type { PluginCandidate, PluginDiagnostic, PluginRecord } from "./types.ts";

export interface PluginServiceOptions {
  readonly config: () => OpenClawConfig;
  readonly stateDir: string;
  readonly catalog: PluginCatalog;
  /** Handlers are added to it; the rooms that call them have it too. */
  readonly hooks: HookRunner;
  readonly workspaceDir: () => string | undefined;
  readonly log: Logger;
  /** The module that answers `openclaw/plugin-sdk`. */
  loadSdk(): Promise<object>;
  /** `api.runtime`; asked for when the first plugin is loaded. */
  createRuntime(): Promise<object>;
  /** What a running gateway offers; undefined in a short-lived command. */
  readonly host: PluginHost | undefined;
}

/** Plugins from discovery to the end of their services. Source: spec plugin-sdk, decisions §9. */
export interface PluginService {
  readonly registry: PluginRegistry;
  /** Notes that something went wrong in a plugin's code; its record shows it. */
  report(pluginId: string, text: string): void;
  /** The plugin whose files stand in the trace of an error. */
  ownerOf(err: unknown): string | undefined;
  /** Loads every plugin that is on. Never rejects: a plugin that fails is in its record. */
  load(options?: { /** Also the plugin that brings this channel, though it is off. */ readonly alsoChannel?: string | undefined }): Promise<void>;
  list(): { readonly workspaceDir: string | undefined; readonly plugins: readonly PluginRecord[]; readonly diagnostics: readonly PluginDiagnostic[] };
  channels(): readonly ChannelOffer[];
  tools(ctx: PluginToolContext, coreNames: ReadonlySet<string>): AgentTool[];
  /** Folders of the skills that enabled plugins bring; known once they are loaded. */
  skillDirs(): readonly string[];
  startServices(): Promise<void>;
  stopServices(): Promise<void>;
}

const SERVICE_LIMIT_MS = 30_000;
const MAX_NAMED = 6;

export function createPluginService(options: PluginServiceOptions): PluginService {
  const { log, catalog, hooks } = options;
  const registry = createPluginRegistry(hooks);
  const loader = createPluginLoader({ stateDir: options.stateDir, loadSdk: () => options.loadSdk() });
  const started: { readonly pluginId: string; readonly id: string; stop?: ((ctx: unknown) => unknown) | undefined; readonly ctx: unknown }[] = [];
  const skillDirs: string[] = [];
  let locked = false;

  async function load({ alsoChannel }: { readonly alsoChannel?: string | undefined } = {}): Promise<void> {
    const config = options.config();
    const { candidates, diagnostics } = await catalog.discover(config);
    for (const diagnostic of diagnostics) note(diagnostic);
    warnOfOpenDoor(config, candidates);
    let runtime: object | undefined;
    for (const candidate of candidates) {
      const record = catalog.recordOf(candidate, config);
      registry.records.push(record);
      if (!record.enabled && (alsoChannel === undefined || candidate.overriddenBy !== undefined || !candidate.manifest.channels.includes(alsoChannel))) continue;
      await addSkillDirs(candidate);
      try {
        runtime ??= await options.createRuntime();
        await loadOne(candidate, record, config, runtime);
      } catch (err) {
        fail(record, errorText(err));
        log.error(`[plugins] ${record.id} failed to load from ${candidate.entry}: ${errorText(err)}`, { pluginId: record.id });
      }
    }
    tellLosers();
    if (config.plugins?.slots?.memory !== undefined) checkMemorySlot(memorySlot(config));
    locked = true;
  }

  /** A channel has one owner, the first that offers it: plugins are loaded in the order of their rank. */
  function tellLosers(): void {
    const owners = new Map<string, string>();
    for (const { pluginId, plugin } of registry.channels) {
      const channel = plugin.id.toLowerCase();
      const owner = owners.get(channel);
      if (owner === undefined) owners.set(channel, pluginId);
      else lose(pluginId, `channel ${channel} provided by ${owner}`);
    }
  }

  function lose(pluginId: string, reason: string): void {
    note({ level: "warn", message: `disabled: ${reason}`, pluginId });
    const record = registry.records.find(({ id, status }) => id === pluginId && status === "loaded");
    if (!record || record.channelIds.length > 1) return;
    const { hookCount, commands, gatewayMethods, httpHandlers } = record;
    const brings = (list: readonly { readonly pluginId: string }[]): boolean => list.some((item) => item.pluginId === pluginId);
    if (hookCount + httpHandlers + commands.length + gatewayMethods.length > 0 || [registry.tools, registry.services, registry.cli, registry.providers].some(brings)) return;
    // It brought nothing else.
    record.status = "disabled";
    record.error = reason;
  }

  /** A slot that nothing fills means that there is no memory: it is said why. */
  function checkMemorySlot(slot: string | undefined): void {
    const chosen = registry.records.find(({ id, error }) => id === slot && !error?.startsWith("overridden by"));
    if (slot === undefined || (chosen?.kind === "memory" && chosen.status === "loaded")) return;
    const message = chosen?.kind === "memory" ? `there is no memory: plugin ${slot} did not load: ${chosen.error ?? chosen.status}` : `memory slot plugin not found or not marked as memory: ${slot}`;
    note({ level: "warn", message, pluginId: chosen?.id });
  }

  async function loadOne(candidate: PluginCandidate, record: PluginRecord, config: OpenClawConfig, runtime: object): Promise<void> {
    if (!isInside(candidate.entry, candidate.root)) return fail(record, "plugin entry path escapes plugin root");
    const entry: { readonly config?: unknown } | undefined = config.plugins?.entries?.[record.id];
    const { checkPluginConfig } = await import("./config-check.ts");
    const faults = checkPluginConfig(candidate.manifest, entry?.config ?? {});
    if (faults.length > 0) return fail(record, `invalid config: ${faults.join(", ")}`);
    const module = await callPlugin(record.id, "loading", SERVICE_LIMIT_MS, () => loader.load(candidate)).catch((err: unknown) => {
      throw new Error(`failed to load plugin: ${errorText(err)}`, { cause: err });
    });
    describe(record, module);
    const memory = memoryState(config, record);
    if (!memory.enabled) {
      // The manifest did not say that it is a memory; its code does.
      record.enabled = false;
      record.error = memory.reason;
      return;
    }
    const api = createPluginApi({ registry, record, candidate, config, runtime, host: options.host, log, onFault: (text) => report(record.id, text), isLocked: () => locked });
    const result = inPlugin(record.id, () => module.register(api));
    if (result instanceof Promise) {
      note({ level: "warn", message: "register returned a promise; what it registers after its first await is not taken up", pluginId: record.id, source: candidate.entry });
      result.catch((err: unknown) => fail(record, errorText(err)));
    }
    if (record.status !== "error") record.status = "loaded";
    if (candidate.origin !== "bundled" && !hasProvenance(config, candidate)) {
      note({ level: "warn", message: `plugin ${record.id} was neither installed by openclaw nor named in plugins.load.paths; make sure you know where it comes from`, pluginId: record.id, source: candidate.entry });
    }
  }

  function describe(record: PluginRecord, module: PluginModule): void {
    if (module.id !== undefined && module.id !== record.id) note({ level: "warn", message: `plugin id mismatch (config uses "${record.id}", export uses "${module.id}")`, pluginId: record.id });
    if (module.kind !== undefined && record.kind !== undefined && module.kind !== record.kind) note({ level: "warn", message: `plugin kind mismatch (manifest says "${record.kind}", export says "${module.kind}")`, pluginId: record.id });
    record.name = module.name ?? record.name;
    record.description = module.description ?? record.description;
    record.version = module.version ?? record.version;
    record.kind = module.kind ?? record.kind;
  }

  async function addSkillDirs(candidate: PluginCandidate): Promise<void> {
    for (const dir of skillDirsOf(candidate)) {
      if ((await ifExists(stat(dir)))?.isDirectory()) skillDirs.push(dir);
      else note({ level: "warn", message: `plugin skill path not found (${candidate.manifest.id}): ${dir}`, pluginId: candidate.manifest.id });
    }
  }

  function fail(record: PluginRecord, reason: string): void {
    record.status = "error";
    record.error = reason;
    note({ level: "error", message: reason, pluginId: record.id, source: record.source });
  }

  function report(pluginId: string, text: string): void {
    const record = registry.records.find(({ id, status }) => id === pluginId && status !== "disabled");
    if (!record) return;
    record.faults = (record.faults ?? 0) + 1;
    record.lastFault = text;
  }

  function ownerOf(err: unknown): string | undefined {
    const trace = err instanceof Error ? (err.stack ?? "") : "";
    const inTrace = registry.records.filter(({ status, source }) => status !== "disabled" && trace.includes(join(dirname(source), "/")));
    return inTrace.toSorted((a, b) => b.source.length - a.source.length)[0]?.id;
  }

  function note(diagnostic: PluginDiagnostic): void {
    registry.diagnostics.push(diagnostic);
    log[diagnostic.level](diagnostic.message, { pluginId: diagnostic.pluginId, source: diagnostic.source });
  }

  /** Without an allow list whatever lies in the folders runs. */
  function warnOfOpenDoor(config: OpenClawConfig, candidates: readonly PluginCandidate[]): void {
    const foreign = candidates.filter(({ origin }) => origin !== "bundled");
    if (foreign.length === 0 || (config.plugins?.allow?.length ?? 0) > 0) return;
    const named = foreign.slice(0, MAX_NAMED).map(({ manifest, entry }) => `${manifest.id} (${entry})`);
    const more = foreign.length > MAX_NAMED ? ` (+${foreign.length - MAX_NAMED} more)` : "";
    log.warn(`plugins.allow is empty, so every plugin that is found may run: ${named.join(", ")}${more}. Set plugins.allow to the ids you trust.`);
  }

  return {
    registry,
    report,
    ownerOf,
    load,
    list: () => ({ workspaceDir: options.workspaceDir(), plugins: registry.records, diagnostics: registry.diagnostics }),
    channels: () => registry.channels,
    tools: (ctx, coreNames) => pluginTools(registry, ctx, coreNames, { log, onFault: report }),
    skillDirs: () => skillDirs,
    async startServices() {
      for (const { pluginId, id, start, stop } of registry.services) {
        const ctx = { config: options.config(), workspaceDir: options.workspaceDir(), stateDir: options.stateDir, logger: serviceLogger(pluginId) };
        try {
          await callPlugin(pluginId, `service ${id}`, SERVICE_LIMIT_MS, () => start(ctx));
          started.push({ pluginId, id, stop, ctx });
        } catch (err) {
          log.error(`plugin service failed (${id}): ${errorText(err)}`, { pluginId });
          report(pluginId, `service ${id}: ${errorText(err)}`);
        }
      }
    },
    async stopServices() {
      for (const { pluginId, id, stop, ctx } of started.splice(0).toReversed()) {
        try {
          await callPlugin(pluginId, `stop of service ${id}`, SERVICE_LIMIT_MS, () => stop?.(ctx));
        } catch (err) {
          log.error(`plugin service not stopped (${id}): ${errorText(err)}`, { pluginId });
          report(pluginId, `stop of service ${id}: ${errorText(err)}`);
        }
      }
    },
  };

  function serviceLogger(pluginId: string): object {
    const own = log.child({ pluginId });
    return { debug: (text: string) => own.debug(text), info: (text: string) => own.info(text), warn: (text: string) => own.warn(text), error: (text: string) => own.error(text) };
  }
}

function hasProvenance(config: OpenClawConfig, { manifest, origin }: PluginCandidate): boolean {
  return origin === "config" || origin === "workspace" || config.plugins?.installs?.[manifest.id] !== undefined;
}
