import { randomUUID } from "node:crypto";
import { clientRunIds, type Prepared } from "../prepared.ts";
import type { Answers } from "../reply/answers.ts";
import { createRunEvents, type RunEventSinks } from "../reply/run-events.ts";

const PREVIEW_CHARS = 80;
const MAX_NAMED = 5;

/** Tells senders which of their messages will not be read, once per chat, in the chat where they were written. */
export function createUnreadReport(deps: { readonly events: RunEventSinks; readonly sendPlain: Answers["sendPlain"] }) {
  return async (items: readonly Prepared[], sessionKey: string, reason: string): Promise<void> => {
    for (const group of Map.groupBy(items, ({ route }) => JSON.stringify([route?.channel, route?.accountId, route?.to, route?.threadId])).values()) {
      const text = `⚠️ ${reason} Not read: ${nameMessages(group.map((item) => item.body))}. Please send again what is still needed.`;
      const [first] = group;
      if (!first) continue;
      if (first.route) await deps.sendPlain(first.message, text, `unread:${first.rows[0]?.id ?? randomUUID()}`);
      // The runs of these messages have ended when they were queued.
      else createRunEvents(deps.events, randomUUID(), sessionKey, clientRunIds(group)).final(text);
    }
  };
}

function nameMessages(bodies: readonly string[]): string {
  const named = bodies.slice(0, MAX_NAMED).map((body) => {
    const text = body.replace(/\s+/g, " ").trim();
    return `“${text.length > PREVIEW_CHARS ? `${text.slice(0, PREVIEW_CHARS).replace(/[\uD800-\uDBFF]$/, "")}…` : text}”`;
  });
  return `${named.join(", ")}${bodies.length > MAX_NAMED ? ` and ${bodies.length - MAX_NAMED} more` : ""}`;
}
