import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepareChromium } from "../../test/support/chromium/index.ts";
import type { BrowserConfig, OpenClawConfig } from "../config/index.ts";
import { silentLogger } from "../infra/log.ts";
import { checkHost, startGuardProxy, type BrowserNetworkPolicy } from "./guard-proxy.ts";
import { resolveProfile } from "./profiles.ts";
import { createBrowserService, type BrowserService } from "./service.ts";
import { shapeSnapshot } from "./snapshot.ts";

const PAGE = `<!doctype html><title>Shop</title><h1>Welcome</h1>
<button onclick="document.getElementById('out').textContent='clicked '+(++window.n)">Buy</button><p id="out">nothing yet</p>
<label>Name <input id="name"></label><label>Size <select><option>S</option><option>L</option></select></label>
<label><input type="checkbox"> Gift</label><form onsubmit="event.preventDefault();document.getElementById('out').textContent='sent '+document.getElementById('name').value"><input aria-label="Query" id="q"><button>Go</button></form>
<a href="/second">Second page</a><input type="file" id="file"><button onclick="document.getElementById('out').textContent=confirm('Sure?')?'yes':'no'">Ask</button>
<button onclick="fetch('http://private.test/').then(r=>r.text()).then(t=>document.getElementById('out').textContent=t).catch(e=>document.getElementById('out').textContent='refused')">Reach</button>
<script>window.n=0;console.log('hello log');console.error('bad thing')</script>`;

let origin = "";
let secret = "";
let browser: BrowserService;
let stateDir = "";
let config: OpenClawConfig;
const closers: (() => Promise<unknown>)[] = [];

async function site(handler: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "browser-"));
  origin = await site((req, res) => {
    res.writeHead(req.url === "/away" ? 302 : 200, { "content-type": "text/html", ...(req.url === "/away" ? { location: `${secret}/x` } : {}) });
    res.end(req.url === "/second" ? "<title>Second</title><p>the second page</p>" : PAGE);
  });
  secret = await site((_req, res) => res.end("top secret"));
  const chromium = await prepareChromium();
  config = { browser: { executablePath: chromium.executablePath, headless: true, noSandbox: true } };
  browser = createBrowserService({ config: () => config, env: chromium.env, stateDir, clock: { now: () => Date.now() }, log: silentLogger, allowOrigins: [origin], launch: { args: chromium.args, env: chromium.env } });
}, 60_000);

