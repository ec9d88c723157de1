import { createServer } from "node:http";
import type { ChannelHttp } from "../../src/channels/contract/index.ts";
import { channelHandler } from "../../src/gateway/http/index.ts";

export interface ChannelHttpServer {
  /** For the context of an account under test. */
  readonly http: ChannelHttp;
  readonly url: string;
  close(): Promise<void>;
}

/** The paths of channels on a loopback port, as the gateway serves them. */
export async function startChannelHttp(): Promise<ChannelHttpServer> {
  const routes = new Map<string, ReturnType<typeof channelHandler>>();
  const server = createServer((req, res) => {
    const handler = routes.get(new URL(req.url ?? "/", "http://localhost").pathname);
    if (!handler) return void res.writeHead(404).end();
    Promise.resolve(handler(req, res)).catch((err: unknown) => res.writeHead(500).end(String(err)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    http: {
      route(path, _options, handler) {
        routes.set(path, channelHandler(handler));
        return () => routes.delete(path);
      },
    },
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** For accounts that serve no path. */
export const noHttp: ChannelHttp = {
  route() {
    throw new Error("this account serves no path");
  },
};
