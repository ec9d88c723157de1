import { t } from "../i18n/index.ts";
import type { SessionRow } from "../overview-store.ts";

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** What a person calls a session: its label, else where it comes from. */
export function sessionName(key: string, row?: SessionRow): string {
  if (row?.label) return row.label;
  const parts = key.split(":");
  const rest = parts[0] === "agent" ? parts.slice(2) : parts;
  const agent = parts[0] === "agent" && parts[1] !== "main" ? parts[1] : undefined;
  const name = row?.displayName || row?.derivedTitle || placeName(rest);
  const main = rest.length === 1 && rest[0] === "main" ? t("chat.mainSession") : name;
  return agent ? `${main} · ${agent}` : main;
}

function placeName(rest: readonly string[]): string {
  const [place = "", ...where] = rest;
  if (place === "main" || place === "") return t("chat.mainSession");
  const id = where.at(-1);
  return id ? `${capital(place)} · ${id}` : capital(place);
}
