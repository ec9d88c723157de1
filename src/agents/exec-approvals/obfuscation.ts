/** Where a command's text hides what it will do, so that it is asked about even where an allow-list or nothing would be. */
export interface Obfuscation {
  readonly id: string;
  readonly says: string;
}

const SHELL = String.raw`(?:sudo\s+)?(?:\S*\/)?(?:ba|da|z|k|mk|a|fi|tc|c)?sh\b`;
const INTERPRETER = String.raw`(?:sudo\s+)?(?:\S*\/)?(?:python[\d.]*|node|perl|ruby|php)\b`;
const RUNNER = `(?:${SHELL}|${INTERPRETER})`;
const DOWNLOAD = String.raw`\b(?:curl|wget|fetch|aria2c)\b[^|;&\n]*`;

const CLASSES: readonly (Obfuscation & { readonly pattern: RegExp })[] = [
  { id: "base64-to-shell", says: "text decoded from base64 goes into a shell", pattern: new RegExp(String.raw`\bbase(?:64|32)\b[^|\n]*(?:-d|-D|--decode)\b[^|\n]*\|(?:[^|\n]*\|)*\s*${RUNNER}|openssl\s+(?:enc\s+)?-?(?:base64\b[^|\n]*-d|enc\b[^|\n]*-d)[^|\n]*\|\s*${RUNNER}`) },
  { id: "hex-to-shell", says: "text decoded from hex goes into a shell", pattern: new RegExp(String.raw`\bxxd\b[^|\n]*-[a-z]*r[^|\n]*\|\s*${RUNNER}|\b(?:unhex|od|hexdump)\b[^|\n]*\|\s*${RUNNER}`) },
  { id: "printf-to-shell", says: "escaped text of printf or echo goes into a shell", pattern: new RegExp(String.raw`\b(?:printf|echo\s+-[a-zA-Z]*e)\b[^|\n]*\\(?:x[0-9a-fA-F]{1,2}|0?[0-7]{2,3}|u[0-9a-fA-F]{4})[^|\n]*\|\s*${RUNNER}`) },
  { id: "eval-decode", says: "decoded text is evaluated", pattern: /\b(?:eval|source|exec)\b[^;\n]*(?:\$\(|`)[^;\n]*\b(?:base64|base32|xxd|printf|openssl|rev|tr|gunzip|zcat)\b/ },
  { id: "decode-substitution", says: "decoded text is run as a command", pattern: new RegExp(String.raw`${RUNNER}\s+-[a-z]*c\s+["']?(?:\$\(|\x60)[^\n]*\b(?:base64|base32|xxd|printf|openssl|rev|curl|wget)\b`) },
  { id: "eval-download", says: "downloaded text is evaluated", pattern: /\b(?:eval|source|\.)\s[^;\n]*(?:\$\(|`|<\()\s*(?:curl|wget)\b/ },
  { id: "download-to-shell", says: "a download goes into a shell", pattern: new RegExp(String.raw`${DOWNLOAD}\|(?:[^|\n]*\|)*\s*${RUNNER}`) },
  { id: "pipe-to-shell", says: "the output of a command goes into a shell", pattern: new RegExp(String.raw`\|\s*(?:env\s+)?${SHELL}(?:\s+-[a-z]+)*\s*(?:-\s*)?(?:$|[;&|\n)])`, "m") },
  { id: "process-substitution", says: "a shell reads the output of another command", pattern: new RegExp(String.raw`(?:${RUNNER}|\bsource|(?:^|[;&|\s])\.)\s+[^;|&\n]*<\(`) },
  { id: "shell-heredoc", says: "a shell reads a here-document", pattern: new RegExp(String.raw`${RUNNER}[^;|&\n]*<<-?\s*["'\\]?\w`) },
  { id: "here-string", says: "a shell reads a here-string", pattern: new RegExp(String.raw`${RUNNER}[^;|&\n]*<<<`) },
  { id: "octal-escapes", says: "the command is written in octal escapes", pattern: /\$'[^'\n]*(?:\\[0-7]{2,3}){2,}/ },
  { id: "hex-escapes", says: "the command is written in hex escapes", pattern: /\$'[^'\n]*(?:\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{2,4})){2,}/ },
  { id: "scripted-exec", says: "a script on the command line runs decoded text or other programs", pattern: new RegExp(String.raw`${INTERPRETER}\s+-[a-zA-Z]*[cer]\b[^\n]*\b(?:exec|eval|compile|os\.system|subprocess|child_process|b64decode|fromCharCode|unhexlify|__import__)\b`) },
  { id: "variable-assembly", says: "the command is put together from variables", pattern: /(?:^|[;&|\s])(\w+)=[^\s;&|]{1,12}[;\s]+(?:\w+=[^\s;&|]{1,12}[;\s]+)+(?:eval\s+)?["']?(?:\$\{?\w+\}?){2,}/ },
];

/** Well-known installers that ask to be piped into a shell. Source: spec tools-and-automation §3.5. */
const INSTALLERS: readonly RegExp[] = [
  /^https:\/\/raw\.githubusercontent\.com\/Homebrew\/install\/[\w./-]+\.sh$/, /^https:\/\/raw\.githubusercontent\.com\/nvm-sh\/nvm\/[\w./-]+\.sh$/, /^https:\/\/sh\.rustup\.rs\/?$/,
  /^https:\/\/get\.docker\.com\/?$/, /^https:\/\/install\.python-poetry\.org\/?$/, /^https:\/\/get\.pnpm\.io\/install\.sh$/, /^https:\/\/bun\.sh\/install$/, /^https:\/\/bun\.com\/install$/,
];
const EXEMPT_CLASSES: ReadonlySet<string> = new Set(["download-to-shell", "pipe-to-shell", "decode-substitution"]);

/** The classes of hiding that a command shows; empty for an ordinary one. */
export function findObfuscation(command: string): Obfuscation[] {
  const flat = command.normalize("NFKC").replace(/\\\n/g, "");
  const isInstaller = onlyKnownInstaller(command);
  return CLASSES.filter(({ id, pattern }) => pattern.test(flat) && !(isInstaller && EXEMPT_CLASSES.has(id))).map(({ id, says }) => ({ id, says }));
}

/** Exactly one address, and that of an installer: another one beside it is not covered by its good name. */
function onlyKnownInstaller(command: string): boolean {
  const urls = command.match(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`|;&()<>]+/gi) ?? [];
  const [only] = urls;
  return urls.length === 1 && only !== undefined && INSTALLERS.some((pattern) => pattern.test(only)) && !/\\|--(config|proxy|resolve|connect-to|url)|\s-[A-Za-z]*[xK]\b/.test(command);
}
