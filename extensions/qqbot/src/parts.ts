import { basename } from "node:path";
import { markdownToText, type OutboundMedia, type OutboundMessage } from "openclaw/plugin-sdk";
import { splitByImages } from "./markdown.ts";
import { type SendAs, sendAsByName, splitMediaTags, type TagPiece } from "./media-tags.ts";
import { readPayload } from "./payload.ts";
import type { QQTarget } from "./targets.ts";
import { splitText } from "./text.ts";

export type Part = { readonly text: string } | { readonly file: OutboundMedia } | { readonly link: string; readonly as: SendAs };

export interface PlanOptions {
  readonly limit: number;
  readonly isPlain: boolean;
  readonly scene: QQTarget["scene"];
}

const NOT_SENT = "（有一个文件未能发送）";

/** The messages that one answer becomes, in the order in which they are read. Source: spec channels-cn §1.7. */
export function planParts(message: Pick<OutboundMessage, "text" | "media">, options: PlanOptions): Part[] {
  const isGuild = options.scene === "channel" || options.scene === "dm";
  const files = [...(message.media ?? [])];
  const pieces = splitMediaTags(readPayload(message.text)).flatMap((piece): Part[] => {
    if ("text" in piece) return options.isPlain && !isGuild ? splitByImages(piece.text) : [piece];
    if (/^https?:\/\//i.test(piece.source)) return [{ link: piece.source, as: piece.tag === "qqmedia" ? sendAsByName(piece.source) : tagKind(piece.tag) }];
    // Files come checked in `media`; a path that has none there was refused.
    const at = files.findIndex(({ fileName }) => fileName === basename(piece.source.replaceAll("\\", "/")));
    const [file] = at === -1 ? [] : files.splice(at, 1);
    return [file ? { file } : { text: NOT_SENT }];
  });
  const parts = [...pieces, ...files.map((file): Part => ({ file }))].map((part) => (isGuild && "link" in part && part.as !== "image" ? { text: part.link } : part));
  return joinTexts(parts).flatMap((part): Part[] => {
    if (!("text" in part)) return [part];
    const text = cleanText(part.text);
    return splitText(options.isPlain ? markdownToText(text) : text, options.limit).map((one) => ({ text: one }));
  });
}

/**
 * As many parts as there are replies left: the last texts are joined, for a message of the bot's own accord would be refused.
 * The leading parts stay, so that a repeated send can skip them. Source: spec channels-cn §1.6.
 */
export function fitParts(parts: readonly Part[], replies: number, sentParts: number): Part[] {
  const fitted = [...parts];
  while (fitted.length > Math.max(1, replies)) {
    const last = fitted.findLastIndex((part) => "text" in part);
    const before = fitted.slice(0, Math.max(0, last)).findLastIndex((part) => "text" in part);
    if (before < sentParts) break;
    const [tail, head] = [fitted[last], fitted[before]];
    if (!tail || !head || !("text" in tail) || !("text" in head)) break;
    fitted[before] = { text: `${head.text}\n\n${tail.text}` };
    fitted.splice(last, 1);
  }
  return fitted;
}

/** Files that the answer names by tag; the tags stay in the text, to tell the place, and so do links. */
export function takeMediaTags(text: string): { readonly text: string; readonly media: readonly { readonly source: string; readonly asVoice: boolean }[] } {
  const read = readPayload(text);
  const isLocal = (piece: TagPiece): piece is Exclude<TagPiece, { text: string }> => !("text" in piece) && !/^https?:\/\//i.test(piece.source);
  return { text: read, media: splitMediaTags(read).filter(isLocal).map(({ source, tag }) => ({ source, asVoice: tag === "qqvoice" })) };
}

function joinTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && "text" in last && "text" in part) joined[joined.length - 1] = { text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}

const tagKind = (tag: "qqimg" | "qqvoice" | "qqvideo" | "qqfile"): SendAs => ({ qqimg: "image", qqvoice: "voice", qqvideo: "video", qqfile: "file" })[tag] as SendAs;

/** Markers that models invent, and piles of empty lines. */
const cleanText = (text: string): string => text.replace(/\[(?:internal|debug|system)[^\]\n]{0,500}\]/gi, "").replace(/\n{3,}/g, "\n\n").trim();
