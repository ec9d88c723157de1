import { hostname, release, type as osType } from "node:os";

/** What the prompt says of the machine; the same as long as the process lives. */
export interface MachineFacts {
  readonly host: string;
  readonly os: string;
  readonly timeZone: string;
}

/** Asked of the system at the first call. */
export function createMachineFacts(): () => MachineFacts {
  let facts: MachineFacts | undefined;
  return () => (facts ??= { host: hostname(), os: `${osType()} ${release()} (${process.arch})`, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone });
}
