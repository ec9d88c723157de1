export { createPluginInstaller, type InstallOutcome, type IntegrityDrift, type PluginInstaller, type PluginInstallerDeps, type PluginTrial, type UninstallOutcome, type UpdateOutcome } from "./installer.ts";
export { createNpmRunner, type NpmRunner } from "./npm.ts";
export { PluginInstallError } from "./source.ts";
export { withMemorySlot, withPluginEnabled } from "./config-record.ts";
