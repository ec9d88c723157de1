import type { EmbeddedPiRunResult, ReplyPayload } from "../../agents/index.ts";

const count = (n: number): string => (n >= 1_000_000 ? `${(n / 1_000_000).toFixed(1)}M` : n >= 1000 ? `${(n / 1000).toFixed(1)}k` : String(n));

export { count as formatTokenCount };

/** `Usage: 6.1k in / 13 out · est $0.0012`; an unknown price is not shown as free. */
export function usageLine(result: EmbeddedPiRunResult, mode: "tokens" | "full", sessionKey: string, showCost: boolean): string {
  const { usage } = result.meta.agentMeta;
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const cost = showCost ? (usage.cost === undefined ? " · price unknown" : ` · est $${usage.cost.toFixed(4)}`) : "";
  return `Usage: ${count(input)} in / ${count(usage.output)} out${cost}${mode === "full" ? ` · session ${sessionKey}` : ""}`;
}

/** Puts the line under the last text. */
export function appendLine(payloads: readonly ReplyPayload[], line: string): ReplyPayload[] {
  const at = payloads.findLastIndex((payload) => payload.text && !payload.isReasoning);
  return payloads.map((payload, index) => (index === at ? { ...payload, text: `${payload.text ?? ""}\n\n${line}` } : payload));
}
