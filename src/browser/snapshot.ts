export interface SnapshotOptions {
  readonly interactive: boolean;
  readonly compact: boolean;
  readonly maxChars: number;
}

const INTERACTIVE = /^(?:button|link|textbox|checkbox|radio|combobox|listbox|option|tab|menuitem|menuitemcheckbox|menuitemradio|switch|slider|searchbox|spinbutton|treeitem)$/;
const STRUCTURE = /^(?:generic|group|none|presentation|list|listitem|table|rowgroup|row|section|document|region|article|main|paragraph)$/;
const LINE = /^(\s*)- (?:'?"?)([a-z]+)(?:\s+"((?:[^"\\]|\\.)*)")?/;

export interface SnapshotNode {
  readonly ref: string;
  readonly role: string;
  readonly name: string;
  readonly depth: number;
}

export interface ShapedSnapshot {
  readonly text: string;
  readonly refs: Readonly<Record<string, { readonly role: string; readonly name?: string | undefined }>>;
  readonly stats: { readonly lines: number; readonly chars: number; readonly refs: number; readonly interactive: number };
  readonly truncated: boolean;
}

/** The page as lines for a model, cut to what was asked for. Source: spec tools-and-automation part 2 §11.2. */
export function shapeSnapshot(raw: string, { interactive, compact, maxChars }: SnapshotOptions): ShapedSnapshot {
  const lines = raw.split("\n").filter((line) => {
    const match = LINE.exec(line);
    if (!match) return !interactive;
    const [, , role = "", name] = match;
    if (interactive) return INTERACTIVE.test(role);
    return !(compact && STRUCTURE.test(role) && !name && !/:\s+\S/.test(line));
  });
  const shown = interactive ? lines.map((line) => line.trimStart()) : lines;
  let text = shown.join("\n");
  const truncated = text.length > maxChars;
  if (truncated) {
    const cut = text.lastIndexOf("\n", maxChars);
    text = `${text.slice(0, cut > 0 ? cut : maxChars)}\n[cut at ${maxChars} characters]`;
  }
  const nodes = snapshotNodes(text);
  return {
    text, truncated,
    refs: Object.fromEntries(nodes.map(({ ref, role, name }) => [ref, { role, ...(name ? { name } : {}) }])),
    stats: { lines: text === "" ? 0 : text.split("\n").length, chars: text.length, refs: nodes.length, interactive: nodes.filter(({ role }) => INTERACTIVE.test(role)).length },
  };
}

export function snapshotNodes(text: string): SnapshotNode[] {
  return text.split("\n").flatMap((line) => {
    const match = LINE.exec(line);
    const ref = /\[ref=([A-Za-z0-9]+)\]/.exec(line)?.[1];
    return match && ref !== undefined ? [{ ref, role: match[2] ?? "", name: (match[3] ?? "").replace(/\\(.)/g, "$1"), depth: Math.floor((match[1] ?? "").length / 2) }] : [];
  });
}
