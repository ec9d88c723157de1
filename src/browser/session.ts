import { mkdir } from "node:fs/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { BrowserConfig } from "../config/index.ts";
import type { Logger } from "../infra/log.ts";
import { findBrowser, type BrowserExecutable } from "./executable.ts";
import { startGuardProxy, type BrowserNetworkPolicy, type GuardProxy } from "./guard-proxy.ts";
import { BrowserError, type BrowserProfile } from "./profiles.ts";

export interface ConsoleEntry {
  readonly level: string;
  readonly text: string;
  readonly atMs: number;
}

/** One page, with what it said and how its dialogs are to be answered. */
export interface Tab {
  readonly id: string;
  readonly page: Page;
  readonly log: ConsoleEntry[];
  nextDialog: { readonly accept: boolean; readonly promptText: string | undefined } | undefined;
  lastDialog: { readonly type: string; readonly message: string; readonly accepted: boolean } | undefined;
}

export interface BrowserSession {
  readonly profile: BrowserProfile;
  readonly executable: BrowserExecutable | undefined;
  readonly isOpen: () => boolean;
  tabs(): Tab[];
  newTab(): Promise<Tab>;
  close(): Promise<void>;
}

export interface OpenBrowserOptions {
  readonly profile: BrowserProfile;
  readonly config: BrowserConfig | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly policy: () => BrowserNetworkPolicy;
  readonly log: Logger;
  readonly now: () => number;
  /** For tests: further flags and environment of the browser. */
  readonly launch?: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> } | undefined;
}

const LAUNCH_TIMEOUT_MS = 30_000;
const DEFAULT_TIMEOUT_MS = 20_000;
const MAX_LOG = 200;
const MAX_LOG_CHARS = 1000;
/** No way around the proxy: no local names, no UDP. */
const ARGS = ["--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--no-default-browser-check", "--disable-features=DialMediaRouteProvider,OptimizationHints"];

/** Starts a browser with a profile of its own, or attaches to one. @throws BrowserError with what to do */
export async function openBrowser(options: OpenBrowserOptions): Promise<BrowserSession> {
  const { profile, config, log } = options;
  const { chromium } = await import("playwright-core");
  if (profile.kind === "remote") {
    const browser = await chromium.connectOverCDP(profile.cdpUrl, { timeout: config?.remoteCdpHandshakeTimeoutMs ?? 3000 }).catch((cause: unknown) => {
      throw new BrowserError(`No browser answers at the cdpUrl of the profile "${profile.name}". Start it with remote debugging, or correct the URL.`, { cause });
    });
    const context = browser.contexts()[0] ?? (await browser.newContext());
    return track(options, context, browser, undefined, undefined);
  }
  const executable = config?.executablePath ? { kind: "configured", path: config.executablePath } : await findBrowser(options.env);
  if (!executable) throw new BrowserError("No Chrome, Chromium, Edge or Brave was found. Install one, or set browser.executablePath.");
  await mkdir(profile.userDataDir, { recursive: true, mode: 0o700 });
  const proxy = await startGuardProxy(options.policy);
  try {
    const context = await chromium.launchPersistentContext(profile.userDataDir, {
      executablePath: executable.path, headless: config?.headless ?? options.env["DISPLAY"] === undefined, timeout: LAUNCH_TIMEOUT_MS, acceptDownloads: false, chromiumSandbox: config?.noSandbox !== true,
      args: [...ARGS, ...(options.launch?.args ?? [])], proxy: { server: proxy.url, bypass: "<-loopback>" }, viewport: { width: 1280, height: 800 },
      env: { ...browserEnv(options.env), ...options.launch?.env },
    });
    return track(options, context, undefined, proxy, executable);
  } catch (cause) {
    await proxy.close();
    const text = cause instanceof Error ? cause.message : String(cause);
    const hint = /sandbox/i.test(text) ? " Set browser.noSandbox if this machine cannot sandbox browsers." : "";
    log.warn("browser not started", { executable: executable.path, err: cause });
    throw new BrowserError(`The browser ${executable.path} did not start.${hint} ${text.split("\n")[0]?.slice(0, 200) ?? ""}`, { cause });
  }
}

/** What a browser needs of our environment, and nothing more. */
function browserEnv(env: OpenBrowserOptions["env"]): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"]) {
    const value = env[name];
    if (value !== undefined) out[name] = value;
  }
  return out;
}

async function track({ profile, log, now }: OpenBrowserOptions, context: BrowserContext, browser: Browser | undefined, proxy: GuardProxy | undefined, executable: BrowserExecutable | undefined): Promise<BrowserSession> {
  const tabs = new Map<Page, Tab>();
  let open = true;
  context.setDefaultTimeout(DEFAULT_TIMEOUT_MS);
  const ended = (): void => {
    open = false;
    proxy?.close().catch((err: unknown) => log.debug("guard proxy not closed", { err }));
  };
  if (browser) browser.once("disconnected", ended);
  else context.once("close", ended);

  async function adopt(page: Page): Promise<Tab> {
    const known = tabs.get(page);
    if (known) return known;
    const tab: Tab = { id: await targetIdOf(context, page), page, log: [], nextDialog: undefined, lastDialog: undefined };
    tabs.set(page, tab);
    const note = (level: string, text: string): void => {
      tab.log.push({ level, text: text.slice(0, MAX_LOG_CHARS), atMs: now() });
      if (tab.log.length > MAX_LOG) tab.log.shift();
    };
    page.on("console", (message) => note(message.type(), message.text()));
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame()) tab.log.length = 0;
    });
    page.on("pageerror", (err) => note("error", err.message));
    page.on("dialog", (dialog) => {
      // A dialog that nobody answers would hold the page for ever.
      const answer = tab.nextDialog ?? { accept: dialog.type() === "beforeunload", promptText: undefined };
      tab.nextDialog = undefined;
      tab.lastDialog = { type: dialog.type(), message: dialog.message().slice(0, MAX_LOG_CHARS), accepted: answer.accept };
      (answer.accept ? dialog.accept(answer.promptText) : dialog.dismiss()).catch((err: unknown) => log.debug("dialog not answered", { err }));
    });
    page.once("close", () => tabs.delete(page));
    return tab;
  }

  context.on("page", (page) => void adopt(page).catch((err: unknown) => log.debug("page not taken in", { err })));
  for (const page of context.pages()) await adopt(page);
  return {
    profile, executable,
    isOpen: () => open,
    tabs: () => [...tabs.values()],
    newTab: async () => adopt(await context.newPage()),
    async close() {
      await (browser ? browser.close() : context.close());
      ended();
    },
  };
}

async function targetIdOf(context: BrowserContext, page: Page): Promise<string> {
  const session = await context.newCDPSession(page);
  try {
    const { targetInfo } = (await session.send("Target.getTargetInfo")) as { targetInfo: { targetId: string } };
    return targetInfo.targetId;
  } finally {
    await session.detach();
  }
}
