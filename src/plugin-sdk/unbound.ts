import type { HostBoundNames } from "./host-bound.ts";

/**
 * The same names for type checking, and for code that imports the SDK outside of a gateway: there each says so when it is
 * called. A plugin that a gateway loads gets those of `createPluginSdk`.
 */
function unbound<Name extends keyof HostBoundNames>(name: Name): HostBoundNames[Name] {
  const refuse = (): never => {
    throw new Error(`${name} works only in a plugin that a running gateway has loaded`);
  };
  return refuse as HostBoundNames[Name];
}

export const registerPluginHttpRoute: HostBoundNames["registerPluginHttpRoute"] = unbound("registerPluginHttpRoute");
export const registerLogTransport: HostBoundNames["registerLogTransport"] = unbound("registerLogTransport");
export const emitDiagnosticEvent: HostBoundNames["emitDiagnosticEvent"] = unbound("emitDiagnosticEvent");
export const onDiagnosticEvent: HostBoundNames["onDiagnosticEvent"] = unbound("onDiagnosticEvent");
export const listDevicePairing: HostBoundNames["listDevicePairing"] = unbound("listDevicePairing");
export const approveDevicePairing: HostBoundNames["approveDevicePairing"] = unbound("approveDevicePairing");
export const rejectDevicePairing: HostBoundNames["rejectDevicePairing"] = unbound("rejectDevicePairing");
export const loadWebMedia: HostBoundNames["loadWebMedia"] = unbound("loadWebMedia");
export const recordInboundSession: HostBoundNames["recordInboundSession"] = unbound("recordInboundSession");
export const readStoreAllowFromForDmPolicy: HostBoundNames["readStoreAllowFromForDmPolicy"] = unbound("readStoreAllowFromForDmPolicy");
export const listThreadBindingsBySessionKey: HostBoundNames["listThreadBindingsBySessionKey"] = unbound("listThreadBindingsBySessionKey");
export const unbindThreadBindingsBySessionKey: HostBoundNames["unbindThreadBindingsBySessionKey"] = unbound("unbindThreadBindingsBySessionKey");
export const autoBindSpawnedDiscordSubagent: HostBoundNames["autoBindSpawnedDiscordSubagent"] = unbound("autoBindSpawnedDiscordSubagent");
export const warnMissingProviderGroupPolicyFallbackOnce: HostBoundNames["warnMissingProviderGroupPolicyFallbackOnce"] = unbound("warnMissingProviderGroupPolicyFallbackOnce");
export const resetMissingProviderGroupPolicyFallbackWarningsForTesting: HostBoundNames["resetMissingProviderGroupPolicyFallbackWarningsForTesting"] =
  unbound("resetMissingProviderGroupPolicyFallbackWarningsForTesting");
