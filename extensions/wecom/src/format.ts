import { z } from "zod";

/** Bytes of one text. Source: spec channels-cn §2.2 (stream content), §2.5 (app). */
export const BOT_TEXT_BYTES = 20_480;
export const APP_TEXT_BYTES = 2048;

const sizeOf = (text: string): number => Buffer.byteLength(text, "utf8");

/** The longest head of `text` with at most `bytes` UTF-8 bytes that ends between two characters. */
export function headOf(text: string, bytes: number): string {
  if (sizeOf(text) <= bytes) return text;
  const buffer = Buffer.from(text, "utf8");
  let end = bytes;
  while (end > 0 && ((buffer[end] ?? 0) & 0xc0) === 0x80) end--;
  return buffer.subarray(0, end).toString("utf8");
}

const fenceAfter = (line: string, open: string | undefined): string | undefined => {
  const mark = /^\s{0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  if (!mark?.[1]) return open;
  if (open === undefined) return line.trim();
  return mark[1].startsWith(/^[`~]+/.exec(open)?.[0] ?? "```") && (mark[2] ?? "").trim() === "" ? undefined : open;
};

/**
 * Parts of at most `bytes` UTF-8 bytes, cut after a line end, else at a blank, else between characters. A code fence that is open at a
 * cut is closed and opened again. @throws RangeError when bytes < 256
 */
export function splitText(text: string, bytes: number): string[] {
  if (bytes < 256) throw new RangeError("bytes must be at least 256");
  const parts: string[] = [];
  let rest = text.trim();
  let fence: string | undefined;
  while (rest !== "") {
    const prefix = fence === undefined ? "" : `${sizeOf(fence) > bytes / 4 ? "```" : fence}\n`;
    if (sizeOf(prefix) + sizeOf(rest) <= bytes) {
      parts.push(prefix + rest);
      break;
    }
    const head = headOf(rest, bytes - sizeOf(prefix) - 4);
    const newline = head.lastIndexOf("\n");
    const blank = head.lastIndexOf(" ");
    const cut = newline > 0 ? newline + 1 : blank > head.length / 2 ? blank + 1 : head.length;
    const piece = rest.slice(0, cut).replace(/\n$/, "");
    for (const line of piece.split("\n")) fence = fenceAfter(line, fence);
    parts.push(`${prefix}${piece}${fence === undefined ? "" : `\n${/^[`~]{3}/.exec(fence)?.[0] ?? "```"}`}`);
    rest = fence === undefined ? rest.slice(cut).replace(/^\n+/, "") : rest.slice(cut);
  }
  return parts;
}

const CARD_TYPES = new Set(["text_notice", "news_notice", "button_interaction", "vote_interaction", "multiple_interaction"]);

export interface TemplateCard {
  readonly card_type: string;
  readonly [field: string]: unknown;
}

/** A template card that the model wrote as JSON, alone or in a code fence, and the text around it. Source: spec channels-cn §2.5. */
export function takeTemplateCard(text: string): { readonly text: string; readonly card: TemplateCard | undefined } {
  const fenced = /```(?:json)?[ \t]*\n(\s*\{[\s\S]*?"template_card"[\s\S]*?)\n\s*```/.exec(text);
  const bare = fenced ? undefined : /^\s*(\{[\s\S]*"template_card"[\s\S]*\})\s*$/.exec(text);
  const found = fenced ?? bare;
  const card = found?.[1] === undefined ? undefined : readCard(found[1]);
  return found && card ? { text: (text.slice(0, found.index) + text.slice(found.index + found[0].length)).trim(), card } : { text, card: undefined };
}

const titles = z.looseObject({ title: z.string().optional(), desc: z.string().optional() }).optional();
const cardWords = z.looseObject({
  main_title: titles, sub_title_text: z.string().optional(), button_list: z.array(z.looseObject({ text: z.string() })).optional(), checkbox: z.looseObject({ option_list: z.array(z.looseObject({ text: z.string() })) }).optional(), card_action: z.looseObject({ url: z.string().optional() }).optional(),
});

/** A template card as words, for where no card can go. */
export function describeTemplateCard(text: string): { readonly text: string; readonly card: undefined } {
  const { text: around, card } = takeTemplateCard(text);
  const words = card && cardWords.safeParse(card).data;
  if (!words) return { text, card: undefined };
  const choices = [...(words.button_list ?? []), ...(words.checkbox?.option_list ?? [])].map((choice) => `- ${choice.text}`);
  return { text: [around, words.main_title?.title, words.main_title?.desc, words.sub_title_text, ...choices, words.card_action?.url].filter(Boolean).join("\n"), card: undefined };
}

function readCard(json: string): TemplateCard | undefined {
  try {
    const value: unknown = JSON.parse(json);
    const card = typeof value === "object" && value !== null && "template_card" in value ? value.template_card : undefined;
    return typeof card === "object" && card !== null && "card_type" in card && typeof card.card_type === "string" && CARD_TYPES.has(card.card_type) ? { ...card, card_type: card.card_type } : undefined;
  } catch {
    return undefined; // a text that merely looks like one
  }
}

/** Lines that name files are no words for people, also while they are being written. */
export function hideMediaLines(text: string): string {
  const whole = text.replace(/^[ \t]*MEDIA:.*$/gm, "");
  const last = whole.slice(whole.lastIndexOf("\n") + 1).trimStart();
  return (last !== "" && "MEDIA:".startsWith(last) ? whole.slice(0, whole.lastIndexOf("\n") + 1) : whole).trim();
}
