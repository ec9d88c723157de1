import { once } from "node:events";
import { createServer } from "node:http";

export interface StubModel extends AsyncDisposable {
  readonly url: string;
  /** Body of the last request. */
  last(): { messages: { role: string; content: unknown }[]; tools?: unknown } | undefined;
}

/** An OpenAI-compatible server that answers "pong" after `delayMs`, in three pieces. */
export async function startStubModel(delayMs: number): Promise<StubModel> {
  let lastBody: string | undefined;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      lastBody = Buffer.concat(chunks).toString();
      setTimeout(() => {
        res.writeHead(200, { "Content-Type": "text/event-stream" });
        const base = { id: "c", object: "chat.completion.chunk", created: 1, model: "stub" };
        for (const content of ["po", "n", "g"]) res.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`);
        res.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 1000, completion_tokens: 3, total_tokens: 1003 } })}\n\n`);
        res.end("data: [DONE]\n\n");
      }, delayMs);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    last: () => (lastBody === undefined ? undefined : (JSON.parse(lastBody) as ReturnType<StubModel["last"]>)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
