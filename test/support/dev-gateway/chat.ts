import { setTimeout as sleep } from "node:timers/promises";
import { scriptFor } from "./script.ts";
import type { Step } from "./script.ts";

export interface ChatWire {
  broadcast(event: string, payload: unknown): void;
  tool(payload: unknown): void;
}

interface Run {
  readonly controller: AbortController;
  text: string;
}

export interface SentMessage {
  readonly sessionKey: string;
  readonly message: string;
  readonly attachments: readonly unknown[];
}

const PIECE_CHARS = 12;

/** Sessions in memory that answer by script, with the events of the real thing. */
export class FakeChat {
  readonly histories = new Map<string, unknown[]>();
  readonly sent: SentMessage[] = [];
  readonly #runs = new Map<string, Run & { sessionKey: string }>();
  readonly #done = new Set<string>();
  readonly #wire: ChatWire;
  #sessionNumber = 1;

  constructor(wire: ChatWire) {
    this.#wire = wire;
  }

  history(key: string): { sessionId: string; messages: unknown[] } {
    return { sessionId: `s${this.#sessionNumber}`, messages: [...(this.histories.get(key) ?? [])] };
  }

  reset(key: string): void {
    this.#sessionNumber++;
    this.histories.delete(key);
  }

  send(params: { sessionKey: string; message: string; idempotencyKey: string; attachments?: readonly unknown[] | undefined }): { runId: string; status: string } {
    const { sessionKey, message, idempotencyKey: runId, attachments = [] } = params;
    if (this.#done.has(runId)) return { runId, status: "ok" };
    if (this.#runs.has(runId)) return { runId, status: "in_flight" };
    this.sent.push({ sessionKey, message, attachments });
    const images = attachments.map(() => ({ type: "image", mimeType: "image/png", omitted: true, bytes: 1024 }));
    this.#add(sessionKey, { role: "user", content: [{ type: "text", text: message }, ...images], timestamp: Date.now() });
    const run = { controller: new AbortController(), text: "", sessionKey };
    this.#runs.set(runId, run);
    void this.#play(runId, sessionKey, run, scriptFor(message));
    return { runId, status: "started" };
  }

  abort(sessionKey: string, runId?: string): { ok: true; aborted: boolean; runIds: string[] } {
    const hit = [...this.#runs].filter(([id, run]) => run.sessionKey === sessionKey && (runId === undefined || id === runId));
    for (const [id, run] of hit) {
      run.controller.abort();
      this.#runs.delete(id);
      this.#done.add(id);
      const message = run.text === "" ? {} : { message: assistant(run.text) };
      this.#wire.broadcast("chat", { runId: id, sessionKey, seq: 99, state: "aborted", stopReason: "rpc", ...message });
      if (run.text === "") continue;
      // As the reference stores it: the partial text stands twice.
      this.#add(sessionKey, { ...assistant(run.text), openclawAbort: { aborted: true, origin: "rpc", runId: id } });
      this.#add(sessionKey, { ...assistant(run.text), stopReason: "aborted" });
    }
    return { ok: true, aborted: hit.length > 0, runIds: hit.map(([id]) => id) };
  }

  #add(key: string, message: unknown): void {
    this.histories.set(key, [...(this.histories.get(key) ?? []), message]);
  }

  async #play(runId: string, sessionKey: string, run: Run, steps: readonly Step[]): Promise<void> {
    const { signal } = run.controller;
    let seq = 0;
    const agent = (stream: string, data: object): unknown => ({ runId, stream, data, sessionKey, seq: ++seq, ts: Date.now() });
    let thinking = "";
    try {
      this.#wire.broadcast("agent", agent("lifecycle", { phase: "start", startedAt: Date.now() }));
      await sleep(60, undefined, { signal });
      for (const [index, step] of steps.entries()) {
        if (step.kind === "hold") await sleep(600_000, undefined, { signal, ref: false });
        else if (step.kind === "fail") {
          this.#wire.broadcast("agent", agent("lifecycle", { phase: "error", error: step.message }));
          this.#finish(runId);
          this.#wire.broadcast("chat", { runId, sessionKey, seq, state: "error", errorMessage: step.message });
          return;
        } else if (step.kind === "think") {
          thinking = step.text;
          this.#wire.broadcast("agent", agent("thinking", { text: step.text, delta: step.text }));
        } else if (step.kind === "tool") {
          const toolCallId = `call_${runId}_${index}`;
          this.#wire.tool(agent("tool", { phase: "start", name: step.name, toolCallId, args: step.args }));
          this.#add(sessionKey, { role: "assistant", content: [{ type: "toolCall", id: toolCallId, name: step.name, arguments: step.args }], timestamp: Date.now(), stopReason: "toolUse" });
          await sleep(step.ms, undefined, { signal });
          this.#wire.tool(agent("tool", { phase: "result", name: step.name, toolCallId, isError: step.isError ?? false }));
          this.#add(sessionKey, { role: "toolResult", toolCallId, toolName: step.name, isError: step.isError ?? false, content: [{ type: "text", text: step.result }], timestamp: Date.now() });
        } else {
          run.text = "";
          for (let end = PIECE_CHARS; run.text.length < step.text.length; end += PIECE_CHARS) {
            run.text = step.text.slice(0, end);
            this.#wire.broadcast("agent", agent("assistant", { text: run.text, delta: step.text.slice(end - PIECE_CHARS, end) }));
            this.#wire.broadcast("chat", { runId, sessionKey, seq, state: "delta", message: assistant(run.text) });
            if (step.everyMs !== 0) await sleep(step.everyMs ?? 25, undefined, { signal });
          }
          const thought = thinking === "" ? [] : [{ type: "thinking", thinking }];
          thinking = "";
          this.#add(sessionKey, { ...assistant(run.text), content: [...thought, { type: "text", text: run.text }] });
        }
      }
      this.#wire.broadcast("agent", agent("lifecycle", { phase: "end", endedAt: Date.now() }));
      this.#finish(runId);
      this.#wire.broadcast("chat", { runId, sessionKey, seq, state: "final", message: assistant(run.text) });
    } catch (err) {
      if (!signal.aborted) throw err;
    }
  }

  #finish(runId: string): void {
    this.#runs.delete(runId);
    this.#done.add(runId);
  }
}

const assistant = (text: string): Record<string, unknown> => ({ role: "assistant", content: [{ type: "text", text }], timestamp: Date.now() });
