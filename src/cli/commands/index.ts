import type { Command } from "commander";
import type { Cli } from "../cli.ts";

/** Gives a command its flags, sub-commands and actions. */
export type Define = (command: Command, cli: Cli) => void;

export interface CommandEntry {
  readonly name: string;
  readonly alias?: string | undefined;
  readonly summary: string;
  /** Loads the file of the group; called only when the group is used. */
  load(): Promise<Define>;
}

/** In the order of the help page. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: "setup", summary: "write the smallest config and create the workspace", load: async () => (await import("./setup.ts")).defineSetup },
  { name: "onboard", summary: "set up gateway, model and key in one go (--non-interactive)", load: async () => (await import("./onboard.ts")).defineOnboard },
  { name: "gateway", summary: "run the gateway (default) or look at it", load: async () => (await import("./gateway.ts")).defineGateway },
  { name: "status", summary: "what runs, what answers, what is wrong", load: async () => (await import("./status.ts")).defineStatus },
  { name: "health", summary: "health of the running gateway", load: async () => (await import("./health.ts")).defineHealth },
  { name: "agent", summary: "one turn of the agent", load: async () => (await import("./agent.ts")).defineAgent },
  { name: "sessions", summary: "stored conversations", load: async () => (await import("./sessions.ts")).defineSessions },
  { name: "models", summary: "which models can be used, and which one is", load: async () => (await import("./models.ts")).defineModels },
  { name: "channels", summary: "chat platforms: accounts and their state", load: async () => (await import("./channels.ts")).defineChannels },
  { name: "pairing", summary: "let people on chat platforms in", load: async () => (await import("./pairing.ts")).definePairing },
  { name: "devices", summary: "clients of the gateway: pairing and tokens", load: async () => (await import("./devices.ts")).defineDevices },
  { name: "cron", summary: "reminders and scheduled jobs", load: async () => (await import("./cron.ts")).defineCron },
  { name: "approvals", alias: "exec-approvals", summary: "commands that may run without being asked about", load: async () => (await import("./approvals.ts")).defineApprovals },
  { name: "sandbox", summary: "containers that the agent's tools work in", load: async () => (await import("./sandbox.ts")).defineSandbox },
  { name: "plugins", summary: "add-ons: channels, tools, commands", load: async () => (await import("./plugins.ts")).definePlugins },
  { name: "config", summary: "read and change the configuration", load: async () => (await import("./config.ts")).defineConfig },
  { name: "logs", summary: "the gateway's log", load: async () => (await import("./logs.ts")).defineLogs },
  { name: "dashboard", summary: "open the Control UI", load: async () => (await import("./dashboard.ts")).defineDashboard },
  { name: "doctor", summary: "find what is wrong, and repair it with --fix", load: async () => (await import("./doctor.ts")).defineDoctor },
];
