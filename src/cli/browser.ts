import { spawn } from "node:child_process";
import type { Cli } from "./cli.ts";

/** A person sits elsewhere: this machine has no screen, or is used over the network. */
export function isRemoteTerminal({ env }: Pick<Cli, "env">): boolean {
  const hasDisplay = process.platform !== "linux" || Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
  return !hasDisplay || ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "REMOTE_CONTAINERS", "CODESPACES"].some((name) => Boolean(env[name]));
}

/** Whether a browser was started. Never waits for it. */
export function openBrowser(url: string, cli: Pick<Cli, "env">): Promise<boolean> {
  if (isRemoteTerminal(cli)) return Promise.resolve(false);
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
