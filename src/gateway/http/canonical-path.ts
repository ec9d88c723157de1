const MAX_URL_CHARS = 8192;

export interface CanonicalUrl {
  /** Decoded once, single slashes, no dot segments; begins with "/". */
  readonly path: string;
  readonly query: URLSearchParams;
  /** "?…" as sent, or "". */
  readonly search: string;
}

/**
 * The one reading of a request target that every decision is made on (security record C10). Undefined for whatever could
 * be read in two ways: a second layer of encoding, encoded or plain backslashes, dot segments, `;` parameters, control characters.
 */
export function canonicalizeUrl(target: string | undefined): CanonicalUrl | undefined {
  if (!target?.startsWith("/") || target.length > MAX_URL_CHARS) return undefined;
  const end = target.search(/[?#]/);
  const raw = end === -1 ? target : target.slice(0, end);
  const search = end === -1 || target[end] !== "?" ? "" : (target.slice(end).split("#", 1)[0] ?? "");
  let decoded: string;
  try {
    decoded = decodeURIComponent(raw);
  } catch {
    return undefined; // not valid percent-encoded UTF-8
  }
  if (/%[0-9a-f]{2}/i.test(decoded) || /[\\;?#\p{Cc}]/u.test(decoded)) return undefined;
  const path = decoded.replace(/\/{2,}/g, "/");
  if (path.split("/").some((segment) => segment === "." || segment === "..")) return undefined;
  return { path, query: new URLSearchParams(search), search };
}
