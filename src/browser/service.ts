import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserConfig, OpenClawConfig } from "../config/index.ts";
import type { Clock } from "../infra/clock.ts";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import type { Logger } from "../infra/log.ts";
import { act, byRef, refProblem, type ActRequest } from "./act.ts";
import { findBrowser } from "./executable.ts";
import type { BrowserNetworkPolicy } from "./guard-proxy.ts";
import { BrowserError, profileNames, resolveProfile } from "./profiles.ts";
import { openBrowser, type BrowserSession, type OpenBrowserOptions, type Tab } from "./session.ts";
import { shapeSnapshot, snapshotNodes } from "./snapshot.ts";

export interface BrowserServiceOptions {
  readonly config: () => OpenClawConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Origins that may be reached although they are private; for tests. */
  readonly allowOrigins: readonly string[];
  readonly launch?: OpenBrowserOptions["launch"];
}

export interface TabInfo {
  readonly targetId: string;
  readonly url: string;
  readonly title: string;
}

export interface SnapshotRequest {
  readonly format?: "ai" | "aria" | undefined;
  readonly efficient?: boolean | undefined;
  readonly interactive?: boolean | undefined;
  readonly compact?: boolean | undefined;
  readonly depth?: number | undefined;
  readonly selector?: string | undefined;
  readonly frame?: string | undefined;
  readonly maxChars?: number | undefined;
  readonly limit?: number | undefined;
}

/** The agent's browser: one process per profile, started when it is first needed. */
export interface BrowserService {
  isEnabled(): boolean;
  status(profile: string | undefined): Promise<Record<string, unknown>>;
  start(profile: string | undefined): Promise<void>;
  stop(profile: string | undefined): Promise<boolean>;
  profiles(): readonly { readonly name: string; readonly running: boolean; readonly isDefault: boolean }[];
  tabs(profile: string | undefined): Promise<TabInfo[]>;
  open(profile: string | undefined, url: string): Promise<TabInfo>;
  focus(profile: string | undefined, targetId: string): Promise<TabInfo>;
  closeTab(profile: string | undefined, targetId: string | undefined): Promise<void>;
  navigate(profile: string | undefined, targetId: string | undefined, url: string): Promise<TabInfo>;
  snapshot(profile: string | undefined, targetId: string | undefined, request: SnapshotRequest): Promise<Record<string, unknown>>;
  act(profile: string | undefined, targetId: string | undefined, request: ActRequest, timeoutMs: number | undefined): Promise<Record<string, unknown>>;
  /** The file. */
  screenshot(profile: string | undefined, targetId: string | undefined, request: { fullPage?: boolean | undefined; ref?: string | undefined; element?: string | undefined; type?: "png" | "jpeg" | undefined }): Promise<{ path: string; mimeType: string }>;
  pdf(profile: string | undefined, targetId: string | undefined): Promise<{ path: string }>;
  console(profile: string | undefined, targetId: string | undefined, level: string | undefined): Promise<readonly { level: string; text: string }[]>;
  upload(profile: string | undefined, targetId: string | undefined, request: { paths: readonly string[]; ref?: string | undefined; inputRef?: string | undefined; element?: string | undefined }): Promise<void>;
  dialog(profile: string | undefined, targetId: string | undefined, answer: { accept: boolean; promptText: string | undefined }): Promise<Tab["lastDialog"]>;
  close(): Promise<void>;
}

const IDLE_MS = 30 * 60_000;
const MAX_TABS = 20;
const NAVIGATE_MS = 30_000;
const DEFAULT_ACT_MS = 8000;
const MAX_ACT_MS = 60_000;
const SNAPSHOT_CHARS = 80_000;
const EFFICIENT_CHARS = 10_000;
const EFFICIENT_DEPTH = 6;
const SETTLE_MS = 5000;

