/** Characters that could repaint a terminal, turn text around or hide it from who decides. */
const MASKED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u00A0\u034F\u115F\u1160\u1680\u17B4\u17B5\u2000-\u200A\u202F\u205F\u3000\u3164\uFFA0]/gu;

/** A command for the eyes of an approver: everything is there, what cannot be seen is written out. Line ends stay. */
export function showCommand(command: string): string {
  return command.replace(MASKED, (char) => (char === "\n" ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`));
}
