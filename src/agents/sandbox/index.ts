export { createSandboxAdmin, explainSandbox, findSandboxProblems, type SandboxExplanation } from "./admin.ts";
export type { SandboxSession } from "./contract.ts";
export { filesToSend } from "./files.ts";
export { createSandboxService, type SandboxService, type SandboxServiceOptions } from "./service.ts";
export { isSandboxed, isSessionSandboxed, resolveSandboxSettings } from "./settings.ts";
