import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

/** A server of tools as a process: for tests of the agent's MCP client. */
const server = new McpServer({ name: "test", version: "1.0.0" });
server.registerTool("add", { description: "Adds two numbers", inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
server.registerTool("env", { description: "Names of its environment", inputSchema: {} }, () => ({ content: [{ type: "text", text: Object.keys(process.env).toSorted().join(",") }] }));
server.registerTool("fail", { description: "Fails", inputSchema: {} }, () => ({ content: [{ type: "text", text: "it broke" }], isError: true }));
server.registerTool("die", { description: "Ends the process", inputSchema: {} }, () => process.exit(3));
server.registerTool("hang", { description: "Never answers", inputSchema: {} }, () => new Promise(() => undefined));
await server.connect(new StdioServerTransport());
