import { type Answer, newId, ok, type Platform, type Recorded, refuse } from "./platform.ts";

type Fields = Record<string, unknown>;

/** Cards that can be changed; each change needs a number above the one before. */
export function answerCards(platform: Platform, call: Recorded): Answer {
  const path = call.path.replace("/open-apis/cardkit/v1/cards", "");
  const body = call.body as Fields;
  if (path === "") return create(platform, body);
  const [, id = "", part, , what] = path.split("/");
  const card = platform.cards.get(id);
  if (!card) return refuse(300313, "card not found");
  const sequence = Number(body["sequence"]);
  if (!Number.isInteger(sequence) || sequence <= card.sequence) return refuse(300317, "sequence number compare failed");
  if (!body["uuid"] || String(body["uuid"]).length > 64) return refuse(99992402, "uuid");
  if (part === "settings" && call.method === "PATCH") {
    const { config } = JSON.parse(String(body["settings"])) as { config?: { streaming_mode?: boolean; summary?: { content: string } } };
    card.sequence = sequence;
    card.isStreaming = config?.streaming_mode === true;
    card.summary = config?.summary?.content ?? card.summary;
    return ok({});
  }
  if (part === "elements" && call.method === "POST") {
    card.sequence = sequence;
    card.notes.push(...(JSON.parse(String(body["elements"])) as { content: string }[]).map((element) => element.content));
    return ok({});
  }
  if (part !== "elements" || what !== "content" || call.method !== "PUT") return refuse(404, "not found", 404);
  if (!card.isStreaming) return refuse(300309, "streaming mode is closed");
  if (typeof body["content"] !== "string" || body["content"] === "") return refuse(99992402, "content");
  card.sequence = sequence;
  card.text = body["content"];
  card.updates++;
  return ok({});
}

function create(platform: Platform, body: Fields): Answer {
  if (body["type"] !== "card_json" || typeof body["data"] !== "string") return refuse(99992402, "type");
  if (Buffer.byteLength(body["data"]) > 30 * 1024) return refuse(200860, "card content exceeds limit");
  const data = JSON.parse(body["data"]) as { schema?: string; config?: { streaming_mode?: boolean }; body?: { elements?: { element_id?: string; content?: string }[] } };
  const element = data.body?.elements?.find((one) => one.element_id === "content");
  if (data.schema !== "2.0" || !element) return refuse(300301, "invalid card json");
  const id = newId("7").replace("_", "");
  platform.cards.set(id, { text: element.content ?? "", isStreaming: data.config?.streaming_mode === true, sequence: 0, updates: 0, summary: "", notes: [] });
  return ok({ card_id: id });
}
