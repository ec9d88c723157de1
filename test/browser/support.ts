import { chromium } from "playwright-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import { startDevGateway } from "../support/dev-gateway/index.ts";
import type { DevGateway } from "../support/dev-gateway/index.ts";

export interface OpenPage {
  readonly page: Page;
  readonly gateway: DevGateway;
  /** What must stay empty: errors of the page, policy violations, requests to other hosts. */
  readonly faults: string[];
}

export interface PageOptions extends BrowserContextOptions {
  readonly gateway?: DevGateway;
  /** Where to go instead of the dashboard link. */
  readonly path?: string;
  /** The resolver of the browser: name → address. */
  readonly expectFaults?: boolean;
}

/** One browser per file; each page with a gateway and storage of its own. After every test the page must be without fault. */
export function useBrowser(launchArgs: readonly string[] = []): { open(options?: PageOptions): Promise<OpenPage> } {
  const box: { browser?: Browser } = {};
  const contexts: BrowserContext[] = [];
  const gateways: DevGateway[] = [];
  const checks: (() => void)[] = [];

  beforeAll(async () => {
    const launch = inject("chromium");
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

  return {
    async open(options = {}) {
      const { gateway: given, path, expectFaults, ...contextOptions } = options;
      const gateway = given ?? (await startDevGateway());
      if (!given) gateways.push(gateway);
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
