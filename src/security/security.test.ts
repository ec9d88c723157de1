import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  authorize, bearerOf, checkExposure, coversScopes, createAuthGate, createFailureLimiter, exceedsJsonDepth, isHostKnown, isOriginAllowed, matchesAddressList,
  normalizeAddress, OPERATOR_SCOPES, parseUntrustedJson, resolveAuth, resolveClient, secretEquals,
} from "./index.ts";
import type { Authority, SecurityConfig } from "./index.ts";

const who = (role: Authority["role"], scopes: string[] = [], isOwner = false): Authority => ({ role, scopes, isOwner });

describe("authorisation", () => {
  it("grants a method by scope to operators and by role to nodes", () => {
    const rpc = (requires: Parameters<typeof authorize>[0] & object, by: Authority) => authorize(requires, by).allowed;
    const method = (requires: "operator.read" | "operator.admin" | "node" | "none") => ({ kind: "rpc", method: "m", requires }) as const;
    expect(rpc(method("operator.read"), who("operator", ["operator.write"]))).toBe(true);
    expect(rpc(method("operator.admin"), who("operator", ["operator.write"]))).toBe(false);
    expect(rpc(method("node"), who("operator", ["operator.admin"]))).toBe(false);
    expect(rpc(method("operator.read"), who("node", ["operator.admin"], true))).toBe(false);
    expect(rpc(method("none"), who("node"))).toBe(true);
  });

  it("lets a channel's owner command, and a gateway client only within its scopes", () => {
    const config = { kind: "command", name: "config", requires: "operator.admin" } as const;
    expect(authorize(config, who("channel", [], true)).allowed).toBe(true);
    expect(authorize(config, who("channel"))).toMatchObject({ allowed: false });
    expect(authorize(config, who("operator", ["operator.write"], false))).toEqual({ allowed: false, reason: "scope", message: "missing scope: operator.admin" });
    expect(authorize({ kind: "tool", name: "exec", ownerOnly: true }, who("operator", ["operator.admin"], false)).allowed).toBe(false);
  });

  it("never covers a scope that nothing held implies", () => {
    const scopes = fc.subarray([...OPERATOR_SCOPES]);
    fc.assert(
      fc.property(scopes, scopes, (held, wanted) => {
        const expected = wanted.every((w) => held.includes(w) || held.includes("operator.admin") || (w === "operator.read" && held.includes("operator.write")));
        expect(coversScopes("operator", held, wanted)).toBe(expected);
        expect(coversScopes("node", held, wanted)).toBe(wanted.every((w) => held.includes(w)));
      }),
    );
  });
});

it("secrets are compared whatever their lengths, and an empty one equals nothing", () => {
  expect(secretEquals("a".repeat(4096), "a".repeat(4096))).toBe(true);
  expect(secretEquals("a", "b")).toBe(false);
  for (const [a, b] of [["", ""], [undefined, undefined], [undefined, "x"], ["", "x"]]) expect(secretEquals(a, b)).toBe(false);
});

describe("addresses", () => {
  it.each([["::ffff:127.0.0.1", "127.0.0.1"], ["[::1]", "::1"], ["::FFFF:7f00:1", "127.0.0.1"], ["fe80::1%eth0", "fe80::1"], ["10.1", ""], ["x", ""]])("%s is read as %j", (given, expected) => {
    expect(normalizeAddress(given)).toBe(expected);
  });
  it("match ranges; a malformed entry matches nothing", () => {
    expect(matchesAddressList("10.2.3.4", ["10.0.0.0/8"])).toBe(true);
    expect(matchesAddressList("10.2.3.4", ["nonsense", "10.0.0.0/99", "/8", ""])).toBe(false);
    expect(matchesAddressList("2001:db8::1", ["2001:db8::/32"])).toBe(true);
  });
});

