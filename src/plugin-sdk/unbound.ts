import { boundNames } from "./bound-names.ts";
import type { HostBoundNames } from "./host-bound.ts";

/**
 * The same names for type checking, and for code that imports the module itself: the bundled extensions of a build, which get
 * the gateway of their process. Outside of a gateway each says so when it is called.
 */
function unbound<Name extends keyof HostBoundNames>(name: Name): HostBoundNames[Name] {
  const call = (...args: unknown[]): unknown => {
    const names = boundNames();
    if (!names) throw new Error(`${name} works only in a plugin that a running gateway has loaded`);
    return (names[name] as (...args: unknown[]) => unknown)(...args);
  };
  return call as HostBoundNames[Name];
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
