import { createHash } from "node:crypto";
import type { AssistantMessage, Message, UserMessage } from "@mariozechner/pi-ai";
import type { TranscriptPolicy } from "./transcript-policy.ts";

const BOOTSTRAP_TEXT = "(session bootstrap)";

/**
 * The conversation in the form that the provider takes. A pure function of the messages, so that the same conversation
 * is the same bytes in every request. Source: spec agent-pipeline §5.3.
 */
export function shapeForProvider(messages: readonly Message[], policy: TranscriptPolicy): Message[] {
  let out = messages.map((message) => (message.role === "toolResult" && message.details !== undefined ? withoutDetails(message) : message));
  if (policy.dropThinking) out = mapAssistants(out, (content) => content.filter((block) => block.type !== "thinking"));
  if (policy.dropOrphanReasoning) out = mapAssistants(out, withoutOrphanReasoning);
  if (policy.toolIds !== "as-is") out = renameToolCalls(out, policy.toolIds);
  if (policy.userFirst && out[0]?.role === "assistant") out.unshift({ role: "user", content: [{ type: "text", text: BOOTSTRAP_TEXT }], timestamp: out[0].timestamp });
  if (policy.mergeAssistants) out = mergeNeighbours(out, mergeAssistants);
  if (policy.mergeUsers) out = mergeNeighbours(out, mergeUsers);
  return out;
}

/** Details are for people; no provider gets them. */
function withoutDetails<M extends Message & { details?: unknown }>(message: M): M {
  const { details: _details, ...rest } = message;
  return rest as M;
}

/** A message that loses all its content goes. */
function mapAssistants(messages: Message[], map: (content: AssistantMessage["content"]) => AssistantMessage["content"]): Message[] {
  return messages.flatMap((message): Message[] => {
    if (message.role !== "assistant") return [message];
    const content = map(message.content);
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function withoutOrphanReasoning(content: AssistantMessage["content"]): AssistantMessage["content"] {
  const last = content.findLastIndex((block) => block.type !== "thinking");
  return content.slice(0, last + 1);
}

/** The results of a call follow it before the next call of the same id. */
function renameToolCalls(messages: readonly Message[], form: "alnum40" | "alnum9"): Message[] {
  const taken = new Set<string>();
  const current = new Map<string, string>();
  return messages.map((message) => {
    if (message.role === "toolResult") {
      const id = current.get(message.toolCallId) ?? message.toolCallId;
      return id === message.toolCallId ? message : { ...message, toolCallId: id };
    }
    if (message.role !== "assistant" || !message.content.some((block) => block.type === "toolCall")) return message;
    const content = message.content.map((block) => {
      if (block.type !== "toolCall") return block;
      const id = acceptableId(block.id, form, taken);
      current.set(block.id, id);
      return id === block.id ? block : { ...block, id };
    });
    return { ...message, content };
  });
}

function acceptableId(id: string, form: "alnum40" | "alnum9", taken: Set<string>): string {
  const plain = id.replace(/[^A-Za-z0-9]/g, "");
  const hash = (salt: number): string => createHash("sha256").update(`${id}#${salt}`).digest("hex");
  let wanted = form === "alnum9" ? (plain.length === 9 ? plain : hash(0).slice(0, 9)) : plain === "" ? hash(0).slice(0, 40) : plain.slice(0, 40);
  for (let salt = 1; taken.has(wanted); salt++) wanted = form === "alnum9" ? hash(salt).slice(0, 9) : `${plain.slice(0, 32)}${hash(salt).slice(0, 8)}`;
  taken.add(wanted);
  return wanted;
}

function mergeNeighbours(messages: readonly Message[], merge: (a: Message, b: Message) => Message | undefined): Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const before = out.at(-1);
    const merged = before && merge(before, message);
    if (merged) out[out.length - 1] = merged;
    else out.push(message);
  }
  return out;
}

function mergeUsers(a: Message, b: Message): Message | undefined {
  if (a.role !== "user" || b.role !== "user") return undefined;
  return { ...b, content: [...blocksOf(a), ...blocksOf(b)] };
}

function mergeAssistants(a: Message, b: Message): Message | undefined {
  if (a.role !== "assistant" || b.role !== "assistant") return undefined;
  return { ...b, content: [...a.content, ...b.content] };
}

function blocksOf(message: UserMessage): Exclude<UserMessage["content"], string> {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}
