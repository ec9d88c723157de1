import type { Fields } from "../plugins/runtime/helpers/index.ts";
import { stripMarkdown } from "./text.ts";

/** Flex cards of LINE. Source: spec channels §3 (LINE), LINE Messaging API (Flex Message). */

export interface FlexBubble {
  readonly type: "bubble";
  readonly [part: string]: unknown;
}

export interface FlexMessage {
  readonly type: "flex";
  readonly altText: string;
  readonly contents: FlexBubble;
}

type Action = Readonly<Record<string, unknown>>;
/** Limits of the platform. */
const MAX_BUTTONS = 4;
const MAX_ROWS = 10;

const text = (value: string, extra: Fields = {}): Fields => ({ type: "text", text: value, wrap: true, ...extra });
const box = (layout: "vertical" | "horizontal" | "baseline", contents: readonly Fields[], extra: Fields = {}): Fields => ({ type: "box", layout, contents, ...extra });
const heading = (title: string): Fields => text(title, { weight: "bold", size: "xl", color: "#111111" });
const paragraph = (body: string): Fields => text(body, { size: "md", color: "#444444", margin: "md" });
const footerOf = (note: string): Fields => box("vertical", [text(note, { size: "xs", color: "#AAAAAA", align: "center" })], { paddingAll: "md" });

const bubble = (contents: readonly Fields[], extra: Fields = {}): FlexBubble => ({ type: "bubble", body: box("vertical", contents, { paddingAll: "xl" }), ...extra });

export const createInfoCard = (title: string, body: string, footer?: string): FlexBubble =>
  bubble([heading(title), paragraph(body)], { size: "mega", ...(footer ? { footer: footerOf(footer) } : {}) });

export interface ListItem {
  readonly title: string;
  readonly subtitle?: string | undefined;
  readonly action?: Action | undefined;
}

export function createListCard(title: string, items: readonly ListItem[]): FlexBubble {
  const rows = items.slice(0, MAX_ROWS).map((item) =>
    box("vertical", [text(item.title, { weight: "bold", size: "md" }), ...(item.subtitle ? [text(item.subtitle, { size: "sm", color: "#888888" })] : [])], { margin: "lg", ...(item.action ? { action: item.action } : {}) }),
  );
  return bubble([heading(title), { type: "separator", margin: "md" }, ...rows], { size: "mega" });
}

const hero = (url: string, extra: { aspectRatio?: string | undefined; aspectMode?: string | undefined; action?: Action | undefined } = {}): Fields => ({
  type: "image", url, size: "full", aspectRatio: extra.aspectRatio ?? "20:13", aspectMode: extra.aspectMode ?? "cover", ...(extra.action ? { action: extra.action } : {}),
});

export const createImageCard = (imageUrl: string, title: string, body?: string, options: { aspectRatio?: string | undefined; aspectMode?: "cover" | "fit" | undefined; action?: Action | undefined } = {}): FlexBubble =>
  bubble([heading(title), ...(body ? [paragraph(body)] : [])], { hero: hero(imageUrl, options) });

export interface CardAction {
  readonly label: string;
  readonly action: Action;
}

export function createActionCard(title: string, body: string, actions: readonly CardAction[], options: { imageUrl?: string | undefined; aspectRatio?: string | undefined } = {}): FlexBubble {
  const buttons = actions.slice(0, MAX_BUTTONS).map(({ label, action }, index): Fields => ({ type: "button", style: index === 0 ? "primary" : "secondary", height: "sm", margin: index === 0 ? "none" : "sm", action: { ...action, label } }));
  return bubble([heading(title), paragraph(body)], {
    ...(options.imageUrl ? { hero: hero(options.imageUrl, options) } : {}),
    ...(buttons.length > 0 ? { footer: box("vertical", buttons, { paddingAll: "lg" }) } : {}),
  });
}

export interface ReceiptLine {
  readonly name: string;
  readonly value: string;
  readonly highlight?: boolean | undefined;
}

