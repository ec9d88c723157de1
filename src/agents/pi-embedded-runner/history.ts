import type { AgentMessage } from "@mariozechner/pi-agent-core";
import { repairToolPairing } from "./tool-pairing.ts";

/** Keeps the last `limit` user turns with everything that follows them; 0 or undefined keeps all. */
export function limitHistoryTurns(messages: AgentMessage[], limit: number | undefined): AgentMessage[] {
  if (!limit || limit <= 0) return messages;
  let turns = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    if (messages[i]?.role === "user" && ++turns === limit) return messages.slice(i);
  }
  return messages;
}

/** A command answer or a mirrored send: in the transcript for people, never said by the model. */
export function isInjected(message: AgentMessage): boolean {
  return message.role === "assistant" && message.provider === "openclaw" && (message.model === "gateway-injected" || message.model === "delivery-mirror");
}

export function dropInjectedMessages(messages: AgentMessage[]): AgentMessage[] {
  return messages.some(isInjected) ? messages.filter((message) => !isInjected(message)) : messages;
}

interface Provenance {
  readonly kind?: unknown;
  readonly sourceSessionKey?: unknown;
  readonly sourceChannel?: unknown;
  readonly sourceTool?: unknown;
}

/** A message that another session of the same gateway sent says so: it is no word of the person. */
export function annotateInterSessionMessages(messages: AgentMessage[]): AgentMessage[] {
  let out = messages;
  for (const [index, message] of messages.entries()) {
    if (message.role !== "user") continue;
    const { provenance } = message as { provenance?: Provenance };
    if (provenance?.kind !== "inter_session") continue;
    const facts = (["sourceSession", "sourceChannel", "sourceTool"] as const).flatMap((name) => {
      const value = provenance[name === "sourceSession" ? "sourceSessionKey" : name];
      return typeof value === "string" && value !== "" ? [`${name}=${value}`] : [];
    });
    const line = ["[Inter-session message]", ...facts].join(" ");
    if (out === messages) out = messages.slice();
    const content = typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
    out[index] = { ...message, content: [{ type: "text", text: line }, ...content] };
  }
  return out;
}

/**
 * The conversation as the model may see it, whichever provider it is: without what others put there, every call
 * answered, the last `turnLimit` turns. Source: spec agent-pipeline §5.3.
 */
export function prepareHistory(messages: AgentMessage[], turnLimit: number | undefined): AgentMessage[] {
  const paired = repairToolPairing(annotateInterSessionMessages(dropInjectedMessages(messages)));
  const limited = limitHistoryTurns(paired, turnLimit);
  return limited === paired ? paired : repairToolPairing(limited);
}
