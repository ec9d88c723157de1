import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

export interface HttpMcpServer extends AsyncDisposable {
  readonly url: string;
}

/** An MCP server over Streamable HTTP on loopback; each session is served by its own server of `make`. */
export async function startHttpMcpServer(make: () => McpServer): Promise<HttpMcpServer> {
  const server = createServer((req, res) => {
    void (async () => {
      const transport = new StreamableHTTPServerTransport();
      res.on("close", () => void transport.close());
      await make().connect(transport as Parameters<McpServer["connect"]>[0]);
      await transport.handleRequest(req, res);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
