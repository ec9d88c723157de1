// The types are many and generated: the one room that re-exports a file whole.
export type * from "./types.generated.ts";

export {
  absolute,
  DEFAULT_GATEWAY_PORT,
  DEV_GATEWAY_PORT,
  type EnvRecord,
  type PathOptions,
  type PortSource,
  type ResolvedPort,
  resolveGatewayPort,
  resolveStatePaths,
  type StatePaths,
} from "./paths.ts";
export { applyProfileArgs, type ProfileArgs } from "./profile.ts";
export { createEnvView, type EnvSource, type EnvView, isInside, isLoaderVariable } from "./env.ts";
export { createShellEnvReader, type ReadShellEnv, SHELL_ENV_NAMES } from "./shell-env.ts";
export {
  type ConfigPath,
  ConfigPathError,
  formatConfigPath,
  getAtPath,
  isUnsafeKey,
  parseConfigPath,
  setAtPath,
  unsetAtPath,
} from "./config-path.ts";
export { changedPaths, deepEqual, deepFreeze, isPlainObject } from "./json-value.ts";
export { ConfigSyntaxError, parseJson5 } from "./json5-text.ts";
export { type ConfigIssue, formatIssue } from "./issues.ts";
export { type ConfigSnapshot, hashConfigText, loadConfig, type LoadConfigDeps } from "./load.ts";
export type { ConfigKnowledge } from "./semantic.ts";
export { BUILT_IN_MODEL_ALIASES } from "./defaults.ts";
export { findLegacyKeys, migrateLegacyConfig, type Migration } from "./legacy.ts";
export { applyMergePatch } from "./merge-patch.ts";
export {
  isSecretPath,
  REDACTED,
  redactConfigText,
  redactConfigValue,
  type RedactedSnapshot,
  redactSnapshot,
} from "./redact-config.ts";
export {
  ConfigWriteError,
  type ConfigWriteErrorCode,
  type ConfigWriteOptions,
  type ConfigWriter,
  type ConfigWriterDeps,
  type ConfigWriteResult,
  createConfigWriter,
} from "./writer.ts";
export {
  type ConfigChange,
  type ConfigSource,
  type ConfigSourceDeps,
  type ConfigSourceError,
  createConfigSource,
} from "./source.ts";
export { type ChannelReloadRules, type HotAction, planReload, type ReloadPlan } from "./reload-plan.ts";
export { ensureInitialConfig } from "./initial.ts";
export {
  type ConfigSchemaExport,
  type ConfigSchemaOptions,
  exportConfigSchema,
  type JsonSchema,
  type UiHint,
} from "./schema/json-schema.ts";
export { findUnusedKeys, HONOURED_PREFIXES } from "./schema/rooms.ts";
