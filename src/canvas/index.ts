export { createCanvasCapabilities, type CanvasCapabilities } from "./capabilities.ts";
export { ensureCanvasRoot, readCanvasFile } from "./files.ts";
export { withPageScript } from "./page-script.ts";