export function createBrowserService(options: BrowserServiceOptions): BrowserService {
  const { clock, log } = options;
  const sessions = new Map<string, BrowserSession>();
  const current = new Map<string, string>();
  const inOrder = createKeyedQueue();
  let idle: NodeJS.Timeout | undefined;
  const config = (): BrowserConfig | undefined => options.config().browser;
  const isEnabled = (): boolean => config()?.enabled !== false;

  function policy(): BrowserNetworkPolicy {
    const ssrf = config()?.ssrfPolicy;
    return {
      allowPrivateNetwork: ssrf?.dangerouslyAllowPrivateNetwork === true || ssrf?.allowPrivateNetwork === true,
      allowedHostnames: ssrf?.allowedHostnames ?? [], hostnameAllowlist: ssrf?.hostnameAllowlist ?? [], allowOrigins: options.allowOrigins,
    };
  }

  function touch(): void {
    clearTimeout(idle);
    idle = setTimeout(() => void closeAll().catch((err: unknown) => log.warn("idle browsers not closed", { err })), IDLE_MS);
    idle.unref();
  }

  async function closeAll(): Promise<void> {
    const open = [...sessions.values()];
    sessions.clear();
    current.clear();
    await Promise.allSettled(open.map((session) => session.close()));
  }

  /** @throws BrowserError */
  async function session(wanted: string | undefined): Promise<BrowserSession> {
    if (!isEnabled()) throw new BrowserError("The browser is switched off (browser.enabled=false).");
    const profile = resolveProfile(config(), options.stateDir, wanted);
    touch();
    return inOrder(profile.name, async () => {
      const known = sessions.get(profile.name);
      if (known?.isOpen()) return known;
      const opened = await openBrowser({ profile, config: config(), env: options.env, policy, log, now: () => clock.now(), launch: options.launch });
      sessions.set(profile.name, opened);
      return opened;
    });
  }

  async function tabOf(wanted: string | undefined, targetId: string | undefined): Promise<Tab> {
    const own = await session(wanted);
    const tabs = own.tabs();
    const id = targetId ?? current.get(own.profile.name);
    const named = id === undefined ? undefined : (tabs.find((tab) => tab.id === id) ?? only(tabs.filter((tab) => tab.id.toLowerCase().startsWith(id.toLowerCase()))));
    if (targetId !== undefined && !named) throw new BrowserError(`There is no tab ${targetId}. See tabs.`);
    const tab = named ?? tabs.at(-1) ?? (await own.newTab());
    current.set(own.profile.name, tab.id);
    return tab;
  }

  const info = async ({ id, page }: Tab): Promise<TabInfo> => ({ targetId: id, url: page.url(), title: await page.title().catch(() => "") });

  /** Only what the web is made of; where a name leads is checked by the proxy. @throws BrowserError */
  function checkUrl(url: string): string {
    const text = url.trim();
    if (text === "about:blank") return text;
    const full = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`;
    if (!URL.canParse(full) || !/^https?:$/.test(new URL(full).protocol)) throw new BrowserError(`Only http, https and about:blank can be opened, not "${text.slice(0, 100)}".`);
    return full;
  }

  async function go(tab: Tab, url: string): Promise<TabInfo> {
    try {
      const response = await tab.page.goto(checkUrl(url), { timeout: NAVIGATE_MS, waitUntil: "domcontentloaded" });
      if (response?.status() === 403 && (await response.headerValue("content-type")) === "text/plain; charset=utf-8" && (await response.text()).startsWith("Blocked")) throw new BrowserError("Blocked hostname or private/internal/special-use IP address");
    } catch (err) {
      if (err instanceof BrowserError) throw err;
      const text = err instanceof Error ? err.message : String(err);
      throw new BrowserError(/ERR_TUNNEL_CONNECTION_FAILED/.test(text) ? "Blocked hostname or private/internal/special-use IP address, or the server cannot be reached" : (text.split("\n")[0] ?? "the page did not load").replace(/^page\.goto: /, ""), { cause: err });
    }
    return info(tab);
  }

  async function save(bytes: Buffer, extension: string): Promise<string> {
    const dir = join(options.stateDir, "media", "browser");
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const path = join(dir, `${randomUUID()}.${extension}`);
    await writeFile(path, bytes, { mode: 0o600 });
    return path;
  }

  return {
    isEnabled,
    async status(wanted) {
      const profile = resolveProfile(config(), options.stateDir, wanted);
      const running = sessions.get(profile.name);
      const found = config()?.executablePath ? { kind: "configured", path: config()?.executablePath } : await findBrowser(options.env);
      return {
        enabled: isEnabled(), profile: profile.name, running: running?.isOpen() === true, cdpReady: running?.isOpen() === true, cdpUrl: profile.kind === "remote" ? profile.cdpUrl : null,
        chosenBrowser: running?.executable?.kind ?? null, detectedBrowser: found?.kind ?? null, detectedExecutablePath: found?.path ?? null, userDataDir: profile.kind === "managed" ? profile.userDataDir : null,
        headless: config()?.headless ?? options.env["DISPLAY"] === undefined, noSandbox: config()?.noSandbox === true, executablePath: config()?.executablePath ?? null, attachOnly: config()?.attachOnly === true, tabs: running?.tabs().length ?? 0,
      };
    },
    start: async (wanted) => void (await session(wanted)),
    async stop(wanted) {
      const { name } = resolveProfile(config(), options.stateDir, wanted);
      const running = sessions.get(name);
      sessions.delete(name);
      current.delete(name);
      await running?.close();
      return running !== undefined;
    },
    profiles: () => {
      const { name: standard } = resolveProfile(config(), options.stateDir, undefined);
      return profileNames(config()).map((name) => ({ name, running: sessions.get(name)?.isOpen() === true, isDefault: name === standard }));
    },
    tabs: async (wanted) => Promise.all((await session(wanted)).tabs().map(info)),
    async open(wanted, url) {
      checkUrl(url);
      const own = await session(wanted);
      if (own.tabs().length >= MAX_TABS) throw new BrowserError(`There are ${MAX_TABS} tabs already; close one first.`);
      const blank = own.tabs().find((tab) => tab.page.url() === "about:blank");
      const tab = blank ?? (await own.newTab());
      current.set(own.profile.name, tab.id);
      return go(tab, url);
    },
    async focus(wanted, targetId) {
      const tab = await tabOf(wanted, targetId);
      await tab.page.bringToFront();
      return info(tab);
    },
    async closeTab(wanted, targetId) {
      const tab = await tabOf(wanted, targetId);
      await tab.page.close();
      for (const [name, id] of current) if (id === tab.id) current.delete(name);
    },
    navigate: async (wanted, targetId, url) => go(await tabOf(wanted, targetId), url),
    async snapshot(wanted, targetId, request) {
      const { page, id } = await tabOf(wanted, targetId);
      await page.waitForLoadState("domcontentloaded", { timeout: SETTLE_MS }).catch(() => undefined); // a slow page is shown as far as it is
      const efficient = request.efficient ?? config()?.snapshotDefaults?.mode === "efficient";
      const depth = request.depth ?? (efficient ? EFFICIENT_DEPTH : undefined);
      const scope = request.frame ? page.frameLocator(request.frame).locator(request.selector ?? "body") : request.selector ? page.locator(request.selector).first() : page;
      const raw = await scope.ariaSnapshot({ mode: "ai", timeout: SETTLE_MS * 2, ...(depth === undefined ? {} : { depth }) });
      const maxChars = Math.min(SNAPSHOT_CHARS, request.maxChars ?? (efficient ? EFFICIENT_CHARS : SNAPSHOT_CHARS));
      if (request.format === "aria") return { ok: true, format: "aria", targetId: id, url: page.url(), nodes: snapshotNodes(raw).slice(0, request.limit ?? 500) };
      const { text, refs, stats, truncated } = shapeSnapshot(raw, { interactive: request.interactive ?? efficient, compact: request.compact ?? efficient, maxChars });
      return { ok: true, format: "ai", targetId: id, url: page.url(), snapshot: text, refs, stats, ...(truncated ? { truncated } : {}) };
    },
    async act(wanted, targetId, request, timeoutMs) {
      const tab = await tabOf(wanted, targetId);
      try {
        const { result } = await act(tab.page, request, { evaluateEnabled: config()?.evaluateEnabled !== false, timeoutMs: Math.min(MAX_ACT_MS, timeoutMs ?? DEFAULT_ACT_MS) });
        return { ok: true, targetId: tab.id, url: tab.page.isClosed() ? undefined : tab.page.url(), ...(result === undefined ? {} : { result }), ...(tab.lastDialog ? { dialog: tab.lastDialog } : {}) };
      } catch (err) {
        throw err instanceof BrowserError ? err : refProblem(err, request.ref ?? request.startRef);
      }
    },
    async screenshot(wanted, targetId, { fullPage = false, ref, element, type = "png" }) {
      const { page } = await tabOf(wanted, targetId);
      const shot = { type, timeout: NAVIGATE_MS, ...(type === "jpeg" ? { quality: 80 } : {}) } as const;
      try {
        const bytes = ref ? await byRef(page, ref).screenshot(shot) : element ? await page.locator(element).first().screenshot(shot) : await page.screenshot({ ...shot, fullPage, scale: "css" });
        return { path: await save(bytes, type), mimeType: `image/${type}` };
      } catch (err) {
        throw err instanceof BrowserError ? err : refProblem(err, ref);
      }
    },
    async pdf(wanted, targetId) {
      const { page } = await tabOf(wanted, targetId);
      return { path: await save(await page.pdf({ printBackground: true }), "pdf") };
    },
    async console(wanted, targetId, level) {
      const { log: lines } = await tabOf(wanted, targetId);
      return lines.filter((line) => level === undefined || line.level === level || (level === "warn" && line.level === "warning")).map(({ level: own, text }) => ({ level: own, text }));
    },
    async upload(wanted, targetId, { paths, ref, inputRef, element }) {
      const { page } = await tabOf(wanted, targetId);
      try {
        if (inputRef || element) return await (inputRef ? byRef(page, inputRef, "inputRef") : page.locator(element as string).first()).setInputFiles([...paths], { timeout: DEFAULT_ACT_MS });
        const [chooser] = await Promise.all([page.waitForEvent("filechooser", { timeout: DEFAULT_ACT_MS }), byRef(page, ref).click({ timeout: DEFAULT_ACT_MS })]);
        await chooser.setFiles([...paths]);
      } catch (err) {
        throw err instanceof BrowserError ? err : refProblem(err, inputRef ?? ref);
      }
    },
    async dialog(wanted, targetId, answer) {
      const tab = await tabOf(wanted, targetId);
      tab.nextDialog = answer;
      return tab.lastDialog;
    },
    async close() {
      clearTimeout(idle);
      await closeAll();
    },
  };
}

function only(tabs: readonly Tab[]): Tab | undefined {
  return tabs.length === 1 ? tabs[0] : undefined;
}
