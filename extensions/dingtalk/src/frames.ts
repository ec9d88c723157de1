import { z } from "zod";

/** One frame of Stream mode from the platform. Source: spec channels-cn §3.3. */
const frame = z.looseObject({
  type: z.string(),
  headers: z.looseObject({ topic: z.string().default(""), messageId: z.string().default(""), contentType: z.string().optional() }),
  data: z.string().default(""),
});
export type Frame = z.infer<typeof frame>;

export const ROBOT_TOPIC = "/v1.0/im/bot/messages/get";

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
  | { readonly kind: "robot-message"; readonly data: string };

/** What a frame asks for; robot messages are answered by `acknowledge` once they are taken. */
export function actionFor(given: Frame): FrameAction {
  const { topic } = given.headers;
  switch (given.type) {
    case "SYSTEM":
      if (topic === "disconnect") return { kind: "disconnect" };
      return topic === "ping" ? { kind: "answer", text: JSON.stringify({ code: 200, headers: given.headers, message: "OK", data: given.data }) } : { kind: "ignore" };
    case "EVENT":
      return { kind: "answer", text: reply(given, 200, "OK", { status: "SUCCESS" }) };
    case "CALLBACK":
      return topic === ROBOT_TOPIC ? { kind: "robot-message", data: given.data } : { kind: "answer", text: reply(given, 404, "not found", {}) };
    default:
      return { kind: "answer", text: reply(given, 404, "not found", {}) };
  }
}

export const acknowledge = (given: Frame): string => reply(given, 200, "OK", { response: { success: true } });
export const refuse = (given: Frame, reason: string): string => reply(given, 500, reason, {});

function reply({ headers }: Frame, code: number, message: string, data: object): string {
  return JSON.stringify({ code, headers: { contentType: "application/json", messageId: headers.messageId }, message, data: JSON.stringify(data) });
}
