import { isTranscriptMessage, type TranscriptEntry } from "../../sessions/index.ts";

export interface SessionExport {
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly exportedAtMs: number;
  readonly model: string;
  readonly systemPrompt: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly entries: readonly TranscriptEntry[];
}

const escape = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1c2733;background:#fbfcfd}
h1{font-size:1.3rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:#5a6b7b}dd{margin:0}
article,details{border:1px solid #dbe2ea;border-radius:.5rem;margin:.8rem 0;padding:.6rem .9rem;background:#fff}
article.user{background:#eef5ff}article.tool{background:#f6f7f8}header{font-size:.8rem;color:#5a6b7b}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0;font:inherit}.tool pre,details pre{font:13px/1.45 ui-monospace,monospace}
@media (prefers-color-scheme:dark){body{color:#dfe7ee;background:#12181f}article,details{background:#182029;border-color:#2b3744}article.user{background:#1b2a3d}article.tool{background:#161d25}}`;

/** One page without scripts or outside links: everything of the conversation is text. */
export function renderSessionHtml(session: SessionExport): string {
  const facts = [["Session", session.sessionKey], ["Id", session.sessionId], ["Model", session.model], ["Exported", new Date(session.exportedAtMs).toISOString()], ["Entries", String(session.entries.length)]];
  const tools = session.tools.map((tool) => `${tool.name}: ${tool.description}`).join("\n\n");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(session.sessionKey)}</title><style>${STYLE}</style></head><body>
<h1>OpenClaw session</h1><dl>${facts.map(([name = "", value = ""]) => `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`).join("")}</dl>
<details><summary>System prompt (${session.systemPrompt.length} chars)</summary><pre>${escape(session.systemPrompt)}</pre></details>
<details><summary>Tools (${session.tools.length})</summary><pre>${escape(tools)}</pre></details>
${session.entries.map(renderEntry).filter(Boolean).join("\n")}
</body></html>
`;
}

function renderEntry(entry: TranscriptEntry): string {
  if (entry.type === "compaction") return article("tool", "compaction", entry.timestamp, [String(entry["summary"] ?? "")]);
  if (!isTranscriptMessage(entry)) return "";
  const { role, content } = entry.message;
  const blocks = typeof content === "string" ? [content] : Array.isArray(content) ? content.map(blockText).filter((text) => text !== "") : [];
  if (blocks.length === 0) return "";
  return article(role === "user" ? "user" : role === "assistant" ? "assistant" : "tool", role, entry.timestamp, blocks);
}

const article = (kind: string, title: string, at: string, blocks: readonly string[]): string =>
  `<article class="${kind}"><header>${escape(title)} · ${escape(at)}</header>${blocks.map((text) => `<pre>${escape(text)}</pre>`).join("")}</article>`;

function blockText(block: unknown): string {
  if (typeof block !== "object" || block === null || !("type" in block)) return "";
  const { type, text, thinking, name, arguments: args } = block as Readonly<Record<string, unknown>>;
  switch (type) {
    case "text":
      return String(text ?? "");
    case "thinking":
      return `(thinking)\n${String(thinking ?? "")}`;
    case "toolCall":
      return `→ ${String(name)} ${JSON.stringify(args)}`;
    case "image":
      return "(image)";
    default:
      return "";
  }
}
