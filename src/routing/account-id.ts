import { DEFAULT_ACCOUNT_ID } from "../pairing/index.ts";

const MAX_CHARS = 64;

/** Lower case, `[a-z0-9_-]`; anything else becomes `-`, and what is nothing (or a name of Object's own) becomes `default`. Source: spec plugin-sdk §14. */
export function normalizeAccountId(raw: string | null | undefined): string {
  return normalizeOptionalAccountId(raw) ?? DEFAULT_ACCOUNT_ID;
}

/** The same, but undefined where no account is named. */
export function normalizeOptionalAccountId(raw: string | null | undefined): string | undefined {
  const id = (raw ?? "").trim().toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, MAX_CHARS);
  return id === "" || id in {} ? undefined : id;
}
