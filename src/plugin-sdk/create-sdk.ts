import { bindNames } from "./bound-names.ts";
import { bindHost, type HostBoundNames } from "./host-bound.ts";
import type { SdkHost } from "./host.ts";
import * as names from "./names.ts";

/**
 * The module that the plugins of one gateway import: every name, bound to this gateway where it acts on one. Bundled
 * extensions of a build import the package's own module, whose names are bound with it.
 */
export function createPluginSdk(host: SdkHost): typeof names & HostBoundNames {
  const bound = bindHost(host);
  bindNames(bound);
  return { ...names, ...bound };
}
