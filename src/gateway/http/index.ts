export { DEFAULT_BODY_TIMEOUT_MS, HttpError, readBody, readJsonBody } from "./body.ts";
export type { BodyLimits } from "./body.ts";
export { canonicalizeUrl } from "./canonical-path.ts";
export type { CanonicalUrl } from "./canonical-path.ts";
export { CONTENT_SECURITY_POLICY, createControlUiSurface, normalizeBasePath, sniffImage } from "./control-ui.ts";
export type { AssistantIdentity, ControlUiDeps } from "./control-ui.ts";
export { createHttpFrontDoor, SURFACE_ORDER } from "./front-door.ts";
export type { HttpFrontDoor, HttpFrontDoorDeps, HttpSurface, SurfaceRequest } from "./front-door.ts";
export { sendHttpError, sendJson, sendText } from "./respond.ts";
