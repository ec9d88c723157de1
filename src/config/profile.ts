import { DEV_GATEWAY_PORT, type EnvRecord } from "./paths.ts";

export type ProfileArgs =
  | {
      readonly kind: "ok";
      /** The arguments without `--profile` and `--dev`. */
      readonly argv: readonly string[];
      /** The environment with what the profile adds. */
      readonly env: Readonly<Record<string, string | undefined>>;
      readonly profile: string | undefined;
      readonly dev: boolean;
    }
  | { readonly kind: "error"; readonly message: string; readonly exitCode: 2 };

/** Root flags that take a value as their next argument; it must not be taken for the command word. */
const VALUE_FLAGS: ReadonlySet<string> = new Set(["--log-level"]);

/**
 * Takes `--profile NAME` and `--dev` out of the arguments before the command word (spec: cli-and-ui §1.1).
 * Pure: `argv` is without the node and script paths.
 */
export function applyProfileArgs(argv: readonly string[], env: EnvRecord): ProfileArgs {
  const rest: string[] = [];
  let profile: string | undefined;
  let dev = false;
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] ?? "";
    if (!arg.startsWith("-") || arg === "--") {
      rest.push(...argv.slice(i));
      break;
    }
    if (arg === "--dev") dev = true;
    else if (arg === "--profile" || arg.startsWith("--profile=")) {
      profile = arg === "--profile" ? argv[++i] : arg.slice("--profile=".length);
      if (profile === undefined || profile.trim() === "") return failed("--profile needs a name");
    } else {
      rest.push(arg);
      if (VALUE_FLAGS.has(arg) && i + 1 < argv.length) rest.push(argv[++i] ?? "");
    }
  }
  if (dev && profile !== undefined && profile !== "dev") {
    return failed('--dev is the profile "dev"; it cannot be combined with another --profile');
  }
  const name = dev ? "dev" : profile;
  if (name === undefined) return { kind: "ok", argv: rest, env, profile: undefined, dev };
  if (!/^[A-Za-z0-9_-]+$/.test(name)) {
    return failed(`--profile "${name}" is not a name: use letters, digits, "_" and "-"`);
  }
  return { kind: "ok", argv: rest, env: profileEnv(name, dev, env), profile: name, dev };
}

function profileEnv(name: string, dev: boolean, env: EnvRecord): Record<string, string | undefined> {
  const stateDir = env["OPENCLAW_STATE_DIR"]?.trim() || `~/.openclaw${name === "default" ? "" : `-${name}`}`;
  const added: Record<string, string | undefined> = { ...env, OPENCLAW_PROFILE: name, OPENCLAW_STATE_DIR: stateDir };
  if (!env["OPENCLAW_CONFIG_PATH"]?.trim()) added["OPENCLAW_CONFIG_PATH"] = `${stateDir}/openclaw.json`;
  if (dev && !env["OPENCLAW_GATEWAY_PORT"]?.trim()) added["OPENCLAW_GATEWAY_PORT"] = String(DEV_GATEWAY_PORT);
  return added;
}

const failed = (message: string): ProfileArgs => ({ kind: "error", message, exitCode: 2 });
