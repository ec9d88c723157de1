export { createModelService, type ModelServiceOptions } from "./service.ts";
