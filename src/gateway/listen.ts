import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { networkInterfaces } from "node:os";
import type { OpenClawConfig } from "../config/index.ts";
import { errorText } from "../infra/errors.ts";
import { acquireInstanceLock, InstanceLockError } from "../infra/instance-lock.ts";
import { describePortOwners, findPortOwners } from "../infra/port-owner.ts";
import { GatewayStartError } from "./start-error.ts";

/** First the main address, then aliases that may fail. */
export function resolveBindHosts(cfg: OpenClawConfig): string[] {
  switch (cfg.gateway?.bind ?? "loopback") {
    case "lan":
      return ["0.0.0.0"];
    case "custom":
      if (!cfg.gateway?.customBindHost) throw new GatewayStartError("gateway.bind=custom needs gateway.customBindHost", "Set gateway.customBindHost to an IPv4 address of this machine.");
      return [cfg.gateway.customBindHost];
    case "tailnet": {
      const address = tailnetAddress();
      if (!address) throw new GatewayStartError("gateway.bind=tailnet, but this machine has no tailnet address (100.64.0.0/10)", "Start Tailscale, or choose another gateway.bind.");
      return [address, "127.0.0.1"];
    }
    case "auto":
    case "loopback":
    default:
      return ["127.0.0.1", "::1"];
  }
}

function tailnetAddress(): string | undefined {
  for (const list of Object.values(networkInterfaces())) {
    for (const item of list ?? []) {
      const [a = 0, b = 0] = item.address.split(".").map(Number);
      if (item.family === "IPv4" && a === 100 && b >= 64 && b < 128) return item.address;
    }
  }
  return undefined;
}

export async function takeLock(configPath: string, port: number): Promise<{ release(): Promise<void> }> {
  try {
    return await acquireInstanceLock({ configPath, port });
  } catch (err) {
    if (!(err instanceof InstanceLockError)) throw err;
    throw new GatewayStartError(err.message, "Stop it with `openclaw gateway stop`, or start this one with another --profile.", { cause: err });
  }
}

/** Listens on the main address; further addresses share handlers and only warn. @throws GatewayStartError naming who holds the port */
export async function listen(server: Server, hosts: readonly string[], port: number, configPath: string): Promise<Server[]> {
  const [main = "127.0.0.1", ...aliases] = hosts;
  try {
    await listenOn(server, main, port);
  } catch (err) {
    if (!(err instanceof Error && "code" in err && err.code === "EADDRINUSE")) throw new GatewayStartError(`cannot listen on ${main}:${port}: ${errorText(err)}`, "Choose another gateway.bind or --port.", { cause: err });
    const owners = await findPortOwners(port);
    throw new GatewayStartError(
      `another gateway instance is already listening on ws://${main}:${port}\n${describePortOwners(port, owners).join("\n")}`,
      owners.length > 0 ? `Config: ${configPath}` : `Stop it, or choose another --port. Config: ${configPath}`, { cause: err },
    );
  }
  const address = server.address();
  const bound = typeof address === "object" && address ? address.port : port;
  const { createServer } = await import("node:http");
  const out: Server[] = [];
  for (const host of aliases) {
    const alias = createServer();
    alias.on("request", (req, res) => server.emit("request", req, res));
    alias.on("upgrade", (req, socket, head) => server.emit("upgrade", req, socket, head));
    await listenOn(alias, host, bound).then(() => out.push(alias), () => alias.close());
  }
  return out;
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

export async function loadTls(cfg: OpenClawConfig): Promise<{ cert: string; key: string } | undefined> {
  const tls = cfg.gateway?.tls;
  if (!tls?.enabled) return undefined;
  if (!tls.certPath || !tls.keyPath) {
    throw new GatewayStartError("gateway.tls.enabled needs gateway.tls.certPath and gateway.tls.keyPath", "Create a certificate (for example with `openssl req -x509`) and name both files.");
  }
  try {
    const [cert, key] = await Promise.all([readFile(tls.certPath, "utf8"), readFile(tls.keyPath, "utf8")]);
    return { cert, key };
  } catch (err) {
    throw new GatewayStartError(`the TLS files cannot be read: ${errorText(err)}`, "Check gateway.tls.certPath and gateway.tls.keyPath.", { cause: err });
  }
}
