import type { HostBoundNames } from "./host-bound.ts";

let current: HostBoundNames | undefined;

/** The gateway of this process, the newest where there are several. */
export function bindNames(names: HostBoundNames): void {
  current = names;
}

export const boundNames = (): HostBoundNames | undefined => current;
