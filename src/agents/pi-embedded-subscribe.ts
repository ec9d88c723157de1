import type { AgentSession, AgentSessionEvent } from "@mariozechner/pi-coding-agent";
import type { AssistantMessage } from "@mariozechner/pi-ai";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { BlockChunker } from "./output/block-chunker.ts";
import { createBlockCoalescer, type BlockCoalescer } from "./output/coalescer.ts";
import { parseReplyDirectives, stripInlineTags } from "./output/directives.ts";
import type { ReplyPayload } from "./output/payload.ts";
import { gateVisibleText, holdBackTokenTail, mayBecomeSilent } from "./output/silent.ts";
import { createBlockTagState, stripBlockTags } from "./output/strip-tags.ts";
import type { RunEmbeddedPiAgentParams } from "./pi-embedded-runner/run/params.ts";
import type { AgentTool } from "./tools/contract.ts";

export interface AssistantText {
  /** Visible text of one assistant message, tags removed, directives still in. */
  readonly text: string;
  readonly thinking: string;
}

export interface PiSubscription {
  readonly texts: readonly AssistantText[];
  readonly messages: readonly AssistantMessage[];
  /** Blocks that were handed out, joined. */
  readonly blocksSent: number;
  /** The last tool error that no later call of the same tool made good. */
  readonly toolErrors: ReadonlyMap<string, { readonly name: string; readonly meta: string; readonly error: string }>;
  readonly lastEventAt: () => number;
  readonly toolsRunning: () => number;
  /** Text of the message that is being written. */
  readonly partialText: () => string;
  /** Resolves when every block is out. */
  drain(): Promise<void>;
  unsubscribe(): void;
}

export interface SubscribeOptions {
  readonly session: AgentSession;
  readonly params: RunEmbeddedPiAgentParams;
  readonly tools: ReadonlyMap<string, AgentTool>;
  readonly enforceFinalTag: boolean;
  readonly log: Logger;
  readonly now: () => number;
}

const BLOCK_TIMEOUT_MS = 15_000;

