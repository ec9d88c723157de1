import { codeBlock } from "../../infra/text/index.ts";

/** A tool call in one line for chats: emoji, name, what it is about. */
const LABELS: Readonly<Record<string, string>> = {
  exec: "🛠️ Exec", process: "🧰 Process", read: "📖 Read", write: "✍️ Write", edit: "📝 Edit", apply_patch: "🩹 Patch", message: "✉️ Message", web_search: "🔎 Web search",
  web_fetch: "📄 Web fetch", browser: "🌐 Browser", canvas: "🖼️ Canvas", nodes: "📱 Nodes", cron: "⏰ Cron", gateway: "🔌 Gateway", session_status: "📊 Session status",
  sessions_list: "🗂️ Sessions", sessions_history: "🧾 Session history", sessions_send: "📨 Session send", sessions_spawn: "🧑‍🔧 Sub-agent", memory_search: "🧠 Memory search",
  memory_get: "📓 Memory", image: "🖼️ Image", tts: "🔊 Speech",
};

export const toolLabel = (name: string): string => LABELS[name] ?? `🔧 ${name}`;

export const toolSummary = (name: string, meta: string): string => `${toolLabel(name)}${meta === "" ? "" : `: ${meta}`}`;

const MAX_OUTPUT_CHARS = 3000;

/** The output in a code block that nothing inside can close. */
export function toolOutputBlock(output: string): string {
  const shown = output.length > MAX_OUTPUT_CHARS ? `${output.slice(0, MAX_OUTPUT_CHARS).toWellFormed()}\n…` : output;
  return codeBlock(shown, "txt");
}
