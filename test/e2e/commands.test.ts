import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { connectClient, type TestClient } from "../support/client.ts";
import { ALICE, APP, BOB, startFakeFeishu } from "../support/feishu-api/index.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";
import { startFakeTelegram } from "../support/telegram-api/index.ts";

const agents = (more: Record<string, unknown> = {}) => ({ agents: { defaults: { model: { primary: "mock/gpt-mock" }, ...more } } });

interface Body {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly { readonly function: { readonly name: string; readonly description: string; readonly parameters: unknown } }[];
}
const lastBody = (model: MockModel): Body => model.mock.getLastRequest()?.body as unknown as Body;
const textOf = (content: unknown): string => (typeof content === "string" ? content : Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "");
const userText = (model: MockModel): string => textOf(lastBody(model).messages.findLast((message) => message.role === "user")?.content);
const workspaceOf = (g: TestGateway): string => g.gateway.context.agents.agent("main").workspaceDir;
const file = async (g: TestGateway, path: string, text: string): Promise<void> => {
  const target = join(workspaceOf(g), path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text);
};
const say = async (client: TestClient, text: string): Promise<string> => (await client.chat(text)).text ?? "";

it("/context tells exactly what is sent to the model, before and after the first message", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents() } });
  await using client = await connectClient(g.url, g.token);
  await file(g, "skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies things.\n---\nTidy.\n");

  const before = JSON.parse(await say(client, "/context json")) as { report: Report };
  await client.chat("hello");
  const after = JSON.parse(await say(client, "/context json")) as { report: Report; session: { totalTokens: number; contextTokens: number } };

  expect([before.report.source, after.report.source]).toEqual(["estimate", "run"]);
  const body = lastBody(model);
  const system = textOf(body.messages[0]?.content);
  for (const { report } of [before, after]) {
    expect(report.systemPrompt.chars).toBe(system.length);
    expect(report.systemPrompt.projectContextChars + report.systemPrompt.nonProjectContextChars).toBe(system.length);
    expect(report.tools.entries.map((tool) => tool.name)).toEqual(body.tools.map((tool) => tool.function.name));
    for (const [index, tool] of report.tools.entries.entries()) {
      const sent = body.tools[index]?.function;
      expect([tool.name, tool.schemaChars]).toEqual([sent?.name, JSON.stringify(sent?.parameters).length]);
      expect([tool.name, tool.summaryChars]).toEqual([sent?.name, sent?.description.length]);
    }
    expect(report.tools.schemaChars).toBe(body.tools.reduce((sum, tool) => sum + JSON.stringify(tool.function.parameters).length, 0));
    for (const injected of report.injectedWorkspaceFiles.filter((item) => !item.missing)) {
      const raw = await readFile(injected.path, "utf8");
      expect([injected.name, injected.rawChars]).toEqual([injected.name, raw.trim().length]);
      if (!injected.truncated) expect(system).toContain(raw.trim());
    }
    expect(report.systemPrompt.projectContextChars).toBe(report.injectedWorkspaceFiles.reduce((sum, item) => sum + item.injectedChars, 0));
    expect(report.tools.listChars).toBe(/(?:^- [a-z_]+: .*\n?)+/m.exec(system)?.[0].trimEnd().length);
    const block = /<available_skills>[\s\S]*<\/available_skills>/.exec(system)?.[0] ?? "";
    expect(block).toContain("tidy");
    expect(report.skills.entries.map((skill) => skill.name)).toContain("tidy");
    for (const skill of report.skills.entries) {
      const own = block.split("  <skill>").find((part) => part.includes(`<name>${skill.name}</name>`)) ?? "";
      expect(`  <skill>${own}`.trimEnd()).toContain("</skill>");
      expect(skill.blockChars).toBe(`  <skill>${own.slice(0, own.indexOf("</skill>") + "</skill>".length)}`.length);
    }
  }
  expect(after.session.contextTokens).toBe(128_000);
  expect(after.session.totalTokens).toBeGreaterThan(0);
  for (const mode of ["list", "detail"]) {
    const text = await say(client, `/context ${mode}`);
    expect(text).toContain(`System prompt (as last sent): ${system.length} chars (~${Math.ceil(system.length / 4)} tok)`);
    expect(text).toContain("AGENTS.md: OK");
    expect(text).toContain("Session: ");
  }
  expect(await say(client, "/context nonsense")).toContain("Usage");
});

