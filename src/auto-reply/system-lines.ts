import type { OpenClawConfig } from "../config/index.ts";
import type { SystemEvents } from "../delivery/index.ts";
import { formatSystemStamp, resolveSystemZone } from "./envelope.ts";

export interface SystemLines {
  /** `[2026-11-30 21:10:07 UTC] text`, oldest first. */
  readonly lines: readonly string[];
  /** false: a line comes from outside, and the run that reads it has no owner's rights. */
  readonly trusted: boolean;
  /** Once the run that was told of them has ended; until then they wait, also over a restart. */
  commit(): void;
}

/** What happened in a session since its last run. Source: spec agent-pipeline §1.8. */
export function readSystemLines(cfg: OpenClawConfig, systemEvents: SystemEvents, sessionKey: string): SystemLines {
  const { events, upTo } = systemEvents.peek(sessionKey);
  const zone = resolveSystemZone(cfg);
  return {
    lines: events.map((event) => `[${formatSystemStamp(event.atMs, zone)}] ${event.text}`),
    trusted: events.every((event) => event.trusted),
    commit: () => systemEvents.commit(sessionKey, upTo),
  };
}
