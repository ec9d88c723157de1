import { isRecord, readJson, remove, writeJson } from "../gateway/storage.ts";
import type { Attachment } from "./attachments.ts";

/** A message that waits for its turn. Its id becomes the idempotency key, so that sending it twice is harmless. */
export interface QueuedMessage {
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly at: number;
}

const keyOf = (sessionKey: string): string => `openclaw.control.queue.v1:${sessionKey}`;

export function loadQueue(sessionKey: string): QueuedMessage[] {
  const raw = readJson(keyOf(sessionKey));
  if (!Array.isArray(raw)) return [];
  return raw.filter(isRecord).flatMap((entry) => {
    const { id, text, at } = entry;
    if (typeof id !== "string" || typeof text !== "string") return [];
    const attachments = Array.isArray(entry["attachments"]) ? entry["attachments"].filter(isAttachment) : [];
    if (text.trim() === "" && attachments.length === 0) return [];
    return [{ id, text, attachments, at: typeof at === "number" ? at : 0 }];
  });
}

/** False when the images did not fit into the browser's storage; the texts are kept all the same. */
export function saveQueue(sessionKey: string, queue: readonly QueuedMessage[]): boolean {
  if (queue.length === 0) {
    remove(keyOf(sessionKey));
    return true;
  }
  if (writeJson(keyOf(sessionKey), queue)) return true;
  writeJson(keyOf(sessionKey), queue.map((message) => ({ ...message, attachments: [] })));
  return false;
}

const isAttachment = (value: unknown): value is Attachment =>
  isRecord(value) && typeof value["id"] === "string" && typeof value["name"] === "string" && typeof value["mimeType"] === "string" && typeof value["content"] === "string";
