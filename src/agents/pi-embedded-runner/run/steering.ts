import type { UserMessage } from "@mariozechner/pi-ai";
import type { AgentTool } from "../../tools/contract.ts";
import type { Steer } from "../runs.ts";

export const SKIPPED_RESULT_TEXT = "Skipped: the person sent a new message while an earlier tool ran. Read it first; call this tool again if it is still wanted.";

interface Steerable {
  readonly session: { readonly isStreaming: boolean };
  readonly agent: { steer(message: UserMessage): void };
}

/**
 * Messages that come while a turn runs: the model reads them after the tool that is running; the turn's remaining tool
 * calls get an error result instead. Source: spec agent-pipeline §4.1.
 */
export interface Steering {
  readonly steer: (target: Steerable) => Steer;
  guard(tool: AgentTool): AgentTool;
  /** To be called with each message that is in the transcript. */
  persisted(message: object): void;
}

export function createSteering(now: () => number): Steering {
  const waiting = new Map<object, () => void>();
  return {
    steer: ({ session, agent }) => (text, onTaken) => {
      if (!session.isStreaming) return false;
      const message: UserMessage = { role: "user", content: [{ type: "text", text }], timestamp: now() };
      waiting.set(message, onTaken);
      agent.steer(message);
      return true;
    },
    guard: (tool) => ({
      ...tool,
      execute(args, ctx) {
        if (waiting.size > 0) throw new Error(SKIPPED_RESULT_TEXT);
        return tool.execute(args, ctx);
      },
    }),
    persisted(message) {
      const onTaken = waiting.get(message);
      waiting.delete(message);
      onTaken?.();
    },
  };
}
