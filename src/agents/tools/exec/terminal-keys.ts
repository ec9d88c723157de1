const ESC = "\u001B";

const NAMED: Readonly<Record<string, string>> = {
  enter: "\r", return: "\r", tab: "\t", escape: ESC, esc: ESC, space: " ", bspace: "\u007F", backspace: "\u007F",
  up: `${ESC}[A`, down: `${ESC}[B`, right: `${ESC}[C`, left: `${ESC}[D`, home: `${ESC}[1~`, end: `${ESC}[4~`,
  ic: `${ESC}[2~`, insert: `${ESC}[2~`, dc: `${ESC}[3~`, delete: `${ESC}[3~`, pageup: `${ESC}[5~`, ppage: `${ESC}[5~`, pgup: `${ESC}[5~`, pagedown: `${ESC}[6~`, npage: `${ESC}[6~`, pgdn: `${ESC}[6~`, btab: `${ESC}[Z`,
  f1: `${ESC}OP`, f2: `${ESC}OQ`, f3: `${ESC}OR`, f4: `${ESC}OS`, f5: `${ESC}[15~`, f6: `${ESC}[17~`, f7: `${ESC}[18~`, f8: `${ESC}[19~`, f9: `${ESC}[20~`, f10: `${ESC}[21~`, f11: `${ESC}[23~`, f12: `${ESC}[24~`,
  "kp/": `${ESC}Oo`, "kp*": `${ESC}Oj`, "kp-": `${ESC}Om`, "kp+": `${ESC}Ok`, kpenter: `${ESC}OM`, "kp.": `${ESC}On`,
  ...Object.fromEntries([..."0123456789"].map((digit, at) => [`kp${digit}`, `${ESC}O${"pqrstuvwxy"[at] ?? ""}`])),
};

/** Number of a modified key in CSI sequences. */
const MODIFIER_BITS = { S: 1, M: 2, C: 4 } as const;
type Modifier = keyof typeof MODIFIER_BITS;

/** What a terminal sends for keys named like tmux names them: `enter`, `C-c`, `^x`, `M-left`. @throws Error naming the key */
export function encodeKeys(keys: readonly string[]): string {
  return keys.map(encodeKey).join("");
}

function encodeKey(key: string): string {
  const caret = /^\^(.)$/u.exec(key);
  if (caret) return control(caret[1] as string, key);
  let rest = key;
  const modifiers = new Set<Modifier>();
  for (let match = /^([CMScms])-(.+)$/su.exec(rest); match; match = /^([CMScms])-(.+)$/su.exec(rest)) {
    modifiers.add((match[1] as string).toUpperCase() as Modifier);
    rest = match[2] as string;
  }
  const named = Object.hasOwn(NAMED, rest.toLowerCase()) ? NAMED[rest.toLowerCase()] : undefined;
  if (named !== undefined) return modifiers.size === 0 ? named : modifyNamed(named, modifiers, rest);
  if ([...rest].length !== 1) throw new Error(`Unknown key ${key}. Use names like enter, tab, escape, up, f5, C-c, M-x, or literal for text.`);
  const shifted = modifiers.has("S") ? rest.toUpperCase() : rest;
  const code = modifiers.has("C") ? control(shifted, key) : shifted;
  return modifiers.has("M") ? ESC + code : code;
}

function control(char: string, key: string): string {
  if (char === "?") return "\u007F";
  const code = char === " " ? 0 : char.toUpperCase().charCodeAt(0) - 64;
  if (code < 0 || code > 31) throw new Error(`Unknown key ${key}: there is no control character for it.`);
  return String.fromCharCode(code);
}

function modifyNamed(sequence: string, modifiers: ReadonlySet<Modifier>, name: string): string {
  const number = 1 + [...modifiers].reduce((sum, modifier) => sum + MODIFIER_BITS[modifier], 0);
  const csi = new RegExp(`^${ESC}\\[(\\d*)([A-Z~])$`).exec(sequence);
  const ss3 = new RegExp(`^${ESC}O([P-S])$`).exec(sequence);
  if (name.toLowerCase() === "tab" && modifiers.size === 1 && modifiers.has("S")) return `${ESC}[Z`;
  if (csi) return csi[2] === "~" ? `${ESC}[${csi[1]};${number}~` : `${ESC}[1;${number}${csi[2]}`;
  if (ss3) return `${ESC}[1;${number}${ss3[1]}`;
  const plain = modifiers.has("C") && sequence.length === 1 && sequence === " " ? "\u0000" : sequence;
  return modifiers.has("M") ? ESC + plain : plain;
}

/** @throws Error naming what is no byte */
export function encodeHex(bytes: readonly string[]): string {
  return bytes.map((byte) => {
    const match = /^(?:0x)?([0-9a-f]{1,2})$/i.exec(byte.trim());
    if (!match) throw new Error(`"${byte}" is no byte in hex, like 1b or 0x0d.`);
    return String.fromCharCode(Number.parseInt(match[1] as string, 16));
  }).join("");
}

/** Pasted text is framed, so that a program does not take its line ends for enter; a frame inside of it cannot end it early. */
export const encodePaste = (text: string, bracketed: boolean): string => {
  const inner = text.replaceAll(`${ESC}[201~`, "").replace(/\r?\n/g, "\r");
  return bracketed ? `${ESC}[200~${inner}${ESC}[201~` : inner;
};
