import type { Message } from "@mariozechner/pi-ai";
import { HEARTBEAT_TOKEN } from "../../output/silent.ts";

export type GuideIntent =
  | { readonly kind: "heartbeat" }
  | { readonly kind: "greeting" }
  | { readonly kind: "status" }
  | { readonly kind: "list"; readonly path: string | undefined }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "help" }
  | { readonly kind: "connect" }
  | { readonly kind: "other" };

export type GuideLanguage = "en" | "zh";

/** The text of the last thing a person (or the gateway) wrote, without the metadata blocks and notes put around it. */
export function lastQuestion(messages: readonly Message[]): string {
  const user = messages.findLast((message) => message.role === "user");
  if (!user) return "";
  const raw = typeof user.content === "string" ? user.content : user.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return raw
    .replace(/^[^\n]*\(untrusted[^\n]*\):\n```json\n[\s\S]*?\n```\n?/gm, "")
    .replace(/^\[media attached[^\n]*\]\n?/gm, "")
    .replace(/^System: [^\n]*\n?/gm, "")
    .replace(/^\s*\[[^\]\n]{0,80}\d{1,2}:\d{2}[^\]\n]{0,40}\]\s*/, "")
    .trim();
}

export const languageOf = (text: string): GuideLanguage => (/\p{Script=Han}/u.test(text) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? "zh" : "en");

/** What the guide can do is a short list; the words that ask for each. */
export function readIntent(text: string): GuideIntent {
  const line = text.trim();
  const lower = line.toLowerCase();
  if (line.includes(HEARTBEAT_TOKEN)) return { kind: "heartbeat" };
  if (/new session (was|has been) started|session startup|\/new or \/reset/i.test(line)) return { kind: "greeting" };
  const read = /^(?:please\s+|请)?(?:read|show|open|cat|读取|读一下|读|查看|打开|显示)\s*(?:me\s+)?(?:the\s+)?(?:file\s+|文件\s*)?[`"“']?([\w./~\\-]*\w\.\w{1,10}|[A-Z][A-Z_-]{2,})[`"”']?/i.exec(line);
  if (read?.[1] && !/[?？]$/.test(read[1])) return { kind: "read", path: read[1] };
  const list = /^(?:please\s+|请)?(?:ls|dir|list|show)\b(?:\s+(?:-\w+\s+)?(?:me\s+)?(?:(?:the|my|all)\s+)*(?:files|directory|folder|workspace)?(?:\s+(?:in|of|under)(?:\s+the)?)?\s*[`"']?([\w./~-]+)?)?/i.exec(line);
  if (/\b(list|show|what|which)\b.*\bfiles?\b/i.test(lower) || /^(ls|dir)(\s|$)/i.test(lower) || /(列出|有哪些|看看|显示|查看).{0,6}(文件|目录)|文件列表|目录列表/.test(line)) {
    const path = list?.[1];
    return { kind: "list", path: path === undefined || /^(files|workspace|directory|folder|here|of|in)$/i.test(path) ? undefined : path };
  }
  if (/\b(what('s| is)? the )?(time|date)\b|\bstatus\b|\bwhat day\b|\bclock\b/i.test(lower) || /几点|时间|日期|今天几号|星期几|状态/.test(line)) return { kind: "status" };
  if (/\b(connect|configure|set ?up|add|use|install)\b.*\b(model|llm|key|provider|ollama|claude|gpt|gemini|deepseek|qwen)\b|\bapi[ -]?key\b/i.test(lower) || /(配置|连接|接入|添加|设置|使用).{0,8}(模型|密钥|大模型)|密钥/.test(line)) return { kind: "connect" };
  if (/^(help|\?|what can you do|who are you|what are you)\b|\bhelp\b/i.test(lower) || /帮助|你能做什么|你是谁|怎么用|能干什么|使用说明/.test(line)) return { kind: "help" };
  if (/^(hi|hello|hey|yo|good (morning|evening|afternoon))\b/i.test(lower) || /^(你好|您好|嗨|在吗|早上好|晚上好|哈喽)/.test(line)) return { kind: "greeting" };
  return { kind: "other" };
}
