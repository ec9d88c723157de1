import { existsSync, lstatSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** A plain record of environment variables; `process.env` fits. */
export type EnvRecord = Readonly<Record<string, string | undefined>>;

/** Where everything of one installation lies. All paths are absolute. */
export interface StatePaths {
  readonly home: string;
  readonly stateDir: string;
  readonly configPath: string;
  readonly credentialsDir: string;
  readonly logsDir: string;
  readonly agentsDir: string;
  /** Workspace of agents that name none: `<home>/.openclaw/workspace[-<profile>]`. */
  readonly defaultWorkspace: string;
  /** Own directory for temporary files, 0700. Not created here. */
  readonly tmpDir: string;
  /** Directory of locks between processes. Not created here. */
  readonly lockDir: string;
  readonly profile: string | undefined;
}

export interface PathOptions {
  /** Default: the file system. */
  readonly exists?: (path: string) => boolean;
  /** Default: the home directory the system knows. */
  readonly osHome?: string;
  /** For relative paths in the environment; default: the working directory. */
  readonly cwd?: string;
}

export const DEFAULT_GATEWAY_PORT = 18789;
export const DEV_GATEWAY_PORT = 19001;

const LEGACY_NAMES = ["clawdbot", "moldbot", "moltbot"] as const;

const given = (env: EnvRecord, ...names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = env[name]?.trim();
    if (value) return value;
  }
  return undefined;
};

/** Resolves the places of state (spec: cli-and-ui §1.1, §2). Reads the file system only to find legacy names. */
export function resolveStatePaths(env: EnvRecord, options: PathOptions = {}): StatePaths {
  const exists = options.exists ?? existsSync;
  const cwd = options.cwd ?? process.cwd();
  const osHome = given(env, "HOME") ?? given(env, "USERPROFILE") ?? options.osHome ?? homedir();
  const own = given(env, "OPENCLAW_HOME");
  const home = own === undefined ? resolve(cwd, osHome) : absolute(own, osHome, cwd);
  const at = (value: string): string => absolute(value, home, cwd);

  const givenState = given(env, "OPENCLAW_STATE_DIR", "CLAWDBOT_STATE_DIR");
  const stateDir = givenState === undefined ? findStateDir(home, exists) : at(givenState);
  const givenConfig = given(env, "OPENCLAW_CONFIG_PATH", "CLAWDBOT_CONFIG_PATH");
  const configPath = givenConfig === undefined ? findConfig(stateDir, exists) : at(givenConfig);
  const givenOauth = given(env, "OPENCLAW_OAUTH_DIR");
  const profile = given(env, "OPENCLAW_PROFILE");
  const suffix = profile === undefined || profile === "default" ? "" : `-${profile}`;
  return {
    home,
    stateDir,
    configPath,
    credentialsDir: givenOauth === undefined ? join(stateDir, "credentials") : at(givenOauth),
    logsDir: join(stateDir, "logs"),
    agentsDir: join(stateDir, "agents"),
    defaultWorkspace: join(home, ".openclaw", `workspace${suffix}`),
    tmpDir: resolveTmpDir(),
    lockDir: join(tmpdir(), `openclaw-${uid()}`),
    profile,
  };
}

/** Expands a leading `~`, then makes the path absolute. */
export function absolute(path: string, home: string, cwd: string): string {
  if (path === "~") return resolve(cwd, home);
  if (path.startsWith("~/") || path.startsWith("~\\")) return resolve(cwd, home, path.slice(2));
  return resolve(cwd, path);
}

function findStateDir(home: string, exists: (path: string) => boolean): string {
  const own = join(home, ".openclaw");
  if (exists(own)) return own;
  return LEGACY_NAMES.map((name) => join(home, `.${name}`)).find(exists) ?? own;
}

function findConfig(stateDir: string, exists: (path: string) => boolean): string {
  const own = join(stateDir, "openclaw.json");
  if (exists(own)) return own;
  return LEGACY_NAMES.map((name) => join(stateDir, `${name}.json`)).find(exists) ?? own;
}

const uid = (): number => process.getuid?.() ?? 0;

/** `/tmp/openclaw` when it is (or can become) ours alone, else a directory named by user. */
function resolveTmpDir(): string {
  const fallback = join(tmpdir(), `openclaw-${uid()}`, "tmp");
  if (process.platform === "win32") return fallback;
  const shared = join("/tmp", "openclaw");
  try {
    const info = lstatSync(shared);
    const isOurs = info.isDirectory() && info.uid === uid() && (info.mode & 0o022) === 0;
    return isOurs ? shared : fallback;
  } catch {
    return shared; // does not exist yet: whoever first writes creates it 0700
  }
}

export type PortSource = "flag" | "env" | "config" | "default";

export interface ResolvedPort {
  readonly port: number;
  readonly source: PortSource;
}

/** `--port` > OPENCLAW_GATEWAY_PORT > gateway.port > 18789. Values of the environment that are no port are passed over. */
export function resolveGatewayPort(
  flag: number | undefined,
  env: EnvRecord,
  config: { readonly gateway?: { readonly port?: number | undefined } | undefined },
): ResolvedPort {
  if (flag !== undefined) return { port: flag, source: "flag" };
  const fromEnv = Number(given(env, "OPENCLAW_GATEWAY_PORT", "CLAWDBOT_GATEWAY_PORT") ?? Number.NaN);
  if (Number.isInteger(fromEnv) && fromEnv >= 0 && fromEnv <= 65535) return { port: fromEnv, source: "env" };
  const configured = config.gateway?.port;
  if (configured !== undefined) return { port: configured, source: "config" };
  return { port: DEFAULT_GATEWAY_PORT, source: "default" };
}
