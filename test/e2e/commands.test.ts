import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { connectClient, type TestClient } from "../support/client.ts";
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
const entryOf = async (client: TestClient): Promise<Record<string, unknown>> => {
  const { sessions } = await client.call<{ sessions: Record<string, unknown>[] }>("sessions.list", {});
  return sessions.find((session) => String(session["key"]).endsWith(":main")) ?? {};
};

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
void entryOf;
void userText;
void startFakeTelegram;
