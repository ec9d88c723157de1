import { expect, it } from "vitest";
import { brokenProvider, call, say } from "../support/broken-provider.ts";
import { connectClient } from "../support/client.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

const invoke = async (g: TestGateway, body: unknown, token: string | undefined = g.token): Promise<{ status: number; json: Record<string, unknown> }> => {
  const res = await fetch(`${g.url}/tools/invoke`, { method: "POST", headers: { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }, body: typeof body === "string" ? body : JSON.stringify(body) });
  const text = await res.text();
  return { status: res.status, json: text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : { text } };
};

it("tools can be called over HTTP with the token, behind the same policy", async () => {
  await using g = await startTestGateway({ config: { tools: { deny: ["web_search"] }, gateway: { mode: "local", auth: { mode: "token", token: "T" }, tools: { allow: ["cron"], deny: ["sessions_history"] } } } });
  await g.gateway.ready;
  expect(await invoke(g, { tool: "agents_list" })).toMatchObject({ status: 200, json: { ok: true, result: { details: { requester: "main" } } } });
  expect(await invoke(g, { tool: "cron", action: "status" })).toMatchObject({ status: 200, json: { ok: true } });
  for (const tool of ["exec", "read", "web_search", "sessions_history", "sessions_spawn", "gateway", "no_such"]) {
    expect(await invoke(g, { tool })).toEqual({ status: 404, json: { ok: false, error: { type: "not_found", message: `Tool not available: ${tool}` } } });
  }
  expect(await invoke(g, {})).toMatchObject({ status: 400, json: { error: { message: "tools.invoke requires body.tool" } } });
  expect((await invoke(g, "{")).status).toBe(400);
  expect((await invoke(g, { tool: "agents_list" }, "wrong")).status).toBe(401);
  expect(await invoke(g, { tool: "cron", args: { action: "run" } })).toMatchObject({ status: 400, json: { error: { type: "tool_error", message: expect.stringContaining("Missing required parameter: jobId") } } });
});

it("the owner's agent reads and changes the configuration, with secrets hidden", async () => {
  await using provider = await brokenProvider(
    call("gateway", JSON.stringify({ action: "config.get" })), say("read"),
    call("gateway", JSON.stringify({ action: "config.patch", raw: '{ messages: { queue: { cap: 7 } } }' })), say("changed"),
    call("gateway", JSON.stringify({ action: "config.patch", raw: '{ gateway: { prot: 1 } }' })), say("refused"),
  );
  await using g = await startTestGateway({ config: { ...provider.config, gateway: { mode: "local", auth: { mode: "token", token: "T" } }, commands: { restart: false } } });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  await client.chat("show the config");
  const seen = (index: number): string => JSON.stringify(provider.bodies[index]?.messages.at(-1));
  expect(seen(1)).toContain("__OPENCLAW_REDACTED__");
  expect(seen(1)).not.toContain('\\"token\\": \\"T\\"');
  await client.chat("set the cap");
  expect(g.gateway.context.config().messages?.queue?.cap).toBe(7);
  await client.chat("break it");
  expect(seen(5)).toMatch(/invalid config/);
  expect(g.gateway.context.config().gateway).not.toHaveProperty("prot");
});
