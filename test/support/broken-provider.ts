import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A provider in OpenAI's format that answers what the test says, one answer a request, then always "well again". */
export interface BrokenProvider extends AsyncDisposable {
  readonly bodies: { readonly model: string; readonly messages: readonly { readonly role: string; readonly content: unknown }[]; readonly reasoning_effort?: string | undefined }[];
  /** The keys that came with the requests. */
  readonly keys: (string | undefined)[];
  readonly url: string;
  readonly config: { readonly models: object; readonly agents: object };
}

/** One answer to one request. */
export type Answer = (res: ServerResponse, req: IncomingMessage) => void;

export const sse = (res: ServerResponse, ...chunks: readonly unknown[]): void => {
  if (!res.headersSent) res.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) res.write(`data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`);
};

export const piece = (delta: Record<string, unknown>, finish: string | null = null): Record<string, unknown> => ({
  id: "c", object: "chat.completion.chunk", created: 1, model: "gpt-mock", choices: [{ index: 0, delta, finish_reason: finish }],
});

export const say = (...texts: readonly string[]): Answer => (res) => {
  sse(res, ...texts.map((content) => piece({ role: "assistant", content })), piece({}, "stop"), "[DONE]");
  res.end();
};

export const fail = (status: number, message: string, headers: Record<string, string> = {}): Answer => (res) => {
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify({ error: { message, type: "error" } }));
};

export const call = (name: string, args: string, finish = "tool_calls"): Answer => (res) => {
  sse(res, piece({ role: "assistant", tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: args } }] }), piece({}, finish), "[DONE]");
  res.end();
};

export async function brokenProvider(...answers: readonly Answer[]): Promise<BrokenProvider> {
  const bodies: BrokenProvider["bodies"] = [];
  const keys: BrokenProvider["keys"] = [];
  let next = 0;
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => (body += chunk.toString()));
    req.on("end", () => {
      bodies.push(JSON.parse(body) as (typeof bodies)[number]);
      keys.push(req.headers.authorization?.replace("Bearer ", ""));
      (answers[next++] ?? say("well again"))(res, req);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    bodies, keys, url,
    config: {
      models: { providers: { mock: { baseUrl: url, apiKey: "k", api: "openai-completions", models: [{ id: "gpt-mock", name: "Mock", contextWindow: 32_000, maxTokens: 2048, input: ["text"] }] } } },
      agents: { defaults: { model: { primary: "mock/gpt-mock" } } },
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