describe("the client's address", () => {
  const config: SecurityConfig = { gateway: { trustedProxies: ["10.0.0.0/8", "127.0.0.1"] } };
  const resolve = (remoteAddress: string, headers: Record<string, string>, c = config) => resolveClient({ remoteAddress, headers: { host: "localhost", ...headers } }, c);
  it("is the right-most stranger in front of trusted proxies, and the peer otherwise", () => {
    expect(resolve("10.0.0.1", { "x-forwarded-for": "127.0.0.1, 203.0.113.7, 10.0.0.2" }).ip).toBe("203.0.113.7");
    expect(resolve("203.0.113.1", { "x-forwarded-for": "127.0.0.1" })).toMatchObject({ ip: "203.0.113.1", isLocal: false });
    expect(resolve("10.0.0.1", { "x-forwarded-for": "garbage" }).ip).toBe("10.0.0.1");
    expect(resolve("10.0.0.1", { "x-forwarded-for": "[2001:db8::5]:443" }).ip).toBe("2001:db8::5");
  });
  it("is local only from loopback, by a local name, not forwarded by a stranger", () => {
    expect(resolve("::1", {}, {}).isLocal).toBe(true);
    expect(resolve("127.0.0.1", { host: "box.tail1.ts.net" }, {}).isLocal).toBe(true);
    expect(resolve("127.0.0.1", { host: "evil.test" }, {}).isLocal).toBe(false);
    expect(resolve("127.0.0.1", { "x-forwarded-host": "localhost" }, {}).isLocal).toBe(false);
  });
});

it("a page may connect from a listed origin or from this machine to this machine", () => {
  const listed: SecurityConfig = { gateway: { controlUi: { allowedOrigins: ["https://UI.example/"] } } };
  expect(isOriginAllowed("https://ui.example", "gw.lan", listed)).toBe(true);
  expect(isOriginAllowed("https://ui.example.evil.test", "gw.lan", listed)).toBe(false);
  expect(isOriginAllowed("http://localhost:1", "127.0.0.1:18789", {})).toBe(true);
  expect(isOriginAllowed("http://127.0.0.1.evil.test", "127.0.0.1", {})).toBe(false);
  for (const bad of [undefined, "null", "file://", "x"]) expect(isOriginAllowed(bad, "localhost", {})).toBe(false);
  expect(isOriginAllowed("http://box:1", "box:1", {})).toBe(false);
  expect(isOriginAllowed("http://box:1", "box:1", { gateway: { controlUi: { dangerouslyAllowHostHeaderOriginFallback: true } } })).toBe(true);
  expect(["localhost:1", "[::1]:1", "192.168.1.2", "a.ts.net", "ui.example", "evil.test", undefined, "a@localhost"].map((h) => isHostKnown(h, listed))).toEqual([
    true, true, true, true, true, false, false, false,
  ]);
});

describe("auth", () => {
  it("takes credentials from the config, then from the environment", () => {
    expect(resolveAuth({}, { OPENCLAW_GATEWAY_TOKEN: "e" })).toMatchObject({ mode: "token", token: "e" });
    expect(resolveAuth({ gateway: { auth: { token: "c", password: "p" } } }, { OPENCLAW_GATEWAY_TOKEN: "e" })).toMatchObject({ mode: "password", token: "c", password: "p" });
    expect(resolveAuth({ gateway: { tailscale: { mode: "serve" } } }, {}).allowTailscale).toBe(true);
    expect(bearerOf({ authorization: "bearer  abc" })).toBe("abc");
    expect(bearerOf({ authorization: "Basic abc" })).toBeUndefined();
  });

  it("believes Tailscale's headers only from the proxy on loopback, confirmed by whois", async () => {
    const config: SecurityConfig = { gateway: { tailscale: { mode: "serve" }, auth: { token: "T" } } };
    const gate = createAuthGate({ config: () => config, env: {}, clock: { now: () => 0 }, whois: async (ip) => (ip === "100.64.1.2" ? { login: "Ann@x" } : undefined) });
    const ask = (headers: Record<string, string>, remoteAddress = "127.0.0.1") => gate.identifyTailscale(headers, resolveClient({ remoteAddress, headers }, config));
    const proxied = { host: "box.ts.net", "tailscale-user-login": "ann@x", "x-forwarded-for": "100.64.1.2", "x-forwarded-proto": "https", "x-forwarded-host": "box.ts.net" };
    expect(await ask(proxied)).toMatchObject({ ok: true, method: "tailscale" });
    expect(await ask({ ...proxied, "x-forwarded-for": "100.64.9.9" })).toBeUndefined();
    expect(await ask({ ...proxied, "tailscale-user-login": "eve@x" })).toBeUndefined();
    expect(await ask(proxied, "192.168.1.9")).toBeUndefined();
    expect(gate.authenticateHttp(proxied, "127.0.0.1", resolveClient({ remoteAddress: "127.0.0.1", headers: proxied }, config)).ok).toBe(false);
  });

  it("locks a key on the last allowed failure, forgets old ones, and frees it in time", () => {
    let now = 0;
    const limiter = createFailureLimiter(() => ({ maxAttempts: 3, windowMs: 100, lockoutMs: 1000 }), { now: () => now });
    limiter.fail("a");
    limiter.fail("a");
    now = 101;
    limiter.fail("a");
    expect(limiter.retryAfterMs("a")).toBe(0);
    limiter.fail("a");
    limiter.fail("a");
    expect([limiter.retryAfterMs("a"), limiter.retryAfterMs("b")]).toEqual([1000, 0]);
    for (let i = 0; i < 20_000; i++) limiter.fail(`flood${i}`);
    expect(limiter.retryAfterMs("a")).toBe(1000);
    now += 1000;
    expect(limiter.retryAfterMs("a")).toBe(0);
  });
});

