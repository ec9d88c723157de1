import { randomBytes } from "node:crypto";
import { Option, type Command } from "commander";
import { ensureDir } from "../../infra/atomic-file.ts";
import { errorText } from "../../infra/errors.ts";
import { resolveAgent, resolveDefaultAgentId } from "../../routing/index.ts";
import type { Cli } from "../cli.ts";
import { createWriter, requireConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { agentRoots } from "../library.ts";
import { oneOf, portNumber } from "../parse.ts";
import { connect } from "../rpc.ts";

/** Flag of a key → its auth choice and the variable that providers read (spec: cli-and-ui §4.2). */
const KEYS: readonly { readonly flag: string; readonly choice: string; readonly variable: string }[] = [
  { flag: "anthropic-api-key", choice: "apiKey", variable: "ANTHROPIC_API_KEY" },
  ...(
    [
      ["openai", "OPENAI_API_KEY"], ["mistral", "MISTRAL_API_KEY"], ["openrouter", "OPENROUTER_API_KEY"], ["kilocode", "KILOCODE_API_KEY"], ["ai-gateway", "AI_GATEWAY_API_KEY"],
      ["moonshot", "MOONSHOT_API_KEY"], ["kimi-code", "KIMI_API_KEY"], ["gemini", "GEMINI_API_KEY"], ["zai", "ZAI_API_KEY"], ["xiaomi", "XIAOMI_API_KEY"], ["minimax", "MINIMAX_API_KEY"],
      ["synthetic", "SYNTHETIC_API_KEY"], ["venice", "VENICE_API_KEY"], ["together", "TOGETHER_API_KEY"], ["huggingface", "HF_TOKEN"], ["opencode-zen", "OPENCODE_API_KEY"],
      ["xai", "XAI_API_KEY"], ["litellm", "LITELLM_API_KEY"], ["qianfan", "QIANFAN_API_KEY"], ["volcengine", "VOLCANO_ENGINE_API_KEY"], ["byteplus", "BYTEPLUS_API_KEY"],
    ] as const
  ).map(([name, variable]) => ({ flag: `${name}-api-key`, choice: name === "opencode-zen" ? name : `${name}-api-key`, variable })),
];

interface OnboardFlags {
  readonly nonInteractive?: boolean;
  readonly acceptRisk?: boolean;
  readonly mode?: string;
  readonly workspace?: string;
  readonly authChoice?: string;
  readonly customBaseUrl?: string;
  readonly customApiKey?: string;
  readonly customModelId?: string;
  readonly customProviderId?: string;
  readonly customCompatibility?: string;
  readonly gatewayPort?: number;
  readonly gatewayBind?: string;
  readonly gatewayAuth?: string;
  readonly gatewayToken?: string;
  readonly gatewayPassword?: string;
  readonly remoteUrl?: string;
  readonly remoteToken?: string;
  readonly tailscale?: string;
  readonly installDaemon?: boolean;
  readonly daemonRuntime?: string;
  readonly skipSkills?: boolean;
  readonly skipHealth?: boolean;
  readonly json?: boolean;
  readonly [key: string]: unknown;
}

export function defineOnboard(command: Command, cli: Cli): void {
  command
    .option("--non-interactive", "ask nothing; needed")
    .option("--accept-risk", "I know that the agent can act on this machine; needed")
    .option("--mode <mode>", "local or remote", oneOf("local", "remote"))
    .option("--workspace <dir>", "workspace of the agent")
    .option("--auth-choice <choice>", "which key flag counts, custom-api-key, or skip")
    .option("--custom-base-url <url>", "address of an endpoint of your own")
    .option("--custom-api-key <key>", "its key")
    .option("--custom-model-id <id>", "its model")
    .option("--custom-provider-id <id>", "name of the provider in the config")
    .option("--custom-compatibility <mode>", "openai or anthropic", oneOf("openai", "anthropic"))
    .option("--gateway-port <port>", "port of the gateway", portNumber)
    .option("--gateway-bind <mode>", "loopback, lan, tailnet, auto or custom", oneOf("loopback", "lan", "tailnet", "auto", "custom"))
    .option("--gateway-auth <mode>", "token or password", oneOf("token", "password"))
    .option("--gateway-token <token>", "the token; generated when absent")
    .option("--gateway-password <password>", "the password")
    .option("--remote-url <url>", "with --mode remote: the gateway to use")
    .option("--remote-token <token>", "its token")
    .option("--tailscale <mode>", "off, serve or funnel", oneOf("off", "serve", "funnel"))
    .option("--skip-skills", "accepted without effect")
    .option("--skip-health", "do not look for a running gateway")
    .option("--json", "print one JSON document");
  for (const { flag } of KEYS) command.option(`--${flag} <key>`, "key of this provider");
  for (const flag of ["--reset", "--install-daemon", "--no-install-daemon", "--skip-daemon", "--skip-channels", "--skip-ui", "--tailscale-reset-on-exit", "--flow <flow>", "--daemon-runtime <runtime>", "--node-manager <name>"]) {
    command.addOption(new Option(flag).hideHelp());
  }
  command.action((flags: OnboardFlags) => onboard(cli, flags));
}

async function onboard(cli: Cli, flags: OnboardFlags): Promise<void> {
  if (!flags.nonInteractive || !flags.acceptRisk) {
    throw new CliError("onboard asks no questions in this version.", {
      fix: "Run: openclaw onboard --non-interactive --accept-risk [--anthropic-api-key <key> …]\nThe agent can run commands and read files on this machine; --accept-risk says that you know.",
    });
  }
  if (flags.mode === "remote") return onboardRemote(cli, flags);
  const before = await requireConfig(cli);
  const { choice, patch: modelPatch } = modelSetup(flags);
  const gateway = gatewaySetup(flags, before.config.gateway);
  const { snapshot } = await createWriter(cli).mergePatch({
    ...modelPatch,
    gateway,
    ...(before.config.session?.dmScope === undefined ? { session: { dmScope: "per-channel-peer" } } : {}),
    agents: { defaults: { ...(flags.workspace === undefined ? {} : { workspace: flags.workspace }), ...modelPatch.agents?.defaults } },
    wizard: { lastRunAt: new Date().toISOString(), lastRunVersion: cli.version, lastRunCommand: "onboard", lastRunMode: "local" },
  });
  const agent = resolveAgent(snapshot.config, resolveDefaultAgentId(snapshot.config), agentRoots(cli));
  await ensureDir(agent.workspaceDir);
  await ensureDir(`${cli.paths.agentsDir}/${agent.id}/sessions`);
  const { auth, ...shown } = gateway;
  const result = {
    mode: "local", workspace: agent.workspaceDir, authChoice: choice, gateway: { ...shown, authMode: auth.mode, tailscaleMode: flags.tailscale ?? "off" }, installDaemon: false,
    skipSkills: flags.skipSkills === true, skipHealth: flags.skipHealth === true,
  };
  if (flags.json) return cli.json(result);
  cli.print(`Wrote ${snapshot.path}\nWorkspace: ${agent.workspaceDir}\nModel: ${choice === "skip" ? "none set up (openclaw models status)" : choice}`);
  // A gateway that is not there yet is no failure of setting it up.
  if (!flags.skipHealth) {
    const state = await connect(cli, { timeout: 3000 }, snapshot).then((client) => (client.close(), "running"), (err: unknown) => errorText(err).split("\n")[0] ?? "");
    cli.print(state === "running" ? "Gateway: running" : `Gateway: ${state}\nStart it with: openclaw gateway`);
  }
}

async function onboardRemote(cli: Cli, flags: OnboardFlags): Promise<void> {
  if (!flags.remoteUrl) throw new CliError("--mode remote needs --remote-url.");
  const remote = { url: flags.remoteUrl, ...(flags.remoteToken === undefined ? {} : { token: flags.remoteToken }) };
  await createWriter(cli).mergePatch({ gateway: { mode: "remote", remote } });
  const result = { mode: "remote", remoteUrl: flags.remoteUrl, auth: flags.remoteToken === undefined ? "none" : "token" };
  if (flags.json) return cli.json(result);
  cli.print(`Commands now use the gateway at ${flags.remoteUrl}.`);
}

function gatewaySetup(flags: OnboardFlags, current: { port?: number | undefined; bind?: string | undefined; auth?: { mode?: string | undefined; token?: string | undefined } | undefined } | undefined) {
  if (flags.gatewayAuth === "password" && !flags.gatewayPassword) throw new CliError("--gateway-auth password needs --gateway-password.");
  const isPassword = flags.gatewayAuth === "password" || (flags.gatewayAuth === undefined && flags.gatewayPassword !== undefined);
  return {
    mode: "local",
    port: flags.gatewayPort ?? current?.port ?? 18_789,
    bind: flags.gatewayBind ?? current?.bind ?? "loopback",
    auth: isPassword ? { mode: "password", password: flags.gatewayPassword } : { mode: "token", token: flags.gatewayToken ?? current?.auth?.token ?? randomBytes(24).toString("hex") },
    ...(flags.tailscale === undefined ? {} : { tailscale: { mode: flags.tailscale } }),
  };
}

interface ModelSetup {
  readonly choice: string;
  readonly patch: { readonly env?: object; readonly models?: object; readonly agents?: { readonly defaults: object } };
}

const camel = (flag: string): string => flag.replace(/-([a-z])/g, (_, c: string) => c.toUpperCase());

function modelSetup(flags: OnboardFlags): ModelSetup {
  const given = KEYS.filter(({ flag }) => typeof flags[camel(flag)] === "string");
  if (flags.authChoice === "skip") return { choice: "skip", patch: {} };
  const isCustom = flags.authChoice === "custom-api-key" || (flags.authChoice === undefined && flags.customBaseUrl !== undefined && given.length === 0);
  if (isCustom) return customSetup(flags);
  const key = flags.authChoice === undefined ? given[0] : KEYS.find(({ choice }) => choice === flags.authChoice);
  if (flags.authChoice === undefined && given.length > 1) {
    throw new CliError(`Several keys were given (${given.map(({ flag }) => `--${flag}`).join(", ")}).`, { fix: `Say which one counts with --auth-choice: ${given.map(({ choice }) => choice).join(", ")}.` });
  }
  if (flags.authChoice !== undefined && !key) throw new CliError(`Unknown --auth-choice "${flags.authChoice}".`, { fix: `Choices: ${KEYS.map(({ choice }) => choice).join(", ")}, custom-api-key, skip.` });
  if (!key) return { choice: "skip", patch: {} };
  const value = flags[camel(key.flag)];
  if (typeof value !== "string") throw new CliError(`--auth-choice ${key.choice} needs --${key.flag}.`);
  return { choice: key.choice, patch: { env: { vars: { [key.variable]: value } } } };
}

/** Written with a window that a turn fits into: the reference's 4096 made the first turn fail. */
function customSetup(flags: OnboardFlags): ModelSetup {
  const { customBaseUrl: baseUrl, customModelId: modelId } = flags;
  if (!baseUrl || !URL.canParse(baseUrl) || !modelId) throw new CliError("A custom endpoint needs --custom-base-url (an http address) and --custom-model-id.");
  const id = flags.customProviderId ?? `custom-${new URL(baseUrl).host.replaceAll(/[^a-z0-9]+/gi, "-").replaceAll(/^-+|-+$/g, "").toLowerCase()}`;
  const model = { id: modelId, name: `${modelId} (Custom Provider)`, reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 128_000, maxTokens: 8192 };
  const provider = { baseUrl, ...(flags.customApiKey ? { apiKey: flags.customApiKey } : {}), api: flags.customCompatibility === "anthropic" ? "anthropic-messages" : "openai-completions", models: [model] };
  return { choice: "custom-api-key", patch: { models: { mode: "merge", providers: { [id]: provider } }, agents: { defaults: { model: { primary: `${id}/${modelId}` } } } } };
}
