import { Observable } from "./observable.ts";

export type View = "chat" | "overview";

/** Paths of the dashboard that people have bookmarked, and where they lead. */
const PATHS: Readonly<Record<string, View>> = {
  chat: "chat",
  overview: "overview",
  channels: "overview",
  instances: "overview",
  sessions: "overview",
  nodes: "overview",
  config: "overview",
  usage: "overview",
  cron: "overview",
  agents: "overview",
  skills: "overview",
  debug: "overview",
  logs: "overview",
};

/** The page's address: `<base>/chat?session=…` or `<base>/overview`. */
export class Router extends Observable {
  /** "" or "/prefix", without a slash at its end. */
  readonly base: string;
  view: View;
  session: string | undefined;

  constructor() {
    super();
    const { base, view } = parse(location.pathname);
    this.base = base;
    this.view = view;
    this.session = sessionOf(location.search);
    addEventListener("popstate", () => {
      this.view = parse(location.pathname).view;
      this.session = sessionOf(location.search);
      this.notify();
    });
  }

  href(view: View, session?: string): string {
    const query = view === "chat" && session ? `?session=${encodeURIComponent(session)}` : "";
    return `${this.base}/${view}${query}`;
  }

  /** Puts the session that is shown into the address, so that going back leads to it. */
  adopt(session: string): void {
    this.session = session;
    history.replaceState(null, "", this.href(this.view, session));
  }

  go(view: View, session: string | undefined = this.session, replace = false): void {
    if (view === this.view && session === this.session) return;
    this.view = view;
    this.session = session;
    history[replace ? "replaceState" : "pushState"](null, "", this.href(view, session));
    this.notify();
  }
}

function parse(path: string): { base: string; view: View } {
  const trimmed = path.replace(/\/+$/, "");
  const last = trimmed.slice(trimmed.lastIndexOf("/") + 1);
  const view = Object.hasOwn(PATHS, last) ? PATHS[last] : undefined;
  return view ? { base: trimmed.slice(0, -last.length - 1), view } : { base: trimmed, view: "chat" };
}

const sessionOf = (search: string): string | undefined => new URLSearchParams(search).get("session")?.trim() || undefined;

/**
 * Takes `#token=…` out of the address, so that it stands neither in the history nor over the shoulder. A token in the
 * query is removed unread: queries end up in logs.
 */
export function takeFragmentToken(): string | undefined {
  const url = new URL(location.href);
  const fragment = new URLSearchParams(url.hash.replace(/^#/, ""));
  const token = fragment.get("token")?.trim() || undefined;
  const session = fragment.get("session");
  const secret = ["token", "password"];
  const dirty = secret.some((name) => fragment.has(name) || url.searchParams.has(name)) || fragment.has("gatewayUrl");
  if (!dirty) return token;
  for (const name of [...secret, "gatewayUrl"]) {
    fragment.delete(name);
    url.searchParams.delete(name);
  }
  if (session) url.searchParams.set("session", session);
  fragment.delete("session");
  url.hash = fragment.toString();
  history.replaceState(null, "", url.pathname + url.search + (url.hash === "#" ? "" : url.hash));
  return token;
}

/** A token as pasted: itself, or the dashboard link that holds it. */
export function tokenFromInput(input: string): string {
  const text = input.trim().replace(/^["']|["']$/g, "");
  const at = text.indexOf("#");
  return (at >= 0 ? new URLSearchParams(text.slice(at + 1)).get("token") : undefined) ?? text;
}
