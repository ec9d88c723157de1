/** Escape sequences of terminals: CSI, OSC and the like, character sets, single ones. */
const ESCAPES = /\u001B(?:\[[0-9;?<=>!]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)|[()*+#%][A-Za-z0-9]|[0-9A-Za-z=>])/g;
/** Control and format characters could repaint a terminal or hide text; tabs and line ends stay. */
const UNSEEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g;
const PARTIAL_ESCAPE = /\u001B(?:\[[0-9;?<=>!]*[ -/]*|[\]PX^_][^\u0007\u001B]{0,500}\u001B?|[()*+#%])?$/;
const CURSOR_QUERY = /\u001B\[(\??)6n/g;

export function cleanOutput(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(ESCAPES, "").replace(UNSEEN, "").toWellFormed();
}

export interface OutputCleaner {
  /** The readable part of what has come so far; a sequence that is not complete waits for its rest. */
  push(chunk: string): string;
  flush(): string;
}

/** @param answer sends what a terminal would answer when a program asks where the cursor is */
export function createOutputCleaner(answer?: (reply: string) => void): OutputCleaner {
  let held = "";
  return {
    push(chunk) {
      const text = held + chunk;
      const cut = /\r$/.test(text) ? text.length - 1 : text.search(PARTIAL_ESCAPE);
      held = cut < 0 ? "" : text.slice(cut);
      const whole = cut < 0 ? text : text.slice(0, cut);
      for (const query of whole.matchAll(CURSOR_QUERY)) answer?.(`\u001B[${query[1] ?? ""}1;1R`);
      return cleanOutput(whole);
    },
    flush() {
      const rest = cleanOutput(held);
      held = "";
      return rest;
    },
  };
}
