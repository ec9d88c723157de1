export { createMediaUnderstanding, type MediaUnderstanding, type UnderstoodMedia } from "./understand.ts";
