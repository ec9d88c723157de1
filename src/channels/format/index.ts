export { chunkIR } from "./chunk.ts";
export type { LinkSpan, MarkdownIR, StyleName, StyleSpan } from "./ir.ts";
export { markdownToIR, markdownToText } from "./parse.ts";
export type { MarkdownOptions } from "./parse.ts";
export { renderMarkup } from "./render.ts";
export type { MarkupRenderer } from "./render.ts";
export { alignTable, displayWidth } from "./tables.ts";
export type { TableMode } from "./tables.ts";
