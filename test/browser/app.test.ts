import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { answered, composer, say, useBrowser } from "./support.ts";

const browser = useBrowser();

const overflow = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Contrast of every visible text against what lies behind it, the worst first. */
const lowContrast = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (color: string): number[] => {
      if (!canvas) return [0, 0, 0, 0];
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminance = ([r = 0, g = 0, b = 0]: number[]): number => {
      const [x = 0, y = 0, z = 0] = [r, g, b].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const bad: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!element || !node.textContent?.trim() || element.closest(".visually-hidden, :disabled, option, noscript") || !element.checkVisibility()) continue;
      let behind: Element | null = element;
      let ground = [0, 0, 0, 0];
      while (behind && ground[3] !== 255) {
        ground = rgba(getComputedStyle(behind).backgroundColor);
        behind = behind.parentElement;
      }
      const [a, b] = [luminance(rgba(getComputedStyle(element).color)), luminance(ground)].sort((x, y) => y - x) as [number, number];
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) bad.push(`${ratio.toFixed(2)} ${element.className || element.tagName}: ${node.textContent.trim().slice(0, 40)}`);
    }
    return bad;
  });

describe("frame", () => {
  it.each(["light", "dark"] as const)("has readable contrast in the %s theme", async (theme) => {
    const { page, gateway } = await browser.open({ colorScheme: theme });
    await say(page, "give me a tour");
    await answered(page, "What I found");
    await say(page, "use a tool");
    await answered(page, "There are three files.");
    await say(page, "fail please");
    await page.getByText("HTTP 401").waitFor();
    expect(await lowContrast(page)).toEqual([]);
    gateway.state.status = { model: { provider: "offline", model: "guide" }, configError: { path: "gateway.port", message: "must be a number" } };
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByText("Connect a model", { exact: true }).waitFor();
    expect(await lowContrast(page)).toEqual([]);
  });

  it("follows the system's theme until another is chosen, and remembers the choice", async () => {
    const { page } = await browser.open({ colorScheme: "dark" });
    await composer(page).waitFor();
    const theme = (): Promise<string | undefined> => page.evaluate(() => document.documentElement.dataset["theme"]);
    expect(await theme()).toBe("dark");
    await page.emulateMedia({ colorScheme: "light" });
    await expect.poll(theme).toBe("light");
    await page.getByRole("radio", { name: "Dark" }).check();
    expect(await theme()).toBe("dark");
    await page.reload();
    expect(await theme()).toBe("dark");
  });

  it.each([360, 320])("fits a phone of %i px without sideways scrolling", async (width) => {
    const { page, gateway } = await browser.open({ viewport: { width, height: 700 }, hasTouch: true, isMobile: true });
    await say(page, "give me a tour");
    await answered(page, "What I found");
    await say(page, "use a tool");
    await answered(page, "There are three files.");
    expect(await overflow(page)).toBe(0);
    expect(await page.getByRole("log").evaluate((el) => el.scrollWidth - el.clientWidth)).toBe(0);
    gateway.state.status = { model: { provider: "offline", model: "guide" } };
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByText("Connect a model", { exact: true }).waitFor();
    expect(await overflow(page)).toBe(0);
    expect(await page.locator("oc-overview-view").evaluate((el) => el.scrollWidth - el.clientWidth)).toBe(0);
  });

  it("speaks Chinese to a Chinese browser, whole, and switches at once", async () => {
    const { page } = await browser.open({ locale: "zh-CN" });
    await page.getByRole("heading", { name: "我能为您做什么？" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("zh-CN");
    await page.getByRole("link", { name: "概览" }).click();
    await page.getByRole("heading", { name: "渠道" }).waitFor();
    await page.getByLabel("语言").selectOption("en");
    await page.getByRole("heading", { name: "Channels" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Channels" }).waitFor();
  });

  it("can be used by keyboard alone, with the focus visible", async () => {
    const { page } = await browser.open();
    await composer(page).waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press("Tab");
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    const seen = new Set<string>();
    for (let i = 0; i < 24; i++) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const el = document.activeElement as HTMLElement;
        const ring = (el.closest("label") ?? el) as HTMLElement;
        const visible = [el, ring, el.closest(".composer")].some((one) => one && (getComputedStyle(one).outlineStyle !== "none" || getComputedStyle(one).boxShadow !== "none"));
        return { name: el.getAttribute("aria-label") ?? el.textContent?.trim() ?? "", visible, tag: el.tagName };
      });
      seen.add(at.name);
      if (at.tag !== "BODY") expect(at).toMatchObject({ visible: true });
      if (at.tag === "TEXTAREA") break;
    }
    expect([...seen]).toEqual(expect.arrayContaining(["Collapse navigation", "Language", "Chat", "Show thinking", "New session", "Message"]));
    await page.keyboard.type("by keyboard");
    await page.keyboard.press("Enter");
    await answered(page, "pong: by keyboard");
  });

  it("works under a base path, deep links included", async () => {
    const { page, gateway } = await browser.open({ path: "/healthz" });
    gateway.config = { gateway: { auth: { mode: "token", token: "dev-gateway-token" }, controlUi: { basePath: "/claw" } } };
    await page.goto(`${gateway.url}/claw/overview#token=dev-gateway-token`);
    await page.getByRole("heading", { name: "Channels" }).waitFor();
    await page.getByRole("link", { name: "Chat" }).click();
    await say(page, "below a path");
    await answered(page, "pong: below a path");
    expect(new URL(page.url()).pathname).toBe("/claw/chat");
    await page.reload();
    await answered(page, "pong: below a path");
  });

  it("names every control for a screen reader", async () => {
    const { page } = await browser.open();
    await say(page, "use a tool");
    await answered(page, "There are three files.");
    const nameless = (): Promise<string[]> =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("button, a, input, select, textarea")]
          .filter((el) => el.checkVisibility() && !el.closest("[aria-hidden=true]"))
          .filter((el) => !(el.getAttribute("aria-label") || el.textContent?.trim() || (el as HTMLInputElement).labels?.length))
          .map((el) => el.outerHTML.slice(0, 120)),
      );
    expect(await nameless()).toEqual([]);
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Channels" }).waitFor();
    expect(await nameless()).toEqual([]);
  });
});

