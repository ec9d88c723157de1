import type { Command } from "commander";
import { resolveGatewayPort } from "../../config/index.ts";
import { resolveAuth } from "../../security/index.ts";
import { openBrowser } from "../browser.ts";
import type { Cli } from "../cli.ts";
import { tolerateConfig } from "../config-access.ts";

export function defineDashboard(command: Command, cli: Cli): void {
  command.option("--no-open", "only print the address").action(async ({ open }: { open: boolean }) => {
    const snapshot = await tolerateConfig(cli);
    const gateway = snapshot.config.gateway;
    const { port } = resolveGatewayPort(undefined, snapshot.env.vars, snapshot.config);
    const auth = resolveAuth(snapshot.config, snapshot.env.vars as NodeJS.ProcessEnv);
    const base = gateway?.controlUi?.basePath?.replace(/^\/*|\/*$/g, "");
    const token = auth.mode === "token" && auth.token ? `#token=${encodeURIComponent(auth.token)}` : "";
    const url = `${gateway?.tls?.enabled ? "https" : "http"}://127.0.0.1:${port}/${base ? `${base}/` : ""}${token}`;
    cli.print(`Dashboard URL: ${url}`);
    if (!open) return;
    if (await openBrowser(url, cli)) cli.print("Opened in your browser.");
    else cli.print(`No browser here. From your own machine: ssh -N -L ${port}:127.0.0.1:${port} <user>@<this host>, then open the address there.`);
  });
}
