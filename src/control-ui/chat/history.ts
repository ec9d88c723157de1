import { isRecord } from "../gateway/storage.ts";
import { cutOutput } from "./items.ts";
import type { ImageRef, Item, ToolItem } from "./items.ts";

type Raw = Readonly<Record<string, unknown>>;

const str = (value: unknown): string => (typeof value === "string" ? value : "");
const num = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** Where the model is told that a session began; no person wrote that. */
const SESSION_START = /^A new session was started via \/(?:new|reset)\b/;
const MEDIA_LINE = /^\[media attached: (.+?)(?: \(([^()\n]+)\))?\]$/gm;

function partsOf(content: unknown): Raw[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

const textOf = (parts: readonly Raw[]): string =>
  parts
    .filter((part) => part["type"] === "text")
    .map((part) => str(part["text"]))
    .join("\n")
    .trim();

function imagesOf(parts: readonly Raw[]): ImageRef[] {
  return parts
    .filter((part) => part["type"] === "image" || part["type"] === "image_url")
    .map((part): ImageRef => {
      const source = isRecord(part["source"]) ? part["source"] : part;
      const data = str(source["data"]);
      const type = str(source["mimeType"]) || str(source["media_type"]) || "image/png";
      if (data !== "" && /^image\/(?:png|jpeg|gif|webp)$/.test(type)) return { src: `data:${type};base64,${data}` };
      const encoded = num(part["bytes"]);
      return { bytes: encoded === undefined ? undefined : Math.floor((encoded * 3) / 4) };
    });
}

/** Takes the lines that stand for attached media out of a user's text. */
function splitMedia(text: string): { text: string; media: ImageRef[] } {
  const media: ImageRef[] = [];
  const rest = text.replace(MEDIA_LINE, (_line, path: string) => {
    media.push({ name: path.split(/[/\\]/).pop() ?? path });
    return "";
  });
  return { text: rest.trim(), media };
}

export function outputOf(result: unknown): { text: string; images: ImageRef[] } {
  if (result === undefined || result === null) return { text: "", images: [] };
  if (typeof result === "string") return { text: cutOutput(result), images: [] };
  const content = isRecord(result) && "content" in result ? result["content"] : result;
  const parts = partsOf(content);
  if (parts.some((part) => part["type"] === "text" || part["type"] === "image")) {
    return { text: cutOutput(textOf(parts)), images: imagesOf(parts) };
  }
  return { text: cutOutput(JSON.stringify(result, null, 2)), images: [] };
}

/**
 * The messages of `chat.history` as thread items, oldest first. Tolerates what it does not know: unknown roles are left
 * out, tool results find their call by id, a partial text that stands twice after an abort is shown once.
 */
export function toItems(messages: readonly unknown[]): Item[] {
  const items: Item[] = [];
  const tools = new Map<string, number>();
  const seen = new Map<string, number>();
  const idOf = (raw: Raw, role: string): string => {
    const own = str(raw["id"]) || (isRecord(raw["__openclaw"]) ? str(raw["__openclaw"]["id"]) : "");
    const base = own || `${role}:${num(raw["timestamp"]) ?? 0}`;
    const times = seen.get(base) ?? 0;
    seen.set(base, times + 1);
    return times === 0 ? base : `${base}#${times}`;
  };

  for (const raw of messages) {
    if (!isRecord(raw)) continue;
    const role = str(raw["role"]);
    const at = num(raw["timestamp"]) ?? 0;
    const meta = isRecord(raw["__openclaw"]) ? raw["__openclaw"] : {};
    if (role === "compactionSummary" || raw["type"] === "compaction" || meta["kind"] === "compaction") {
      const detail = str(raw["summary"]) || textOf(partsOf(raw["content"]));
      items.push({ kind: "divider", id: idOf(raw, "compaction"), about: "compaction", detail, at });
    } else if (role === "user") {
      const parts = partsOf(raw["content"]);
      const { text, media } = splitMedia(textOf(parts));
      const id = idOf(raw, "user");
      if (SESSION_START.test(text)) items.push({ kind: "divider", id, about: "new-session", detail: "", at });
      else if (text !== "" || media.length > 0 || parts.length > 0) {
        items.push({ kind: "user", id, text, images: [...imagesOf(parts), ...media], at, state: "sent" });
      }
    } else if (role === "assistant") {
      addAssistant(items, tools, raw, idOf(raw, "assistant"), at);
    } else if (role === "toolResult" || role === "tool") {
      addResult(items, tools, raw, at);
    }
  }
  return items;
}

function addAssistant(items: Item[], tools: Map<string, number>, raw: Raw, id: string, at: number): void {
  const stopped = isRecord(raw["openclawAbort"]) || raw["stopReason"] === "aborted";
  const model = str(raw["model"]);
  let text = "";
  let thinking = "";
  let part = 0;
  const flush = (): void => {
    const trimmed = text.trim();
    if (trimmed !== "" || thinking.trim() !== "") {
      const before = items.findLast((item) => item.kind !== "error");
      const repeated = stopped && before?.kind === "assistant" && (before.text.startsWith(trimmed) || trimmed.startsWith(before.text));
      const item: Item = {
        kind: "assistant",
        id: part++ === 0 ? id : `${id}.${part}`,
        text: trimmed,
        thinking: thinking.trim(),
        images: [],
        at,
        stopped,
        streaming: false,
        model: model === "gateway-injected" || model === "delivery-mirror" ? undefined : model || undefined,
      };
      if (repeated) items[items.indexOf(before)] = { ...before, stopped: true, text: before.text.length >= trimmed.length ? before.text : trimmed };
      else items.push(item);
    }
    text = "";
    thinking = "";
  };
  for (const block of partsOf(raw["content"])) {
    if (block["type"] === "text") text += str(block["text"]);
    else if (block["type"] === "thinking") thinking += str(block["thinking"]);
    else if (block["type"] === "toolCall" || block["type"] === "tool_use") {
      flush();
      const toolId = str(block["id"]) || `${id}.tool${items.length}`;
      tools.set(toolId, items.length);
      items.push({
        kind: "tool",
        id: toolId,
        name: str(block["name"]) || "tool",
        args: block["arguments"] ?? block["input"],
        output: "",
        images: [],
        state: "running",
        at,
      });
    }
  }
  flush();
  const error = str(raw["errorMessage"]);
  if (error !== "" && raw["stopReason"] === "error") {
    const asked = items.findLast((item) => item.kind === "user");
    items.push({ kind: "error", id: `${id}.error`, message: error, at, retry: asked?.kind === "user" ? asked : undefined });
  }
}

function addResult(items: Item[], tools: Map<string, number>, raw: Raw, at: number): void {
  const id = str(raw["toolCallId"]) || str(raw["tool_call_id"]);
  const { text, images } = outputOf(raw["content"]);
  const state = raw["isError"] === true ? "failed" : "done";
  const index = tools.get(id);
  const call = index === undefined ? undefined : items[index];
  if (index !== undefined && call?.kind === "tool") {
    const durationMs = at > call.at && call.at > 0 ? at - call.at : undefined;
    items[index] = { ...call, output: text, images, state, durationMs } satisfies ToolItem;
    return;
  }
  items.push({ kind: "tool", id: id || `result:${at}:${items.length}`, name: str(raw["toolName"]) || "tool", args: undefined, output: text, images, state, at });
}

/** A call without a result is running only if it may still be: in the last turn, while a run is on. */
export function settleTools(items: readonly Item[], running: ReadonlySet<string>): Item[] {
  return items.map((item) => (item.kind === "tool" && item.state === "running" && !running.has(item.id) ? { ...item, state: "done" } : item));
}

const sameText = (a: string, b: string): boolean => a === b || a.replace(/\s+/g, " ").trim() === b.replace(/\s+/g, " ").trim();

function matches(local: Item, stored: Item): boolean {
  if (local.kind !== stored.kind) return false;
  if (local.kind === "tool") return local.id === stored.id;
  if (local.kind === "user" && stored.kind === "user") return sameText(local.text, stored.text);
  if (local.kind === "assistant" && stored.kind === "assistant") {
    return sameText(local.text, stored.text) || (local.stopped && stored.stopped && stored.text.startsWith(local.text));
  }
  if (local.kind === "error" && stored.kind === "error") return local.message === stored.message;
  return local.kind === "divider" && stored.kind === "divider" && local.about === stored.about;
}

/** What only this page knows survives the merge: previews of sent images, the cause of a failed send. */
function enrich(stored: Item, local: Item): Item {
  if (stored.kind === "user" && local.kind === "user" && local.images.some((image) => image.src)) return { ...stored, images: local.images, runId: local.runId };
  if (stored.kind === "tool" && local.kind === "tool") {
    return { ...stored, args: stored.args ?? local.args, output: stored.output || local.output, durationMs: local.durationMs ?? stored.durationMs };
  }
  return stored;
}

export interface Merged {
  readonly items: Item[];
  /** Local items that the history does not hold. */
  readonly remaining: Item[];
  /** Stored id → the id under which the item already stands on screen. */
  readonly aliases: ReadonlyMap<string, string>;
}

/**
 * Puts the freshly read history and what this page added since into one thread. A local item that the history holds is
 * replaced by it (each stored item answers for one local item, newest first); one that it does not hold yet stays, in
 * the place its time gives it. Nothing on screen disappears because of a refresh.
 */
export function mergeHistory(stored: readonly Item[], local: readonly Item[]): Merged {
  const items = [...stored];
  const aliases = new Map<string, string>();
  const taken = new Set<number>();
  const remaining: Item[] = [];
  for (const own of local.toReversed()) {
    // Thoughts stand in the transcript within the message they led to.
    if (own.kind === "assistant" && own.text === "" && stored.some((item) => item.kind === "assistant" && sameText(item.thinking, own.thinking))) continue;
    const index = items.findLastIndex((item, at) => !taken.has(at) && matches(own, item) && (own.kind === "tool" || item.at === 0 || item.at > own.at - 600_000));
    if (index === -1) {
      remaining.unshift(own);
      continue;
    }
    taken.add(index);
    const match = items[index];
    if (!match) continue;
    aliases.set(match.id, own.id);
    items[index] = { ...enrich(match, own), id: own.id };
  }
  const merged = [...items];
  for (const own of remaining) {
    const after = merged.findLastIndex((item) => item.at <= own.at);
    merged.splice(after + 1, 0, own);
  }
  return { items: merged, remaining, aliases };
}
