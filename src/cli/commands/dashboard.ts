import { spawn } from "node:child_process";
import type { Command } from "commander";
import { resolveGatewayPort } from "../../config/index.ts";
import { resolveAuth } from "../../security/index.ts";
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

/** Whether a browser was started. Never waits for it. */
function openBrowser(url: string, cli: Cli): Promise<boolean> {
  const hasDisplay = process.platform !== "linux" || Boolean(cli.env["DISPLAY"] || cli.env["WAYLAND_DISPLAY"]);
  if (!hasDisplay || cli.env["SSH_CONNECTION"]) return Promise.resolve(false);
  const [command, ...args] = process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(command ?? "xdg-open", [...args, url], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