describe("overview", () => {
  it("approves a person who wrote for the first time", async () => {
    const { page, gateway } = await browser.open({ path: "/healthz" });
    await page.goto(`${gateway.url}/overview#token=dev-gateway-token`);
    await page.getByRole("button", { name: "Approve: Ada Lovelace (880099)" }).click();
    await page.getByText("Ada Lovelace (880099) may now talk to your assistant.").waitFor();
    expect(gateway.calls.find((call) => call.method === "channels.pairing.approve")?.params).toEqual({ channel: "telegram", code: "K7QX2M9P", accountId: "default" });
    await expect.poll(() => page.getByRole("button", { name: /^Approve/ }).count()).toBe(0);
  });

  it("renames and deletes sessions, and opens them", async () => {
    const { page, gateway } = await browser.open();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("button", { name: "Rename: Mei" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Mei Lin");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Delete: Mei Lin" }).click();
    await page.keyboard.press("Escape");
    expect(gateway.state.sessions).toHaveLength(3);
    await page.getByRole("button", { name: "Delete: Mei Lin" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => gateway.state.sessions.length).toBe(2);
    await page.getByRole("link", { name: /Discord · builders/ }).click();
    await composer(page).waitFor();
    expect(page.url()).toContain("discord");
  });

  it("shows a problem of the config file and how to connect a model when there is none", async () => {
    const { page, gateway } = await browser.open({ path: "/healthz" });
    gateway.state.status = { model: { provider: "offline", model: "guide", reason: "no key found" }, configError: { path: "gateway.port", message: "must be a number" } };
    await page.goto(gateway.dashboard);
    await page.getByText("the built-in offline guide answers").waitFor();
    await page.getByRole("link", { name: "Connect a model" }).click();
    await page.getByText("The config file has a problem").waitFor();
    await page.getByText("gateway.port").waitFor();
    await page.getByText("ollama pull").waitFor();
  });

  it("asks before a command runs", async () => {
    const { page, gateway } = await browser.open();
    await composer(page).waitFor();
    const now = Date.now();
    gateway.ws.broadcast("exec.approval.requested", { id: "ap-1", request: { command: "rm -rf build", host: "gateway", cwd: "/srv" }, createdAtMs: now, expiresAtMs: now + 60_000 });
    await page.getByRole("dialog").getByText("rm -rf build").waitFor();
    await page.getByRole("button", { name: "Deny" }).click();
    await expect.poll(() => gateway.calls.find((call) => call.method === "exec.approval.resolve")?.params).toEqual({ id: "ap-1", decision: "deny" });
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});
