import type { EmbeddedPiRunResult, ReplyPayload } from "../../agents/index.ts";
import type { SessionEntry } from "../../sessions/index.ts";
import { appendLine, usageLine } from "./shape.ts";

export interface FinalPayloadsInput {
  readonly result: EmbeddedPiRunResult;
  readonly sessionKey: string;
  readonly responseUsage: SessionEntry["responseUsage"];
  /** Said before the answer. */
  readonly notices: readonly string[];
  /** Said after it. */
  readonly note?: string | undefined;
}

/**
 * What is sent when a run is over: notices, the answer, a note and the usage line under its last text. Once blocks went out
 * the text is there already; what else the run produced still goes. Source: spec agent-pipeline-output §6.6.
 */
export function finalPayloads({ result, sessionKey, responseUsage, notices, note }: FinalPayloadsInput): ReplyPayload[] {
  const payloads = result.blocksSent ? result.payloads.filter((payload) => payload.isError || payload.isReasoning) : result.payloads;
  const showsUsage = responseUsage === "tokens" || responseUsage === "full" || responseUsage === "on";
  const usage = showsUsage ? usageLine(result, responseUsage === "full" ? "full" : "tokens", sessionKey, result.meta.agentMeta.usage.cost !== 0) : undefined;
  return [...notices.map((text): ReplyPayload => ({ text, isNotice: true })), ...[note, usage].reduce(under, payloads)];

  function under(list: readonly ReplyPayload[], line: string | undefined): readonly ReplyPayload[] {
    if (line === undefined) return list;
    if (list.some((payload) => payload.text && !payload.isError && !payload.isReasoning && !payload.isNotice)) return appendLine(list, line);
    return result.blocksSent ? [...list, { text: line, isNotice: true }] : list;
  }
}
