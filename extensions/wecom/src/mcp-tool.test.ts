import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, it } from "vitest";
import { z } from "zod";
import { startHttpMcpServer } from "../../../test/support/mcp/http-server.ts";
import { startTestAccount } from "../../../test/support/wecom-api/account.ts";
import { defaultAccountId, listAccountIds, resolveAccount } from "./config.ts";
import { createMcpTool } from "./mcp-tool.ts";

function todoServer(): McpServer {
  const server = new McpServer({ name: "wecom", version: "1" });
  server.registerTool("create_todo", { description: "Creates a to-do", inputSchema: { title: z.string() } }, ({ title }) => ({ content: [{ type: "text", text: `made ${title}` }] }));
  return server;
}

it("wecom_mcp lists and runs the methods that WeCom opens to the bot, and tells what is missing", async () => {
  await using server = await startHttpMcpServer(todoServer);
  await using account = await startTestAccount();
  const [tool] = account.plugin.agentTools?.(account.cfg, { channel: "wecom", accountId: "default" }) ?? [];
  const run = async (params: Record<string, unknown>): Promise<string> => JSON.stringify(await tool?.execute("c1", params));
  await expect(run({ action: "list", category: "todo" })).rejects.toThrow(/open todo to the bot/);
  account.api.bots.mcpUrl = server.url;
  expect(await run({ action: "list", category: "todo" })).toContain("create_todo");
  expect(await run({ action: "call", category: "todo", method: "create_todo", args: { title: "milk" } })).toContain("made milk");
  expect(account.api.commands.filter(({ cmd }) => cmd === "aibot_get_mcp_config").map(({ body }) => body?.["biz_type"])).toEqual(["todo", "todo"]);
  await expect(run({ action: "call", category: "todo" })).rejects.toThrow("needs method");
  await expect(run({ action: "dance", category: "../x" })).rejects.toThrow("wecom_mcp");
  account.api.bots.mcpUrl = "http://example.com/mcp";
  await expect(run({ action: "list", category: "doc" })).rejects.toThrow("plain http");
  expect(account.plugin.agentTools?.({ channels: { wecom: { agent: { corpId: "c", corpSecret: "s" } } } })).toEqual([]);
});

it("wecom_mcp goes out by the configured proxy", async () => {
  await using server = await startHttpMcpServer(todoServer);
  const seen: string[] = [];
  const proxy = createServer((req, res) => {
    seen.push(String(req.url));
    const { "proxy-connection": _hop, connection: _close, ...headers } = req.headers;
    req.pipe(request(String(req.url), { method: req.method, headers, agent: false }, (answer) => answer.pipe(res.writeHead(answer.statusCode ?? 500, answer.headers))));
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const cfg = { channels: { wecom: { botId: "b", secret: "s", network: { egressProxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` } } } };
  const link = { request: () => Promise.resolve({ url: server.url }) };
  const [tool] = createMcpTool({ accountOf: (given, id) => resolveAccount(given, id, {}), accountIds: listAccountIds, defaultAccountId, link: () => link, now: Date.now })(cfg, { channel: "wecom", accountId: "default" });
  expect(JSON.stringify(await tool?.execute("c1", { action: "call", category: "todo", method: "create_todo", args: { title: "milk" } }))).toContain("made milk");
  expect(new Set(seen)).toEqual(new Set([server.url]));
  proxy.closeAllConnections();
  proxy.close();
});
