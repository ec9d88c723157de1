import type { AssistantMessage } from "@mariozechner/pi-ai";
import { isTranscriptHeader, isTranscriptMessage, parseTranscriptLine, readLinesBackwards } from "../../sessions/index.ts";

/** Marks in the transcript where the messages of a run begin; not part of the model's context. */
export const RUN_MARKER = "openclaw:run";

/** How far a run had come when its process died. Source: spec decisions §5.4. */
export type RunProgress =
  /** Nothing of it is on disk: run it as if new. */
  | { readonly kind: "absent" }
  /** The user message, a tool call or a tool result is the last thing: continue, never repeat what came before. */
  | { readonly kind: "open" }
  /** The answer is there: deliver only. */
  | { readonly kind: "answered"; readonly texts: readonly string[] };

const MAX_LINES = 5000;

export async function inspectRunProgress(path: string, runId: string): Promise<RunProgress> {
  let lines = 0;
  const after: AssistantMessage[] = [];
  /** Of the model, its tools or the person; not what commands and sends left there. */
  let last: { readonly role: string; readonly stopReason?: unknown } | undefined;
  for await (const line of readLinesBackwards(path)) {
    if (++lines > MAX_LINES) break;
    const entry = parseTranscriptLine(line);
    if (!entry || isTranscriptHeader(entry)) continue;
    if (entry.type === "custom" && entry["customType"] === RUN_MARKER) {
      const data = entry["data"];
      if (typeof data !== "object" || data === null || !("runId" in data) || data.runId !== runId) continue;
      if (last === undefined) return { kind: "absent" };
      const finished = last.role === "assistant" && (last.stopReason === "stop" || last.stopReason === "length");
      if (!finished) return { kind: "open" };
      return { kind: "answered", texts: after.toReversed().map(textOf).filter((text) => text !== "") };
    }
    if (!isTranscriptMessage(entry)) continue;
    const { message } = entry;
    if (message.role === "assistant" && message["provider"] === "openclaw") continue;
    last ??= { role: message.role, stopReason: message["stopReason"] };
    if (message.role === "assistant" && message["stopReason"] !== "error" && message["stopReason"] !== "aborted") {
      after.push(message as unknown as AssistantMessage);
    }
  }
  return { kind: "absent" };
}

function textOf(message: AssistantMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("").trim();
}
