export type { MediaDecision } from "./types.ts";
export { createMediaUnderstanding, type MediaUnderstanding, type UnderstoodMedia } from "./understand.ts";
