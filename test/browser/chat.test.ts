import { describe, expect, it } from "vitest";
import { answered, composer, PNG_BASE64, say, useBrowser } from "./support.ts";

const browser = useBrowser();
const MAIN = "agent:main:main";

describe("chat", () => {
  it("streams an answer into view and keeps it after a reload", async () => {
    const { page } = await browser.open();
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await say(page, "hello there, how are you");
    await page.locator(".message.streaming", { hasText: "pong" }).waitFor();
    await answered(page, "pong: hello there, how are you");
    await page.reload();
    await answered(page, "pong: hello there, how are you");
    expect(await page.locator(".message.user").count()).toBe(1);
    expect(await page.locator(".message.assistant").count()).toBe(1);
  });

  it("shows tools while they run, then their output", async () => {
    const { page } = await browser.open();
    await say(page, "use a tool");
    await page.locator(".tool-running[data-tool=exec]", { hasText: "ls -la" }).waitFor();
    await answered(page, "There are three files.");
    const card = page.locator("details.tool[data-tool=exec]");
    await card.locator("summary").click();
    await card.getByText("notes.txt").waitFor();
    await page.locator("details.tool-failed[data-tool=read]").waitFor();
    expect(await page.locator("details.tool").count()).toBe(2);
    await page.reload();
    await answered(page, "There are three files.");
    expect(await page.locator("details.tool").count()).toBe(2);
    expect(await page.locator(".message.assistant").allInnerTexts()).toHaveLength(2);
  });

  it("stops an answer, keeps its beginning, and shows it once after a reload", async () => {
    const { page } = await browser.open();
    await say(page, "hold on");
    await page.getByText("One two three").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped").waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
    await page.reload();
    await page.getByText("One two three").waitFor();
    expect(await page.getByText("One two three").count()).toBe(1);
  });

  it("queues while an answer is written, keeps the queue over a reload, and sends it afterwards", async () => {
    const { page, gateway } = await browser.open();
    await say(page, "hold on");
    await page.getByText("One two three").waitFor();
    await say(page, "queued question");
    await say(page, "dropped question");
    await page.getByText("Queued (2)").waitFor();
    await page.getByRole("button", { name: "Remove from queue: dropped question" }).click();
    await page.reload();
    await page.getByText("Queued (1)").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await answered(page, "pong: queued question");
    expect(gateway.chat.sent.map((sent) => sent.message)).toEqual(["hold on", "queued question"]);
    expect(await page.getByText(/^Queued \(/).count()).toBe(0);
  });

  it("attaches images by file dialog, paste and drop, and can remove them", async () => {
    const { page, gateway } = await browser.open();
    await composer(page).waitFor();
    const buffer = Buffer.from(PNG_BASE64, "base64");
    await page.locator("input[type=file]").setInputFiles([{ name: "one.png", mimeType: "image/png", buffer }]);
    await page.getByRole("img", { name: "one.png" }).waitFor();
    for (const kind of ["paste", "drop"] as const) {
      await page.evaluate(
        ([base64, how]) => {
          const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
          const transfer = new DataTransfer();
          transfer.items.add(new File([bytes], `${how}.png`, { type: "image/png" }));
          const area = document.querySelector("textarea");
          if (how === "paste") area?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
          else for (const type of ["dragenter", "dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
        },
        [PNG_BASE64, kind] as const,
      );
      await page.getByRole("img", { name: `${kind}.png` }).waitFor();
    }
    await page.getByRole("button", { name: "Remove one.png" }).click();
    await page.locator("input[type=file]").setInputFiles([{ name: "no.txt", mimeType: "text/plain", buffer: Buffer.from("x") }]);
    await page.getByText("Only images can be attached here: no.txt is none.").waitFor();
    await say(page, "look");
    await answered(page, "pong: look");
    expect(await page.locator(".message.user img").count()).toBe(2);
    expect(gateway.chat.sent[0]?.attachments).toEqual([
      { type: "image", mimeType: "image/png", fileName: "paste.png", content: PNG_BASE64 },
      { type: "image", mimeType: "image/png", fileName: "drop.png", content: PNG_BASE64 },
    ]);
  });

  it("completes slash commands by keyboard", async () => {
    const { page, gateway } = await browser.open();
    await composer(page).pressSequentially("/st");
    await page.getByRole("listbox", { name: "Commands" }).waitFor();
    await composer(page).press("ArrowDown");
    await composer(page).press("ArrowUp");
    await composer(page).press("Tab");
    expect(await composer(page).inputValue()).toBe("/status");
    expect(await page.getByRole("listbox").count()).toBe(0);
    await composer(page).press("Enter");
    await answered(page, "OpenClaw: model mock/gpt-4o");
    await composer(page).pressSequentially("/thi");
    await composer(page).press("Enter");
    expect(await composer(page).inputValue()).toBe("/think ");
    await composer(page).pressSequentially("hi");
    await composer(page).press("Enter");
    expect(await composer(page).inputValue()).toBe("/think high");
    await composer(page).press("Escape");
    expect(gateway.chat.sent.map((sent) => sent.message)).toEqual(["/status"]);
  });

  it("does not send while an input method composes, and makes new lines with Shift+Enter", async () => {
    const { page, gateway } = await browser.open();
    await composer(page).fill("你好");
    await composer(page).dispatchEvent("keydown", { key: "Enter", isComposing: true, keyCode: 229 });
    await composer(page).press("Shift+Enter");
    await composer(page).pressSequentially("世界");
    expect(gateway.chat.sent).toEqual([]);
    await composer(page).press("Enter");
    await answered(page, "pong: 你好");
    expect(gateway.chat.sent[0]?.message).toBe("你好\n世界");
  });

  it("says why an answer failed and sends again on retry", async () => {
    const { page, gateway } = await browser.open();
    await say(page, "fail please");
    await page.getByText("HTTP 401: invalid api key").waitFor();
    await page.getByRole("button", { name: "Retry" }).click();
    await expect.poll(() => gateway.chat.sent.length).toBe(2);
    await page.getByRole("button", { name: "Dismiss" }).click();
    expect(await page.getByText("HTTP 401").count()).toBe(0);
  });

  it("renders hostile text as text", async () => {
    const { page } = await browser.open();
    await say(page, "attack me");
    await answered(page, "pixel");
    expect(await page.evaluate(() => (globalThis as { __pwned?: number }).__pwned)).toBeUndefined();
    const inside = await page.evaluate(() => {
      const root = document.querySelector(".markdown");
      return {
        bad: root?.querySelectorAll("script,svg,iframe,style,img,[onerror],[onclick],[style]").length,
        links: [...(root?.querySelectorAll("a") ?? [])].map((link) => [link.getAttribute("href"), link.rel]),
      };
    });
    expect(inside.bad).toBe(0);
    expect(inside.links).toEqual([["https://tracker.example.net/pixel.png", "noopener noreferrer"]]);
    await page.getByText('<img src=x onerror="window.__pwned=1">').first().waitFor();
  });

  it("renders tables, lists and code, with a copy button", async () => {
    const { page } = await browser.open();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await say(page, "give me a tour");
    await answered(page, "What I found");
    expect(await page.locator("td.align-right").count()).toBe(3);
    await expect.poll(() => page.locator(".thinking").count()).toBe(1);
    await page.locator(".code-copy").click();
    await page.locator(".code-copy", { hasText: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("export const greet");
    await page.locator(".thinking summary").first().click();
    await page.getByText("The user wants a summary").waitFor();
    await page.getByRole("button", { name: "Show thinking" }).click();
    expect(await page.locator(".thinking").count()).toBe(0);
  });

  it("follows a long answer, stays where the reader scrolled to, and leads back to new messages", async () => {
    const { page, gateway } = await browser.open();
    await say(page, "a long one");
    await answered(page, "Paragraph 60");
    const box = page.getByRole("log");
    const below = (): Promise<number> => box.evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight);
    await expect.poll(below).toBeLessThan(5);
    await box.evaluate((el) => el.scrollTo(0, 0));
    await page.getByRole("button", { name: "Jump to the latest message" }).waitFor();
    gateway.chat.send({ sessionKey: MAIN, message: "from elsewhere", idempotencyKey: "other" });
    await page.getByRole("button", { name: "New messages" }).click();
    await expect.poll(below).toBeLessThan(5);
    await answered(page, "pong: from elsewhere");
  });

  it("begins a new session after asking, without leftovers", async () => {
    const { page } = await browser.open();
    await say(page, "old talk");
    await answered(page, "pong: old talk");
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByRole("button", { name: "Start new session" }).click();
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    expect(await page.getByText("old talk", { exact: false }).count()).toBe(0);
  });

  it("switches sessions, and writes right-to-left text from the right", async () => {
    const { page } = await browser.open();
    await composer(page).waitFor();
    await page.getByLabel("Session", { exact: true }).selectOption({ label: "Mei" });
    await expect.poll(() => page.url()).toContain("session=agent%3Amain%3Atelegram");
    await say(page, "שלום עולם");
    await page.locator(".bubble[dir=rtl]").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  });

  it("stays smooth with 200 messages while text streams", async () => {
    const { page, gateway } = await browser.open({ path: "/healthz" });
    const messages = Array.from({ length: 200 }, (_, i) => ({ role: i % 2 ? "assistant" : "user", content: [{ type: "text", text: `Message **${i}** with \`code\` and words.\n\n- a\n- b` }], timestamp: Date.now() - 1_000_000 + i }));
    gateway.chat.histories.set(MAIN, messages);
    await page.goto(gateway.dashboard);
    await page.getByText("Message 199").waitFor();
    const slow = await page.evaluate(() => {
      const list: number[] = [];
      new PerformanceObserver((entries) => list.push(...entries.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
      (globalThis as { slow?: number[] }).slow = list;
      return list.length;
    });
    expect(slow).toBe(0);
    await say(page, "a long one");
    await answered(page, "Paragraph 60");
    const worst = await page.evaluate(() => Math.max(0, ...((globalThis as { slow?: number[] }).slow ?? [])));
    expect(worst).toBeLessThan(250);
  });
});
