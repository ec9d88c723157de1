import { readReply, type AgentEvent } from "../../agents/index.ts";

/** `chat` events as clients see them. Source: spec gateway-protocol §5.2. */
export interface ChatEvent {
  readonly runId: string;
  readonly sessionKey: string;
  readonly seq: number;
  readonly state: "delta" | "final" | "error" | "aborted";
  readonly message?: { readonly role: "assistant"; readonly content: readonly { readonly type: "text"; readonly text: string }[]; readonly timestamp: number } | undefined;
  readonly errorMessage?: string | undefined;
  readonly stopReason?: string | undefined;
  readonly usage?: unknown;
  readonly originRunIds?: readonly string[] | undefined;
}

export interface RunEventSinks {
  agent(event: AgentEvent): void;
  chat(event: ChatEvent): void;
  now(): number;
}

export interface RunEvents {
  emit(event: Pick<AgentEvent, "stream" | "data">): void;
  /** Exactly one of these ends the run's chat stream. */
  final(text: string | undefined, usage?: unknown): void;
  error(message: string): void;
  aborted(stopReason: string, partial: string | undefined): void;
}

const DELTA_INTERVAL_MS = 150;

/** Numbers the events of one run and derives its `chat` stream: cumulative deltas at most every 150 ms, flushed before the end. */
export function createRunEvents(sinks: RunEventSinks, runId: string, sessionKey: string, originRunIds?: readonly string[]): RunEvents {
  let seq = 0;
  let lastDeltaAt = 0;
  let shown = "";
  let latest = "";
  let ended = false;
  const origin = originRunIds?.length ? { originRunIds } : {};
  const message = (text: string): NonNullable<ChatEvent["message"]> => ({ role: "assistant", content: [{ type: "text", text }], timestamp: sinks.now() });

  function chat(event: Omit<ChatEvent, "runId" | "sessionKey" | "seq" | "originRunIds">): void {
    sinks.chat({ runId, sessionKey, seq, ...event, ...origin });
  }

  function delta(): void {
    if (ended || latest === "" || latest === shown) return;
    shown = latest;
    lastDeltaAt = sinks.now();
    chat({ state: "delta", message: message(latest) });
  }

  function end(event: Omit<ChatEvent, "runId" | "sessionKey" | "seq" | "originRunIds">): void {
    if (ended) return;
    if (event.state === "final") delta();
    ended = true;
    chat(event);
  }

  return {
    emit({ stream, data }) {
      seq++;
      sinks.agent({ runId, seq, stream, ts: sinks.now(), sessionKey, data: Object.keys(origin).length > 0 && stream === "lifecycle" ? { ...data, ...origin } : data });
      if (stream !== "assistant" || typeof data["text"] !== "string") return;
      latest = data["text"];
      if (sinks.now() - lastDeltaAt >= DELTA_INTERVAL_MS) delta();
    },
    final(text, usage) {
      const reply = text === undefined ? undefined : readReply(text);
      const shownText = reply && !reply.silent ? reply.text.trim() : undefined;
      end({ state: "final", ...(shownText ? { message: message(shownText) } : {}), ...(usage === undefined ? {} : { usage }) });
    },
    error: (errorMessage) => end({ state: "error", errorMessage }),
    aborted: (stopReason, partial) => end({ state: "aborted", stopReason, ...(partial ? { message: message(partial) } : {}) }),
  };
}
