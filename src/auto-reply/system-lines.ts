import type { OpenClawConfig } from "../config/index.ts";
import type { SystemEvents } from "../delivery/index.ts";
import { mainSessionKey } from "../routing/index.ts";
import { formatSystemStamp, resolveSystemZone } from "./envelope.ts";

export interface SystemLines {
  /** `[2026-11-30 21:10:07 UTC] text`, oldest first. */
  readonly lines: readonly string[];
  /** false: a line comes from outside, and the run that reads it has no owner's rights. */
  readonly trusted: boolean;
  /** The last event among them. */
  readonly upTo: number;
  /** Once the run that was told of them has ended; until then they wait, also over a restart. */
  commit(): void;
}

export interface SystemLinesDeps {
  readonly config: () => OpenClawConfig;
  readonly systemEvents: SystemEvents;
  channelSummary(): readonly string[];
}

/** What happened in a session since its last run; a new main one begins with the channels there are. Source: spec agent-pipeline §1.8. */
export function readSystemLines(deps: SystemLinesDeps, session: { readonly key: string; readonly agentId: string; readonly isNew: boolean }): SystemLines {
  const { systemEvents } = deps;
  const sessionKey = session.key;
  const { events, upTo } = systemEvents.peek(sessionKey);
  const zone = resolveSystemZone(deps.config());
  const channels = session.isNew && sessionKey === mainSessionKey(session.agentId) ? deps.channelSummary() : [];
  return {
    lines: [...channels, ...events.map((event) => `[${formatSystemStamp(event.atMs, zone)}] ${event.text}`)],
    trusted: events.every((event) => event.trusted),
    upTo,
    commit: () => systemEvents.commit(sessionKey, upTo),
  };
}
