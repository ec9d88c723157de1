import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createGuardedFetch } from "./guarded-fetch.ts";
import { isPublicAddress } from "./public-address.ts";

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("the guarded fetch", () => {
  it("reaches nothing on this machine, however the address is spelled", async () => {
    let seen = 0;
    await using canary = await serve((_req, res) => {
      seen++;
      res.end("secret");
    });
    const p = canary.port;
    const urls = [
      `http://127.0.0.1:${p}/`, `http://127.1:${p}`, `http://0x7f.1:${p}`, `http://2130706433:${p}`, `http://0177.0.0.1:${p}`,
      `http://localhost:${p}`, `http://localhost.:${p}`, `http://[::1]:${p}`, `http://[::ffff:7f00:1]:${p}`,
      `http://[64:ff9b::7f00:1]:${p}`, `http://0.0.0.0:${p}`, `http://[::]:${p}`, "http://169.254.169.254/latest/meta-data", "http://[fd00:ec2::254]/",
    ];
    const fetch = createGuardedFetch();
    for (const url of urls) await expect(fetch(url), url).rejects.toMatchObject({ code: "private-address" });
    const rebinding = createGuardedFetch({ resolve: async () => ["93.184.216.34", "127.0.0.1"] });
    await expect(rebinding(`http://name.test:${p}`)).rejects.toMatchObject({ code: "private-address" });
    expect(seen).toBe(0);
  });

  it("resolves a name once and connects to that address", async () => {
    await using server = await serve((req, res) => res.end(req.headers.host));
    let asked = 0;
    const url = `http://name.test:${server.port}`;
    const fetch = createGuardedFetch({ allowOrigins: [url], resolve: async () => (asked++, ["127.0.0.1"]) });
    expect((await fetch(url)).text()).toBe(`name.test:${server.port}`);
    expect(asked).toBe(1);
  });

  it("checks every redirect, and gives no credentials to another origin", async () => {
    const seen: (string | undefined)[] = [];
    await using other = await serve((req, res) => {
      seen.push(req.headers.authorization, req.method, req.headers.cookie);
      res.end("there");
    });
    await using first = await serve((req, res) => {
      if (req.url === "/out") res.writeHead(307, { location: `${other.origin}/` }).end();
      else if (req.url === "/loop") res.writeHead(302, { location: "/loop" }).end();
      else res.writeHead(302, { location: "file:///etc/passwd" }).end();
    });
    const headers = { Authorization: "Bearer x", Cookie: "a=b" };
    const both = createGuardedFetch({ allowOrigins: [first.origin, other.origin] });
    const result = await both(`${first.origin}/out`, { method: "POST", body: "secret", headers });
    expect(result).toMatchObject({ status: 200, url: `${other.origin}/` });
    expect(seen).toEqual([undefined, "GET", undefined]);
    const one = createGuardedFetch({ allowOrigins: [first.origin] });
    await expect(one(`${first.origin}/out`)).rejects.toMatchObject({ code: "private-address" });
    await expect(one(`${first.origin}/loop`)).rejects.toMatchObject({ code: "too-many-redirects" });
    await expect(one(`${first.origin}/file`)).rejects.toMatchObject({ code: "bad-url" });
  });

  it("stops at the size limit of the decoded body, and at the time limit", async () => {
    await using server = await serve((req, res) => {
      if (req.url === "/bomb") res.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(50_000_000)));
      else if (req.url === "/slow") res.writeHead(200).write("x");
    });
    const fetch = createGuardedFetch({ allowOrigins: () => [server.origin] });
    await expect(fetch(`${server.origin}/bomb`, { maxBytes: 1000 })).rejects.toMatchObject({ code: "too-large" });
    const cut = await fetch(`${server.origin}/bomb`, { maxBytes: 1000, truncate: true });
    expect([cut.body.length, cut.truncated]).toEqual([1000, true]);
    await expect(fetch(`${server.origin}/slow`, { timeoutMs: 50 })).rejects.toMatchObject({ code: "timeout" });
    const abort = new AbortController();
    const running = fetch(`${server.origin}/slow`, { signal: abort.signal });
    abort.abort();
    await expect(running).rejects.toMatchObject({ code: "aborted" });
  });

  it.each(["ftp://example.com", "file:///etc/passwd", "http://user:pw@example.com/", "not a url"])("refuses %s", async (url) => {
    await expect(createGuardedFetch()(url)).rejects.toMatchObject({ code: "bad-url" });
  });

  it("lets a platform's own hosts resolve into a fake-IP proxy's range, and no others", async () => {
    const resolve = async () => ["198.18.0.7"];
    const fetch = createGuardedFetch({ resolve, fakeIpHosts: ["feishu.cn"] });
    await expect(fetch("http://evil.test/")).rejects.toMatchObject({ code: "private-address" });
    const outcome: unknown = await fetch("http://open.feishu.cn:1/", { timeoutMs: 30 }).catch((err: unknown) => err);
    expect(outcome).not.toMatchObject({ code: "private-address" });
  });
});

it.each([
  ["8.8.8.8", true], ["100.64.0.1", false], ["192.168.1.1", false], ["172.31.255.255", false], ["172.32.0.1", true], ["2606:4700::1111", true],
  ["fe80::1%eth0", false], ["fc00::1", false], ["2002:7f00:1::", false], ["2001:0:7f00:1::", false], ["2606:4700::5efe:7f00:1", false], ["::ffff:8.8.8.8", false], ["x", false],
])("address %s is public: %s", (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});
