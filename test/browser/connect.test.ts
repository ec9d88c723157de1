import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, inject, it } from "vitest";
import { startDevGateway, TOKEN } from "../support/dev-gateway/index.ts";
import { answered, composer, say, useBrowser } from "./support.ts";

const HOST = "claw.example.test";
const browser = useBrowser([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]);

/** Before the gateway, as a proxy that tells where requests really come from: its clients are not local. */
async function startProxy(target: number): Promise<{ port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => socket.destroy()));
    client.once("data", (head) => {
      upstream.write(head.toString("latin1").replace("\r\n", "\r\nX-Forwarded-For: 203.0.113.9\r\n"), "latin1");
      client.pipe(upstream);
    });
    upstream.pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

describe("connecting", () => {
  it("takes the token from the link, keeps it, and leaves no trace of it in the address", async () => {
    const { page } = await browser.open();
    await composer(page).waitFor();
    expect(page.url()).not.toContain(TOKEN);
    const stored = await page.evaluate(() => ({
      settings: JSON.parse(localStorage.getItem("openclaw.control.settings.v1") ?? "{}"),
      identity: JSON.parse(localStorage.getItem("openclaw-device-identity-v1") ?? "{}"),
      auth: JSON.parse(localStorage.getItem("openclaw.device.auth.v1") ?? "{}"),
    }));
    expect(stored.settings.token).toBe(TOKEN);
    expect(stored.identity).toMatchObject({ version: 1, deviceId: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(stored.auth.deviceId).toBe(stored.identity.deviceId);
    expect(stored.auth.tokens.operator.token).toMatch(/^[\w-]{43}$/);
    await page.reload();
    await composer(page).waitFor();
  });

  it("never uses a token from the query, and removes it", async () => {
    const { page } = await browser.open({ path: `/?token=${TOKEN}` });
    await page.getByRole("heading", { name: "This page needs your gateway token" }).waitFor();
    expect(page.url()).not.toContain("token");
  });

  it("asks for the token, says when it is wrong, and takes a pasted dashboard link", async () => {
    const { page, gateway } = await browser.open({ path: "/" });
    const field = page.getByRole("textbox", { name: "Gateway token" });
    await field.fill("wrong");
    await field.press("Enter");
    await page.getByRole("heading", { name: "That token is not the right one" }).waitFor();
    await page.getByText("openclaw dashboard --no-open").waitFor();
    await field.fill(gateway.dashboard);
    await field.press("Enter");
    await composer(page).waitFor();
  });

  it("comes in by its device key when the shared token is gone, and by the shared token when the device key is not valid", async () => {
    const { page } = await browser.open();
    await composer(page).waitFor();
    await page.evaluate(() => localStorage.setItem("openclaw.control.settings.v1", JSON.stringify({ token: "" })));
    await page.reload();
    await composer(page).waitFor();
    await page.evaluate((token) => {
      localStorage.setItem("openclaw.control.settings.v1", JSON.stringify({ token }));
      const auth = JSON.parse(localStorage.getItem("openclaw.device.auth.v1") ?? "{}");
      auth.tokens.operator.token = "stale";
      localStorage.setItem("openclaw.device.auth.v1", JSON.stringify(auth));
    }, TOKEN);
    await page.reload();
    await composer(page).waitFor();
  });

  it("shows the exact commands to approve a browser on another machine, and goes on by itself once approved", async () => {
    await using gateway = await startDevGateway({ assetsDir: inject("controlUiDir") });
    await using proxy = await startProxy(gateway.port);
    const { page, faults } = await browser.open({ gateway, path: "/healthz", expectFaults: true });
    await page.goto(`http://127.0.0.1:${proxy.port}/#token=${TOKEN}`);
    await page.getByRole("heading", { name: "Approve this browser" }).waitFor();
    const { pending } = gateway.devices.list();
    await page.getByText(`openclaw devices approve ${pending[0]?.requestId}`).waitFor();
    await page.getByText("openclaw devices list").waitFor();
    await gateway.devices.approve(pending[0]?.requestId ?? "", { scopes: ["operator.admin"] });
    await composer(page).waitFor();
    expect(faults.filter((fault) => !fault.startsWith("foreign request"))).toEqual([]);
  });

  it("says that a page on plain HTTP cannot prove who it is", async () => {
    const { page, gateway } = await browser.open({ path: "/healthz" });
    const origin = `http://${HOST}:${gateway.port}`;
    gateway.config = { gateway: { auth: { mode: "token", token: TOKEN }, controlUi: { allowedOrigins: [origin] } } };
    await page.goto(`${origin}/#token=${TOKEN}`);
    await page.getByRole("heading", { name: "A secure connection is needed" }).waitFor();
  });

  it("explains an address that is not allowed with the line to add", async () => {
    const { page, gateway } = await browser.open();
    await composer(page).waitFor();
    gateway.config = { gateway: { auth: { mode: "token", token: TOKEN }, controlUi: { allowedOrigins: [`http://${HOST}:1`] } } };
    await page.goto(`http://${HOST}:${gateway.port}/#token=${TOKEN}`);
    await page.getByRole("heading", { name: "This address is not allowed yet" }).waitFor();
    await page.getByText(`openclaw config set gateway.controlUi.allowedOrigins '["http://${HOST}:${gateway.port}"]'`).waitFor();
  });

  it("asks for a password when the gateway has one", async () => {
    const { page, gateway } = await browser.open({ path: "/healthz" });
    gateway.config = { gateway: { auth: { mode: "password", password: "open sesame" } } };
    await page.goto(`${gateway.url}/`);
    await page.getByRole("textbox", { name: "Gateway password" }).fill("open sesame");
    await page.getByRole("button", { name: "Connect" }).click();
    await composer(page).waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain("sesame");
  });

  it("says that the connection is lost, keeps what is written, and sends it when the gateway is back", async () => {
    const { page, gateway } = await browser.open();
    await say(page, "first");
    await answered(page, "pong: first");
    for (const conn of gateway.ws.connections()) gateway.ws.close(conn.connId, 1012, "service restart");
    await page.getByText("The gateway is restarting").waitFor();
    await say(page, "written meanwhile");
    await answered(page, "pong: written meanwhile");
  });
});
