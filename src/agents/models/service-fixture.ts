import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Logger } from "../../infra/log.ts";
import { silentLogger } from "../../infra/log.ts";
import { createModelService, type ModelServiceOptions } from "./index.ts";
import type { ModelService } from "./types.ts";

export interface TestService extends AsyncDisposable {
  readonly models: ModelService;
  readonly stateDir: string;
  readonly agentDir: string;
  readonly warnings: string[];
  /** ms since the epoch; tests move it. */
  readonly clock: { nowMs: number };
  setConfig(config: OpenClawConfig): void;
}

/** A model service over a temporary state directory, without probes unless asked for. */
export async function startTestService(config: OpenClawConfig, options: Partial<ModelServiceOptions> = {}): Promise<TestService> {
  const stateDir = await mkdtemp(join(tmpdir(), "models-"));
  const agentDir = (id: string): string => join(stateDir, "agents", id, "agent");
  const warnings: string[] = [];
  const clock = { nowMs: Date.UTC(2026, 1, 26) };
  const log: Logger = { ...silentLogger, warn: (message, fields) => void warnings.push(`${message} ${JSON.stringify(fields)}`) };
  let current = config;
  const models = createModelService({ config: () => current, env: {}, stateDir, agentDir, clock: { now: () => clock.nowMs }, log, probeLocalhost: false, probeClouds: false, ...options });
  return {
    models, stateDir, warnings, clock, agentDir: agentDir("main"),
    setConfig: (next) => {
      current = next;
    },
    async [Symbol.asyncDispose]() {
      models.close();
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: string }[];
}

/** An HTTP server on loopback that keeps what it was asked. */
export async function startTestServer(answer: (path: string, body: string, response: ServerResponse) => void): Promise<TestServer> {
  const requests: TestServer["requests"] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      requests.push({ path: request.url ?? "", headers: request.headers, body });
      answer(request.url ?? "", body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port, requests, url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};
