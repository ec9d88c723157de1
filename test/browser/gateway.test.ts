import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, inject, it } from "vitest";
import { answered, composer, say, useBrowser } from "./support.ts";
import type { Dashboard } from "./support.ts";

const browser = useBrowser();

/** The gateway as a process of its own, in an empty home. */
async function startGateway(): Promise<Dashboard & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), "openclaw-ui-"));
  await writeFile(join(home, "openclaw.json"), JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: "T" }, controlUi: { root: inject("controlUiDir") } } }), { mode: 0o600 });
  const env = { HOME: home, PATH: process.env["PATH"] ?? "", SHELL: "/bin/bash", OPENCLAW_STATE_DIR: home, OPENCLAW_SKIP_LOCAL_MODELS: "1" };
  const child = spawn(process.execPath, [join(import.meta.dirname, "../support/gateway-child.ts")], { env, stdio: ["ignore", "pipe", "ignore"] });
  let port = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    port = Number(/^listening (\d+)$/.exec(line)?.[1] ?? port);
    if (line === "ready") break;
  }
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    dashboard: `${url}/#token=T`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

describe("with the real gateway", () => {
  it("answers on a fresh install by the offline guide, survives a reload, and tells how to connect a model", async () => {
    await using gateway = await startGateway();
    const { page } = await browser.open({ gateway });
    await page.getByText("the built-in offline guide answers").waitFor();
    await say(page, "hello");
    await page.locator(".message.assistant:not(.streaming)").first().waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
    const first = await page.locator(".message.assistant").first().innerText();
    await page.reload();
    await page.locator(".message.assistant").first().waitFor();
    expect((await page.locator(".message.assistant").first().innerText()).slice(0, 60)).toBe(first.slice(0, 60));
    expect(await page.locator(".message.user .user-text").allInnerTexts()).toEqual(["hello"]);
    await say(page, "list files");
    await page.locator("details.tool-done").first().waitFor();
    await answered(page, "AGENTS.md");
    await composer(page).pressSequentially("/stat");
    await page.getByRole("option", { name: /status/ }).waitFor();
    await composer(page).press("Escape");
    await say(page, "/status");
    await answered(page, "offline/guide");
    await page.getByRole("link", { name: "Connect a model" }).click();
    await page.getByRole("heading", { name: "Connect a model" }).waitFor();
    await page.getByText("ollama pull").waitFor();
    await page.getByRole("link", { name: /Main session/ }).click();
    await composer(page).waitFor();
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByRole("button", { name: "Start new session" }).click();
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  });
});