/** Turns Pi's events into agent events, partial text and blocks. Source: spec agent-pipeline-output §6.1–6.3. */
export function subscribeEmbeddedPiSession(options: SubscribeOptions): PiSubscription {
  const { params, log } = options;
  const texts: AssistantText[] = [];
  const messages: AssistantMessage[] = [];
  const toolErrors = new Map<string, { name: string; meta: string; error: string }>();
  const running = new Map<string, { name: string; meta: string }>();
  const sentBlocks = new Set<string>();
  let lastEventAt = options.now();
  let blocksSent = 0;
  let blocksBroken = false;
  let sending: Promise<void> = Promise.resolve();

  // State of the message that is being written.
  let tags = createBlockTagState();
  let visible = "";
  let shown = "";
  let fed = 0;
  let thinking = "";

  const config = params.blockReply;
  const chunker = config && params.onBlockReply ? new BlockChunker({ ...config.chunk }) : undefined;
  const joiner = config?.chunk.breakPreference === "sentence" ? " " : config?.chunk.breakPreference === "newline" ? "\n" : "\n\n";
  const coalescer: BlockCoalescer | undefined = config?.coalesce ? createBlockCoalescer({ ...config.coalesce, joiner }, queueBlock) : undefined;

  function queueBlock(payload: ReplyPayload): void {
    const key = JSON.stringify([payload.text, payload.mediaUrls, payload.replyToId]);
    if (blocksBroken || sentBlocks.has(key)) return;
    sentBlocks.add(key);
    blocksSent++;
    sending = sending.then(async () => {
      if (blocksBroken) return;
      const done = await withTimeout(params.onBlockReply?.(payload) ?? Promise.resolve(), BLOCK_TIMEOUT_MS);
      if (done) return;
      blocksBroken = true;
      log.warn("block delivery stalled; the rest goes out with the final answer", { runId: params.runId });
    });
    sending = sending.catch((err: unknown) => log.error("block not delivered", { err }));
  }

  function emitBlock(text: string): void {
    const directives = parseReplyDirectives(text.trimEnd());
    const gated = gateVisibleText(directives.text);
    if (gated.silent && directives.mediaUrls.length === 0) return;
    const payload: ReplyPayload = {
      text: gated.silent ? undefined : gated.text,
      ...(directives.mediaUrls.length > 0 ? { mediaUrls: directives.mediaUrls } : {}),
      ...(directives.replyToId ? { replyToId: directives.replyToId, replyToTag: true } : {}),
      ...(directives.replyToCurrent ? { replyToCurrent: true, replyToTag: true } : {}),
      ...(directives.audioAsVoice ? { audioAsVoice: true } : {}),
    };
    if (coalescer) coalescer.push(payload);
    else queueBlock(payload);
  }

  function feedChunker(final: boolean): void {
    if (!chunker) return;
    if (final) {
      const gated = gateVisibleText(visible);
      const rest = gated.silent && fed === 0 ? "" : visible.startsWith(gated.text) ? gated.text.slice(fed) : visible.slice(fed);
      chunker.append(rest);
      fed = visible.length;
      chunker.drain(emitBlock, true);
      coalescer?.flush();
      return;
    }
    if (mayBecomeSilent(visible)) return;
    const safe = holdBackTokenTail(visible);
    if (safe.length <= fed) return;
    chunker.append(safe.slice(fed));
    fed = safe.length;
    if (config?.breakAt === "text_end") chunker.drain(emitBlock);
  }

  function showPartial(): void {
    if (mayBecomeSilent(visible)) return;
    const text = stripInlineTags(holdBackTokenTail(visible)).trimStart();
    if (text.length <= shown.length || !text.startsWith(shown)) {
      if (text === shown || text.length < shown.length) return;
    }
    const delta = text.startsWith(shown) ? text.slice(shown.length) : text;
    shown = text;
    params.onAgentEvent({ stream: "assistant", data: { text, delta } });
    params.onPartialReply?.(text);
  }

  function onDelta(delta: string, flush: boolean): void {
    visible += stripBlockTags(delta, tags, { enforceFinalTag: options.enforceFinalTag, flush });
    feedChunker(false);
    showPartial();
  }

  function onMessageEnd(message: AssistantMessage): void {
    messages.push(message);
    onDelta("", true);
    const spoken = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    if (visible === "" && spoken !== "") onDelta(spoken, true); // a provider that sends no deltas
    feedChunker(true);
    const gated = gateVisibleText(visible);
    const final = stripInlineTags(gated.text).trim();
    if (!gated.silent && final !== "" && final !== shown) {
      const delta = final.startsWith(shown) ? final.slice(shown.length) : final;
      shown = final;
      params.onAgentEvent({ stream: "assistant", data: { text: final, delta } });
      params.onPartialReply?.(final);
    }
    const thought = message.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join("\n").trim();
    texts.push({ text: visible.trim(), thinking: thought || thinking });
  }

  function onToolStart(toolCallId: string, name: string, args: unknown): void {
    feedChunker(true);
    coalescer?.flush();
    const meta = describeCall(options.tools.get(name), args);
    running.set(toolCallId, { name, meta });
    params.onToolStart?.(name);
    params.onAgentEvent({ stream: "tool", data: { phase: "start", name, toolCallId, args } });
    if (params.verbose !== "off" && params.onToolSummary) void sendSummary({ text: `🔧 ${name}${meta ? `: ${meta}` : ""}` });
  }

  function onToolEnd(toolCallId: string, name: string, isError: boolean, result: unknown): void {
    const started = running.get(toolCallId);
    running.delete(toolCallId);
    const text = resultText(result);
    if (isError) toolErrors.set(name, { name, meta: started?.meta ?? "", error: text.slice(0, 300) });
    else toolErrors.delete(name);
    params.onAgentEvent({ stream: "tool", data: { phase: "result", name, toolCallId, isError, meta: started?.meta ?? "", result } });
    if (params.verbose === "full" && params.onToolSummary && text !== "") void sendSummary({ text: `\`\`\`txt\n${text.slice(0, 3000)}\n\`\`\`` });
  }

  function sendSummary(payload: ReplyPayload): Promise<void> {
    return (params.onToolSummary?.(payload) ?? Promise.resolve()).catch((err: unknown) => log.warn("tool summary not delivered", { err }));
  }

  function handle(event: AgentSessionEvent): void {
    lastEventAt = options.now();
    switch (event.type) {
      case "message_start":
        if (event.message.role !== "assistant") return;
        tags = createBlockTagState();
        visible = "";
        shown = "";
        thinking = "";
        fed = 0;
        chunker?.reset();
        return;
      case "message_update": {
        const update = event.assistantMessageEvent;
        if (update.type === "text_delta") onDelta(update.delta, false);
        else if (update.type === "thinking_delta") {
          thinking += update.delta;
          if (params.reasoning === "stream") {
            params.onAgentEvent({ stream: "thinking", data: { text: thinking, delta: update.delta } });
            params.onReasoningStream?.(thinking);
          }
        }
        return;
      }
      case "message_end":
        if (event.message.role === "assistant") onMessageEnd(event.message);
        return;
      case "tool_execution_start":
        onToolStart(event.toolCallId, event.toolName, event.args);
        return;
      case "tool_execution_update":
        params.onAgentEvent({ stream: "tool", data: { phase: "update", name: event.toolName, toolCallId: event.toolCallId, partialResult: event.partialResult } });
        return;
      case "tool_execution_end":
        onToolEnd(event.toolCallId, event.toolName, event.isError, event.result);
        return;
      default:
        return;
    }
  }

  const unsubscribe = options.session.subscribe((event) => {
    try {
      handle(event);
    } catch (err) {
      log.error("run event not handled", { event: event.type, err });
    }
  });

  return {
    texts,
    messages,
    get blocksSent() {
      return blocksBroken ? 0 : blocksSent;
    },
    toolErrors,
    lastEventAt: () => lastEventAt,
    toolsRunning: () => running.size,
    partialText: () => shown,
    async drain() {
      coalescer?.flush();
      await sending;
    },
    unsubscribe,
  };
}

/** false when `work` is not done in time; its later failure is swallowed by the caller's queue. */
async function withTimeout(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function describeCall(tool: AgentTool | undefined, args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  try {
    return tool?.describe?.(args as Record<string, unknown>) ?? "";
  } catch (err) {
    return errorText(err);
  }
}

function resultText(result: unknown): string {
  if (typeof result !== "object" || result === null || !("content" in result) || !Array.isArray(result.content)) return "";
  return result.content.map((block: unknown) => (typeof block === "object" && block !== null && "text" in block ? String(block.text) : "")).join("\n");
}
