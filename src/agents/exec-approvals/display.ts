/** Characters that could repaint a terminal, turn text around, hide it, or pass for an ordinary blank. */
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u00A0\u034F\u115F\u1160\u1680\u17B4\u17B5\u2000-\u200A\u202F\u205F\u3000\u3164\uFFA0]`;
const ALL_UNSEEN = new RegExp(UNSEEN, "gu");
const UNSEEN_BUT_TAB = new RegExp(`(?!\\t)${UNSEEN}`, "u");

/** Whether a person would misread a line of text. Tabs count as seen. */
export const hasUnseen = (text: string): boolean => UNSEEN_BUT_TAB.test(text);

/** A command for the eyes of an approver: everything is there, what cannot be seen is written out. Line ends stay. */
export function showCommand(command: string): string {
  return command.replace(ALL_UNSEEN, (char) => (char === "\n" ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`));
}

/** The same on one line: in a notice no part of it can pass for a line of its own. */
export const showOnOneLine = (command: string): string => showCommand(command).replaceAll("\n", "\\n");
