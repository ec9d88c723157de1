import type { IncomingMessage, ServerResponse } from "node:http";

/** Paths of callbacks. Source: spec plugin-sdk §10, §14. */

/** `a/` → `/a`; nothing → `/`. */
export function normalizeWebhookPath(raw: string): string {
  const path = raw.trim();
  if (path === "") return "/";
  const rooted = path.startsWith("/") ? path : `/${path}`;
  return rooted.length > 1 ? rooted.replace(/\/+$/, "") || "/" : rooted;
}

/** The path, else that of the URL, else the default; null when there is none. */
export function resolveWebhookPath(input: { readonly webhookPath?: string | undefined; readonly webhookUrl?: string | undefined; readonly defaultPath?: string | null | undefined }): string | null {
  const path = input.webhookPath?.trim();
  if (path) return normalizeWebhookPath(path);
  const url = input.webhookUrl?.trim();
  if (url) return URL.canParse(url) ? normalizeWebhookPath(new URL(url).pathname) : null;
  return input.defaultPath ?? null;
}

/** As routes of plugins are compared: a slash in front; undefined or empty → `fallback`, and null without one. */
export function normalizePluginHttpPath(path?: string | null, fallback?: string | null): string | null {
  const chosen = [path, fallback].map((value) => value?.trim() ?? "").find((value) => value !== "");
  if (chosen === undefined) return null;
  return chosen.startsWith("/") ? chosen : `/${chosen}`;
}

export interface WebhookTarget {
  readonly path: string;
}

/** Puts a target under its normalised path; several may share one. */
export function registerWebhookTarget<T extends WebhookTarget>(targetsByPath: Map<string, T[]>, target: T): { target: T; unregister: () => void } {
  const path = normalizeWebhookPath(target.path);
  const own = { ...target, path };
  targetsByPath.set(path, [...(targetsByPath.get(path) ?? []), own]);
  return {
    target: own,
    unregister() {
      const rest = (targetsByPath.get(path) ?? []).filter((entry) => entry !== own);
      if (rest.length > 0) targetsByPath.set(path, rest);
      else targetsByPath.delete(path);
    },
  };
}

export function resolveWebhookTargets<T>(req: IncomingMessage, targetsByPath: Map<string, T[]>): { path: string; targets: T[] } | null {
  const url = URL.parse(req.url ?? "/", "http://localhost");
  const path = normalizeWebhookPath(url?.pathname ?? "/");
  const targets = targetsByPath.get(path);
  return targets && targets.length > 0 ? { path, targets } : null;
}

export type SingleTarget<T> = { readonly kind: "none" } | { readonly kind: "single"; readonly target: T } | { readonly kind: "ambiguous" };

const pick = <T>(matched: readonly T[]): SingleTarget<T> => {
  const [target] = matched;
  if (target === undefined) return { kind: "none" };
  return matched.length === 1 ? { kind: "single", target } : { kind: "ambiguous" };
};

/** The one target that a callback is for, e.g. by its token; two that fit are refused rather than guessed at. */
export const resolveSingleWebhookTarget = <T>(targets: readonly T[], isMatch: (target: T) => boolean): SingleTarget<T> => pick(targets.filter(isMatch));

export async function resolveSingleWebhookTargetAsync<T>(targets: readonly T[], isMatch: (target: T) => Promise<boolean>): Promise<SingleTarget<T>> {
  const matched: T[] = [];
  for (const target of targets) if (await isMatch(target)) matched.push(target);
  return pick(matched);
}

/** Answers 405 to anything but POST. true: answered. */
export function rejectNonPostWebhookRequest(req: IncomingMessage, res: ServerResponse): boolean {
  if (req.method === "POST") return false;
  res.statusCode = 405;
  res.setHeader("Allow", "POST");
  res.end("Method Not Allowed");
  return true;
}