it("JSON depth is counted outside strings only", () => {
  expect(exceedsJsonDepth("[".repeat(200))).toBe(true);
  expect(() => parseUntrustedJson(`${"[".repeat(129)}${"]".repeat(129)}`)).toThrow(SyntaxError);
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.string(), (text, noise) => {
      expect(parseUntrustedJson(text)).toEqual(JSON.parse(text));
      expect(exceedsJsonDepth(JSON.stringify([`${noise}${"[{".repeat(300)}\\"`]))).toBe(false);
    }),
  );
});

describe("a start is refused, with what to change", () => {
  const token = { mode: "token", token: "T" } as const;
  const origins = { allowedOrigins: ["http://gw:18789"] };
  const proxy = { mode: "trusted-proxy", trustedProxy: { userHeader: "x-user" } } as const;
  it.each<[string, string, NonNullable<SecurityConfig["gateway"]>, RegExp | undefined]>([
    ["loopback with a token", "127.0.0.1", { auth: token }, undefined],
    ["loopback without any auth", "127.0.0.1", { auth: { mode: "none" } }, undefined],
    ["the LAN without auth", "0.0.0.0", { auth: { mode: "none" }, controlUi: origins }, /gateway\.auth/],
    ["the LAN without a token", "0.0.0.0", { auth: { mode: "token" }, controlUi: origins }, /gateway\.auth\.token/],
    ["the LAN with a token but no origins", "0.0.0.0", { auth: token }, /allowedOrigins/],
    ["the LAN with a token and no UI", "0.0.0.0", { auth: token, controlUi: { enabled: false } }, undefined],
    ["the LAN with a token and origins", "0.0.0.0", { auth: token, controlUi: origins }, undefined],
    ["a tailnet serve beside the LAN", "0.0.0.0", { auth: token, controlUi: origins, tailscale: { mode: "serve" } }, /loopback/],
    ["a funnel without a password", "127.0.0.1", { auth: token, tailscale: { mode: "funnel" } }, /password/],
    ["a proxy mode without proxies", "127.0.0.1", { auth: proxy }, /trustedProxies/],
    ["a proxy mode on loopback without a loopback proxy", "127.0.0.1", { auth: proxy, trustedProxies: ["10.0.0.1"] }, /loopback/],
    ["a proxy mode without a user header", "127.0.0.1", { auth: { mode: "trusted-proxy" }, trustedProxies: ["127.0.0.1"] }, /userHeader/],
  ])("for %s", (_name, host, gateway, expected) => {
    const problems = checkExposure({ gateway }, {}, host);
    if (expected) expect(problems.join("\n")).toMatch(expected);
    else expect(problems).toEqual([]);
  });
});
