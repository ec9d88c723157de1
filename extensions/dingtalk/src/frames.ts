import { z } from "zod";

/** One frame of Stream mode from the platform. Source: spec channels-cn §3.3. */
const frame = z.looseObject({
  type: z.string(),
  headers: z.looseObject({ topic: z.string().default(""), messageId: z.string().default(""), contentType: z.string().optional() }),
  data: z.string().default(""),
});
export type Frame = z.infer<typeof frame>;

/** What is subscribed to, by its topic. */
export const CALLBACKS = { "/v1.0/im/bot/messages/get": "message", "/v1.0/card/instances/callback": "card-action" } as const;

/** Something that a person did, to be taken over before it is acknowledged. */
export interface Callback {
  readonly what: (typeof CALLBACKS)[keyof typeof CALLBACKS];
  /** The platform's id of this delivery. */
  readonly id: string;
  readonly data: string;
}

/** undefined for what is no frame. */
export function parseFrame(raw: string): Frame | undefined {
  try {
    return frame.safeParse(JSON.parse(raw)).data;
  } catch {
    // No JSON: the platform never sends that, so there is nobody to answer.
    return undefined;
  }
}

export type FrameAction =
  | { readonly kind: "answer"; readonly text: string }
  /** The platform is about to close this link. */
  | { readonly kind: "disconnect" }
  | { readonly kind: "ignore" }
  | { readonly kind: "callback"; readonly callback: Callback };

/** What a frame asks for; callbacks are answered by `acknowledge` once they are taken. */
export function actionFor(given: Frame): FrameAction {
  const { topic } = given.headers;
  switch (given.type) {
    case "SYSTEM":
      if (topic === "disconnect") return { kind: "disconnect" };
      return topic === "ping" ? { kind: "answer", text: JSON.stringify({ code: 200, headers: given.headers, message: "OK", data: given.data }) } : { kind: "ignore" };
    case "EVENT":
      return { kind: "answer", text: reply(given, 200, "OK", { status: "SUCCESS" }) };
    case "CALLBACK": {
      const what = Object.entries(CALLBACKS).find(([known]) => known === topic)?.[1];
      return what === undefined ? { kind: "answer", text: reply(given, 404, "not found", {}) } : { kind: "callback", callback: { what, id: given.headers.messageId, data: given.data } };
    }
    default:
      return { kind: "answer", text: reply(given, 404, "not found", {}) };
  }
}

export const acknowledge = (given: Frame): string => reply(given, 200, "OK", { response: { success: true } });
export const refuse = (given: Frame, reason: string): string => reply(given, 500, reason, {});

function reply({ headers }: Frame, code: number, message: string, data: object): string {
  return JSON.stringify({ code, headers: { contentType: "application/json", messageId: headers.messageId }, message, data: JSON.stringify(data) });
}