afterAll(async () => {
  await browser.close();
  for (const close of closers) await close();
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

const snap = async (request = {}): Promise<string> => String((await browser.snapshot(undefined, undefined, request))["snapshot"]);
const refOf = async (name: RegExp): Promise<string> => {
  const { refs } = (await browser.snapshot(undefined, undefined, {})) as unknown as { refs: Record<string, { role: string; name?: string }> };
  return Object.entries(refs).find(([, item]) => name.test(`${item.role} ${item.name ?? ""}`))?.[0] ?? "none";
};
const act = (request: Parameters<BrowserService["act"]>[2]): ReturnType<BrowserService["act"]> => browser.act(undefined, undefined, request, 4000);

it("is not running until it is needed", async () => {
  expect(await browser.status(undefined)).toMatchObject({ enabled: true, profile: "openclaw", running: false, tabs: 0 });
  expect(browser.profiles()).toEqual([{ name: "openclaw", running: false, isDefault: true }]);
});

it("opens a page, shows it, and does what a person would do", async () => {
  expect(await browser.open(undefined, origin)).toMatchObject({ url: `${origin}/`, title: "Shop" });
  expect(await snap()).toMatch(/heading "Welcome"[\s\S]*button "Buy" \[ref=e\d+\]/);
  await act({ kind: "click", ref: await refOf(/button Buy/) });
  await act({ kind: "click", ref: await refOf(/button Buy/), doubleClick: true });
  expect(await snap()).toContain("clicked 3");
  await act({ kind: "type", ref: await refOf(/textbox Name/), text: "Ann" });
  await act({ kind: "type", ref: await refOf(/textbox Query/), text: "cats", submit: true });
  expect(await snap()).toContain("sent Ann");
  expect(await act({ kind: "select", ref: await refOf(/combobox Size/), values: ["L"] })).toMatchObject({ ok: true, result: ["L"] });
  await act({ kind: "fill", fields: [{ ref: await refOf(/checkbox Gift/), type: "checkbox", value: true }, { ref: await refOf(/textbox Name/), value: "Bob" }] });
  expect(await snap()).toMatch(/checkbox "Gift" \[checked\]/);
  expect(await act({ kind: "evaluate", fn: "() => document.getElementById('name').value" })).toMatchObject({ result: "Bob" });
  await act({ kind: "click", ref: await refOf(/link Second/) });
  await act({ kind: "wait", text: "the second page" });
  expect(await browser.tabs(undefined)).toMatchObject([{ url: `${origin}/second`, title: "Second" }]);
}, 60_000);

it("has forms of the snapshot: only what can be used, as nodes, cut", async () => {
  await browser.navigate(undefined, undefined, origin);
  const interactive = await snap({ interactive: true });
  expect(interactive).toContain('button "Buy"');
  expect(interactive).not.toContain("heading");
  expect((await browser.snapshot(undefined, undefined, { format: "aria", limit: 3 }))["nodes"]).toHaveLength(3);
  expect(await snap({ maxChars: 100 })).toContain("[cut at 100 characters]");
  expect(await snap({ selector: "form" })).not.toContain("Welcome");
}, 30_000);

it("takes pictures and PDFs, reads the console, answers dialogs, gives files", async () => {
  const { path, mimeType } = await browser.screenshot(undefined, undefined, { fullPage: true });
  expect([(await readFile(path)).subarray(1, 4).toString(), mimeType, (await stat(path)).mode & 0o777]).toEqual(["PNG", "image/png", 0o600]);
  expect((await readFile((await browser.pdf(undefined, undefined)).path)).subarray(0, 4).toString()).toBe("%PDF");
  expect(await browser.console(undefined, undefined, "error")).toEqual([{ level: "error", text: "bad thing" }]);
  await act({ kind: "click", ref: await refOf(/button Ask/) });
  expect(await snap()).toContain("no");
  await browser.dialog(undefined, undefined, { accept: true, promptText: undefined });
  expect(await act({ kind: "click", ref: await refOf(/button Ask/) })).toMatchObject({ dialog: { type: "confirm", message: "Sure?", accepted: true } });
  const file = join(stateDir, "a.txt");
  await writeFile(file, "x");
  await browser.upload(undefined, undefined, { paths: [file], element: "#file" });
  expect(await act({ kind: "evaluate", fn: "() => document.getElementById('file').files[0].name" })).toMatchObject({ result: "a.txt" });
}, 30_000);

describe("does not go", () => {
  it.each(["file:///etc/passwd", "chrome://settings", "javascript:alert(1)", "data:text/html,hi", "ftp://example.com"])("to %s", async (url) => {
    await expect(browser.open(undefined, url)).rejects.toThrow("Only http, https and about:blank");
  });
  it("to private places: by address, by redirect, or from a script of the page", async () => {
    await expect(browser.open(undefined, secret)).rejects.toThrow("Blocked hostname or private");
    await expect(browser.navigate(undefined, undefined, `${origin}/away`)).rejects.toThrow("Blocked hostname or private");
    await browser.navigate(undefined, undefined, origin);
    expect(await act({ kind: "evaluate", fn: `() => fetch("${secret}").then((r) => r.text(), () => "refused")` })).toMatchObject({ result: expect.not.stringContaining("top secret") });
    expect(await act({ kind: "evaluate", fn: `() => new Promise((done) => { const s = new WebSocket("${secret.replace("http", "ws")}"); s.onerror = () => done("refused"); s.onopen = () => done("open"); })` })).toMatchObject({ result: "refused" });
  });
});

it("says what is wrong: refs, selectors, kinds, tabs, switches", async () => {
  await expect(act({ kind: "click", ref: "e9999" })).rejects.toThrow('Unknown ref "e9999". Run a new snapshot and use a ref from that snapshot.');
  await expect(act({ kind: "click", ref: "#buy" })).rejects.toThrow("is no ref of a snapshot");
  await expect(act({ kind: "click" })).rejects.toThrow("ref is required");
  await expect(act({ kind: "dance" })).rejects.toThrow('Unknown kind "dance"');
  await expect(browser.focus(undefined, "nope")).rejects.toThrow("There is no tab nope");
  await expect(browser.open("other", origin)).rejects.toThrow('There is no browser profile "other". Known: openclaw.');
  const before = config;
  config = { browser: { ...before.browser, evaluateEnabled: false } };
  await expect(act({ kind: "evaluate", fn: "1" })).rejects.toThrow("browser.evaluateEnabled=false");
  config = { browser: { ...before.browser, enabled: false } };
  await expect(browser.open(undefined, origin)).rejects.toThrow("switched off");
  config = before;
}, 30_000);

it("stops, and starts anew with the same profile", async () => {
  expect(await browser.stop(undefined)).toBe(true);
  expect(await browser.stop(undefined)).toBe(false);
  expect(await browser.status(undefined)).toMatchObject({ running: false });
  await browser.open(undefined, `${origin}/second`);
  expect(await browser.status(undefined)).toMatchObject({ running: true, tabs: 1 });
}, 30_000);

describe("profiles", () => {
  const of = (wanted: string | undefined, browserConfig: BrowserConfig = {}): unknown => resolveProfile(browserConfig, "/s", wanted);
  it("chrome without a relay is the managed one; remote ones have their address", () => {
    expect(of(undefined)).toMatchObject({ kind: "managed", name: "openclaw" });
    expect(of("chrome")).toMatchObject({ name: "openclaw" });
    expect(of("work", { profiles: { work: { cdpUrl: "http://10.0.0.2:9222" } } })).toEqual({ kind: "remote", name: "work", cdpUrl: "http://10.0.0.2:9222" });
    expect(() => of("../x")).toThrow("no profile name");
    expect(() => of("work", { profiles: { work: { driver: "extension" } } })).toThrow("needs the browser extension");
  });
});

describe("the way out", () => {
  const policy = (more: Partial<BrowserNetworkPolicy> = {}): BrowserNetworkPolicy => ({ allowPrivateNetwork: false, allowedHostnames: [], hostnameAllowlist: [], allowOrigins: [], ...more });
  it.each<[string, Partial<BrowserNetworkPolicy>, boolean]>([
    ["127.0.0.1", {}, false], ["localhost", {}, false], ["0.0.0.0", {}, false], ["169.254.169.254", {}, false], ["::1", {}, false], ["::ffff:127.0.0.1", {}, false], ["8.8.8.8", {}, true],
    ["localhost", { allowedHostnames: ["localhost"] }, true], ["127.0.0.1", { allowPrivateNetwork: true }, true], ["8.8.8.8", { hostnameAllowlist: ["example.com"] }, false],
    ["127.0.0.1", { allowOrigins: ["http://127.0.0.1:81"] }, false], ["127.0.0.1", { allowOrigins: ["http://127.0.0.1:80"] }, true],
  ])("to %s with %j: %s", async (host, more, ok) => {
    expect((await checkHost(policy(more), host, 80, ["http"])).ok).toBe(ok);
  });
  it("speaks only as a proxy", async () => {
    const proxy = await startGuardProxy(() => policy());
    expect((await fetch(`${proxy.url}/etc`)).status).toBe(400);
    await proxy.close();
  });
});

it("a snapshot of any text is cut to its limit and names refs that are in it", () => {
  const raw = Array.from({ length: 500 }, (_, i) => `  - button "b${i}" [ref=e${i}]`).join("\n");
  const { text, refs, stats, truncated } = shapeSnapshot(raw, { interactive: false, compact: false, maxChars: 1000 });
  expect(truncated).toBe(true);
  expect(text.length).toBeLessThan(1100);
  expect(Object.keys(refs)).toHaveLength(stats.refs);
  expect(Object.keys(refs).every((ref) => text.includes(`[ref=${ref}]`))).toBe(true);
});
