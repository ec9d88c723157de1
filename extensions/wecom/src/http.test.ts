import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { resolveAccount } from "./config.ts";
import { WecomError } from "./errors.ts";
import { createAgent, sendHttp } from "./http.ts";
import { downloadBotMedia } from "./media.ts";

it("calls and the long connection go out by the configured proxy; what it refuses may be tried again", async () => {
  const asked: string[] = [];
  const proxy = createServer().on("connect", (req, socket) => {
    asked.push(String(req.url));
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const [api, socket] = ["https://qyapi.weixin.qq.com/cgi-bin/gettoken", "wss://openws.work.weixin.qq.com/"];
  await expect(sendHttp({ what: "give a token", method: "GET", url: api, agent: createAgent(api, proxyUrl), timeoutMs: 2000, maxBytes: 1000 })).rejects.toMatchObject({ kind: "retry" });
  const agent = createAgent(socket, proxyUrl);
  const ws = new WebSocket(socket, agent ? { agent } : {});
  await once(ws, "error").catch((err: unknown) => err);
  expect(asked).toEqual(["qyapi.weixin.qq.com:443", "openws.work.weixin.qq.com:443"]);
  proxy.close();
});

it("files of the platform come through the proxy as well, and nothing else does", async () => {
  const asked: string[] = [];
  const proxy = createServer().on("connect", (req, socket) => {
    asked.push(String(req.url));
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const account = resolveAccount({ channels: { wecom: { botId: "b", secret: "s", network: { egressProxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` } } } }, "default", {});
  const get = (url: string) => downloadBotMedia(account, { kind: "image", ref: JSON.stringify({ url }) }, { dir: "/nowhere", maxBytes: 1000, signal: new AbortController().signal });
  for (const url of ["https://files.cos.ap-guangzhou.myqcloud.com/a?sign=1", "https://evilmyqcloud.com.192.0.2.7/", "https://192.0.2.7/a"]) await expect(get(url)).rejects.toThrow("⚠️ Failed to download media");
  expect(asked).toEqual(["files.cos.ap-guangzhou.myqcloud.com:443"]);
  proxy.close();
});

it("answers are limited in size and time", async () => {
  const server = createServer((req, res) => {
    if (req.url === "/large") res.end("x".repeat(5000));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = (path: string): Promise<unknown> => sendHttp({ what: "give a file", method: "GET", url: url + path, timeoutMs: 200, maxBytes: 1000 });
  await expect(get("/large")).rejects.toThrow(/larger than 1000 bytes/);
  await expect(get("/never")).rejects.toMatchObject({ kind: "uncertain", message: expect.stringContaining("within 200 ms") as string });
  await expect(sendHttp({ what: "x", method: "GET", url: "http://127.0.0.1:9", timeoutMs: 500, maxBytes: 1 })).rejects.toBeInstanceOf(WecomError);
  server.closeAllConnections();
  server.close();
});
