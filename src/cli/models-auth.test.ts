import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { collect, createHome, spawnCli, type CliHome, type Run } from "./test-support.ts";

const PROVIDER = `
import { buildOauthProviderAuthResult } from "openclaw/plugin-sdk";
export default { register(api) {
  api.registerProvider({
    id: "moon", label: "Moon AI", aliases: ["luna"],
    auth: [
      { id: "key", label: "API key", kind: "api_key", async run(ctx) {
        const key = await ctx.prompter.text({ message: "Your key", validate: (value) => (value.startsWith("sk-") ? undefined : "A key begins with sk-") });
        return { profiles: [{ profileId: "moon:default", credential: { type: "api_key", provider: "moon", key } }],
          configPatch: { models: { providers: { moon: { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", models: [{ id: "m1", name: "M1", contextWindow: 64000, maxTokens: 2048 }] } } } },
          defaultModel: "moon/m1", notes: ["Keys are made at moon.example."] };
      } },
      { id: "browser", label: "Browser", hint: "no key needed", kind: "oauth", async run(ctx) {
        const spin = ctx.prompter.progress("Waiting for the login");
        const { onAuth, onPrompt } = ctx.oauth.createVpsAwareHandlers({ isRemote: ctx.isRemote, prompter: ctx.prompter, runtime: ctx.runtime, spin, openUrl: ctx.openUrl, localBrowserMessage: "Look at your browser" });
        await onAuth({ url: "https://moon.example/login" });
        const code = new URL(await onPrompt({ message: "Code" })).searchParams.get("code");
        spin.stop("Done");
        return buildOauthProviderAuthResult({ providerId: "moon", defaultModel: "moon/m1", access: "access-of-" + code, refresh: "R", expires: 4102444800000, email: "me@moon.example" });
      } },
      { id: "leave", label: "Leave", kind: "custom", run: async (ctx) => ctx.runtime.exit(3) },
      { id: "odd", label: "Odd", kind: "custom", run: async () => ({ profiles: [{ profileId: "x", credential: { type: "magic" } }] }) },
    ],
  });
} };`;

let home: CliHome;
beforeAll(async () => {
  home = await createHome();
  await home.writeConfig(JSON.stringify({ gateway: { mode: "local" }, plugins: { allow: ["moonlight"] }, auth: { order: { moon: ["moon:default"] } } }));
  const dir = join(home.stateDir, "extensions", "moonlight");
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, "openclaw.plugin.json"), JSON.stringify({ id: "moonlight", providers: ["moon"], configSchema: { type: "object" } }));
  await writeFile(join(dir, "index.ts"), PROVIDER);
});
afterAll(() => home[Symbol.asyncDispose]());

/** The command with these lines on its input. */
function login(lines: readonly string[], ...args: readonly string[]): Promise<Run> {
  const child = spawnCli(home.home, { SSH_CONNECTION: "1" }, ["models", "auth", "login", ...args], "pipe");
  child.stdin?.end(lines.map((line) => `${line}\n`).join(""));
  return collect(child);
}

const profiles = async (): Promise<unknown> => (JSON.parse(await readFile(join(home.stateDir, "agents", "main", "agent", "auth-profiles.json"), "utf8")) as { profiles: unknown }).profiles;
const config = async (): Promise<Record<string, unknown>> => JSON.parse(await readFile(home.configPath, "utf8")) as Record<string, unknown>;

it("a login by key asks until the key is right, keeps it apart from the configuration, and can make the model the default", async () => {
  const keyed = await login(["pk-1", "sk-secret"], "--provider", "LUNA", "--method", "key", "--set-default");
  expect(keyed).toMatchObject({ code: 0, stderr: "" });
  expect(keyed.stdout).toBe("Your key\n⚠️ A key begins with sk-\nYour key\nLogged in: moon:default (moon, api_key)\nDefault model: moon/m1\nKeys are made at moon.example.\n");
  expect(await profiles()).toEqual({ "moon:default": { type: "api_key", provider: "moon", key: "sk-secret" } });
  expect((await stat(join(home.stateDir, "agents", "main", "agent", "auth-profiles.json"))).mode & 0o777).toBe(0o600);
  expect(await config()).toMatchObject({
    auth: { profiles: { "moon:default": { provider: "moon", mode: "api_key" } }, order: { moon: ["moon:default"] } },
    models: { providers: { moon: { baseUrl: "http://127.0.0.1:9/v1" } } }, agents: { defaults: { model: { primary: "moon/m1" } } },
  });
  expect(await readFile(home.configPath, "utf8")).not.toContain("sk-secret");
  expect((await home.run("models", "status")).stdout).toContain("Key: usable");
});

it("a login by browser on a machine without one shows the address and takes the pasted one", async () => {
  const run = await login(["1", "2", "https://moon.example/back?code=42"]);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toContain("Provider\n  1) Moon AI\n");
  expect(run.stdout).toContain("  2) Browser (no key needed)\n");
  expect(run.stdout).toContain("\nOpen this address in the browser of your own machine:\n\nhttps://moon.example/login\n");
  expect(run.stdout).toContain("Model of Moon AI: moon/m1 (openclaw models set moon/m1 makes it the default)");
  expect(await profiles()).toMatchObject({ "moon:me@moon.example": { type: "oauth", provider: "moon", access: "access-of-42", refresh: "R" } });
  expect(await config()).toMatchObject({ auth: { profiles: { "moon:me@moon.example": { provider: "moon", mode: "oauth", email: "me@moon.example" } }, order: { moon: ["moon:me@moon.example", "moon:default"] } } });
});

it("what cannot be logged in to is named, with what there is instead", async () => {
  const runs = await Promise.all([
    login([], "--provider", "sun"), login([], "--provider", "moon", "--method", "rain"), login([], "--provider", "moon", "--method", "leave"), login([], "--provider", "moon", "--method", "odd"),
    login([], "--provider", "moon", "--method", "key"),
  ]);
  expect(runs.map(({ code, stderr }) => [code, stderr.split("\n")[0]])).toEqual([
    [1, expect.stringContaining('Unknown provider "sun". Plugins bring: moon.')],
    [1, expect.stringContaining('Moon AI has no login method "rain". It has: key, browser, leave, odd.')],
    [1, expect.stringContaining("The login of Moon AI ended with code 3.")],
    [1, expect.stringContaining("The login of moon gave a profile that is no api_key, token or oauth.")],
    [1, expect.stringContaining("The input ended before this was answered: Your key")],
  ]);
});