interface Report {
  readonly source: string;
  readonly systemPrompt: { readonly chars: number; readonly projectContextChars: number; readonly nonProjectContextChars: number };
  readonly injectedWorkspaceFiles: readonly { readonly name: string; readonly path: string; readonly missing: boolean; readonly rawChars: number; readonly injectedChars: number; readonly truncated: boolean }[];
  readonly skills: { readonly entries: readonly { readonly name: string; readonly blockChars: number }[] };
  readonly tools: { readonly listChars: number; readonly schemaChars: number; readonly entries: readonly { readonly name: string; readonly schemaChars: number; readonly summaryChars: number }[] };
}

const twoModels = async (setup: Parameters<typeof startMockModel>[0]): Promise<MockModel> => {
  const model = await startMockModel(setup);
  const provider = (model.config["models"] as { providers: { mock: { models: object[] } } }).providers.mock;
  provider.models = [
    { id: "gpt-mock", name: "Mock", contextWindow: 128_000, maxTokens: 8192, input: ["text"], reasoning: true },
    { id: "gpt-other", name: "Other", contextWindow: 64_000, maxTokens: 8192, input: ["text"] },
  ];
  return model;
};

it("directives alone are kept and answered together; among words they hold for that message and leave the rest as it was", async () => {
  await using model = await twoModels((mock) => mock.onMessage(/.*/, { content: "from the model" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents() } });
  await using client = await connectClient(g.url, g.token);

  expect(await say(client, "/think high /verbose on\n/queue steer cap:7")).toBe("🧠 Thinking level: high.\n🔧 Tool summaries: on.\n🪢 Queue: steer · cap 7.");
  expect(model.mock.getRequests()).toHaveLength(0);
  expect(await g.gateway.context.sessions.get("agent:main:main")).toMatchObject({ thinkingLevel: "high", verboseLevel: "on", queueMode: "steer", queueCap: 7 });

  const code = "look at this:\n\n```py\ndef f():\n    return  1   # /think off\n```\n  and  say";
  expect(await say(client, `/think low /model mock/gpt-other ${code}`)).toBe("from the model");
  expect(userText(model)).toContain(code);
  expect(userText(model)).not.toContain("/model");
  expect(lastBody(model).model).toBe("gpt-other");
  expect(await g.gateway.context.sessions.get("agent:main:main")).toMatchObject({ thinkingLevel: "high" });
  expect((await g.gateway.context.sessions.get("agent:main:main"))?.modelOverride).toBeUndefined();

  await client.chat("and now?");
  expect(lastBody(model)).toMatchObject({ model: "gpt-mock", reasoning_effort: "high" });
  await client.chat("please /t low what is this /status");
  expect(lastBody(model)).toMatchObject({ reasoning_effort: "low" });
  expect(userText(model)).toMatch(/please what is this$/);

  for (const text of ["high tide is when?", "think about it", "/think about it", "/usage is high", "run /thinking and/or /v", "/frobnicate high"]) {
    await client.chat(text);
    expect(userText(model)).toContain(text);
    expect(lastBody(model)).toMatchObject({ reasoning_effort: "high" });
  }
});

