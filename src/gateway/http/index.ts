export type { BodyLimits } from "./body.ts";
export { createCanvasHost } from "./canvas.ts";
export type { CanonicalUrl } from "./canonical-path.ts";
export { createControlUiSurface } from "./control-ui.ts";
export type { AssistantIdentity, ControlUiDeps } from "./control-ui.ts";
export { createHttpFrontDoor } from "./front-door.ts";
export type { HttpFrontDoor, HttpFrontDoorDeps, HttpSurface, SurfaceRequest } from "./front-door.ts";
export { createFrontServer } from "./server.ts";
export type { FrontServerOptions } from "./server.ts";
