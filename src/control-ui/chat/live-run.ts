import type { AgentEvent } from "../../gateway/protocol/types.ts";
import { outputOf } from "./history.ts";
import type { AssistantItem, Item, ToolItem } from "./items.ts";

/** Live cards of one run; a run with more tools shows the newest. */
const MAX_TOOLS = 50;

const str = (value: unknown): string => (typeof value === "string" ? value : "");

/** One run while it goes on: texts and tools in the order they came. Each change makes new items, so that views can compare by identity. */
export class LiveRun {
  readonly runId: string;
  readonly startedAt: number;
  lastEventAt: number;
  segments: readonly Item[] = [];
  /** The user's message that began it, when this page sent it. */
  readonly own: boolean;
  #parts = 0;
  #agentText = false;

  constructor(runId: string, options: { readonly own: boolean; readonly startedAt?: number }) {
    this.runId = runId;
    this.own = options.own;
    this.startedAt = options.startedAt ?? Date.now();
    this.lastEventAt = Date.now();
  }

  get waiting(): boolean {
    const last = this.segments.at(-1);
    return last === undefined || last.kind !== "assistant" || (last.text === "" && last.thinking === "");
  }

  /** True when something visible changed. */
  takeAgent(event: AgentEvent): boolean {
    this.lastEventAt = Date.now();
    switch (event.stream) {
      case "assistant":
        this.#agentText = true;
        return this.#text(str(event.data["text"]));
      case "thinking":
        return this.#thinking(str(event.data["text"]));
      case "tool":
        return this.#tool(event);
      default:
        return false;
    }
  }

  /** Cumulative text of a `chat` delta; only for gateways that send no agent events. */
  takeDelta(text: string): boolean {
    this.lastEventAt = Date.now();
    return !this.#agentText && this.#text(text);
  }

  /** The finished items; `text` is the whole last answer, when the gateway told it. */
  finish(text: string | undefined, stopped: boolean): Item[] {
    const items = this.segments.map((item): Item => {
      if (item.kind === "assistant") return { ...item, streaming: false };
      return item.kind === "tool" && item.state === "running" ? { ...item, state: stopped ? "failed" : "done" } : item;
    });
    const last = items.at(-1);
    if (text !== undefined && text.trim() !== "") {
      if (last?.kind === "assistant" && (!stopped || text.length >= last.text.length)) items[items.length - 1] = { ...last, text: text.trim() };
      else if (last?.kind !== "assistant") items.push({ ...this.#newText(text.trim()), streaming: false });
    }
    const end = items.at(-1);
    if (stopped && end?.kind === "assistant") items[items.length - 1] = { ...end, stopped: true };
    return items.filter((item) => item.kind !== "assistant" || item.text !== "" || item.thinking !== "");
  }

  #newText(text: string, thinking = ""): AssistantItem {
    return { kind: "assistant", id: `live:${this.runId}:${this.#parts++}`, text, thinking, images: [], at: Date.now(), stopped: false, streaming: true };
  }

  #replaceLast(item: Item): void {
    this.segments = [...this.segments.slice(0, -1), item];
  }

  #text(text: string): boolean {
    if (text === "") return false;
    const last = this.segments.at(-1);
    if (last?.kind !== "assistant") {
      this.segments = [...this.segments, this.#newText(text)];
      return true;
    }
    if (last.text === text) return false;
    // The text of the next message of the same run starts anew.
    const next = last.text !== "" && text.length < last.text.length && !last.text.startsWith(text);
    if (next) {
      this.#replaceLast({ ...last, streaming: false });
      this.segments = [...this.segments, this.#newText(text)];
    } else if (text.length > last.text.length) this.#replaceLast({ ...last, text });
    return true;
  }

  #thinking(text: string): boolean {
    if (text === "") return false;
    const last = this.segments.at(-1);
    if (last?.kind === "assistant" && last.text === "") this.#replaceLast({ ...last, thinking: text });
    else this.segments = [...this.segments, this.#newText("", text)];
    return true;
  }

  #tool({ data, ts }: AgentEvent): boolean {
    const id = str(data["toolCallId"]);
    if (id === "") return false;
    const known = this.segments.find((item): item is ToolItem => item.kind === "tool" && item.id === id);
    if (data["phase"] === "start" || !known) {
      if (known) return false;
      const last = this.segments.at(-1);
      if (last?.kind === "assistant") this.#replaceLast({ ...last, streaming: false });
      const card: ToolItem = { kind: "tool", id, name: str(data["name"]) || "tool", args: data["args"], output: "", images: [], state: "running", at: ts };
      this.segments = [...this.segments, toolAfter(card, data, ts)];
      const tools = this.segments.filter((item) => item.kind === "tool");
      if (tools.length > MAX_TOOLS) this.segments = this.segments.filter((item) => item !== tools[0]);
      return true;
    }
    this.segments = this.segments.map((item) => (item === known ? toolAfter(known, data, ts) : item));
    return true;
  }
}

/** A tool card after an event about it. */
export function toolAfter(tool: ToolItem, data: AgentEvent["data"], ts: number): ToolItem {
  if (data["phase"] === "update") return { ...tool, output: outputOf(data["partialResult"]).text || tool.output };
  if (data["phase"] !== "result") return tool;
  const { text, images } = outputOf(data["result"]);
  const durationMs = ts > tool.at ? ts - tool.at : undefined;
  return { ...tool, output: text || tool.output, images, state: data["isError"] === true ? "failed" : "done", durationMs };
}
