import { bindHost, type HostBoundNames } from "./host-bound.ts";
import type { SdkHost } from "./host.ts";
import * as names from "./names.ts";

/** The module that the plugins of one gateway import: every name, bound to this gateway where it acts on one. */
export function createPluginSdk(host: SdkHost): typeof names & HostBoundNames {
  return { ...names, ...bindHost(host) };
}
