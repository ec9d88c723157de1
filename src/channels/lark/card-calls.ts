import { z } from "zod";
import { type LarkApi, read } from "./api.ts";
import { LarkError } from "./errors.ts";
import { STREAM_ELEMENT, streamingCard } from "./format.ts";

const createdAnswer = z.looseObject({ card_id: z.string().min(1) });
const SUMMARY_CHARS = 50;
/** The platform ends streaming by itself after ten minutes; these say so. */
const STREAMING_ENDED: ReadonlySet<number> = new Set([300309, 200850]);
/** A number not above the last one. */
const SEQUENCE_TOO_LOW = 300317;
const SEQUENCE_JUMP = 1000;

export async function createCard(api: LarkApi, text: string, signal?: AbortSignal): Promise<string> {
  const answer = await api.call("POST", "/cardkit/v1/cards", { what: "make a card", body: { type: "card_json", data: streamingCard(text) }, signal });
  return read(createdAnswer, answer, "card_id").card_id;
}

/** Changes of one card, each with a higher number than the one before. Every method @throws LarkError. Source: spec channels-cn §4.5 */
export interface CardCalls {
  /** The whole text; the platform animates what was added. */
  write(text: string, options?: { readonly patient?: boolean | undefined }): Promise<void>;
  append(text: string): Promise<void>;
  /** Ends streaming; `text` is what lists of chats show. */
  close(text: string): Promise<void>;
}

export function cardCalls(api: LarkApi, cardId: string, startSequence = 0): CardCalls {
  let sequence = startSequence;
  const path = `/cardkit/v1/cards/${encodeURIComponent(cardId)}`;
  const number = (mark: string): { sequence: number; uuid: string } => {
    sequence++;
    return { sequence, uuid: `${mark}_${cardId}_${sequence}` };
  };

  const settings = (config: object, what: string): Promise<unknown> =>
    changing(() => api.call("PATCH", `${path}/settings`, { what, body: { settings: JSON.stringify({ config }), ...number("c") }, patient: true }));

  /** Once more with a much higher number, when the platform has seen higher ones than this process knows. */
  async function changing(run: () => Promise<unknown>): Promise<unknown> {
    try {
      return await run();
    } catch (err) {
      if (!(err instanceof LarkError) || err.code !== SEQUENCE_TOO_LOW) throw err;
      sequence += SEQUENCE_JUMP;
      return run();
    }
  }

  return {
    async write(text, { patient = false } = {}) {
      const put = (): Promise<unknown> => changing(() => api.call("PUT", `${path}/elements/${STREAM_ELEMENT}/content`, { what: "update a card", body: { content: text, ...number("s") }, patient }));
      try {
        await put();
      } catch (err) {
        if (!(err instanceof LarkError) || err.code === undefined || !STREAMING_ENDED.has(err.code)) throw err;
        await settings({ streaming_mode: true }, "go on with a card");
        await put();
      }
    },
    async append(text) {
      await changing(() => api.call("POST", `${path}/elements`, { what: "add to a card", body: { type: "append", elements: JSON.stringify([{ tag: "markdown", content: text }]), ...number("a") }, patient: true }));
    },
    async close(text) {
      const summary = [...text.replace(/\s+/g, " ").trim()].slice(0, SUMMARY_CHARS).join("");
      await settings({ streaming_mode: false, summary: { content: summary } }, "finish a card");
    },
  };
}
