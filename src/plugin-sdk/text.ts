import { stripVTControlCharacters } from "node:util";
import { chunkPlainText } from "../infra/text/index.ts";
import { errorText } from "../infra/errors.ts";
import { redactSecrets } from "../infra/redact.ts";
import { markdownToText } from "../channels/format/index.ts";
import { SILENT_REPLY_TOKEN } from "./values.ts";

/** Small functions over texts. Source: spec plugin-sdk §14. */

/** The text begins or ends with the token as a word: nothing is to be sent. */
export function isSilentReplyText(text: string | undefined, token: string = SILENT_REPLY_TOKEN): boolean {
  if (!text) return false;
  const word = escapeRegExp(token);
  return new RegExp(`^\\s*${word}(?=$|\\W)`).test(text) || new RegExp(`(?:^|\\W)${word}\\W*$`).test(text);
}

export const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
export const stripAnsi = (text: string): string => stripVTControlCharacters(text);
export const redactSensitiveText = (text: string): string => redactSecrets(text);
export const formatErrorMessage = (err: unknown): string => redactSecrets(errorText(err));

/** What is left to read when the marks of Markdown are gone. */
export const stripMarkdown = (markdown: string): string => markdownToText(markdown, { linkify: false }).trim();

/** Texts of at most `limit` characters; a limit of 0 or less is none. */
export function chunkTextForOutbound(text: string, limit: number): string[] {
  if (text === "") return [];
  return limit > 1 && text.length > limit ? chunkPlainText(text, limit) : [text];
}

const DOCS_ROOT = "https://docs.openclaw.ai";

/** The address of a page; on a terminal a link that shows `label`. */
export function formatDocsLink(path: string, label?: string, options: { fallback?: string | undefined; force?: boolean | undefined } = {}): string {
  const trimmed = path.trim();
  const url = /^https?:\/\//.test(trimmed) ? trimmed : `${DOCS_ROOT}/${trimmed.replace(/^\/+/, "")}`;
  const isTerminal = options.force ?? process.stdout.isTTY === true;
  return isTerminal && label ? `\u001b]8;;${url}\u0007${label}\u001b]8;;\u0007` : (options.fallback ?? url);
}

/** undefined when it is no JSON. */
export function safeParseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // the caller asked whether it is JSON
  }
}

export const clamp = (value: number, min: number, max: number): number => Math.max(min, Math.min(max, value));

/** `1`, `true`, `yes`, `on` in any case. */
export const isTruthyEnvValue = (value: string | undefined): boolean => /^(?:1|true|yes|on)$/i.test(value?.trim() ?? "");

/** Bytes of a WebSocket frame in any of their forms, as text. */
export function rawDataToString(data: Buffer | ArrayBuffer | readonly Buffer[] | string, encoding: BufferEncoding = "utf8"): string {
  if (typeof data === "string") return data;
  if (Buffer.isBuffer(data)) return data.toString(encoding);
  if (data instanceof ArrayBuffer) return Buffer.from(data).toString(encoding);
  return Buffer.concat(data).toString(encoding);
}

/** Digits with a `+`; prefixes such as `whatsapp:` are dropped. */
export function normalizeE164(raw: string): string {
  const digits = raw.replace(/^(?:whatsapp|sms|tel|signal):/i, "").trim().replace(/[^\d+]/g, "").replace(/(?!^)\+/g, "");
  return digits.startsWith("+") ? digits : `+${digits}`;
}

/** `#General Chat` as `general-chat`. */
export function normalizeChannelSlug(value: string): string {
  return value.trim().toLowerCase().replace(/^#/, "").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
}

export interface LogTarget {
  readonly channel: string;
  readonly target?: string | undefined;
}
type LogLine = (message: string) => void;
const at = (target: string | undefined): string => (target ? ` target=${target}` : "");

export function logInboundDrop(line: LogTarget & { readonly log: LogLine; readonly reason: string }): void {
  line.log(`${line.channel}: drop ${line.reason}${at(line.target)}`);
}

export function logTypingFailure(line: LogTarget & { readonly log: LogLine; readonly error: unknown; readonly action?: "start" | "stop" | undefined }): void {
  line.log(`${line.channel} typing${line.action ? ` action=${line.action}` : ""} failed${at(line.target)}: ${formatErrorMessage(line.error)}`);
}

export function logAckFailure(line: LogTarget & { readonly log: LogLine; readonly error: unknown }): void {
  line.log(`${line.channel} ack cleanup failed${at(line.target)}: ${formatErrorMessage(line.error)}`);
}

/** Logs which names of a list became ids and which did not, six of each. */
export function summarizeMapping(label: string, mapping: readonly string[], unresolved: readonly string[], runtime: { readonly log?: LogLine | undefined }): void {
  const some = (list: readonly string[]): string => `${list.slice(0, 6).join(", ")}${list.length > 6 ? ` (+${list.length - 6})` : ""}`;
  const parts = [mapping.length > 0 ? `${label} resolved: ${some(mapping)}` : "", unresolved.length > 0 ? `${label} unresolved: ${some(unresolved)}` : ""].filter(Boolean);
  if (parts.length > 0) runtime.log?.(parts.join("\n"));
}
