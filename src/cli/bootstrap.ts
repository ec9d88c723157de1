import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** Least Node: type stripping is on, `node:sqlite` and the compile cache are there. */
const MINIMUM: readonly [number, number] = [22, 18];

/** Why this Node cannot run the program, in one line; undefined when it can. */
export function tooOldText(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])) return undefined;
  return `openclaw needs Node.js ${MINIMUM.join(".")} or newer, but this is ${version}: install a newer one (https://nodejs.org) and run it again.`;
}

/** `openclaw --version`, `-V` or `-v`, before any command word. */
export function isVersionRequest(argv: readonly string[]): boolean {
  const [first] = argv;
  return first === "--version" || first === "-V" || first === "-v";
}

/** The package's version; `url` is that of a module one folder below the package root. */
export function readVersion(url: string): string {
  const manifest = JSON.parse(fs.readFileSync(new URL("../package.json", url), "utf8")) as { version?: unknown };
  return String(manifest.version ?? "dev");
}

type CompileCache = { enableCompileCache?: ((dir?: string) => unknown) | undefined };

/**
 * Keeps compiled code in `<state>/cache/compile`. Only where the state directory exists: asking for help must not create one;
 * the gateway does. Never throws: without the cache everything works, slower.
 */
export function enableCache(module: CompileCache, argv: readonly string[], env: Readonly<Record<string, string | undefined>>): void {
  if (typeof module.enableCompileCache !== "function" || env["NODE_DISABLE_COMPILE_CACHE"]) return;
  const stateDir = stateDirOf(argv, env);
  const words = argv.filter((arg) => !arg.startsWith("-"));
  const isGateway = words[0] === "gateway" && (words[1] === undefined || words[1] === "run") && !argv.includes("--help") && !argv.includes("-h");
  try {
    if (!fs.existsSync(stateDir)) {
      if (!isGateway) return;
      fs.mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    }
    const dir = path.join(stateDir, "cache", "compile");
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
    module.enableCompileCache(dir);
  } catch {
    // A read-only or full disk: the cache is only a saving of time.
  }
}

/** The state directory as `config` resolves it, without loading that room; legacy folders are found when they are in use. */
function stateDirOf(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): string {
  const osHome = env["HOME"] || env["USERPROFILE"] || os.homedir();
  const expand = (value: string, home: string): string => path.resolve(value.replace(/^~(?=$|[/\\])/, () => home));
  const home = env["OPENCLAW_HOME"] ? expand(env["OPENCLAW_HOME"], osHome) : osHome;
  const given = env["OPENCLAW_STATE_DIR"] || env["CLAWDBOT_STATE_DIR"];
  if (given) return expand(given, home);
  const profile = profileOf(argv);
  if (profile !== undefined && profile !== "default") return path.join(home, `.openclaw-${profile}`);
  const names = [".openclaw", ".clawdbot", ".moldbot", ".moltbot"].map((name) => path.join(home, name));
  return names.find((dir) => fs.existsSync(dir)) ?? path.join(home, ".openclaw");
}

function profileOf(argv: readonly string[]): string | undefined {
  for (let i = 0; i < argv.length && argv[i]?.startsWith("-"); i++) {
    const arg = argv[i] ?? "";
    if (arg === "--dev") return "dev";
    const name = arg === "--profile" ? argv[i + 1] : arg.startsWith("--profile=") ? arg.slice("--profile=".length) : undefined;
    if (name !== undefined) return /^[A-Za-z0-9_-]+$/.test(name) ? name : undefined;
    if (arg === "--log-level") i++;
  }
  return undefined;
}
