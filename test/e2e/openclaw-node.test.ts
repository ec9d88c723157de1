import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startMockModel } from "../support/model.ts";

/** The published client, unmodified, in a process and a home of its own; prints one JSON value. */
async function runClient(g: TestGateway, home: string, body: string): Promise<unknown> {
  const script = `
    import { OpenClawClient } from ${JSON.stringify(import.meta.resolve("openclaw-node"))};
    const client = new OpenClawClient({ url: process.argv[1], token: process.argv[2], autoReconnect: false });
    const hello = await client.connect();
    const out = await (async () => { ${body} })();
    console.log(JSON.stringify(out));
    await client.disconnect();
    process.exit(0);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, g.url.replace(/^http/, "ws"), g.token], {
    env: { PATH: process.env["PATH"], HOME: home, NODE_NO_WARNINGS: "1" }, stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (stdout += part));
  child.stderr.setEncoding("utf8").on("data", (part: string) => (stderr += part));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the client ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

it("the published client openclaw-node chats with streaming, finds the session and reads its history", async () => {
  const reply = "A long enough answer, so that it comes in more than one piece.";
  await using model = await startMockModel((mock) => mock.onMessage(/stream/i, { content: reply }, { streamingProfile: { ttft: 5, tps: 60 } }));
  await using g = await startTestGateway({ config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } } } });
  await g.gateway.ready;
  const home = await mkdtemp(join(tmpdir(), "openclaw-home-"));
  try {
    const first = (await runClient(g, home, `
      const chunks = [];
      for await (const chunk of client.chat("Please stream", { sessionKey: "main" })) chunks.push(chunk);
      const list = await client.sessions.list();
      const history = await client.sessions.history("main");
      const health = await client.health();
      return { protocol: hello.protocol, chunks, list, history, health };`)) as {
      protocol: number; chunks: { type: string; text: string }[]; list: { sessions: { key: string }[] };
      history: { messages: { role: string; content: { text: string }[] }[] }; health: { ok: boolean };
    };

    expect(first.protocol).toBe(3);
    const texts = first.chunks.filter((chunk) => chunk.type === "text");
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.map((chunk) => chunk.text).join("")).toBe(reply);
    expect(first.chunks.at(-1)?.type).toBe("done");
    expect(first.list.sessions.map((session) => session.key)).toContain("agent:main:main");
    expect(first.history.messages.map((message) => [message.role, message.content[0]?.text])).toEqual([["user", "Please stream"], ["assistant", reply]]);
    expect(first.health.ok).toBe(true);
    expect(await readdir(join(home, ".openclaw"))).toContain("device-identity.json");

    // The device is known now; without a session or agent the default agent answers.
    const again = await runClient(g, home, `return client.chatSync("stream once more");`);
    expect(again).toBe(reply);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
});
