export { currentTimeLine } from "./current-time.ts";
export { safeCutIndex, truncateText } from "./graphemes.ts";
export { fenceAt, parseFenceSpans } from "./fences.ts";
export type { FenceSpan } from "./fences.ts";
export { chunkMarkdownText, chunkPlainText, splitMarkdown } from "./chunk-markdown.ts";
export type { ChunkMode, MarkdownPiece } from "./chunk-markdown.ts";
export { codeBlock } from "./code-block.ts";
export { applyPrefix, fillPrefix, shortModelName, type PrefixValues } from "./prefix.ts";
