import { HEARTBEAT_TOKEN, stripEdgeToken, type EmbeddedPiRunResult, type ReplyPayload } from "../agents/index.ts";

/** What a heartbeat's answer amounts to. */
export type HeartbeatVerdict =
  | { readonly kind: "ok-empty" }
  | { readonly kind: "ok-token" }
  | { readonly kind: "alert"; readonly text: string; readonly payloads: readonly ReplyPayload[] };

/**
 * The last payload that says something counts. The token with at most `ackMaxChars` beside it is an acknowledgement.
 * Source: spec agent-pipeline-output §6.5, §7.
 */
export function judgeHeartbeat(result: Pick<EmbeddedPiRunResult, "payloads" | "lastText">, options: { ackMaxChars: number; includeReasoning: boolean }): HeartbeatVerdict {
  const said = (payload: ReplyPayload): boolean => Boolean(payload.text?.trim()) || (payload.mediaUrls?.length ?? 0) > 0;
  const last = result.payloads.findLast((payload) => !payload.isReasoning && said(payload));
  const rest = stripEdgeToken(result.lastText, HEARTBEAT_TOKEN, true).trim();
  const hasToken = rest !== result.lastText.trim();
  const hasMedia = (last?.mediaUrls?.length ?? 0) > 0;
  if (hasToken && !hasMedia && rest.length <= options.ackMaxChars && !last?.isError) return { kind: "ok-token" };
  if (!last) return { kind: "ok-empty" };
  const reasoning = options.includeReasoning ? result.payloads.filter((payload) => payload.isReasoning && said(payload)) : [];
  return { kind: "alert", text: last.text?.trim() ?? "", payloads: [...reasoning, last] };
}
