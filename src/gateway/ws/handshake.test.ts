import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { identityFromSeed } from "../../pairing/index.ts";
import { startTestGateway, TOKEN } from "./test-support.ts";
import type { ConnectOptions } from "./test-support.ts";

const mismatch = "unauthorized: gateway token mismatch (provide gateway auth token)";
const originRefused =
  "origin not allowed (open the Control UI from the gateway host or allow it in gateway.controlUi.allowedOrigins)";
const controlUi = { id: "openclaw-control-ui", mode: "webchat" };

interface Case {
  readonly name: string;
  readonly options: ConnectOptions;
  readonly error: Record<string, unknown>;
  readonly code?: number;
}

const cases: Case[] = [
  {
    name: "a wrong token without a device",
    options: { device: null, auth: { token: "wrong" } },
    error: { code: "INVALID_REQUEST", message: mismatch, details: { code: "AUTH_TOKEN_MISMATCH", authReason: "token_mismatch" } },
  },
  {
    name: "no credentials and no device",
    options: { device: null, auth: null },
    error: { code: "NOT_PAIRED", message: "device identity required", details: { code: "DEVICE_IDENTITY_REQUIRED" } },
  },
  {
    name: "a wrong token with a valid device signature",
    options: { auth: { token: "wrong" } },
    error: { code: "INVALID_REQUEST", message: mismatch, details: { code: "AUTH_TOKEN_MISMATCH", authReason: "token_mismatch" } },
  },
  {
    name: "a wrong device token",
    options: { auth: { deviceToken: "wrong" } },
    error: {
      code: "INVALID_REQUEST",
      message: "unauthorized: device token mismatch (rotate/reissue device token)",
      details: { code: "AUTH_DEVICE_TOKEN_MISMATCH", authReason: "device_token_mismatch" },
    },
  },
  {
    name: "a password where a token is wanted",
    options: { auth: { password: "x" } },
    error: {
      code: "INVALID_REQUEST",
      message: "unauthorized: gateway token missing (provide gateway auth token)",
      details: { code: "AUTH_TOKEN_MISSING", authReason: "token_missing" },
    },
  },
  {
    name: "the CLI with a wrong token",
    options: { client: { id: "cli", mode: "cli" }, auth: { token: "wrong" } },
    error: {
      code: "INVALID_REQUEST",
      message: "unauthorized: gateway token mismatch (set gateway.remote.token to match gateway.auth.token)",
      details: { code: "AUTH_TOKEN_MISMATCH", authReason: "token_mismatch" },
    },
  },
  {
    name: "protocol 4",
    options: { params: { minProtocol: 4, maxProtocol: 4 } },
    error: { code: "INVALID_REQUEST", message: "protocol mismatch", details: { expectedProtocol: 3 } },
    code: 1002,
  },
  {
    name: "protocols 1 to 2",
    options: { params: { minProtocol: 1, maxProtocol: 2 } },
    error: { code: "INVALID_REQUEST", message: "protocol mismatch", details: { expectedProtocol: 3 } },
    code: 1002,
  },
  {
    name: "an unknown client id",
    options: { client: { id: "ios-node" } },
    error: {
      code: "INVALID_REQUEST",
      message: "invalid connect params: at /client/id: must be equal to constant; at /client/id: must match a schema in anyOf",
    },
  },
  {
    name: "an unknown mode",
    options: { client: { mode: "operator" } },
    error: {
      code: "INVALID_REQUEST",
      message: "invalid connect params: at /client/mode: must be equal to constant; at /client/mode: must match a schema in anyOf",
    },
  },
  {
    name: "an extra property",
    options: { params: { zzz: 1 } },
    error: { code: "INVALID_REQUEST", message: "invalid connect params: at root: unexpected property 'zzz'" },
  },
  { name: "an unknown role", options: { role: "root" }, error: { code: "INVALID_REQUEST", message: "invalid role" } },
  {
    name: "a node without a device",
    options: { role: "node", device: null },
    error: { code: "NOT_PAIRED", message: "device identity required", details: { code: "DEVICE_IDENTITY_REQUIRED" } },
  },
  ...(
    [
      ["a device id of another key", { tamper: (d) => (d["id"] = "0".repeat(64)) }, "device identity mismatch", "device-id-mismatch"],
      ["an old signature", { signedAt: Date.now() - 121_000 }, "device signature expired", "device-signature-stale"],
      ["another nonce", { nonce: "11111111-2222-4333-8444-555555555555" }, "device nonce mismatch", "device-nonce-mismatch"],
      ["a blank nonce", { nonce: " " }, "device nonce required", "device-nonce-missing"],
      ["a bad signature", { tamper: (d) => (d["signature"] = "AAAA") }, "device signature invalid", "device-signature"],
      ["a key that is none", { tamper: (d) => (d["publicKey"] = "??") }, "device public key invalid", "device-public-key"],
    ] satisfies [string, ConnectOptions, string, string][]
  ).map(([name, options, message, reason]) => ({
    name,
    options,
    error: { code: "INVALID_REQUEST", message, details: { code: "DEVICE_AUTH_INVALID", reason } },
  })),
  { name: "the Control UI without an origin", options: { client: controlUi }, error: { code: "INVALID_REQUEST", message: originRefused } },
  {
    name: "the Control UI of a foreign page",
    options: { client: controlUi, headers: { origin: "http://evil.test" } },
    error: { code: "INVALID_REQUEST", message: originRefused },
  },
  {
    name: "any client of a foreign page, right token or not, proxied or not",
    options: { headers: { origin: "http://evil.test", "x-forwarded-for": "10.0.0.1" } },
    error: { code: "INVALID_REQUEST", message: originRefused },
  },
  {
    name: "the Control UI without a device",
    options: { client: controlUi, device: null, headers: { origin: "http://localhost:5173" } },
    error: {
      code: "INVALID_REQUEST",
      message: "control ui requires device identity (use HTTPS or localhost secure context)",
      details: { code: "CONTROL_UI_DEVICE_IDENTITY_REQUIRED" },
    },
  },
];

