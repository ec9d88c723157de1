import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";

/** A proxy on loopback that keeps the bodies as they went over the wire. */
export interface Recorder extends AsyncDisposable {
  readonly url: string;
  readonly bodies: string[];
}

export async function startRecorder(target: string): Promise<Recorder> {
  const bodies: string[] = [];
  const forward = async (request: IncomingMessage): Promise<Response> => {
    const body = await text(request);
    bodies.push(body);
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] => (typeof value === "string" && !/^(host|content-length|connection)$/.test(name) ? [[name, value]] : []));
    return fetch(`${target}${request.url ?? ""}`, { method: "POST", headers, body });
  };
  const server = createServer((request, response) => {
    forward(request).then(
      (answer) => {
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" });
        if (answer.body) Readable.fromWeb(answer.body as ReadableStream).pipe(response);
        else response.end();
      },
      (err: unknown) => response.writeHead(502).end(String(err)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
