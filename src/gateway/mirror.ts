import type { SessionService } from "../sessions/index.ts";

/** What was said in a chat outside of a run stands in its conversation too; the id of its message. Source: spec agent-pipeline §3.4, mirrored sends. */
export async function mirrorAssistant(sessions: SessionService, sessionKey: string, text: string, nowMs: number): Promise<string> {
  return sessions.appendMessage(sessionKey, {
    role: "assistant", content: [{ type: "text", text }], api: "openclaw", provider: "openclaw", model: "delivery-mirror", timestamp: nowMs, stopReason: "stop",
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  });
}
