import { chromium } from "playwright-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import type { ChromiumLaunch } from "../support/chromium/index.ts";
import { startDevGateway } from "../support/dev-gateway/index.ts";
import type { DevGateway } from "../support/dev-gateway/index.ts";

/** A gateway to be looked at. */
export type Dashboard = Pick<DevGateway, "port" | "url" | "dashboard">;

export interface OpenPage<G extends Dashboard = DevGateway> {
  readonly page: Page;
  readonly gateway: G;
  /** What must stay empty: errors of the page, policy violations, requests to other hosts. */
  readonly faults: string[];
}

export interface PageOptions<G extends Dashboard = DevGateway> extends BrowserContextOptions {
  /** Instead of one of the test's own. */
  readonly gateway?: G;
  /** Where to go instead of the dashboard link. */
  readonly path?: string;
  /** The test looks at the faults itself. */
  readonly expectFaults?: boolean;
}

interface OpenFunction {
  (options?: Omit<PageOptions, "gateway">): Promise<OpenPage>;
  <G extends Dashboard>(options: PageOptions<G> & { readonly gateway: G }): Promise<OpenPage<G>>;
}

/** One browser per file; each page with a gateway and storage of its own. After every test the page must be without fault. */
export function useBrowser(launchArgs: readonly string[] = []): { open: OpenFunction } {
  const box: { browser?: Browser } = {};
  const contexts: BrowserContext[] = [];
  const gateways: DevGateway[] = [];
  const checks: (() => void)[] = [];

  beforeAll(async () => {
    const launch: ChromiumLaunch = inject("chromium");
    box.browser = await chromium.launch({ executablePath: launch.executablePath, env: { ...launch.env }, args: [...launch.args, ...launchArgs], headless: true });
  });
  afterAll(async () => {
    await box.browser?.close();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    for (const gateway of gateways.splice(0)) await gateway[Symbol.asyncDispose]();
    for (const check of checks.splice(0)) check();
  });

  async function show<G extends Dashboard>(gateway: G, options: Omit<PageOptions, "gateway">): Promise<OpenPage<G>> {
    const { path, expectFaults, ...contextOptions } = options;
    if (!box.browser) throw new Error("the browser is not running");
    const context = await box.browser.newContext({ viewport: { width: 1100, height: 760 }, locale: "en-US", ...contextOptions });
    contexts.push(context);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error") faults.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (/^(?:https?|wss?):$/.test(url.protocol) && url.port !== String(gateway.port)) faults.push(`foreign request: ${request.url()}`);
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => console.error(`policy violation: ${event.violatedDirective} ${event.blockedURI}`));
    });
    if (!expectFaults) checks.push(() => expect(faults).toEqual([]));
    await page.goto(path === undefined ? gateway.dashboard : `${gateway.url}${path}`);
    return { page, gateway, faults };
  }

  return {
    open: async <G extends Dashboard>(options: PageOptions<G> = {}) => {
      const { gateway, ...rest } = options;
      if (gateway) return show(gateway, rest);
      const own = await startDevGateway({ assetsDir: inject("controlUiDir") });
      gateways.push(own);
      return show(own, rest) as Promise<OpenPage<DevGateway & G>>;
    },
  };
}

export const composer = (page: Page) => page.getByRole("combobox", { name: /^(?:Message|消息)$/ });

/** Types and sends, as a person at the keyboard. */
export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** Resolves when an answer with this text is complete. */
export async function answered(page: Page, text: string): Promise<void> {
  await page.locator(".message.assistant:not(.streaming)", { hasText: text }).first().waitFor();
}

/** A picture of one colour, as a file dialog or clipboard would give it. */
export const PNG_BASE64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
