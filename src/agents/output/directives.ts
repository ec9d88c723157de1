import { fenceAt, parseFenceSpans } from "../../infra/text/index.ts";

/** What a reply asks for beside its text. Source: spec agent-pipeline-output §6.4, seed names. */
export interface ReplyDirectives {
  readonly text: string;
  readonly mediaUrls: readonly string[];
  /** For each of them, how much of `text` comes before it. */
  readonly mediaAt: readonly number[];
  readonly replyToId?: string | undefined;
  readonly replyToCurrent: boolean;
  readonly audioAsVoice: boolean;
}

const TAG = /\[\[\s*(reply_to_current|reply_to\s*:\s*([^\]\n]+?)|audio_as_voice|voice|media\s*:\s*([^\]\n]+?))\s*\]\][ \t]?/gi;
const MEDIA_LINE = /^[ \t]*MEDIA:[ \t]*(.+)$/;
const MAX_SOURCE_CHARS = 4096;

/** Takes the directives out and leaves every other character, code blocks included, as it was. */
export function parseReplyDirectives(raw: string): ReplyDirectives {
  const inline: Media[] = [];
  let replyToId: string | undefined;
  let replyToCurrent = false;
  let audioAsVoice = false;
  const withoutTags = replaceOutsideCode(raw, TAG, (match, at) => {
    const name = (match[1] ?? "").toLowerCase();
    if (match[3] !== undefined) inline.push({ source: match[3].trim(), at });
    else if (match[2] !== undefined) replyToId = match[2].trim();
    else if (name === "reply_to_current") replyToCurrent = true;
    else audioAsVoice = true;
  });
  const { text, media } = takeMediaLines(withoutTags, inline);
  return { text, mediaUrls: media.map(({ source }) => source), mediaAt: media.map(({ at }) => Math.min(at, text.length)), replyToId, replyToCurrent, audioAsVoice };
}

interface Media {
  readonly source: string;
  /** Offset in the text. */
  readonly at: number;
}

function replaceOutsideCode(text: string, pattern: RegExp, take: (match: RegExpExecArray, at: number) => void): string {
  if (!text.includes("[[") || text.search(pattern) < 0) return text; // finding the code blocks is dearer than looking for a tag
  const spans = parseFenceSpans(text);
  let out = "";
  let from = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (fenceAt(spans, match.index)) continue;
    out += text.slice(from, match.index);
    take(match, out.length);
    from = match.index + match[0].length;
    // A tag alone on its line takes the line with it.
    if ((out === "" || out.endsWith("\n")) && text[from] === "\n") from++;
  }
  return out + text.slice(from);
}

/** `inline`: media that tags named, by offset in `text`; they come back with those of the lines, in the order of the text. */
function takeMediaLines(text: string, inline: readonly Media[]): { text: string; media: Media[] } {
  if (!/^[ \t]*MEDIA:/m.test(text)) return { text, media: [...inline] };
  const spans = parseFenceSpans(text);
  const media: Media[] = [];
  const kept: string[] = [];
  let keptLength = 0;
  let offset = 0;
  let taken = 0;
  let skipBlank = false;
  const waiting = [...inline];
  for (const line of text.split("\n")) {
    const end = offset + line.length;
    const lineStart = keptLength + (kept.length > 0 ? 1 : 0);
    for (let next = waiting[0]; next && next.at <= end; next = waiting[0]) {
      media.push({ source: next.source, at: lineStart + next.at - offset });
      waiting.shift();
    }
    const match = fenceAt(spans, offset + 1) ? null : MEDIA_LINE.exec(line);
    const sources = match?.[1] ? parseMediaSources(match[1]) : undefined;
    if (sources) {
      media.push(...sources.map((source) => ({ source, at: keptLength })));
      taken += sources.length;
      // Blank lines before and after the removed one would add up.
      skipBlank = (kept.at(-1) ?? "").trim() === "";
    } else if (!skipBlank || line.trim() !== "") {
      kept.push(line);
      keptLength = lineStart + line.length;
      skipBlank = false;
    }
    offset = end + 1;
  }
  return { text: taken > 0 ? kept.join("\n").trimEnd() : text, media };
}

/** undefined when the line does not name a file or URL: then it is text. */
function parseMediaSources(rest: string): string[] | undefined {
  const quoted = /^(["'`])(.+)\1\s*$/.exec(rest.trim());
  const parts = quoted?.[2] ? [quoted[2]] : rest.trim().split(/\s+/).map((part) => part.replace(/^[`"']|[`"']$/g, ""));
  return parts.every(isMediaSource) ? parts : undefined;
}

function isMediaSource(source: string): boolean {
  if (source === "" || source.length > MAX_SOURCE_CHARS) return false;
  return /^https?:\/\/|^file:\/\/|^~?[./\\]|^[A-Za-z]:[\\/]|[/\\]/.test(source) || /^[\w.-]+\.[A-Za-z0-9]{1,8}$/.test(source);
}
