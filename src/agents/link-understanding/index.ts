export { createLinkUnderstanding, type LinkUnderstanding } from "./understand.ts";
