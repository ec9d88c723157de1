const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "pwsh", "powershell", "cmd"]);

/** Options that change neither which program is run nor what is loaded before it, by the interpreter's name without its version. */
const SCRIPT_RUNNERS: Readonly<Record<string, RegExp>> = {
  python: /^-[uBOIEsS]+$/, pypy: /^-[uBOIEsS]+$/, node: /^--(no-warnings|trace-warnings|enable-source-maps)$/, nodejs: /^--(no-warnings|trace-warnings|enable-source-maps)$/,
  ruby: /^-w$/, perl: /^-[wT]+$/, php: /(?!)/, lua: /(?!)/, luajit: /(?!)/, rscript: /^--vanilla$/, julia: /(?!)/, groovy: /(?!)/, scala: /(?!)/, tclsh: /(?!)/, wish: /(?!)/,
  guile: /(?!)/, tsx: /(?!)/, "ts-node": /(?!)/, make: /^(-j\d*|-s|-k|-B)$/, gmake: /^(-j\d*|-s|-k|-B)$/,
};
const SHELL_FLAGS = /^-[eux]+$/;

/** Programs that are a language themselves, whatever their words are, or that fetch what they run. */
const ALWAYS_CODE = new Set([
  "awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "npx", "pnpx", "bunx", "uvx", "pipx", "deno", "bun", "m4", "osascript", "sqlite", "sqlite3", "gs", "irb", "ghci", "runghc", "jshell",
  "sbcl", "r", "gdb", "lldb", "powershell", "pwsh", "cmd",
]);

const family = (name: string): string => name.replace(/[\d.]+$/, "") || name;

export const isShell = (name: string): boolean => SHELLS.has(name);

/** Does what a text tells it to do: allowing it for good would allow everything. */
export const isInterpreter = (name: string): boolean => SHELLS.has(name) || ALWAYS_CODE.has(name) || ALWAYS_CODE.has(family(name)) || Object.hasOwn(SCRIPT_RUNNERS, family(name));

/**
 * An interpreter that is handed its program on the command line, by an option or from its input, so that no file says what it
 * will do. An option that is not known to be harmless counts as one of these.
 */
export function hasInlineCode(name: string, argv: readonly string[]): boolean {
  if (!isInterpreter(name)) return false;
  if (ALWAYS_CODE.has(name) || ALWAYS_CODE.has(family(name))) return true;
  if (argv.length === 2 && /^(--version|--help|-V)$/.test(argv[1] ?? "")) return false;
  if (/^g?make$/.test(name) && argv.some((word) => word.includes("="))) return true;
  const script = scriptOperand(name, argv);
  return script === undefined || script.startsWith("-") || /^\/(dev|proc)\//.test(script);
}

/** The file that an interpreter runs: its first word that is no harmless option. */
export function scriptOperand(name: string, argv: readonly string[]): string | undefined {
  if (!isInterpreter(name)) return undefined;
  const harmless = isShell(name) ? SHELL_FLAGS : (SCRIPT_RUNNERS[family(name)] ?? /(?!)/);
  return argv.slice(1).find((word) => !harmless.test(word));
}

/** The program text of `sh -c '…'`; undefined when this is no such call, or not a plain one. */
export function shellProgram(name: string, argv: readonly string[]): string | undefined {
  return isShell(name) && /^-[le]*c$/.test(argv[1] ?? "") && argv.length === 3 ? argv[2] : undefined;
}

/** Options by which programs that are harmless otherwise run others. */
const EXEC_OPTIONS: Readonly<Record<string, RegExp>> = {
  find: /^-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$/,
  tar: /^(--(to-c|checkpoint-a|use-c|info-s|new-volume-s|rsh-c).*|-[A-Za-z]*[IF].*)$/,
  git: /^(-c|--config-env.*|--exec-path.*|--upload-pack.*|--receive-pack.*|--exec.*|-[xuO].*|--open-files-in-pager.*|foreach|filter-branch|run)$/,
  sort: /^--compress-p.*$/,
  rg: /^--(pre|hostname-bin)(=.*)?$/,
  fd: /^(-[xX].*|--exec(-batch)?(=.*)?)$/,
  ssh: /^-[A-Za-z]*[oF].*$/,
  rsync: /^(-[A-Za-z]*e.*|--rsh.*|--rsync-path.*)$/,
  zip: /^(-[A-Za-z]*TT.*|--unzip-command.*)$/,
  man: /^(-[PH].*|--pager.*|--html.*)$/,
};

/** The word by which this call runs another program; undefined when it has none that is known. */
export function execOption(name: string, argv: readonly string[]): string | undefined {
  const rule = Object.hasOwn(EXEC_OPTIONS, name) ? EXEC_OPTIONS[name] : undefined;
  return rule && argv.slice(1).find((word) => rule.test(word));
}
