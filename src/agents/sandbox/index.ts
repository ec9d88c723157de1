export { createSandboxAdmin, explainSandbox, findSandboxProblems, type SandboxExplanation } from "./admin.ts";
export { SandboxError, type SandboxCommand, type SandboxRuntime, type SandboxSession } from "./contract.ts";
export { filesToSend } from "./files.ts";
export { createSandboxService, type SandboxService, type SandboxServiceOptions } from "./service.ts";
export { isSandboxed, isSessionSandboxed, resolveSandboxSettings, sandboxScopeKey, type SandboxSettings } from "./settings.ts";
