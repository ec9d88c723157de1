import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { WecomError } from "./errors.ts";

/** Sockets through the proxy of `network.egressProxyUrl`; undefined: directly. */
export function createAgent(url: string, proxyUrl: string | undefined): HttpAgent | undefined {
  if (proxyUrl === undefined) return undefined;
  const proxyEnv = { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl };
  return /^(?:http|ws):/.test(url) ? new HttpAgent({ proxyEnv }) : new HttpsAgent({ proxyEnv });
}

export interface HttpRequest {
  /** What is being done, for error texts: `take a file`. */
  readonly what: string;
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Uint8Array | string | undefined;
  readonly agent?: HttpAgent | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer<ArrayBuffer>;
}

/** One request without redirects. @throws WecomError `retry` when nothing can have arrived, else `uncertain` */
export async function sendHttp({ what, method, url, headers, body, agent, timeoutMs, maxBytes, signal }: HttpRequest): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const combined = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    return await new Promise<HttpAnswer>((resolve, reject) => {
      const send = url.startsWith("http:") ? httpRequest : httpsRequest;
      const req = send(url, { method, agent, signal: combined, headers: { ...headers, ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }) } }, (res) => {
        const chunks: Buffer[] = [];
        let size = 0;
        res.on("data", (chunk: Buffer) => {
          size += chunk.byteLength;
          if (size > maxBytes) return void res.destroy(new WecomError("too-large", `The answer is larger than ${maxBytes} bytes (${what})`));
          chunks.push(chunk);
        });
        res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks) }));
        res.on("error", reject);
      });
      req.on("error", reject);
      req.end(body);
    });
  } catch (err) {
    if (err instanceof WecomError) throw err;
    if (deadline.aborted) throw new WecomError("uncertain", `WeCom gave no answer within ${timeoutMs} ms (${what})`, { cause: err });
    const code = err instanceof Error && "code" in err ? String(err.code) : undefined;
    const isSafe = code !== undefined && /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ERR_PROXY_TUNNEL)$/.test(code);
    throw new WecomError(isSafe ? "retry" : "uncertain", `WeCom cannot be reached (${what}${code === undefined ? "" : `, ${code}`})`, { cause: err });
  }
}
