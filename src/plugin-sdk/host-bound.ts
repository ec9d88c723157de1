import type { LoadedMedia, LoadMediaOptions } from "../plugins/runtime/index.ts";
import type { DiagnosticEvent, DiagnosticEventInput, HostRoute, HostThreadBindings, RecordInboundSessionInput, SdkHost, ThreadBinding, ThreadBindingQuery } from "./host.ts";
import { GROUP_POLICY_BLOCKED_LABEL, normalizeAccountId } from "./values.ts";
import { normalizePluginHttpPath } from "./webhooks.ts";

/** The names of the SDK that act on a running gateway. Source: spec plugin-sdk §10, §14. */
export interface HostBoundNames {
  /** An existing route of the path is replaced. The result takes the route out. */
  registerPluginHttpRoute(route: Omit<HostRoute, "path"> & { readonly path?: string | null | undefined; readonly fallbackPath?: string | null | undefined; readonly log?: ((message: string) => void) | undefined }): () => void;
  registerLogTransport(transport: (record: Readonly<Record<string, unknown>>) => void): () => void;
  emitDiagnosticEvent(event: DiagnosticEventInput): void;
  onDiagnosticEvent(listener: (event: DiagnosticEvent) => void): () => void;
  listDevicePairing(): ReturnType<SdkHost["devices"]["list"]>;
  approveDevicePairing(requestId: string): ReturnType<SdkHost["devices"]["approve"]>;
  rejectDevicePairing(requestId: string): ReturnType<SdkHost["devices"]["reject"]>;
  loadWebMedia(source: string, limits?: number | LoadMediaOptions): Promise<LoadedMedia>;
  recordInboundSession(input: RecordInboundSessionInput): Promise<void>;
  /** Those approved by pairing, where the policy counts them. */
  readStoreAllowFromForDmPolicy(query: { readonly provider: string; readonly accountId: string; readonly dmPolicy?: string | null | undefined; readonly shouldRead?: boolean | null | undefined; readonly readStore?: ((provider: string, accountId: string) => Promise<string[]>) | undefined }): Promise<string[]>;
  listThreadBindingsBySessionKey(query: ThreadBindingQuery): ThreadBinding[];
  unbindThreadBindingsBySessionKey(query: Parameters<HostThreadBindings["unbind"]>[0]): ThreadBinding[];
  autoBindSpawnedDiscordSubagent(request: Parameters<HostThreadBindings["autoBind"]>[0]): Promise<ThreadBinding | null>;
  /** Says once for each channel and account that its section is missing. true: said now. */
  warnMissingProviderGroupPolicyFallbackOnce(warning: { readonly providerMissingFallbackApplied: boolean; readonly providerKey: string; readonly accountId?: string | undefined; readonly blockedLabel?: string | undefined; readonly log: (message: string) => void }): boolean;
  resetMissingProviderGroupPolicyFallbackWarningsForTesting(): void;
}

export function bindHost(host: SdkHost): HostBoundNames {
  const warned = new Set<string>();
  let diagnosticSeq = 0;
  return {
    registerPluginHttpRoute({ path, fallbackPath, log, ...route }) {
      const normalized = normalizePluginHttpPath(path, fallbackPath);
      const where = route.accountId ? ` for account "${route.accountId}"` : "";
      if (normalized === null) {
        log?.(`plugin: webhook path missing${where}`);
        return () => undefined;
      }
      if (host.hasRoute(normalized)) log?.(`plugin: replacing stale webhook path ${normalized}${where}${route.pluginId ? ` (${route.pluginId})` : ""}`);
      return host.registerRoute({ ...route, path: normalized });
    },
    registerLogTransport: (transport) => host.registerLogTransport(transport),
    emitDiagnosticEvent: (event) => host.diagnostics.emit({ ...event, seq: ++diagnosticSeq, ts: host.now() }),
    onDiagnosticEvent: (listener) => host.diagnostics.on(listener),
    listDevicePairing: () => host.devices.list(),
    approveDevicePairing: (requestId) => host.devices.approve(requestId),
    rejectDevicePairing: (requestId) => host.devices.reject(requestId),
    loadWebMedia: (source, limits) => host.runtime.media.loadWebMedia(source, limits),
    recordInboundSession: (input) => host.runtime.channel.session.recordInboundSession(input),
    async readStoreAllowFromForDmPolicy({ provider, accountId, dmPolicy, shouldRead, readStore }) {
      if (shouldRead === false || dmPolicy === "allowlist") return [];
      const id = normalizeAccountId(accountId);
      try {
        return await (readStore?.(provider, id) ?? host.runtime.channel.pairing.readAllowFromStore({ channel: provider, accountId: id }));
      } catch {
        return []; // a store that cannot be read admits nobody
      }
    },
    listThreadBindingsBySessionKey: (query) => host.threadBindings?.list(query) ?? [],
    unbindThreadBindingsBySessionKey: (query) => host.threadBindings?.unbind(query) ?? [],
    autoBindSpawnedDiscordSubagent: async (request) => (await host.threadBindings?.autoBind(request)) ?? null,
    warnMissingProviderGroupPolicyFallbackOnce({ providerMissingFallbackApplied, providerKey, accountId, blockedLabel, log }) {
      const key = `${providerKey}:${accountId ?? "*"}`;
      if (!providerMissingFallbackApplied || warned.has(key)) return false;
      warned.add(key);
      log(`${providerKey}: channels.${providerKey} is missing; ${blockedLabel ?? GROUP_POLICY_BLOCKED_LABEL.group} are blocked (groupPolicy="allowlist") until it is configured.`);
      return true;
    },
    resetMissingProviderGroupPolicyFallbackWarningsForTesting: () => warned.clear(),
  };
}
