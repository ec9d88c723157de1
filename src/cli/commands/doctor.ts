import type { Command } from "commander";
import type { Cli } from "../cli.ts";

export interface DoctorFlags {
  readonly yes?: boolean;
  readonly repair?: boolean;
  readonly fix?: boolean;
  readonly nonInteractive?: boolean;
  readonly generateGatewayToken?: boolean;
}

export function defineDoctor(command: Command, cli: Cli): void {
  command
    .option("--no-workspace-suggestions", "accepted without effect")
    .option("--yes", "same as --fix")
    .option("--repair", "same as --fix")
    .option("--fix", "repair what can be repaired safely")
    .option("--force", "accepted without effect")
    .option("--non-interactive", "only move old keys and tighten modes")
    .option("--generate-gateway-token", "make a gateway token if there is none")
    .option("--deep", "accepted without effect")
    .action(async (flags: DoctorFlags) => (await import("../doctor/index.ts")).runDoctor(cli, flags));
}
