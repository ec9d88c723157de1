import { createPluginSdk, type DiagnosticEvent, type SdkHost } from "../plugin-sdk/index.ts";
import { createEmitter } from "../infra/emitter.ts";
import { createGatewayRuntime, type PluginRuntimeOptions } from "./plugin-runtime.ts";
import type { PluginRoutes } from "./http/index.ts";
import type { LogTransports } from "./log-transports.ts";

export interface SdkHostOptions extends PluginRuntimeOptions {
  readonly routes: PluginRoutes;
  readonly transports: LogTransports;
}

/** What plugins import and what they get as `api.runtime`, both bound to one gateway. Loaded with the first plugin. */
export function openPluginDoors(options: SdkHostOptions): { readonly sdk: object; readonly runtime: object } {
  const { context, routes, transports } = options;
  const runtime = createGatewayRuntime(options);
  const diagnostics = createEmitter<DiagnosticEvent>((err) => context.log.error("diagnostic listener failed", { err }));
  const host: SdkHost = {
    registerRoute: ({ path, handler, pluginId = "plugin" }) => routes.add({ path, auth: "plugin", match: "exact", owner: pluginId, handler }),
    hasRoute: (path) => routes.find(path, "exact") !== undefined,
    registerLogTransport: (transport) => transports.add(transport),
    diagnostics: { emit: (event) => diagnostics.emit(event), on: (listener) => diagnostics.on(listener) },
    devices: {
      list: async () => context.devices.list(),
      async approve(requestId) {
        const granted = await context.devices.approve(requestId, { scopes: ["operator.admin"] });
        return granted.kind === "ok" ? { requestId, device: granted.value } : null;
      },
      reject: async (requestId) => (await context.devices.reject(requestId)) ?? null,
    },
    runtime,
    now: () => context.clock.now(),
  };
  return { sdk: createPluginSdk(host), runtime };
}
