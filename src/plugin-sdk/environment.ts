import { readFileSync } from "node:fs";
import { release } from "node:os";

/** The machine that the gateway runs on. Source: spec plugin-sdk §14. */

/** By the variables that WSL sets. */
export const isWSLEnv = (): boolean => Boolean(process.env["WSL_INTEROP"] ?? process.env["WSL_DISTRO_NAME"] ?? process.env["WSLENV"]);

export function isWSLSync(): boolean {
  return process.platform === "linux" && (isWSLEnv() || /microsoft|wsl/i.test(kernel()));
}

export const isWSL2Sync = (): boolean => isWSLSync() && /wsl2|microsoft-standard/i.test(kernel());

function kernel(): string {
  try {
    return readFileSync("/proc/version", "utf8");
  } catch {
    return release();
  }
}

type CommandRunner = (argv: string[], options: { timeoutMs: number }) => Promise<{ code: number | null; stdout: string }>;

/** This machine's name in the tailnet, else its address there; null without Tailscale. */
export async function resolveTailnetHostWithRunner(run?: CommandRunner): Promise<string | null> {
  if (!run) return null;
  for (const program of ["tailscale", "/Applications/Tailscale.app/Contents/MacOS/Tailscale"]) {
    try {
      const { code, stdout } = await run([program, "status", "--json"], { timeoutMs: 5000 });
      if (code !== 0) continue;
      const host = selfOf(stdout);
      if (host !== null) return host;
    } catch {
      // not installed under this name
    }
  }
  return null;
}

/** The JSON may have warnings around it. */
function selfOf(stdout: string): string | null {
  const start = stdout.indexOf("{");
  const end = stdout.lastIndexOf("}");
  if (start < 0 || end < start) return null;
  try {
    const status = JSON.parse(stdout.slice(start, end + 1)) as { Self?: { DNSName?: string; TailscaleIPs?: string[] } };
    const name = status.Self?.DNSName?.replace(/\.$/, "");
    return name || (status.Self?.TailscaleIPs?.[0] ?? null);
  } catch {
    return null; // no JSON: an old or broken client
  }
}

export type GatewayBindUrl = { readonly url: string; readonly source: string } | { readonly error: string } | null;

/** The address that another device uses; null where it is this machine's alone. */
export function resolveGatewayBindUrl(input: {
  readonly bind?: string | undefined;
  readonly customBindHost?: string | undefined;
  readonly scheme: "ws" | "wss";
  readonly port: number;
  readonly pickTailnetHost: () => string | null;
  readonly pickLanHost: () => string | null;
}): GatewayBindUrl {
  const at = (host: string | null | undefined, source: string, missing: string): GatewayBindUrl =>
    host?.trim() ? { url: `${input.scheme}://${host.trim()}:${input.port}`, source: `gateway.bind=${source}` } : { error: missing };
  switch (input.bind ?? "loopback") {
    case "custom":
      return at(input.customBindHost, "custom", "gateway.bind=custom requires gateway.customBindHost.");
    case "tailnet":
      return at(input.pickTailnetHost(), "tailnet", "gateway.bind=tailnet set, but no tailnet IP was found.");
    case "lan":
      return at(input.pickLanHost(), "lan", "gateway.bind=lan set, but no private LAN IP was found.");
    default:
      return null;
  }
}

export interface RuntimeEnvLike {
  log: (...args: unknown[]) => void;
  error: (...args: unknown[]) => void;
  exit: (code: number) => never;
}

/** A `runtime` whose lines go to a logger; asking to end the process is an error, since a plugin may not. */
export function createLoggerBackedRuntime({ logger, exitError }: { readonly logger: { info(message: string): void; error(message: string): void }; readonly exitError?: ((code: number) => Error) | undefined }): RuntimeEnvLike {
  const line = (args: readonly unknown[]): string => args.map((arg) => (typeof arg === "string" ? arg : arg instanceof Error ? (arg.stack ?? arg.message) : JSON.stringify(arg))).join(" ");
  return {
    log: (...args) => logger.info(line(args)),
    error: (...args) => logger.error(line(args)),
    exit: (code) => {
      throw exitError?.(code) ?? new Error(`exit ${code}`);
    },
  };
}

export interface OauthCredential {
  readonly type: "oauth";
  readonly provider: string;
  readonly access: string;
  readonly refresh?: string | undefined;
  readonly expires?: number | undefined;
  readonly email?: string | undefined;
  readonly [extra: string]: unknown;
}

export interface ApiKeyCredential {
  readonly type: "api_key";
  readonly provider: string;
  readonly key: string;
  readonly email?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface TokenCredential {
  readonly type: "token";
  readonly provider: string;
  readonly token: string;
  /** ms since the epoch */
  readonly expires?: number | undefined;
  readonly email?: string | undefined;
}

export interface ProviderAuthResult {
  readonly profiles: { readonly profileId: string; readonly credential: OauthCredential | ApiKeyCredential | TokenCredential }[];
  readonly configPatch?: unknown;
  readonly defaultModel?: string | undefined;
  readonly notes?: string[] | undefined;
}

/** What a provider's login by OAuth gives back. Source: spec plugin-sdk §11. */
export function buildOauthProviderAuthResult(input: {
  readonly providerId: string;
  readonly defaultModel: string;
  readonly access: string;
  readonly refresh?: string | null | undefined;
  readonly expires?: number | null | undefined;
  readonly email?: string | null | undefined;
  readonly profilePrefix?: string | undefined;
  readonly credentialExtra?: Readonly<Record<string, unknown>> | undefined;
  readonly configPatch?: unknown;
  readonly notes?: string[] | undefined;
}): ProviderAuthResult {
  const { providerId, email, refresh, expires } = input;
  const credential: OauthCredential = {
    type: "oauth", provider: providerId, access: input.access, ...(refresh ? { refresh } : {}), ...(Number.isFinite(expires) ? { expires: expires as number } : {}),
    ...(email ? { email } : {}), ...input.credentialExtra,
  };
  return {
    profiles: [{ profileId: `${input.profilePrefix ?? providerId}:${email || "default"}`, credential }],
    configPatch: input.configPatch ?? { agents: { defaults: { models: { [input.defaultModel]: {} } } } },
    defaultModel: input.defaultModel, ...(input.notes ? { notes: input.notes } : {}),
  };
}