it("/model, /models and /think name what there is and refuse the rest", async () => {
  await using model = await twoModels((mock) => mock.onMessage(/.*/, { content: "ok" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents({ models: { "mock/gpt-mock": { alias: "one" }, "mock/gpt-other": { alias: "two" } } }) } });
  await using client = await connectClient(g.url, g.token);

  expect(await say(client, "/model")).toContain("🧠 Model: mock/gpt-mock");
  const status = await say(client, "/model status");
  expect(status).toContain("openai-completions · auth api-key");
  expect(status).not.toContain("mock-key");
  expect(await say(client, "/model other")).toBe("🧠 Model set to mock/gpt-other for this session.");
  expect(await say(client, "/think high")).toContain('mock/gpt-other does not offer "high". Options: off.');
  expect(await say(client, "/one")).toBe("🧠 Model set to mock/gpt-mock for this session.");
  expect((await g.gateway.context.sessions.get("agent:main:main"))?.modelOverride).toBeUndefined();
  expect(await say(client, "/think: sideways")).toContain('Unrecognised thinking level "sideways". Options: off, minimal, low, medium, high.');
  expect(await say(client, "/think xhigh")).toContain("does not offer");
  expect(await say(client, "/model nonesuch")).toContain("Unknown model: nonesuch");
  expect(await say(client, "/model openai/gpt-5.2")).toContain("not among agents.defaults.models");
  expect(await say(client, "/models")).toContain("● mock (2)");
  const page = await say(client, "/models mock 2 size=1");
  expect(page).toContain("page 2/2");
  expect(page).toContain("● mock/gpt-other");
  expect(await say(client, "/models nobody")).toContain('No provider "nobody"');
  await client.chat("/two hello");
  expect(lastBody(model).model).toBe("gpt-other");
  expect(userText(model)).toContain("Model switched to mock/gpt-mock.");
});

it("/model with a login behind @ pins it, and default lets it go", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents() } });
  await using client = await connectClient(g.url, g.token);
  const { agentDir } = g.gateway.context.agents.agent("main");
  await mkdir(agentDir, { recursive: true });
  await writeFile(join(agentDir, "auth-profiles.json"), JSON.stringify({ version: 1, profiles: { "mock:work": { type: "api_key", provider: "mock", key: "work-key" } } }));

  expect(await say(client, "/model mock/gpt-mock@mock:nobody")).toContain('no auth profile "mock:nobody"');
  expect(await say(client, "/model mock/gpt-mock@mock:work")).toBe("🧠 Model set to mock/gpt-mock with profile mock:work for this session.");
  expect(await say(client, "/model")).toContain("profile mock:work");
  expect((await g.gateway.context.sessions.get("agent:main:main"))).toMatchObject({ authProfileOverride: "mock:work", authProfileOverrideSource: "user" });
  expect(await say(client, "hello")).toBe("ok");
  expect(await say(client, "/status")).toContain("🔑 api-key (mock:work)");
  expect(await say(client, "/model status")).not.toContain("work-key");
  expect(await say(client, "/model default")).toContain("default again");
  expect((await g.gateway.context.sessions.get("agent:main:main"))?.authProfileOverride).toBeUndefined();
});

it("skills are commands, also without any model alias, and one may call a tool at once", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "tidied" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents() } });
  await using client = await connectClient(g.url, g.token);
  await file(g, "skills/tidy-up/SKILL.md", "---\nname: Tidy-Up!\ndescription: Tidies things.\n---\nTidy.\n");
  await file(g, "skills/help/SKILL.md", "---\nname: help\ndescription: Takes a core name.\n---\nx\n");
  await file(g, "skills/how/SKILL.md", "---\nname: how\ndescription: Tells the state.\ncommand-dispatch: tool\ncommand-tool: session_status\n---\nx\n");
  await file(g, "skills/hidden/SKILL.md", "---\nname: hidden\ndescription: Not for people.\nuser-invocable: false\n---\nx\n");

  expect(await say(client, "/tidy_up the  kitchen\n  and hall")).toBe("tidied");
  expect(userText(model)).toContain('Use the "Tidy-Up!" skill');
  expect(userText(model)).toContain("User input:\nthe  kitchen\n  and hall");
  expect(await say(client, "/skill tidy-up now")).toBe("tidied");
  expect(userText(model)).toContain("User input:\nnow");
  expect(await say(client, "/how")).toContain("🦞 OpenClaw");
  expect(model.mock.getRequests()).toHaveLength(2);
  expect(await say(client, "/skill nonesuch")).toContain('no skill "nonesuch"');
  expect(await say(client, "/hidden x")).toBe("tidied");
  const { commands } = await client.call<{ commands: { name: string; category: string }[] }>("commands.list");
  expect(commands.filter((command) => command.category === "skills").map((command) => command.name)).toEqual(expect.arrayContaining(["skill", "tidy_up", "help_2", "how"]));
  expect(await say(client, "/help")).toContain("/tidy_up");
  expect(await say(client, "/commands")).toContain("/tidy_up [input] — Tidies things.");
});

