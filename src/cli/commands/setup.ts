import type { Command } from "commander";
import { ensureInitialConfig } from "../../config/index.ts";
import { ensureDir } from "../../infra/atomic-file.ts";
import { resolveAgent, resolveDefaultAgentId } from "../../routing/index.ts";
import type { Cli } from "../cli.ts";
import { createWriter, requireConfig } from "../config-access.ts";
import { shortenHome } from "../format.ts";

/** Spec: cli-and-ui §3.1; unlike the reference's, the result is a gateway that starts. */
export function defineSetup(command: Command, cli: Cli): void {
  command
    .option("--workspace <dir>", "workspace of the agent")
    .option("--non-interactive", "ask nothing (this command never asks)")
    .option("--mode <mode>", "local or remote")
    .option("--remote-url <url>", "gateway to use in remote mode")
    .option("--remote-token <token>", "its token")
    .action(async (flags: { workspace?: string; mode?: string; remoteUrl?: string; remoteToken?: string }) => {
      const before = await requireConfig(cli);
      const writer = createWriter(cli);
      const patch = {
        ...(flags.workspace === undefined ? {} : { agents: { defaults: { workspace: flags.workspace } } }),
        ...(flags.mode === undefined && flags.remoteUrl === undefined
          ? {}
          : {
              gateway: {
                mode: flags.mode ?? "remote",
                ...(flags.remoteUrl === undefined ? {} : { remote: { url: flags.remoteUrl, ...(flags.remoteToken === undefined ? {} : { token: flags.remoteToken }) } }),
              },
            }),
      };
      let snapshot = await ensureInitialConfig(before, writer);
      if (Object.keys(patch).length > 0) snapshot = (await writer.mergePatch(patch)).snapshot;
      const show = (path: string): string => shortenHome(path, cli.paths.home);
      cli.print(snapshot.hash === before.hash ? `Config OK: ${show(snapshot.path)}` : `Wrote ${show(snapshot.path)}`);
      const agent = resolveAgent(snapshot.config, resolveDefaultAgentId(snapshot.config), { stateDir: cli.paths.stateDir, workspaceDir: cli.paths.defaultWorkspace });
      await ensureDir(agent.workspaceDir);
      cli.print(`Workspace OK: ${show(agent.workspaceDir)}`);
      const sessionsDir = `${cli.paths.agentsDir}/${agent.id}/sessions`;
      await ensureDir(sessionsDir);
      cli.print(`Sessions OK: ${show(sessionsDir)}`);
      cli.print("Start it with: openclaw gateway");
    });
}
