import { LOCALE_KEY, loadSettings, saveSettings } from "../gateway/storage.ts";
import { en } from "./en.ts";
import type { Dictionary, TextKey } from "./en.ts";
import { zhCN } from "./zh-CN.ts";

export type { TextKey } from "./en.ts";
export type Locale = "en" | "zh-CN";

const DICTIONARIES: Readonly<Record<Locale, Dictionary>> = { en, "zh-CN": zhCN };

/** Each language under its own name, so that a reader finds theirs. */
export const LOCALES: readonly { readonly id: Locale; readonly name: string }[] = [
  { id: "en", name: "English" },
  { id: "zh-CN", name: "简体中文" },
];

const listeners = new Set<() => void>();
// The language is the page's, as its URL is: one per document.
const current = { locale: initialLocale() };

function toLocale(tag: string | null | undefined): Locale | undefined {
  const lower = (tag ?? "").toLowerCase();
  if (lower.startsWith("zh")) return "zh-CN";
  return lower.startsWith("en") ? "en" : undefined;
}

function initialLocale(): Locale {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(LOCALE_KEY);
  } catch {
    // Storage is off: the browser's language.
  }
  const wanted = [loadSettings().locale, stored, ...navigator.languages];
  return wanted.map(toLocale).find((locale) => locale !== undefined) ?? "en";
}

export const locale = (): Locale => current.locale;

export function setLocale(next: Locale): void {
  current.locale = next;
  saveSettings({ locale: next });
  try {
    localStorage.setItem(LOCALE_KEY, next);
  } catch {
    // Kept for this page only.
  }
  applyLocale();
  for (const listener of [...listeners]) listener();
}

/** Tells the browser and screen readers which language the page speaks. */
export function applyLocale(): void {
  document.documentElement.lang = current.locale;
  document.title = t("app.title");
}

export function onLocaleChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return DICTIONARIES[current.locale][key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