it("the owner reads and changes the configuration from a chat, and never sees a secret", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents(), commands: { config: true, debug: true }, channels: { telegram: { enabled: false, botToken: "1:SECRET", allowFrom: [42] } } } });
  await using client = await connectClient(g.url, g.token);

  const shown = await say(client, "/config");
  expect(shown).toContain("gpt-mock");
  expect(shown).not.toMatch(/mock-key|1:SECRET|"T"/);
  expect(await say(client, "/config get channels.telegram.botToken")).toContain("__OPENCLAW_REDACTED__");
  expect(await say(client, "/config set agents.defaults.timeoutSeconds=90")).toBe("⚙️ Saved: agents.defaults.timeoutSeconds");
  expect(await say(client, "/config get agents.defaults.timeoutSeconds")).toContain("90");
  expect(await say(client, "/config set agents.defaults.timeoutSeconds=soon")).toContain("Not changed");
  expect(await say(client, "/config unset agents.defaults.timeoutSeconds")).toContain("Saved");
  expect(await say(client, "/config frob")).toContain("Usage");
  expect(await say(client, "/debug set messages.responsePrefix=[dbg]")).toContain("until the gateway stops");
  expect(g.gateway.context.config().messages?.responsePrefix).toBe("[dbg]");
  expect(await say(client, "/debug set messages.nonesuch=1")).toContain("Not changed");
  expect(await say(client, "/debug show")).toContain("responsePrefix");
  expect(await say(client, "/debug reset")).toContain("gone");
  expect(g.gateway.context.config().messages?.responsePrefix).toBeUndefined();
  expect(await readFile(join(g.stateDir, "openclaw.json"), "utf8")).not.toContain("[dbg]");

  expect(await say(client, "/allowlist list channel=telegram")).toContain("allowFrom: 42");
  expect(await say(client, "/allowlist add dm 43 channel=telegram")).toBe("👥 43 added to allowFrom.");
  expect(await say(client, "/allowlist add dm telegram:43 channel=telegram")).toContain("there already");
  expect(await say(client, "/allowlist add dm 44 channel=telegram --store")).toBe("👥 44 added to the pairing store.");
  expect(g.gateway.context.pairing.allowFrom("telegram", "default")).toEqual(["44"]);
  expect(await say(client, "/allowlist remove all 44 channel=telegram")).toBe("👥 44 removed from the pairing store.");
  expect(g.gateway.context.config().channels?.telegram?.allowFrom).toEqual([42, 43]);
  expect(await say(client, "/allowlist")).toContain('no channel "webchat"');

  await using reader = await connectClient(g.url, g.token, { scopes: ["operator.read", "operator.write"] });
  for (const text of ["/config show", "/debug show", "/allowlist list", "/restart", "/export-session"]) expect(await say(reader, text)).toContain("is for the owner");
});

it("/allowlist --resolve asks the platform who is who, and writes the id of a name", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }));
  await using telegram = await startFakeTelegram();
  await using feishu = await startFakeFeishu();
  await using g = await startTestGateway({
    env: feishu.env,
    config: {
      ...model.config, ...agents(), commands: { config: true },
      channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, streamMode: "off", allowFrom: [42, 99] }, feishu: { appId: APP, appSecret: "secret1", allowFrom: [ALICE] } },
    },
  });
  await g.gateway.ready;
  telegram.text("hello", { from: { id: 42, name: "Ann", username: "ann" } });
  await telegram.waitUntil(() => telegram.sent().length === 1);
  await using client = await connectClient(g.url, g.token);

  expect(await say(client, "/allowlist list dm channel=telegram --resolve")).toContain("allowFrom: 42 (Ann (@ann)), 99 (? ");
  expect(await say(client, "/allowlist add dm @ann channel=telegram --resolve")).toContain("telegram did not find @ann: ");
  expect(await say(client, "/allowlist list dm channel=feishu --resolve")).toContain(`allowFrom: ${ALICE} (Alice)`);
  expect(await say(client, "/allowlist add dm bob@example.com channel=feishu --resolve")).toBe(`👥 ${BOB} added to allowFrom.`);
  expect(await say(client, "/allowlist add dm eve@example.com channel=feishu --resolve")).toContain("Not changed: feishu did not find eve@example.com: nobody");
  expect(g.gateway.context.config().channels?.["feishu"]).toMatchObject({ allowFrom: [ALICE, BOB] });
});

