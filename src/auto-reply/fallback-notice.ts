import type { RunFallback } from "../agents/index.ts";
import type { SessionEntry, SessionPatch } from "../sessions/index.ts";

type Noticed = Pick<SessionEntry, "fallbackNoticeSelectedModel" | "fallbackNoticeActiveModel" | "fallbackNoticeReason">;

/** What changed since the last run of the session about who answers in place of the chosen model. */
export interface FallbackChange {
  readonly patch: SessionPatch;
  /** For the person who wants to see such things (verbose). */
  readonly notice: string;
  /** The chosen model answers again; the one that had stood in for it, as provider/model. */
  readonly clearedFrom?: string | undefined;
}

/** undefined while nothing changes: each switch is said once. Source: spec agent-pipeline §5.7. */
export function fallbackChange(noticed: Noticed, selected: string, fallback: RunFallback | undefined): FallbackChange | undefined {
  const before = noticed.fallbackNoticeActiveModel;
  if (!fallback) {
    if (before === undefined) return undefined;
    return {
      patch: { fallbackNoticeSelectedModel: null, fallbackNoticeActiveModel: null, fallbackNoticeReason: null },
      notice: `↪️ ${selected} answers again.`, clearedFrom: before,
    };
  }
  if (noticed.fallbackNoticeSelectedModel === selected && before === fallback.active) return undefined;
  return {
    patch: { fallbackNoticeSelectedModel: selected, fallbackNoticeActiveModel: fallback.active, fallbackNoticeReason: fallback.reason },
    notice: `↪️ ${fallback.active} answers in place of ${selected} (${fallback.reason}).`,
  };
}
