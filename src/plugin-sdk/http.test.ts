import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import * as sdk from "./index.ts";

let server: Server | undefined;
afterEach(() => server?.closeAllConnections());
afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())));

async function serve(handler: (req: IncomingMessage, res: ServerResponse) => Promise<void> | void): Promise<string> {
  server = createServer((req, res) => void handler(req, res));
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const bodyServer = (limits: { maxBytes: number; timeoutMs?: number }) =>
  serve(async (req, res) => void res.end(JSON.stringify(await sdk.readJsonBodyWithLimit(req, limits))));
const post = async (url: string, body: string): Promise<unknown> => (await fetch(url, { method: "POST", body })).json();

it("reads JSON, an empty body as an empty object, and says what is wrong with others", async () => {
  const url = await bodyServer({ maxBytes: 20 });
  expect(await post(url, '{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
  expect(await post(url, "")).toEqual({ ok: true, value: {} });
  expect(await post(url, "{")).toMatchObject({ ok: false, code: "INVALID_JSON" });
  expect(await post(url, JSON.stringify("x".repeat(30)))).toEqual({ ok: false, code: "PAYLOAD_TOO_LARGE", error: "Payload too large" });
});

it("does not wait forever for a body", async () => {
  const url = await bodyServer({ maxBytes: 20, timeoutMs: 50 });
  const answer = await new Promise<string>((resolve, reject) => {
    const req = request(url, { method: "POST", headers: { "content-length": "10" } }, (res) => {
      res.setEncoding("utf8").on("data", resolve);
    });
    req.on("error", reject);
    req.write("{");
  });
  expect(JSON.parse(answer)).toMatchObject({ ok: false, code: "REQUEST_BODY_TIMEOUT" });
});

it("guards a body that a platform's own code reads", async () => {
  const url = await serve((req, res) => {
    const guard = sdk.installRequestBodyLimitGuard(req, res, { maxBytes: 10 });
    req.on("end", () => (guard.isTripped() ? undefined : res.end("read")));
  });
  expect(await (await fetch(url, { method: "POST", body: "short" })).text()).toBe("read");
  const long = await fetch(url, { method: "POST", body: "x".repeat(100) });
  expect([long.status, await long.json()]).toEqual([413, { error: "Payload too large" }]);
});

it("a webhook is for POST, and finds its targets by path", async () => {
  const targets = new Map<string, { path: string; id: string }[]>();
  const { unregister, target } = sdk.registerWebhookTarget(targets, { path: "hook/", id: "a" });
  sdk.registerWebhookTarget(targets, { path: "/hook", id: "b" });
  expect(target.path).toBe("/hook");
  const url = await serve((req, res) => {
    if (sdk.rejectNonPostWebhookRequest(req, res)) return;
    res.end(JSON.stringify(sdk.resolveWebhookTargets(req, targets)?.targets.map((entry) => entry.id) ?? null));
  });
  const got = await fetch(`${url}/hook`);
  expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
  expect(await post(`${url}/hook/?x=1`, "")).toEqual(["a", "b"]);
  unregister();
  expect(await post(`${url}/hook`, "")).toEqual(["b"]);
  expect(await post(`${url}/other`, "")).toBeNull();
});

it("a callback that fits two targets is nobody's", async () => {
  expect(sdk.resolveSingleWebhookTarget([1, 2, 3], (n) => n === 2)).toEqual({ kind: "single", target: 2 });
  expect(sdk.resolveSingleWebhookTarget([1, 2], () => true)).toEqual({ kind: "ambiguous" });
  expect(await sdk.resolveSingleWebhookTargetAsync([1], async () => false)).toEqual({ kind: "none" });
});

it.each([
  [{ webhookPath: "a/" }, "/a"], [{ webhookUrl: "https://e.com/x/y" }, "/x/y"], [{}, null], [{ webhookUrl: "no url" }, null], [{ defaultPath: "/d" }, "/d"],
])("the path of %j is %j", (input, path) => expect(sdk.resolveWebhookPath(input)).toBe(path));

it("a stranger's address on this machine is not fetched, a trusted one is, redirects included", async () => {
  const url = await serve((req, res) => {
    if (req.url === "/go") res.writeHead(302, { location: "/end" }).end();
    else res.end("content");
  });
  await expect(sdk.fetchWithSsrFGuard({ url })).rejects.toBeInstanceOf(sdk.SsrFBlockedError);
  const { response, finalUrl, release } = await sdk.fetchWithSsrFGuard({ url: `${url}/go`, policy: { allowPrivateNetwork: true } });
  expect([response.status, await response.text(), finalUrl]).toEqual([200, "content", `${url}/end`]);
  await release();
  await expect(sdk.fetchWithSsrFGuard({ url: "https://a.com", policy: { hostnameAllowlist: ["*.b.com"] } })).rejects.toThrow("not in allowlist");
});
