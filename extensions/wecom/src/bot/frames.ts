import { randomBytes } from "node:crypto";
import { z } from "zod";

/** Both directions of the long connection. Source: spec channels-cn §2.2. */
const frame = z.looseObject({ cmd: z.string().optional(), headers: z.looseObject({ req_id: z.string().default("") }).default({ req_id: "" }), body: z.unknown().optional(), errcode: z.number().optional(), errmsg: z.string().optional() });
export type Frame = z.infer<typeof frame>;

/** undefined for what is no frame. */
export function parseFrame(text: string): Frame | undefined {
  try {
    // The platform lets control characters through that JSON forbids.
    return frame.safeParse(JSON.parse(text.replace(/[\u0000-\u001f\u007f]/g, " "))).data;
  } catch {
    return undefined; // answered by nobody: the sender of such a frame is not the platform
  }
}

export const newReqId = (cmd: string): string => `${cmd}_${Date.now()}_${randomBytes(4).toString("hex")}`;
