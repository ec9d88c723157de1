import { isIP } from "node:net";
import { resolveGatewayPort, type ConfigSnapshot } from "../../config/index.ts";
import { resolveAuth } from "../../security/index.ts";

/** Where to connect and with what; `source`, `bind` and `configPath` are for the error text. */
export interface GatewayTarget {
  readonly url: string;
  readonly source: string;
  readonly configPath: string;
  readonly bind: string;
  readonly token: string | undefined;
  readonly password: string | undefined;
  /** sha256 of the gateway's certificate, hex; then that certificate and no other is accepted. */
  readonly tlsFingerprint: string | undefined;
  /** This is the user's own gateway: the stored device token may be sent to it. */
  readonly isOwn: boolean;
}

export interface TargetFlags {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  readonly port?: number | undefined;
}

/**
 * Picks address and credentials (spec: cli-and-ui §3). With `--url`, no secret of config or environment leaves the machine:
 * explicit flags are needed. @throws TypeError when an address is no ws(s) URL
 */
export function resolveTarget(flags: TargetFlags, snapshot: ConfigSnapshot): GatewayTarget {
  const gateway = snapshot.config.gateway;
  const bind = gateway?.bind ?? "loopback";
  const common = { configPath: snapshot.path, bind };
  if (flags.url !== undefined) {
    return { ...common, url: checkUrl(flags.url, "--url"), source: "cli --url", token: flags.token, password: flags.password, tlsFingerprint: undefined, isOwn: false };
  }
  const remote = gateway?.remote;
  if (gateway?.mode === "remote" && remote?.url) {
    return {
      ...common, url: checkUrl(remote.url, "gateway.remote.url"), source: `config ${snapshot.path} (gateway.remote.url)`,
      token: flags.token ?? remote.token ?? snapshot.env.get("OPENCLAW_GATEWAY_TOKEN"),
      password: flags.password ?? remote.password ?? snapshot.env.get("OPENCLAW_GATEWAY_PASSWORD"),
      tlsFingerprint: remote.tlsFingerprint, isOwn: true,
    };
  }
  const auth = resolveAuth(snapshot.config, snapshot.env.vars as NodeJS.ProcessEnv);
  const { port } = resolveGatewayPort(flags.port, snapshot.env.vars, snapshot.config);
  const scheme = gateway?.tls?.enabled ? "wss" : "ws";
  return {
    ...common, url: `${scheme}://${hostOf(bind, gateway?.customBindHost)}:${port}`, source: "local loopback",
    token: flags.token ?? auth.token, password: flags.password ?? auth.password, tlsFingerprint: undefined, isOwn: true,
  };
}

/** A gateway bound to one address of its own does not answer on loopback. */
const hostOf = (bind: string, custom: string | undefined): string =>
  bind === "custom" && custom !== undefined && custom !== "0.0.0.0" ? (isIP(custom) === 6 ? `[${custom}]` : custom) : "127.0.0.1";

function checkUrl(text: string, name: string): string {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const scheme = url?.protocol.replace("http", "ws");
  if (!url || (scheme !== "ws:" && scheme !== "wss:")) throw new TypeError(`${name} must be an address like ws://127.0.0.1:18789 or wss://host`);
  const path = url.pathname === "/" ? "" : url.pathname;
  return `${scheme}//${url.host}${path}${url.search}`;
}

/** The lines under a connection error (spec: cli-and-ui §3). */
export function describeTarget(target: GatewayTarget): string {
  return [`Gateway target: ${target.url}`, `Source: ${target.source}`, `Config: ${target.configPath}`, `Bind: ${target.bind}`].join("\n");
}
