import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, it } from "vitest";
import { z } from "zod";
import { startHttpMcpServer } from "../../../test/support/mcp/http-server.ts";
import { startTestAccount } from "../../../test/support/wecom-api/account.ts";

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
