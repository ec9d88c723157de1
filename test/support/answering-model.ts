import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { piece, sse } from "./broken-provider.ts";

export interface Asked {
  readonly system: string;
  readonly last: string;
  readonly tools: readonly string[];
  readonly isChild: boolean;
}

type Answer = string | { readonly tool: string; readonly args: object };
export type Reply = Answer | Promise<Answer>;

const textOf = (content: unknown): string => (Array.isArray(content) ? content.map((block: { text?: string }) => block.text ?? "").join("\n") : String(content ?? ""));

/** A model of OpenAI's format that answers by what it is asked. */
export async function answeringModel(answer: (asked: Asked) => Reply) {
  const asked: Asked[] = [];
  const server = createServer((req, res: ServerResponse) => {
    let raw = "";
    req.on("data", (chunk: Buffer) => (raw += chunk.toString()));
    req.on("end", () => {
      const body = JSON.parse(raw) as { messages: { role: string; content: unknown }[]; tools?: { function: { name: string } }[] };
      const system = textOf(body.messages[0]?.content);
      const one: Asked = { system, last: textOf(body.messages.at(-1)?.content), tools: (body.tools ?? []).map((tool) => tool.function.name), isChild: system.includes("## Subagent Context") };
      asked.push(one);
      void Promise.resolve(answer(one)).then((reply) => {
        if (typeof reply === "string") sse(res, piece({ role: "assistant", content: reply }), piece({}, "stop"), "[DONE]");
        else sse(res, piece({ role: "assistant", tool_calls: [{ index: 0, id: `c${asked.length}`, type: "function", function: { name: reply.tool, arguments: JSON.stringify(reply.args) } }] }), piece({}, "tool_calls"), "[DONE]");
        res.end();
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    asked,
    providers: { mock: { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, apiKey: "k", api: "openai-completions", models: [{ id: "m", name: "M", contextWindow: 64_000, maxTokens: 2048, input: ["text"] }] } },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
