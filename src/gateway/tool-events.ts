import type { AgentEvent } from "../agents/index.ts";

/** Results of tools are shown only at verbose level full (spec gateway-protocol §5.3). */
export function toolEventFor(event: AgentEvent, verboseLevel: string | undefined): AgentEvent {
  if (verboseLevel === "full" || event.data["phase"] === "start") return event;
  const { result, partialResult: _partial, ...data } = event.data;
  return { ...event, data: event.data["phase"] === "result" ? { ...data, preview: previewOf(result) } : data };
}

const PREVIEW_CHARS = 2000;

/** The first lines of a result for the live tool card; the whole stays in the transcript. */
function previewOf(result: unknown): string {
  if (typeof result !== "object" || result === null || !("content" in result) || !Array.isArray(result.content)) return "";
  return result.content.map((block: unknown) => (typeof block === "object" && block !== null && "text" in block ? String(block.text) : "")).join("\n").slice(0, PREVIEW_CHARS);
}
