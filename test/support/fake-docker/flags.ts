/** How the real command reads its arguments, of what we use: what it would refuse is refused in its words. */

type Check = (value: string) => string | undefined;

const matching = (pattern: RegExp, what: string): Check => (value) => (pattern.test(value) ? undefined : `${what}: ${value}`);
const SIZE = /^\d+(\.\d+)?\s?([bkmgtp]b?)?$/i;
const ULIMITS = new Set(["core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss", "rtprio", "rttime", "sigpending", "stack"]);

function volume(value: string): string | undefined {
  const [source = "", target = "", options, ...rest] = value.split(":");
  if (rest.length > 0 || source === "") return `invalid volume specification: '${value}'`;
  if (!source.startsWith("/") && !/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/.test(source)) return `create ${source}: "${source}" includes invalid characters for a local volume name, only "[a-zA-Z0-9][a-zA-Z0-9_.-]" are allowed.`;
  if (!target.startsWith("/")) return `invalid volume specification: '${value}': invalid mount config for type "bind": invalid mount path: '${target}' mount path must be absolute`;
  if (target === "/") return `invalid volume specification: '${value}': invalid specification: destination can't be '/'`;
  const bad = options?.split(",").find((option) => !/^(ro|rw|z|Z|r?(private|shared|slave)|nocopy|cached|delegated|consistent)$/.test(option));
  return bad === undefined ? undefined : `invalid mode: ${bad}`;
}

function ulimit(value: string): string | undefined {
  const [, name = "", soft = "", hard] = /^([a-z]+)=(-?\d+)(?::(-?\d+))?$/.exec(value) ?? [];
  if (!ULIMITS.has(name)) return `invalid ulimit argument: ${value}`;
  return hard !== undefined && Number(soft) > Number(hard) && Number(hard) !== -1 ? "ulimit soft limit must be less than or equal to hard limit" : undefined;
}

const anything: Check = () => undefined;

const CREATE: Readonly<Record<string, Check | "switch">> = {
  "--name": matching(/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/, "Invalid container name"),
  "--label": anything,
  "--read-only": "switch",
  "--tmpfs": matching(/^\/[^:]*(:[a-z0-9=,]+)?$/, "invalid tmpfs"),
  "--network": matching(/^(none|bridge|host|container:.+|[a-zA-Z0-9][\w.-]*)$/, "network not found"),
  "--user": matching(/^[\w.-]+(:[\w.-]+)?$/, "unable to find user"),
  "--cap-drop": matching(/^(ALL|(CAP_)?[A-Z_]+)$/, "invalid CapDrop: unknown capability"),
  "--security-opt": matching(/^(no-new-privileges(=true)?|seccomp=.+|apparmor=.+)$/, "invalid --security-opt"),
  "--dns": matching(/^[0-9a-f.:]+$/i, "invalid IP address"),
  "--add-host": matching(/^[\w.-]+[:=].+$/, "bad format for add-host"),
  "--pids-limit": matching(/^-?\d+$/, "invalid argument for --pids-limit"),
  "--memory": matching(SIZE, "invalid size"),
  "--memory-swap": matching(/^-1$|^\d+(\.\d+)?\s?([bkmgtp]b?)?$/i, "invalid size"),
  "--cpus": matching(/^\d+(\.\d+)?$/, "failed to parse as a rational number"),
  "--ulimit": ulimit,
  "--env": matching(/^[^=]+(=|$)/, "invalid environment variable"),
  "--workdir": matching(/^\//, "the working directory is invalid, it needs to be an absolute path"),
  "--volume": volume,
};
const EXEC: Readonly<Record<string, Check | "switch">> = { "-i": "switch", "-t": "switch", "-w": anything, "-e": matching(/^[^=]+(=|$)/, "invalid environment variable") };
const RM: Readonly<Record<string, Check | "switch">> = { "-f": "switch" };

const KNOWN: Readonly<Record<string, Readonly<Record<string, Check | "switch">>>> = { create: CREATE, exec: EXEC, rm: RM };

export interface Parsed {
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly rest: readonly string[];
}

/** Flags end at the first word that is none. @throws UsageError as the command would complain */
export function parseFlags(command: string, args: readonly string[]): Parsed {
  const known = KNOWN[command] ?? {};
  const flags = new Map<string, string[]>();
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at] as string;
    if (!word.startsWith("-")) break;
    const check = known[word];
    if (check === undefined) throw new UsageError(word.startsWith("--") ? `unknown flag: ${word}` : `unknown shorthand flag: '${word[1]}' in ${word}`, 125);
    if (check === "switch") flags.set(word, [...(flags.get(word) ?? []), ""]);
    else {
      const value = args[++at];
      if (value === undefined) throw new UsageError(`flag needs an argument: ${word}`, 125);
      const wrong = check(value);
      if (wrong !== undefined) throw new UsageError(wrong, 125);
      flags.set(word, [...(flags.get(word) ?? []), value]);
    }
  }
  return { flags, rest: args.slice(at) };
}

export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code: number;
  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}
