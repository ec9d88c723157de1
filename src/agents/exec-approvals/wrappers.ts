/** How deep wrappers may be nested. Source: spec tools-and-automation §3.4. */
export const MAX_WRAPPERS = 4;

export type Unwrapped =
  /** No wrapper. */
  | { readonly kind: "plain" }
  /** The words of the command inside. */
  | { readonly kind: "inner"; readonly argv: readonly string[] }
  /** Runs other programs in a way that is not followed. */
  | { readonly kind: "refused"; readonly reason: string };

interface WrapperRule {
  /** Options that stand alone. */
  readonly flags?: RegExp;
  /** Options that take the next word. */
  readonly valueFlags?: readonly string[];
  /** Words between the options and the command. */
  readonly operands?: number;
}

/** They run the words that follow as they are. An option that is not listed makes the call unknown. */
const TRANSPARENT: Readonly<Record<string, WrapperRule>> = {
  nice: { flags: /^(-n?-?\d+|--adjustment=-?\d+)$/, valueFlags: ["-n", "--adjustment"] },
  nohup: {},
  stdbuf: { flags: /^(-[ioe](0|L|\d+[KMG]?)|--(input|output|error)=(0|L|\d+[KMG]?))$/, valueFlags: ["-i", "-o", "-e", "--input", "--output", "--error"] },
  timeout: { flags: /^(--preserve-status|--foreground|-v|--verbose|--signal=\w+|--kill-after=[\d.]+[smhd]?|-s\w+|-k[\d.]+[smhd]?)$/, valueFlags: ["-s", "-k", "--signal", "--kill-after"], operands: 1 },
  env: {},
  time: { flags: /^(-p|-v|--portability|--verbose)$/ },
};

/** They run others too, but with other rights, other places or words that are made up on the way. */
const REFUSED = new Set([
  "sudo", "doas", "su", "runuser", "setpriv", "chrt", "ionice", "setsid", "taskset", "chroot", "unshare", "nsenter", "bwrap", "firejail", "systemd-run",
  "xargs", "parallel", "script", "flock", "watch", "strace", "ltrace", "gdb", "expect", "unbuffer", "busybox", "toybox", "exec", "eval", "command", "builtin", "source", ".",
]);

/** What a call of `name` runs besides itself. */
export function unwrap(name: string, argv: readonly string[]): Unwrapped {
  if (REFUSED.has(name)) return { kind: "refused", reason: `${name} runs other programs` };
  const rule = Object.hasOwn(TRANSPARENT, name) ? TRANSPARENT[name] : undefined;
  if (!rule) return { kind: "plain" };
  let at = 1;
  for (; at < argv.length && argv[at]?.startsWith("-"); at++) {
    const word = argv[at] as string;
    if (word === "--") {
      at++;
      break;
    }
    if (rule.valueFlags?.includes(word)) at++;
    else if (!rule.flags?.test(word)) return { kind: "refused", reason: `${name} with the option ${word}` };
  }
  const inner = argv.slice(at + (rule.operands ?? 0));
  if (inner.length === 0) return name === "env" || name === "time" ? { kind: "plain" } : { kind: "refused", reason: `${name} without a command` };
  if (name === "env" && inner[0]?.includes("=")) return { kind: "refused", reason: "env with variables" };
  return { kind: "inner", argv: inner };
}
