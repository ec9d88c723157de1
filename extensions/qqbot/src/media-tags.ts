import { extname } from "node:path";

export type MediaTag = "qqimg" | "qqvoice" | "qqvideo" | "qqfile" | "qqmedia";
export type TagPiece = { readonly text: string } | { readonly tag: MediaTag; readonly source: string };

const ALIASES: Readonly<Record<MediaTag, string>> = {
  qqimg: "qqimg img image pic picture photo qq_img qqimage qq_image qqpic qq_pic qqpicture qq_picture qqphoto qq_photo",
  qqvoice: "qqvoice voice audio qq_voice qqaudio qq_audio",
  qqvideo: "qqvideo video qq_video",
  qqfile: "qqfile file doc document qq_file qqdoc qq_doc",
  qqmedia: "qqmedia media attachment attach send qq_media qqattachment qq_attachment qqsend qq_send",
};
const BY_NAME: ReadonlyMap<string, MediaTag> = new Map(
  (Object.keys(ALIASES) as MediaTag[]).flatMap((tag) => (ALIASES[tag] ?? "").split(" ").map((name) => [name, tag] as const)),
);
const NAMES = [...BY_NAME.keys()].toSorted((a, b) => b.length - a.length).join("|");
const MARK = new RegExp(`[<＜][ \\t]{0,8}(/?)[ \\t]{0,8}(${NAMES})(?![\\w-])([^<>＜＞]{0,2000})[>＞]`, "gi");
const MAX_SOURCE = 2000;

interface Mark {
  readonly at: number;
  readonly end: number;
  readonly closes: boolean;
  readonly name: string;
  readonly tag: MediaTag;
  readonly attributes: string;
}

/**
 * A reply cut at its media tags, in order. Malformed tags are repaired as far as their meaning is clear; code blocks and
 * what names nothing stay text. Source: spec channels-cn §1.7.
 */
export function splitMediaTags(text: string): TagPiece[] {
  const fences = codeRanges(text);
  const marks = [...text.matchAll(MARK)].flatMap((match): Mark[] => {
    const [whole, slash = "", name = "", attributes = ""] = match;
    const at = match.index;
    const tag = BY_NAME.get(name.toLowerCase());
    return tag === undefined || fences.some(([from, to]) => at >= from && at < to) ? [] : [{ at, end: at + whole.length, closes: slash !== "", name: name.toLowerCase(), tag, attributes }];
  });
  const pieces: TagPiece[] = [];
  let done = 0;
  const take = (from: number, to: number, tag: MediaTag, source: string): void => {
    const wrapped = text[from - 1] === "`" && text[to] === "`";
    pieces.push({ text: text.slice(done, wrapped ? from - 1 : from) }, { tag, source });
    done = wrapped ? to + 1 : to;
  };
  for (let index = 0; index < marks.length; index++) {
    const mark = marks[index];
    if (!mark || mark.closes || mark.at < done) continue;
    const named = /\b(?:file|src|path|url)\s*=\s*(?:"([^"]+)"|'([^']+)')/i.exec(mark.attributes);
    const attribute = named?.[1] ?? named?.[2];
    if (attribute !== undefined) {
      const source = cleanSource(attribute);
      if (source === "") continue;
      const close = marks[index + 1];
      const isPair = close?.closes === true && text.slice(mark.end, close.at).trim() === "";
      take(mark.at, isPair ? close.end : mark.end, mark.tag, source);
      continue;
    }
    const close = marks[index + 1];
    if (!close || mark.attributes.trim() !== "") continue;
    const source = cleanSource(text.slice(mark.end, close.at));
    // Words such as <file> also stand in ordinary prose.
    if (source === "" || source.length > MAX_SOURCE || /[<>＜＞]/.test(source) || !((mark.name.startsWith("qq") && close.closes) || looksLikePath(source))) continue;
    take(mark.at, close.end, mark.tag, source);
  }
  pieces.push({ text: text.slice(done) });
  return pieces.filter((piece) => !("text" in piece) || piece.text.trim() !== "");
}

const UNFINISHED = new RegExp(`[<＜][ \\t]{0,8}(?:[a-z_]{0,14}|(?:${NAMES})(?![\\w-])[^<>＜＞]{0,2000}(?:[>＞][^<>＜＞]{0,2000}(?:[<＜][^>＞]{0,40})?)?)$`, "i");

/** What may be shown before the files of an answer; of one that is still being written, without the tag that is not finished. */
export function textBeforeTags(text: string, { isFinal }: { readonly isFinal: boolean }): string {
  const pieces = splitMediaTags(text);
  const [first] = pieces;
  if (first && !("text" in first)) return "";
  const head = pieces.length > 1 && first ? first.text : text;
  const at = isFinal ? -1 : head.search(UNFINISHED);
  return at === -1 || codeRanges(head).some(([from, to]) => at >= from && at < to) ? head : head.slice(0, at);
}

const VOICE = /^\.(?:silk|slk|wav|mp3|ogg|opus|aac|flac|m4a|amr)$/;
const VIDEO = /^\.(?:mp4|mov|avi|mkv|webm)$/;
const IMAGE = /^\.(?:jpe?g|png|gif|webp|bmp)$/;

export type SendAs = "image" | "voice" | "video" | "file";

/** How a file of this name goes out when only its name is known. */
export function sendAsByName(name: string): SendAs {
  const extension = extname(name.replace(/[?#].*$/, "")).toLowerCase();
  if (IMAGE.test(extension)) return "image";
  if (VOICE.test(extension)) return "voice";
  return VIDEO.test(extension) ? "video" : "file";
}

function looksLikePath(source: string): boolean {
  return /^(?:https?:\/\/|file:|data:|~?\/|\.{1,2}\/|[a-z]:[\\/])/i.test(source) || /^[^\s<>]+\.[a-z0-9]{2,5}$/i.test(source);
}

/** Quotes and line breaks removed, octal and percent escapes of names decoded. */
function cleanSource(raw: string): string {
  const bare = raw.replace(/\s*[\r\n]+\s*/g, " ").trim().replace(/^(["'`“”‘’]+)([\s\S]*?)["'`“”‘’]+$/, "$2").trim();
  if (/^(?:https?:|data:|file:)/i.test(bare)) return bare;
  const octal = bare.replace(/(?:\\[0-3][0-7]{2})+/g, (run) => Buffer.from(run.split("\\").slice(1).map((digits) => Number.parseInt(digits, 8))).toString("utf8"));
  if (!/%[0-9a-f]{2}/i.test(octal)) return octal;
  try {
    return decodeURIComponent(octal);
  } catch {
    // A name with a plain percent sign.
    return octal;
  }
}

/** Fenced blocks, and inline code that holds more than one tag alone. */
function codeRanges(text: string): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const match of text.matchAll(/^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1|$(?![\s\S]))/gm)) ranges.push([match.index, match.index + match[0].length]);
  for (const match of text.matchAll(/`([^`\n]+)`/g)) {
    const inside = (match[1] ?? "").trim();
    if (!/^[<＜][\s\S]*[>＞]$/.test(inside) || !/[<＜]\s*\/?[\s\S]*[>＞][^<＜]+[<＜]/.test(inside)) ranges.push([match.index, match.index + match[0].length]);
  }
  return ranges;
}