describe("connect is refused", () => {
  it.each(cases)("for $name", async ({ options, error, code }) => {
    await using gateway = await startTestGateway();
    const client = await gateway.open(options.headers);
    const hello = await client.hello(options);
    expect(hello.ok).toBe(false);
    expect(hello.error).toEqual(error);
    const close = await client.close();
    expect(close.code).toBe(code ?? 1008);
    expect(Buffer.byteLength(close.reason)).toBeLessThanOrEqual(120);
    expect(String(error["message"]).startsWith(close.reason)).toBe(true);
  });

  it.each([
    ["a page on loopback", { headers: { origin: "http://localhost:5173" } }],
    ["a foreign Host name", { headers: { host: "gateway.example" } }],
    ["a stranger's proxy", { headers: { "x-forwarded-for": "203.0.113.9" } }],
  ])("until an operator approves a new device behind %s", async (_name, options) => {
    await using gateway = await startTestGateway();
    const client = await gateway.open(options.headers);
    const hello = await client.hello(options);
    expect(hello.error).toMatchObject({ code: "NOT_PAIRED", message: "pairing required", details: { code: "PAIRING_REQUIRED", reason: "not-paired" } });
    expect(await client.close()).toEqual({ code: 1008, reason: "pairing required" });
    expect(hello.error).toMatchObject({ details: { requestId: gateway.devices.list().pending[0]?.requestId } });
  });

  it("with its first frame not a connect, no request, or no JSON", async () => {
    await using gateway = await startTestGateway();
    const other = await gateway.open();
    other.sendRaw(JSON.stringify({ type: "req", id: "x", method: "health" }));
    expect((await other.response("x")).error).toEqual({ code: "INVALID_REQUEST", message: "invalid handshake: first request must be connect" });
    expect(await other.close()).toEqual({ code: 1008, reason: "invalid handshake: first request must be connect" });
    const object = await gateway.open();
    object.sendRaw("{}");
    expect(await object.close()).toEqual({ code: 1008, reason: "invalid request frame" });
    const garbage = await gateway.open();
    garbage.sendRaw("hello?");
    expect((await garbage.close()).reason).toBe("");
    const deep = await gateway.open();
    deep.sendRaw(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    expect((await deep.close()).reason).toBe("");
  });

  it("when nothing came in time, or more than a connect can hold", async () => {
    await using gateway = await startTestGateway({ limits: { handshakeTimeoutMs: 30 } });
    const idle = await gateway.open();
    expect((await idle.close()).reason).toBe("");
    expect(idle.closed?.code).toBe(1000);
    await using narrow = await startTestGateway({ limits: { maxHandshakeBytes: 10_000 } });
    const big = await narrow.open();
    big.sendRaw(JSON.stringify({ type: "req", id: "x", method: "connect", params: { pathEnv: "x".repeat(2_000_000) } }));
    expect([1006, 1009]).toContain((await big.close()).code);
  });
});

describe("connect", () => {
  it("without a device gets no scope, whatever it asks for: only health works", async () => {
    await using gateway = await startTestGateway();
    const client = await gateway.connect({ device: null, params: { minProtocol: 2, maxProtocol: 5 } });
    expect((await client.call("health")).ok).toBe(true);
    expect((await client.call("status")).error?.message).toBe("missing scope: operator.read");
    expect((await client.call("config.set", {})).error?.message).toBe("missing scope: operator.admin");
  });

  it("pairs a local device silently and gives the same device token again", async () => {
    await using gateway = await startTestGateway();
    const device = identityFromSeed(Buffer.alloc(32, 1));
    const read = ["operator.read"];
    const first = await (await gateway.open()).hello({ device, scopes: read });
    const issued = first.payload?.["auth"] as { deviceToken: string; scopes: string[]; role: string };
    expect(issued).toMatchObject({ role: "operator", scopes: read });
    expect(issued.deviceToken).toHaveLength(43);

    const again = await (await gateway.open()).hello({ device, scopes: read, auth: { deviceToken: issued.deviceToken } });
    expect(again.payload?.["auth"]).toMatchObject({ deviceToken: issued.deviceToken });
    const asToken = await (await gateway.open()).hello({ device, scopes: read, auth: { token: issued.deviceToken } });
    expect(asToken.payload?.["auth"]).toMatchObject({ deviceToken: issued.deviceToken });

    const wider = await (await gateway.open()).hello({ device, scopes: ["operator.admin"], auth: { deviceToken: issued.deviceToken } });
    expect(wider.error).toMatchObject({ code: "NOT_PAIRED", details: { reason: "scope-upgrade" } });
    const withSecret = await (await gateway.open()).hello({ device, scopes: ["operator.read", "operator.write"] });
    expect(withSecret.payload?.["auth"]).toMatchObject({ scopes: ["operator.read", "operator.write"], deviceToken: issued.deviceToken });
    const asNode = await (await gateway.open()).hello({ device, scopes: [], role: "node" });
    expect(asNode.error).toMatchObject({ code: "NOT_PAIRED", details: { reason: "role-upgrade" } });
  });

  it("lets the Control UI of the same machine in, with the scopes it asked for", async () => {
    await using gateway = await startTestGateway();
    const scopes = ["operator.admin", "operator.approvals", "operator.pairing"];
    const client = await gateway.open({ origin: `http://127.0.0.1:${gateway.port}` });
    const hello = await client.hello({ client: controlUi, scopes });
    expect(hello.payload?.["auth"]).toMatchObject({ role: "operator", scopes });
    expect((await client.call("status")).ok).toBe(true);
  });

  it("keeps a node to the commands it was approved with", async () => {
    await using gateway = await startTestGateway();
    const node = { role: "node", scopes: [], client: { id: "node-host", mode: "node" } };
    const first = await gateway.connect({ ...node, params: { commands: ["canvas.present"] } });
    first.socket.close();
    await gateway.connect({ ...node, params: { commands: ["canvas.present", "system.run"] } });
    expect(gateway.ws.connections().find((c) => c.commands.length > 0)?.commands).toEqual(["canvas.present"]);
    expect(gateway.devices.list().pending[0]).toMatchObject({ commands: ["canvas.present", "system.run"], isRepair: true });
  });

  it("throttles a page that guesses the password, though it is on loopback", async () => {
    const origin = "http://localhost:9";
    await using gateway = await startTestGateway({ config: { gateway: { auth: { mode: "password", password: "right" } } } });
    const attempt = async (password: string) => {
      const identity = generateKeyPairSync("ed25519"); // a new throw-away device each time buys nothing
      const seed = identity.privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32);
      const client = await gateway.open({ origin });
      return client.hello({ client: controlUi, device: identityFromSeed(seed), auth: { password } });
    };
    for (let i = 0; i < 10; i++) expect((await attempt(`wrong${i}`)).error?.message).toContain("gateway password mismatch");
    expect((await attempt("right")).error).toMatchObject({ details: { code: "AUTH_RATE_LIMITED", authReason: "rate_limited" } });
    const cli = await gateway.open();
    expect((await cli.hello({ auth: { password: "right" } })).ok).toBe(true);
  });

  it("evaluates no more guesses than the budget, though they come all at once", async () => {
    await using gateway = await startTestGateway({ config: { gateway: { auth: { mode: "password", password: "right" } } } });
    const guesses = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const client = await gateway.open({ origin: "http://localhost:9" });
        return (await client.hello({ client: controlUi, auth: { password: `p${i}` } })).error?.message ?? "";
      }),
    );
    expect(guesses.filter((m) => m.includes("password mismatch"))).toHaveLength(10);
    expect(guesses.filter((m) => m.includes("too many failed"))).toHaveLength(30);
  });

  it("takes a user from a trusted proxy and from nobody else", async () => {
    const auth = { mode: "trusted-proxy", trustedProxy: { userHeader: "x-user", allowUsers: ["ann"] } } as const;
    await using gateway = await startTestGateway({ config: { gateway: { auth, trustedProxies: ["127.0.0.0/8"] } } });
    const hello = async (user: string) => (await gateway.open({ "x-user": user, "x-forwarded-for": "203.0.113.5" })).hello({ device: null, auth: null });
    expect((await hello("ann")).ok).toBe(true);
    expect((await hello("eve")).ok).toBe(false);
    gateway.config = { gateway: { auth, trustedProxies: ["10.0.0.1"] } };
    expect((await hello("ann")).ok).toBe(false);
    expect(TOKEN).toBe("GATEWAY-TOKEN");
  });
});
