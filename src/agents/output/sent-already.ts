import type { MessagingSend } from "../pi-embedded-runner/run/types.ts";
import type { ReplyPayload } from "./payload.ts";

export interface ReplyPlace {
  readonly channel: string;
  readonly to: string | undefined;
  readonly accountId: string | undefined;
}

/**
 * The part of a reply that no tool of the run has said yet; undefined when there is none. Once a tool has written into the
 * very chat of the reply, its texts say it all; elsewhere equal text counts. Source: spec agent-pipeline-output §6.6.
 */
export function withoutSent(payload: ReplyPayload, sends: readonly MessagingSend[], place: ReplyPlace | undefined): ReplyPayload | undefined {
  if (sends.length === 0) return payload;
  const here = sends.filter((send) => place !== undefined && isSamePlace(send, place));
  const media = (payload.mediaUrls ?? []).filter((source) => !here.some((send) => send.mediaUrls.includes(source)));
  const textIsSent = here.some((send) => Boolean(send.text?.trim())) || (payload.text !== undefined && sends.some((send) => saysTheSame(payload.text ?? "", send.text ?? "")));
  const text = textIsSent ? undefined : payload.text;
  if ((text ?? "").trim() === "" && media.length === 0) return undefined;
  return { ...payload, text, mediaUrls: media.length > 0 ? media : undefined };
}

const isSamePlace = (send: MessagingSend, place: ReplyPlace): boolean =>
  send.channel === place.channel && send.to === place.to && (send.accountId ?? "default") === (place.accountId ?? "default");

const MIN_DUPLICATE_CHARS = 10;

function saysTheSame(a: string, b: string): boolean {
  const [one, two] = [normalise(a), normalise(b)];
  return one.length >= MIN_DUPLICATE_CHARS && two.length >= MIN_DUPLICATE_CHARS && (one.includes(two) || two.includes(one));
}

function normalise(text: string): string {
  return text.toLowerCase().replace(/\p{Extended_Pictographic}/gu, "").replace(/\s+/g, " ").trim();
}