export function createReceiptCard(receipt: { readonly title: string; readonly subtitle?: string | undefined; readonly items: readonly ReceiptLine[]; readonly total?: { readonly label: string; readonly value: string } | undefined; readonly footer?: string | undefined }): FlexBubble {
  const row = ({ name, value, highlight }: ReceiptLine): Fields =>
    box("horizontal", [text(name, { size: "sm", color: "#555555", flex: 3 }), text(value, { size: "sm", align: "end", flex: 2, weight: highlight ? "bold" : "regular", color: highlight ? "#06C755" : "#111111" })], { margin: "md" });
  const { total } = receipt;
  return bubble(
    [
      heading(receipt.title), ...(receipt.subtitle ? [text(receipt.subtitle, { size: "sm", color: "#888888" })] : []), { type: "separator", margin: "lg" },
      ...receipt.items.slice(0, 12).map(row), ...(total ? [{ type: "separator", margin: "lg" }, row({ name: total.label, value: total.value, highlight: true })] : []),
    ],
    receipt.footer ? { footer: footerOf(receipt.footer) } : {},
  );
}

const TABLE = /(?:^|\n)(\|?[^\n]*\|[^\n]*)\n(\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?)[ \t]*((?:\n[^\n]*\|[^\n]*)*)/;
const CODE = /(?:^|\n)```([\w+-]*)[^\n]*\n([\s\S]*?)\n?```(?=\n|$)/;

/** Whether a text has anything that LINE would show as raw marks. */
export const hasMarkdownToConvert = (markdown: string): boolean =>
  TABLE.test(markdown) || CODE.test(markdown) || /\*\*[^*\n]+\*\*|__[^_\n]+__|~~[^~\n]+~~|^#{1,6}\s|^>\s|\[[^\]\n]+\]\([^)\s]+\)|(?:^|\s)[*_][^*_\s][^*_\n]*[*_](?=\s|$)/m.test(markdown);

const cells = (line: string): string[] => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => stripMarkdown(cell.trim()));

function tableCard(header: readonly string[], rows: readonly (readonly string[])[]): FlexBubble {
  // Two columns read as names and values.
  if (header.length === 2) return createReceiptCard({ title: header.join(" / "), items: rows.map(([name = "-", value = "-"]) => ({ name, value })) });
  const line = (row: readonly string[], bold: boolean): Fields =>
    box("horizontal", header.map((_, column) => text(row[column] || "-", { size: "sm", flex: 1, weight: bold ? "bold" : "regular" })), { margin: "sm" });
  return bubble([line(header, true), { type: "separator", margin: "sm" }, ...rows.slice(0, MAX_ROWS).map((row) => line(row, false))], { size: "mega" });
}

const codeCard = (language: string, code: string): FlexBubble => {
  const shown = code.length > 2000 ? `${code.slice(0, 1999)}…` : code;
  return bubble([heading(language ? `Code (${language})` : "Code"), box("vertical", [text(shown || " ", { size: "xs", color: "#333333" })], { backgroundColor: "#F5F5F5", cornerRadius: "md", paddingAll: "md", margin: "md" })], { size: "mega" });
};

const flex = (altText: string, contents: FlexBubble): FlexMessage => ({ type: "flex", altText: altText.slice(0, 400), contents });

/** Tables and code blocks of a text as cards, the rest as plain text. */
export function processLineMessage(markdown: string): { text: string; flexMessages: FlexMessage[] } {
  const flexMessages: FlexMessage[] = [];
  let rest = markdown;
  for (let match = CODE.exec(rest); match; match = CODE.exec(rest)) {
    flexMessages.push(flex(match[1] ? `Code (${match[1]})` : "Code", codeCard(match[1] ?? "", match[2] ?? "")));
    rest = `${rest.slice(0, match.index)}\n${rest.slice(match.index + match[0].length)}`;
  }
  const tables: FlexMessage[] = [];
  for (let match = TABLE.exec(rest); match; match = TABLE.exec(rest)) {
    const header = cells(match[1] ?? "");
    const rows = (match[3] ?? "").split("\n").filter((line) => line.trim() !== "").map(cells);
    tables.push(flex(`Table: ${header.join(", ")}`, tableCard(header, rows)));
    rest = `${rest.slice(0, match.index)}\n${rest.slice(match.index + match[0].length)}`;
  }
  const plain = rest.replace(/\[([^\]\n]+)\]\([^)\s]+\)/g, "$1");
  return { text: plain.trim() === "" ? "" : stripMarkdown(plain), flexMessages: [...tables, ...flexMessages] };
}

