import { createHash } from "node:crypto";

const MAX_SLUG_CHARS = 32;
const MAX_NAME_CHARS = 63;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * `<slug>-<hash>` of a scope, the same for ever. The root stands in the hash, since gateways with different state
 * directories may use one engine. Source: spec tools-and-automation §4.
 */
export function sandboxSlug(scopeKey: string, workspaceRoot: string): string {
  const slug = scopeKey.toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+/, "").slice(0, MAX_SLUG_CHARS).replace(/[-._]+$/, "");
  return `${slug || "session"}-${sha256(`${workspaceRoot}\0${scopeKey}`).slice(0, 8)}`;
}

export function containerName(prefix: string, slug: string): string {
  return slug.length + prefix.length <= MAX_NAME_CHARS ? `${prefix}${slug}` : `${prefix.slice(0, MAX_NAME_CHARS - slug.length)}${slug}`;
}

/** Equal for equal settings, whatever the order of their keys. */
export function configHash(value: unknown): string {
  return sha256(JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "object" && inner !== null && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner)));
}
