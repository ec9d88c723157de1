/** Where a plugin was found; earlier origins win. Source: spec plugin-sdk §1. */
export const PLUGIN_ORIGINS = ["config", "workspace", "global", "bundled"] as const;
export type PluginOrigin = (typeof PLUGIN_ORIGINS)[number];

/** `openclaw.plugin.json`, with what `package.json` adds. Source: spec plugin-sdk §2. */
export interface PluginManifest {
  readonly id: string;
  readonly configSchema: Readonly<Record<string, unknown>>;
  readonly kind?: string | undefined;
  readonly channels: readonly string[];
  readonly providers: readonly string[];
  /** Folders of skills, relative to the root. */
  readonly skills: readonly string[];
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly version?: string | undefined;
  readonly uiHints?: Readonly<Record<string, unknown>> | undefined;
  /** Variables of which one is enough to switch a bundled plugin on, as its channel's config section does. */
  readonly activationEnv: readonly string[];
}

/** One plugin as found on disk; no code of it has run. */
export interface PluginCandidate {
  readonly origin: PluginOrigin;
  readonly root: string;
  /** Absolute path of the module with `register`. */
  readonly entry: string;
  readonly manifest: PluginManifest;
  readonly workspaceDir?: string | undefined;
  /** The plugin that took its id. */
  readonly overriddenBy?: PluginOrigin | undefined;
}

export interface PluginDiagnostic {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly pluginId?: string | undefined;
  readonly source?: string | undefined;
}

/** Row of `plugins list --json`. Source: spec plugin-sdk §5. */
export interface PluginRecord {
  readonly id: string;
  name: string;
  version?: string | undefined;
  description?: string | undefined;
  kind?: string | undefined;
  readonly source: string;
  readonly origin: PluginOrigin;
  readonly workspaceDir?: string | undefined;
  enabled: boolean;
  status: "loaded" | "disabled" | "error";
  error?: string | undefined;
  /** What went wrong in its code since the start; the newest in `lastFault`. */
  faults?: number | undefined;
  lastFault?: string | undefined;
  readonly toolNames: string[];
  readonly hookNames: string[];
  readonly channelIds: string[];
  readonly providerIds: string[];
  readonly gatewayMethods: string[];
  readonly cliCommands: string[];
  readonly services: string[];
  readonly commands: string[];
  httpHandlers: number;
  hookCount: number;
  readonly configSchema: boolean;
  readonly configUiHints?: Readonly<Record<string, unknown>> | undefined;
  readonly configJsonSchema?: Readonly<Record<string, unknown>> | undefined;
}
