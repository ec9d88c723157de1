import { saveMedia } from "../../media/index.ts";
import type { ToolResult } from "../tools/contract.ts";
import { cutAtLine, MAX_STORED_RESULT_CHARS } from "./tool-result-guard.ts";

const NOTE = "\n[truncated: longer than a transcript takes]";

/**
 * A tool's result as it goes into the transcript: text of at most 400,000 characters, images as files under
 * `<state>/media` with a note in their place, so that no base64 is kept for ever. Source: spec agent-pipeline §3.4, decisions §3.3.
 */
export async function storableResult(result: ToolResult, stateDir: string): Promise<ToolResult> {
  let left = MAX_STORED_RESULT_CHARS;
  const content: ToolResult["content"][number][] = [];
  for (const block of result.content) {
    const text = block.type === "text" ? block.text : await storeImage(block.data, block.mimeType, stateDir);
    if (left <= 0) continue;
    content.push({ type: "text", text: text.length <= left ? text : `${cutAtLine(text, left - NOTE.length)}${NOTE}` });
    left -= text.length;
  }
  const isUnchanged = content.length === result.content.length && content.every((block, i) => block.type === "text" && result.content[i]?.type === "text" && result.content[i].text === block.text);
  const details = detailsFor(result.details);
  return isUnchanged && details === result.details ? result : { ...result, content, details };
}

async function storeImage(base64: string, mimeType: string, stateDir: string): Promise<string> {
  const path = await saveMedia(stateDir, "inbound", Buffer.from(base64, "base64"), mimeType, "tool");
  return `[media attached: ${path} (${mimeType})]`;
}

function detailsFor(details: unknown): unknown {
  const chars = details === undefined ? 0 : (JSON.stringify(details)?.length ?? 0);
  return chars > MAX_STORED_RESULT_CHARS ? { omitted: true, chars } : details;
}
