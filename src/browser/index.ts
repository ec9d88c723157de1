export { createBrowserService, type BrowserService, type BrowserServiceOptions } from "./service.ts";
export { ACT_KINDS, type ActRequest } from "./act.ts";
export { PageError } from "./profiles.ts";
