import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import { createAuthGate } from "../../security/index.ts";
import type { SecurityConfig } from "../../security/index.ts";
import { readJsonBody } from "./body.ts";
import { canonicalizeUrl } from "./canonical-path.ts";
import { CONTENT_SECURITY_POLICY, createControlUiSurface } from "./control-ui.ts";
import { createHttpFrontDoor } from "./front-door.ts";
import type { HttpSurface } from "./front-door.ts";
import { sendJson } from "./respond.ts";
import { createFrontServer } from "./server.ts";

const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(20)]);

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: string;
}

async function start(config: SecurityConfig = { gateway: { auth: { mode: "token", token: "T" } } }, assets = true) {
  const dir = await mkdtemp(join(tmpdir(), "openclaw-http-"));
  const ui = join(dir, "ui");
  await mkdir(join(ui, "assets"), { recursive: true });
  if (assets) await writeFile(join(ui, "index.html"), "<!doctype html><title>ui</title>");
  await writeFile(join(ui, "assets", "app-AbCd1234.js"), "console.log(1);".repeat(200));
  await writeFile(join(dir, "secret.txt"), "canary");
  await symlink(join(dir, "secret.txt"), join(ui, "link.txt"));
  const state = { config, readiness: "ready" as "ready" | "starting" | "draining" };
  const auth = createAuthGate({ config: () => state.config, env: {}, clock: { now: () => Date.now() } });
  const door = createHttpFrontDoor({ config: () => state.config, auth, log: silentLogger, readiness: () => state.readiness });
  const reached: string[] = [];
  const surface = (name: string, kind: HttpSurface["auth"], path: string, methods?: string[]): HttpSurface => ({
    name,
    order: 40,
    auth: kind,
    methods,
    matches: (p) => p === path || p.startsWith(`${path}/`),
    async handle({ req, res, url }) {
      reached.push(url.path);
      if (url.path.endsWith("/crash")) throw new Error("boom");
      sendJson(res, 200, { name, body: await readJsonBody(req, { maxBytes: 1000, timeoutMs: 200 }) });
    },
  });
  door.register(surface("tools", "bearer", "/tools/invoke", ["POST"]));
  door.register(surface("plugin", "plugin", "/hook-of-plugin"));
  door.register(surface("channels", "plugin", "/api/channels"));
  door.register(
    createControlUiSurface({
      config: () => state.config,
      assetsDir: ui,
      identity: () => ({ assistantName: "Assistant", assistantAvatar: "A", assistantAgentId: "main" }),
      avatar: async (id) => (id === "main" ? PNG : id === "svg" ? Buffer.from("<svg onload=alert(1)>") : undefined),
    }),
  );
  const server = createFrontServer({ handler: door.handler }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string | Buffer): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const req = request({ port, host: "127.0.0.1", method, path, headers, agent: false }, (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (c: Buffer) => chunks.push(c));
        res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, bytes: Buffer.concat(chunks), body: Buffer.concat(chunks).toString() }));
      });
      req.on("error", reject);
      req.end(body);
    });
  return {
    state,
    reached,
    port,
    ask,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const bearer = { authorization: "Bearer T" };

describe("the HTTP front door", () => {
  it("tells whether it lives and is ready, without auth", async () => {
    await using gw = await start();
    expect(await gw.ask("GET", "/healthz")).toMatchObject({ status: 200, body: '{"ok":true,"status":"live"}' });
    expect(await gw.ask("GET", "/ready")).toMatchObject({ status: 200, body: '{"ok":true,"status":"ready"}' });
    expect(await gw.ask("HEAD", "/health")).toMatchObject({ status: 200, body: "" });
    gw.state.readiness = "draining";
    expect(await gw.ask("GET", "/readyz")).toMatchObject({ status: 503, body: '{"ok":false,"status":"draining"}' });
    expect((await gw.ask("POST", "/healthz")).status).toBe(405);
  });

  it("checks verb, then bearer, then body, as the captures show", async () => {
    await using gw = await start();
    expect(await gw.ask("GET", "/tools/invoke")).toMatchObject({ status: 405, body: "Method Not Allowed", headers: { allow: "POST" } });
    const refused = await gw.ask("POST", "/tools/invoke", {}, "{}");
    expect(refused).toMatchObject({ status: 401, body: '{"error":{"message":"Unauthorized","type":"unauthorized"}}' });
    expect(refused.headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
    expect(JSON.parse((await gw.ask("POST", "/tools/invoke", bearer, "{")).body)).toMatchObject({ error: { type: "invalid_request_error" } });
    expect((await gw.ask("POST", "/tools/invoke", bearer, "[".repeat(900))).status).toBe(400);
    expect(await gw.ask("POST", "/tools/invoke", bearer)).toMatchObject({ status: 200, body: '{"name":"tools","body":{}}' });
    expect(await gw.ask("POST", "/tools/invoke/crash", bearer, "{}")).toMatchObject({ status: 500, body: "Internal Server Error" });
    expect(await gw.ask("GET", "/ui/x")).toMatchObject({ status: 404, body: "Not Found" });
  });

  it("answers 413 and 408 before it closes", async () => {
    await using gw = await start();
    const big = Buffer.alloc(8_000_000, 0x20);
    expect((await gw.ask("POST", "/tools/invoke", bearer, big)).status).toBe(413);
    expect((await gw.ask("POST", "/tools/invoke", { ...bearer, "transfer-encoding": "chunked" }, big)).status).toBe(413);
    const slow = connect(gw.port, "127.0.0.1");
    slow.write("POST /tools/invoke HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer T\r\nContent-Length: 100\r\n\r\n{");
    const [data] = (await once(slow, "data")) as [Buffer];
    expect(data.toString()).toContain("408 Request Timeout");
    slow.destroy();
  });

  it("answers what is no HTTP with 400, and headers without end with 431", async () => {
    await using gw = await start();
    const raw = async (text: string): Promise<string> => {
      const socket = connect(gw.port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write(text);
      const [data] = (await once(socket, "data")) as [Buffer];
      socket.destroy();
      return data.toString().split("\r\n")[0] ?? "";
    };
    expect(await raw("HELLO\r\n\r\n")).toContain("400");
    expect(await raw(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(40_000)}`)).toContain("431");
    expect((await gw.ask("GET", "/healthz")).status).toBe(200);
  });

  it("locks out a guesser with 429 and Retry-After", async () => {
    await using gw = await start({ gateway: { auth: { mode: "token", token: "T", rateLimit: { maxAttempts: 2, exemptLoopback: false, lockoutMs: 4000 } } } });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await gw.ask("POST", "/tools/invoke", { authorization: "Bearer no" }, "{}")).status);
    expect(statuses).toEqual([401, 401, 429]);
    expect((await gw.ask("POST", "/tools/invoke", bearer, "{}")).headers["retry-after"]).toBe("4");
  });

  it("reads the token live", async () => {
    await using gw = await start();
    gw.state.config = { gateway: { auth: { mode: "token", token: "T2" } } };
    expect((await gw.ask("POST", "/tools/invoke", bearer, "{}")).status).toBe(401);
    expect((await gw.ask("POST", "/tools/invoke", { authorization: "Bearer T2" }, "{}")).status).toBe(200);
  });

  it("refuses foreign pages and foreign names", async () => {
    await using gw = await start();
    const evil = { origin: "http://evil.test" };
    expect((await gw.ask("POST", "/tools/invoke", { ...bearer, ...evil }, "{}")).status).toBe(403);
    expect((await gw.ask("POST", "/hook-of-plugin", evil, "{}")).status).toBe(403);
    expect((await gw.ask("POST", "/tools/invoke", { ...bearer, "sec-fetch-site": "cross-site" }, "{}")).status).toBe(403);
    expect((await gw.ask("POST", "/tools/invoke", { ...bearer, origin: "http://localhost:5173" }, "{}")).status).toBe(200);
    expect((await gw.ask("GET", "/hook-of-plugin", { "sec-fetch-site": "cross-site" })).status).toBe(200);
    const named = { host: "attacker.test" };
    expect((await gw.ask("GET", "/", named)).status).toBe(421);
    expect((await gw.ask("POST", "/tools/invoke", { ...named, ...bearer }, "{}")).status).toBe(200);
    expect((await gw.ask("POST", "/hook-of-plugin", named, "{}")).status).toBe(200);
    gw.state.config = { gateway: { auth: { mode: "token", token: "T" }, controlUi: { allowedOrigins: ["https://attacker.test"] } } };
    expect((await gw.ask("GET", "/", named)).status).toBe(200);
  });

  it.each(["/api/channels/x", "/api%2Fchannels/x", "/api/%63hannels/x", "//api/channels/x", "/api/..;/channels", "/api/%2e%2e/api/channels", "/api%252Fchannels/x", "/api/channels"])(
    "never lets %s through without the bearer",
    async (path) => {
      await using gw = await start();
      expect([401, 404]).toContain((await gw.ask("POST", path, {}, "{}")).status);
      expect(gw.reached).toEqual([]);
    },
  );
});

describe("the Control UI", () => {
  it("is served with one strict policy, index for app paths, 404 for missing files", async () => {
    await using gw = await start();
    const page = await gw.ask("GET", "/sessions/main");
    expect(page).toMatchObject({ status: 200, headers: { "content-security-policy": CONTENT_SECURITY_POLICY, "x-frame-options": "DENY", "cache-control": "no-cache" } });
    expect(page.body).toContain("<title>ui</title>");
    expect((await gw.ask("GET", "/missing.js")).status).toBe(404);
    expect((await gw.ask("POST", "/")).status).toBe(405);
    expect((await gw.ask("GET", "/link.txt")).body).toBe("Not Found");
    const asset = await gw.ask("GET", "/chat/assets/app-AbCd1234.js", { "accept-encoding": "gzip" });
    expect(asset.headers).toMatchObject({ "content-encoding": "gzip", "cache-control": "public, max-age=31536000, immutable" });
    expect(gunzipSync(asset.bytes).toString()).toContain("console.log(1)");
    expect((await gw.ask("GET", "/assets/app-AbCd1234.js", { "if-none-match": String(asset.headers.etag) })).status).toBe(304);
  });

  it("tells the assistant's name and shows raster avatars only", async () => {
    await using gw = await start();
    expect(JSON.parse((await gw.ask("GET", "/__openclaw/control-ui-config.json")).body)).toEqual({ basePath: "", assistantName: "Assistant", assistantAvatar: "A", assistantAgentId: "main" });
    expect((await gw.ask("GET", "/avatar/main")).headers["content-type"]).toBe("image/png");
    expect((await gw.ask("GET", "/avatar/main?meta=1")).body).toBe('{"avatarUrl":"/avatar/main"}');
    expect((await gw.ask("GET", "/avatar/svg?meta=1")).body).toBe('{"avatarUrl":null}');
    expect((await gw.ask("GET", "/avatar/other")).status).toBe(404);
  });

  it("can live under a base path, be off, or say that it was not built", async () => {
    await using gw = await start({ gateway: { controlUi: { basePath: "/claw/" } } });
    expect((await gw.ask("GET", "/claw?a=1")).headers.location).toBe("/claw/?a=1");
    expect((await gw.ask("GET", "/claw/chat")).status).toBe(200);
    expect((await gw.ask("GET", "/")).status).toBe(404);
    gw.state.config = { gateway: { controlUi: { enabled: false } } };
    expect((await gw.ask("GET", "/claw/")).status).toBe(404);
    await using bare = await start(undefined, false);
    expect((await bare.ask("GET", "/")).status).toBe(503);
  });
});

it("a canonical path is stable, has no dot segments and nothing left to decode", () => {
  const part = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("..", ".", "%2e%2e", "%2F", "%5c", "%252f", "//", ";", "%00", "api", "%E4%BD%A0"));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const url = canonicalizeUrl(`/${parts.join("/")}`);
      if (!url) return;
      expect(url.path.startsWith("/")).toBe(true);
      expect(url.path).not.toMatch(/\/\/|\\|%[0-9a-f]{2}/i);
      expect(url.path.split("/").some((s) => s === ".." || s === ".")).toBe(false);
    }),
  );
});