it("shell commands from a chat need their switch and elevated rights, and run one at a time", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "from the model" }));
  await using off = await startTestGateway({ config: { ...model.config, ...agents() } });
  await using stranger = await connectClient(off.url, off.token);
  expect(await say(stranger, "! echo hi")).toBe("from the model");
  expect(await say(stranger, "/bash echo hi")).toContain("commands.bash=true");
  expect(await say(stranger, "/elevated full")).toContain("tools.elevated.allowFrom.webchat does not name this sender");
  expect(await say(stranger, "/config show")).toContain("commands.config=true");
  expect(await say(stranger, "/help")).not.toMatch(/\/bash|\/config|\/debug|\/approve/);

  await using g = await startTestGateway({
    config: { ...model.config, ...agents(), commands: { bash: true, bashForegroundMs: 1000 }, tools: { elevated: { allowFrom: { webchat: ["gateway-client"] } }, exec: { security: "allowlist" } } },
  });
  await using client = await connectClient(g.url, g.token);
  expect(await say(client, "! echo hi")).toContain("Approval required");
  expect(await say(client, "/elevated full")).toContain("without asking");
  expect(await say(client, "! printf 'a  b\\n```\\n'")).toBe("⚙️\n````\na  b\n```\n````");
  expect(await say(client, "! sleep 30")).toContain("Still running as");
  expect(await say(client, "! echo two")).toContain("one at a time");
  expect(await say(client, "/elevated")).toContain("Elevated: full");
  expect(await say(client, "!stop")).toContain("Stopped");
  expect(await say(client, "! poll")).toMatch(/exited|Nothing/);
  expect(await say(client, "/exec host=mars")).toContain("host=mars must be host=sandbox|gateway|node");
  expect(await say(client, "/exec security=deny")).toContain("security=deny");
  expect(await say(client, "/elevated off")).toContain("off");
  expect(await say(client, "! echo hi")).toContain("exec denied");
  expect(await say(client, "/exec default")).toContain("defaults");
  await client.chat("hello");
  expect(userText(model)).toContain("Elevated mode is now off.");
});

it("/status tells what the session really used and how it is set", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "a fine answer" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents({ verboseDefault: "on" }) } });
  await using client = await connectClient(g.url, g.token);

  expect(await say(client, "/status")).toContain("🧹 Compactions: 0");
  await client.chat("hello");
  await client.chat("/reasoning on");
  const status = await say(client, "/status");
  const entry = await g.gateway.context.sessions.get("agent:main:main");
  const count = (n: number): string => (n >= 1000 ? `${(n / 1000).toFixed(1)}k` : String(n));
  expect(entry).toMatchObject({ modelProvider: "mock", model: "gpt-mock", contextTokens: 128_000, totalTokensFresh: true });
  const total = entry?.totalTokens ?? 0;
  for (const line of [
    "🦞 OpenClaw 2026.2.25", "🧠 Model: mock/gpt-mock (Set in agents.defaults.model.)", "🔑 api-key",
    `🧮 Tokens: ${count((entry?.inputTokens ?? 0) + (entry?.cacheRead ?? 0) + (entry?.cacheWrite ?? 0))} in / ${count(entry?.outputTokens ?? 0)} out`,
    `📚 Context: ${count(total)}/128.0k (${Math.round((total / 128_000) * 100)}%)`, "🧵 Session: agent:main:main • updated", "⚙️ Runtime: direct · Think: off · verbose · Reasoning: on",
    "🪢 Queue: collect (depth 0)",
  ]) expect(status).toContain(line);
  expect(status).not.toContain("mock-key");
  expect(status).not.toMatch(/undefined|NaN|null/);
});

