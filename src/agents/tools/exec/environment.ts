import { execFile } from "node:child_process";
import { delimiter, isAbsolute } from "node:path";

export interface ChildEnvironmentInput {
  /** Environment of the gateway; only an allow-list of it reaches a child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configEnv: Readonly<Record<string, string>>;
  readonly skillEnv: Readonly<Record<string, string>>;
  /** `env` of the call: from the model. */
  readonly callEnv: unknown;
  /** PATH of the login shell, when it is known. */
  readonly loginPath: string | undefined;
  readonly pathPrepend: readonly string[];
}

const INHERITED = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z_]+|TERM|TZ|TMPDIR|XDG_[A-Z_]+|SSH_AUTH_SOCK|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY)$/;

/**
 * Variables by which a loader, an interpreter, a shell or a tool would run something else than what was asked for.
 * Source: spec tools-and-automation §3.1, security-record A6.
 */
const HIJACKS = [
  "NODE_OPTIONS", "NODE_PATH", "PYTHONHOME", "PYTHONPATH", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "BASH_ENV", "ENV", "SHELL", "SHELLOPTS", "PS4", "GCONV_PATH", "IFS", "SSLKEYLOGFILE", "HOME", "ZDOTDIR",
  "DYLD_.*", "LD_.*", "BASH_FUNC_.*", "OPENCLAW_.*",
];

/** More of that kind, which a person may have reasons to set in the configuration, and a call may not. */
const TOOL_HIJACKS = [
  "NODE_EXTRA_CA_CERTS", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONBREAKPOINT", "PYTHONINSPECT", "PERL5DB", "PERLLIB", "LUA_(PATH|CPATH|INIT).*", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE(_USER)?", "R_ENVIRON(_USER)?",
  "JULIA_.*", "TCLLIBPATH", "AWKPATH", "AWKLIBPATH", "CLASSPATH", "_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS", "DOTNET_STARTUP_HOOKS", "CORECLR_.*", "COR_(PROFILER.*|ENABLE_PROFILING)",
  "BASHOPTS", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "FPATH", "LOCPATH", "GLIBC_TUNABLES", "HOSTALIASES", "RESOLV_HOST_CONF", "OPENSSL_(CONF|ENGINES|MODULES)", "MALLOC_.*", "TERMINFO(_DIRS)?", "TERMCAP",
  "GIT_(SSH|SSH_COMMAND|EXTERNAL_DIFF|PAGER|EDITOR|SEQUENCE_EDITOR|ASKPASS|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|DIR|WORK_TREE|CONFIG.*)", "SSH_ASKPASS", "SUDO_ASKPASS",
  "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "HGRCPATH", "HGEDITOR", "SVN_(EDITOR|SSH)", "RSYNC_RSH", "TAR_OPTIONS", "GREP_OPTIONS",
  "npm_.*", "YARN_.*", "PIP_.*", "UV_.*", "BUNDLE_.*", "GEM_(HOME|PATH)", "CARGO_(BUILD|TARGET|HOME).*", "RUSTC.*", "RUSTFLAGS", "RUSTDOC", "GOFLAGS", "GOROOT", "CC", "CXX", "CFLAGS", "LDFLAGS", "MAKEFLAGS", "MAKEFILES",
];

const isHijack = nameTest(HIJACKS);
const isForbiddenToCalls = nameTest([...HIJACKS, ...TOOL_HIJACKS]);

function nameTest(names: readonly string[]): (name: string) => boolean {
  const pattern = new RegExp(`^(${names.join("|")})$`, "i");
  return (name) => pattern.test(name);
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * All that a child gets: nothing is inherited beyond the list. Source: spec decisions §8.2.
 * @throws Error naming the variable that a call may not set
 */
export function childEnvironment(input: ChildEnvironmentInput): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(input.env)) if (value !== undefined && INHERITED.test(key)) env[key] = value;
  for (const [key, value] of Object.entries({ ...input.configEnv, ...input.skillEnv })) if (NAME.test(key) && key.toUpperCase() !== "PATH" && !isHijack(key)) env[key] = value;
  Object.assign(env, callVariables(input.callEnv));
  const folders = [...input.pathPrepend, ...(input.loginPath ?? "").split(delimiter), ...(env["PATH"] ?? "").split(delimiter)].filter((dir) => isAbsolute(dir));
  if (folders.length > 0) env["PATH"] = [...new Set(folders)].join(delimiter);
  return env;
}

/** @throws Error naming the variable that a call may not set */
export function callVariables(fromCall: unknown): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(typeof fromCall === "object" && fromCall !== null ? fromCall : {})) {
    if (key.toUpperCase() === "PATH") throw new Error("Security Violation: Custom 'PATH' variable is forbidden during host execution.");
    if (isForbiddenToCalls(key) || !NAME.test(key)) throw new Error(`Security Violation: Environment variable '${key}' is forbidden during host execution.`);
    if (String(value).includes("\0")) throw new Error(`Environment variable '${key}' must not contain NUL characters.`);
    env[key] = String(value);
  }
  return env;
}

const LOGIN_TIMEOUT_MS = 3000;
const MARK = "__path__";

/** PATH as the person's login shell sets it up, asked for once; undefined when the shell does not say. */
export function createLoginPath(env: Readonly<Record<string, string | undefined>>): () => Promise<string | undefined> {
  let asked: Promise<string | undefined> | undefined;
  return () => (asked ??= new Promise((resolve) => {
    const [shell] = shellOf(env);
    if (process.platform === "win32" || shell === undefined) return resolve(undefined);
    const childEnv = childEnvironment({ env, configEnv: {}, skillEnv: {}, callEnv: undefined, loginPath: undefined, pathPrepend: [] });
    const child = execFile(shell, ["-l", "-c", `printf '${MARK}%s${MARK}' "$PATH"`], { timeout: LOGIN_TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: 1 << 20, env: childEnv }, (_err, stdout) => {
      const found = new RegExp(`${MARK}(.*?)${MARK}`, "s").exec(stdout)?.[1];
      resolve(found === "" ? undefined : found);
    });
    child.stdin?.end();
  }));
}

/** The words before a command's text. fish speaks another language than models do. Source: spec tools-and-automation §3.1. */
export function shellOf(env: Readonly<Record<string, string | undefined>>): string[] {
  if (process.platform === "win32") return ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command"];
  const shell = env["SHELL"]?.trim() || "/bin/sh";
  return [!isAbsolute(shell) || /fish$/.test(shell) ? "/bin/sh" : shell, "-c"];
}
