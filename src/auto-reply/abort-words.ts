import type { InboundMessage } from "../channels/contract/index.ts";
import { groupCommandText } from "./commands/command-text.ts";

const WORDS = new Set(
  [
    "stop", "esc", "abort", "wait", "exit", "interrupt", "halt", "please stop", "stop please", "do not do that", "stop openclaw", "stop action",
    "stop current action", "stop run", "stop current run", "stop agent", "stop the agent", "stop doing anything", "stop don't do anything",
    "stop dont do anything", "stop do not do anything", "openclaw stop", "detente", "deten", "detén", "arrete", "arrête", "pare", "anhalten",
    "aufhören", "hoer auf", "stopp", "стоп", "остановись", "останови", "остановить", "прекрати", "停止", "やめて", "止めて", "रुको", "توقف",
  ],
);

/** Is the whole message a request to stop? Source: spec agent-pipeline §4.5. */
export function isAbortRequest(text: string): boolean {
  const plain = text.normalize("NFC").trim().toLowerCase().replaceAll("’", "'").replace(/[\s.!?,;:。！？…"'”»)\]]+$/u, "").replace(/\s+/g, " ");
  return plain === "/stop" || /^\/stop@\w+$/.test(plain) || WORDS.has(plain);
}

/** The same of a message: in a group, what stands around the words to address the bot does not count. */
export const isStopMessage = ({ text, chat }: Pick<InboundMessage, "text" | "chat">): boolean => isAbortRequest(chat.type === "direct" ? text : groupCommandText(text));
