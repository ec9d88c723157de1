// The types are many and generated: the one room that re-exports a file whole.
export type * from "./types.generated.ts";

export {
  type EnvRecord,
  type PathOptions,
  type PortSource,
  type ResolvedPort,
  resolveGatewayPort,
  resolveStatePaths,
  type StatePaths } from "./paths.ts";
export { applyProfileArgs, type ProfileArgs } from "./profile.ts";
export { type EnvSource, type EnvView } from "./env.ts";
export { createShellEnvReader, type ReadShellEnv } from "./shell-env.ts";
export {
  type ConfigPath,
  getAtPath,
  parseConfigPath,
  unsetAtPath } from "./config-path.ts";
export { parseJson5 } from "./json5-text.ts";
export { type ConfigIssue, formatIssue } from "./issues.ts";
export { type ConfigSnapshot, loadConfig, type LoadConfigDeps } from "./load.ts";
export type { ConfigKnowledge } from "./semantic.ts";
export { BUILT_IN_MODEL_ALIASES } from "./defaults.ts";
export { migrateLegacyConfig, type Migration } from "./legacy.ts";
export {
  redactConfigValue,
  type RedactedSnapshot,
  redactSnapshot } from "./redact-config.ts";
export {
  ConfigWriteError,
  type ConfigWriteErrorCode,
  type ConfigWriteOptions,
  type ConfigWriter,
  type ConfigWriterDeps,
  type ConfigWriteResult,
  createConfigWriter } from "./writer.ts";
export {
  type ConfigChange,
  type ConfigSource,
  type ConfigSourceDeps,
  type ConfigSourceError,
  createConfigSource } from "./source.ts";
export { type ConfigOverrides, createConfigOverrides } from "./overrides.ts";
export { planReload, type ChannelReloadRules, type HotAction, type ReloadPlan } from "./reload-plan.ts";
export { ensureInitialConfig } from "./initial.ts";
export {
  type ConfigSchemaExport,
  type ConfigSchemaOptions,
  exportConfigSchema,
  type JsonSchema,
  type UiHint } from "./schema/json-schema.ts";
export { findNode, type KeyNode, type TypeAlt } from "./schema/table.ts";
export { isPlainObject } from "./json-value.ts";
export { BUILT_IN_CHANNELS, findUnusedKeys } from "./schema/rooms.ts";
