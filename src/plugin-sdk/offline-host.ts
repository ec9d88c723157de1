import type { HostRuntime, SdkHost } from "./host.ts";

/**
 * For commands that load plugins without a gateway: what a plugin registers there waits for nobody and is dropped, so that
 * `register` runs through; what needs an answer of the gateway says that there is none.
 */
export function offlineHost(runtime: HostRuntime): SdkHost {
  const nothing = (): void => undefined;
  const onlyInGateway = (what: string) => async (): Promise<never> => {
    throw new Error(`${what} needs the gateway; this command runs without it`);
  };
  return {
    runtime, now: Date.now, hasRoute: () => false, registerRoute: () => nothing, registerLogTransport: () => nothing,
    diagnostics: { emit: nothing, on: () => nothing },
    devices: { list: onlyInGateway("The list of devices"), approve: onlyInGateway("Approving a device"), reject: onlyInGateway("Rejecting a device") },
  };
}