it("a queue mode in a message holds for that message", async () => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/slow/, { content: "word ".repeat(400) }, { streamingProfile: { ttft: 20, tps: 20 } });
    mock.onMessage(/quick/, { content: "at once" });
  });
  await using g = await startTestGateway({ config: { ...model.config, ...agents() } });
  await using client = await connectClient(g.url, g.token);

  await client.call("chat.send", { sessionKey: "main", message: "slow", idempotencyKey: "slow" });
  await client.waitFor((frame) => frame.event === "chat" && frame.payload?.["state"] === "delta");
  await client.call("chat.send", { sessionKey: "main", message: "/queue interrupt debounce:1 quick", idempotencyKey: "quick" });

  expect((await client.chatEnd("slow")).payload).toMatchObject({ state: "aborted" });
  const end = await client.waitFor((frame) => frame.event === "chat" && frame.payload?.["state"] === "final" && JSON.stringify(frame.payload).includes("at once"));
  expect(end.payload?.["originRunIds"]).toEqual(["quick"]);
  expect((await g.gateway.context.sessions.get("agent:main:main"))?.queueMode).toBeUndefined();
});

it("sub-agents of the session are listed, looked at, redirected and stopped, also by a word to stop", async () => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/count slowly/, { content: "word ".repeat(400) }, { streamingProfile: { ttft: 20, tps: 20 } });
    mock.onMessage(/.*/, { content: "ok" });
  });
  await using g = await startTestGateway({ config: { ...model.config, ...agents() } });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);

  expect(await say(client, "/subagents")).toContain("No sub-agents");
  expect(await say(client, "/subagents spawn count slowly to a thousand")).toContain("Started as");
  expect(await say(client, "/subagents spawn count slowly again")).toContain("Started as");
  const list = await say(client, "/subagents list");
  expect(list).toMatch(/1\. \w+ · running · .* · count slowly again\n2\. \w+ · running · .* · count slowly to a thousand/);
  expect(await say(client, "/subagents info 2")).toContain("Task: count slowly to a thousand");
  await expect.poll(() => say(client, "/subagents log 2")).toContain("user: ");
  expect(await say(client, "/kill 9")).toContain('no sub-agent "9"');
  expect(await say(client, "/kill 1")).toBe("🤖 1 sub-agent stopped.");
  expect(await say(client, "/tell 2")).toContain("Usage");
  expect(await say(client, "/steer 2 count slowly from ten")).toContain("goes on");
  const stopped = await client.call<{ aborted: boolean }>("chat.send", { sessionKey: "main", message: "/stop", idempotencyKey: "stop" });
  expect(stopped.aborted).toBe(true);
  expect(await say(client, "/subagents")).not.toContain("running");
});

it("usage, export, send, queue and what this version lacks are answered without the model", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "answer <b>one</b>" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents() } });
  await using client = await connectClient(g.url, g.token);

  await client.chat("hello <script>");
  expect(await say(client, "/usage cost")).toMatch(/This session: [\d.k]+ in \/ \d+ out.*\nToday: [\d.k]+ in.*\nLast 30 days: [\d.k]+ in/);
  expect(await say(client, "/usage")).toContain("tokens");
  expect(await say(client, "again")).toMatch(/answer <b>one<\/b>\n\nUsage: .* in \/ \d+ out/);
  expect(await say(client, "/usage off")).toContain("off");
  const exported = await say(client, "/export");
  const [, path = ""] = /written to (\S+\.html)/.exec(exported) ?? [];
  const html = await readFile(path, "utf8");
  expect(html).toContain("hello &lt;script&gt;");
  expect(html).not.toContain("<script>");
  expect(await say(client, "/export ../outside.html")).toContain("not inside the workspace");
  expect(await say(client, "/send off")).toContain("deny");
  await expect(client.call("chat.send", { sessionKey: "main", message: "anybody?", idempotencyKey: "x" })).rejects.toThrow("session policy");
  expect(await say(client, "/send inherit")).toContain("inherit");
  expect(await say(client, "/queue followup drop:sideways")).toContain('Not changed: drop "sideways" must be old, new or summarize.');
  expect(await say(client, "/activation always")).toContain("group chats");
  const calls = model.mock.getRequests().length;
  for (const name of ["tts on", "session ttl 1", "focus x", "dock-telegram"]) expect(await say(client, `/${name}`)).toContain("ℹ️ /");
  expect(model.mock.getRequests()).toHaveLength(calls);
  expect(await say(client, "/restart now please")).toContain("answer");
  expect(await say(client, "/restart")).toMatch(/Restarting/);
});

void startFakeTelegram;
