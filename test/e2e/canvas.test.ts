import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";

/** As a request from another machine arrives: through a proxy that says so. */
const fromAfar = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "http" };

it("the agent's pages are there, alone in their origin, and nothing else of the disk", async () => {
  await using g = await startTestGateway();
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${g.url}${path}`, { headers });
  const first = await get("/__openclaw__/canvas/");
  expect([first.status, first.headers.get("cache-control"), first.headers.get("content-security-policy")]).toEqual([200, "no-store", expect.stringMatching(/^sandbox allow-scripts(?!.*allow-same-origin)/)]);
  expect(await first.text()).toContain("OpenClaw = {");
  const root = join(g.stateDir, "canvas");
  await mkdir(join(root, "sub"));
  await writeFile(join(root, "sub", "index.html"), "<body>hi</body>");
  await writeFile(join(root, "a.json"), "{}");
  await symlink(join(g.stateDir, "openclaw.json"), join(root, "link.json"));
  await symlink(g.stateDir, join(root, "dir"));
  expect(await (await get("/__openclaw__/canvas/sub")).text()).toMatch(/^<body>hi<script>/);
  expect((await get("/__openclaw__/canvas/a.json")).headers.get("content-type")).toBe("application/json; charset=utf-8");
  for (const path of ["link.json", "dir/openclaw.json", "dir/", "..%2fopenclaw.json", "%2e%2e/openclaw.json", "nothing"]) expect((await get(`/__openclaw__/canvas/${path}`)).status).toBe(404);
  expect((await fetch(`${g.url}/__openclaw__/canvas/`, { method: "POST" })).status).toBe(405);
  expect([(await get("/__openclaw__/a2ui/")).status, (await get("/__openclaw__/ws")).status]).toEqual([503, 426]);
  const dots = await new Promise<number | undefined>((resolve) => request({ port: new URL(g.url).port, path: "/__openclaw__/canvas/../../openclaw.json" }, (res) => resolve(res.resume().statusCode)).end());
  expect(dots).toBe(404);
});

it("a node has a key for as long as it is connected; others need the token", async () => {
  await using g = await startTestGateway({ config: { gateway: { mode: "local", auth: { mode: "token", token: "T" }, trustedProxies: ["127.0.0.1"] } } });
  const status = (path: string, headers: Record<string, string> = {}): Promise<number> => fetch(`${g.url}${path}`, { headers: { ...fromAfar, ...headers } }).then((res) => res.status);
  const node = await connectClient(g.url, g.token, { node: { commands: ["canvas.present"] } });
  const { pathname } = new URL(String(node.hello?.payload?.["canvasHostUrl"]));
  expect(pathname).toMatch(/^\/__openclaw__\/cap\/[A-Za-z0-9_-]{24}$/);
  expect(await status("/__openclaw__/canvas/")).toBe(401);
  expect(await status("/__openclaw__/canvas/", { authorization: "Bearer T" })).toBe(200);
  expect(await status(`${pathname}/__openclaw__/canvas/`)).toBe(200);
  expect(await status(`/__openclaw__/canvas/?oc_cap=${pathname.split("/").at(-1)}`)).toBe(200);
  expect(await status(`${pathname}/healthz`)).toBe(404);
  expect(await status("/__openclaw__/cap/AAAAAAAAAAAAAAAAAAAAAAAA/__openclaw__/canvas/")).toBe(401);
  const listen = (path: string): WebSocket => new WebSocket(`${g.url.replace("http", "ws")}${path}`, { headers: fromAfar });
  const socket = listen(`${pathname}/__openclaw__/ws`);
  await once(socket, "open");
  socket.close();
  expect(String((await once(listen("/__openclaw__/ws"), "error"))[0])).toContain("401");
  node.socket.close();
  await once(node.socket, "close");
  await expect.poll(() => status(`${pathname}/__openclaw__/canvas/`)).toBe(401);
});

it("pages come anew when their files change", async () => {
  await using g = await startTestGateway();
  await fetch(`${g.url}/__openclaw__/canvas/`);
  const socket = new WebSocket(`${g.url.replace("http", "ws")}/__openclaw__/ws`);
  await once(socket, "open");
  const told = once(socket, "message");
  await writeFile(join(g.stateDir, "canvas", "index.html"), "new");
  expect(String((await told)[0])).toBe("reload");
  socket.close();
  const foreign = new WebSocket(`${g.url.replace("http", "ws")}/__openclaw__/ws`, { origin: "https://evil.example" });
  expect(String((await once(foreign, "error"))[0])).toContain("401");
});

it("can be switched off", async () => {
  await using g = await startTestGateway({ config: { gateway: { mode: "local", auth: { mode: "token", token: "T" }, controlUi: { enabled: false } }, canvasHost: { enabled: false } } });
  expect((await fetch(`${g.url}/__openclaw__/canvas/`)).status).toBe(404);
  await using node = await connectClient(g.url, g.token, { node: { commands: ["canvas.present"] } });
  expect(node.hello?.payload).not.toHaveProperty("canvasHostUrl");
});
