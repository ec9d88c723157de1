import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { McpServerConfig } from "../../config/index.ts";
import type { Logger } from "../../infra/log.ts";

/** A tool as its server describes it. */
export interface McpToolInfo {
  readonly name: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface McpConnection {
  readonly tools: readonly McpToolInfo[];
  call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpCallResult>;
  isOpen(): boolean;
  close(): Promise<void>;
}

export interface McpCallResult {
  readonly content: readonly unknown[];
  readonly structured: unknown;
  readonly isError: boolean;
}

export interface McpConnectOptions {
  readonly name: string;
  readonly server: McpServerConfig;
  readonly version: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The server says that its tools have changed. */
  readonly onChange: () => void;
}

export const DEFAULT_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 30_000;
const MAX_TOOLS = 200;
const MAX_PAGES = 20;

/** Connects to one server and asks for its tools. @throws Error with the reason; nothing of a failed try is left behind */
export async function connectMcp(options: McpConnectOptions): Promise<McpConnection> {
  const { name, server, log } = options;
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const timeout = server.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let client: Client | undefined;
  let open = true;
  let lastError: unknown;
  for (const make of transports(options)) {
    const next = new Client({ name: "openclaw", version: options.version }, { capabilities: {} });
    try {
      await next.connect(await make(), { timeout: Math.min(timeout, CONNECT_TIMEOUT_MS), signal: options.signal });
      client = next;
      break;
    } catch (err) {
      lastError = err;
      await next.close().catch(() => undefined); // it was never open
    }
  }
  if (!client) throw lastError instanceof Error ? lastError : new Error("no way to reach it is configured");
  const connected = client;
  connected.onclose = () => {
    open = false;
  };
  connected.onerror = (err) => log.debug("mcp server reports an error", { server: name, err });
  try {
    const { ToolListChangedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
    connected.setNotificationHandler(ToolListChangedNotificationSchema, () => options.onChange());
    const tools = await listTools(connected, timeout, options.signal);
    return {
      tools,
      async call(tool, args, signal) {
        const result = await connected.callTool({ name: tool, arguments: { ...args } }, undefined, { signal, timeout, resetTimeoutOnProgress: true });
        return { content: Array.isArray(result.content) ? result.content : [], structured: result.structuredContent, isError: result.isError === true };
      },
      isOpen: () => open,
      close: () => connected.close(),
    };
  } catch (err) {
    await connected.close().catch(() => undefined); // the reason for closing is told
    throw err;
  }
}

async function listTools(client: Client, timeout: number, signal: AbortSignal): Promise<McpToolInfo[]> {
  const tools: McpToolInfo[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page++) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout, signal });
    tools.push(...answer.tools.map((tool) => ({ name: tool.name, description: tool.description ?? "", inputSchema: { ...tool.inputSchema } })));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, MAX_TOOLS);
}

/** Ways to try, in order: what is configured; for a URL without a transport first the new one, then the old. */
function transports({ name, server, log }: McpConnectOptions): (() => Promise<Transport>)[] {
  const { command, url } = server;
  if (command !== undefined) {
    return [async () => {
      // The SDK adds home, path, shell and user; nothing else of ours.
      const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
      const transport = new StdioClientTransport({ command, args: [...(server.args ?? [])], env: { ...server.env }, stderr: "pipe", ...(server.cwd === undefined ? {} : { cwd: server.cwd }) });
      transport.stderr?.on("data", (chunk: Buffer) => log.debug("mcp server says", { server: name, text: chunk.toString("utf8").slice(0, 2000) }));
      return transport;
    }];
  }
  if (url === undefined) return [];
  const address = new URL(url);
  const requestInit = { headers: { ...server.headers } };
  const streamable = async (): Promise<Transport> => {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return new StreamableHTTPClientTransport(address, { requestInit }) as Transport;
  };
  const sse = async (): Promise<Transport> => {
    const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
    return new SSEClientTransport(address, { requestInit }) as Transport;
  };
  return server.transport === "sse" ? [sse] : server.transport === "streamable-http" ? [streamable] : [streamable, sse];
}
