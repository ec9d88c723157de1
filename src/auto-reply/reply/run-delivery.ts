import { formatReasoning, type AgentEvent, type BlockReplyConfig, type ReplyPayload, type RunRequest } from "../../agents/index.ts";
import type { DeliveryResult } from "../../delivery/index.ts";
import type { ReasoningLevel } from "../run-hints.ts";
import type { ChannelSink } from "./channel-sink.ts";
import type { StatusReactions } from "./status-reactions.ts";

export type TypingMode = "never" | "instant" | "message" | "thinking";

export interface RunDeliveryOptions {
  readonly sink: ChannelSink;
  readonly typingMode: TypingMode;
  readonly reasoning: ReasoningLevel;
  readonly blockReply: BlockReplyConfig | undefined;
  readonly status: StatusReactions | undefined;
}

/** How a run ended, for the person who waits in a chat. */
export type RunEnding = "done" | "error" | "stopped" | "suspended";

/** One run as a chat sees it: typing, reactions, preview, blocks, answer. Source: spec agent-pipeline-output §6.7. */
export interface RunDelivery {
  readonly callbacks: Pick<RunRequest, "blockReply" | "onBlockReply" | "onToolSummary" | "onPartialReply" | "onReasoningStream" | "onToolStart">;
  begin(notices: readonly string[]): Promise<void>;
  finish(payloads: readonly ReplyPayload[], ending: RunEnding): Promise<{ readonly done: Promise<readonly DeliveryResult[]> }>;
  /** The run could not be done at all. */
  fail(): Promise<void>;
}

const NOTHING_SENT = { done: Promise.resolve([]) };

export function createRunDelivery({ sink, typingMode, reasoning, blockReply, status }: RunDeliveryOptions): RunDelivery {
  let answering = false;
  const type = (): void => {
    if (typingMode !== "never") sink.typing.start();
  };
  return {
    callbacks: {
      blockReply,
      ...(blockReply ? { onBlockReply: (payload: ReplyPayload) => sink.block(payload) } : {}),
      onToolSummary: (payload) => sink.block(payload, "tool"),
      onToolStart(name) {
        status?.tool(name);
        type();
      },
      onPartialReply(text) {
        answering = true;
        status?.alive();
        type();
        sink.partial(text);
      },
      onReasoningStream(thoughts) {
        status?.thinking();
        if (typingMode === "thinking") type();
        sink.typing.touch();
        if (reasoning === "stream" && !answering && thoughts.trim() !== "") sink.partial(formatReasoning(thoughts));
      },
    },
    async begin(notices) {
      status?.alive();
      if (typingMode === "instant") type();
      for (const [index, text] of notices.entries()) await sink.notice(index, text);
    },
    async finish(payloads, ending) {
      try {
        if (ending === "suspended") status?.clear();
        else status?.end(ending === "error" ? "error" : "done");
        if (ending === "done" || ending === "error") return await sink.finals(payloads);
        await sink.discardPreview();
        return NOTHING_SENT;
      } finally {
        sink.typing.stop();
      }
    },
    async fail() {
      status?.end("error");
      sink.typing.stop();
      await sink.discardPreview();
    },
  };
}

/** The model that answers now, as a run tells it when another one takes over. */
export function activeModelOf(event: Pick<AgentEvent, "stream" | "data">): { provider: string; modelId: string } | undefined {
  const { phase, activeProvider: provider, activeModel: modelId } = event.data;
  if (event.stream !== "lifecycle" || phase !== "fallback") return undefined;
  return typeof provider === "string" && typeof modelId === "string" ? { provider, modelId } : undefined;
}
