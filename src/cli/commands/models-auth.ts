import type { ModelProvider, ProviderLogin } from "../../plugins/index.ts";
import type { OAuthHandlers, ProviderAuthContext, TerminalPrompter, VpsAwareOptions } from "../../plugin-sdk/index.ts";
import { isKnownAgentId, resolveAgent, resolveDefaultAgentId } from "../../routing/index.ts";
import { isRemoteTerminal, openBrowser } from "../browser.ts";
import type { Cli } from "../cli.ts";
import { createWriter, requireConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { agentRoots, openModels } from "../library.ts";
import { loadPlugins } from "../plugins.ts";
import { createPrompter } from "../prompter.ts";
import { modelsSet } from "./models-run.ts";

interface LoginFlags {
  readonly provider?: string;
  readonly method?: string;
  readonly setDefault?: boolean;
  readonly agent?: string;
}

/** Logs in at a provider that a plugin brings. Source: spec plugin-sdk §11. @throws CliError saying which providers and methods there are */
export async function modelsAuthLogin(cli: Cli, flags: LoginFlags): Promise<void> {
  const snapshot = await requireConfig(cli);
  const agentId = flags.agent ?? resolveDefaultAgentId(snapshot.config);
  if (!isKnownAgentId(snapshot.config, agentId)) throw new CliError(`Unknown agent id "${agentId}".`);
  const { listProviders } = await import("../../plugins/index.ts");
  const plugins = await loadPlugins(cli, snapshot);
  const prompter = createPrompter(cli);
  const provider = await chooseProvider(listProviders(plugins.registry).filter(({ methods }) => methods.length > 0), flags.provider, prompter);
  const method = await chooseMethod(provider, flags.method, prompter);
  const agent = resolveAgent(snapshot.config, agentId, agentRoots(cli));
  const context: ProviderAuthContext = {
    config: snapshot.config, agentDir: agent.agentDir, workspaceDir: agent.workspaceDir, prompter, isRemote: isRemoteTerminal(cli),
    runtime: {
      log: (...args) => cli.print(args.map(String).join(" ")),
      error: (...args) => cli.note(args.map(String).join(" ")),
      exit: (code) => {
        throw new CliError(`The login of ${provider.label} ended with code ${code}.`);
      },
    },
    async openUrl(url) {
      if (!(await openBrowser(url, cli))) cli.print(`Open this address in your browser: ${url}`);
    },
    oauth: { createVpsAwareHandlers: vpsAwareHandlers },
  };
  await keep(cli, agentId, provider, await method.run(context), flags.setDefault === true);
}

async function chooseProvider(providers: readonly ModelProvider[], name: string | undefined, prompter: TerminalPrompter): Promise<ModelProvider> {
  if (providers.length === 0) throw new CliError("No plugin brings a provider to log in to.", { fix: "Install one with openclaw plugins install, or set a key: see openclaw models status." });
  if (name === undefined) {
    return prompter.select({ message: "Provider", options: providers.map((provider) => ({ value: provider, label: provider.label, hint: provider.docsPath })) });
  }
  const { findProvider } = await import("../../plugins/index.ts");
  const found = findProvider(providers, name);
  if (!found) throw new CliError(`Unknown provider "${name}". Plugins bring: ${providers.map(({ id }) => id).join(", ")}.`, { fix: "See openclaw plugins list." });
  return found;
}

async function chooseMethod({ label, methods }: ModelProvider, name: string | undefined, prompter: TerminalPrompter): Promise<ModelProvider["methods"][number]> {
  if (name !== undefined) {
    const found = methods.find(({ id }) => id.toLowerCase() === name.trim().toLowerCase());
    if (!found) throw new CliError(`${label} has no login method "${name}". It has: ${methods.map(({ id }) => id).join(", ")}.`);
    return found;
  }
  const [only, ...others] = methods;
  return only && others.length === 0 ? only : prompter.select({ message: `How to log in to ${label}`, options: methods.map((method) => ({ value: method, label: method.label, hint: method.hint })) });
}

/** Secrets go to the file of logins; the configuration only learns that they are there. */
async function keep(cli: Cli, agentId: string, provider: ModelProvider, login: ProviderLogin, setDefault: boolean): Promise<void> {
  const models = await openModels(cli, await requireConfig(cli));
  try {
    for (const { profileId, profile } of login.profiles) await models.saveProfile(agentId, profileId, profile);
  } finally {
    models.close();
  }
  const writer = createWriter(cli);
  if (login.configPatch) await writer.mergePatch(login.configPatch);
  await writer.mergePatch({ auth: declaration(login.profiles, (await requireConfig(cli)).config.auth?.order ?? {}) });
  for (const { profileId, profile } of login.profiles) cli.print(`Logged in: ${profileId} (${profile.provider}, ${profile.type})`);
  if (login.defaultModel !== undefined) {
    if (setDefault) await modelsSet(cli, "model", login.defaultModel);
    else cli.print(`Model of ${provider.label}: ${login.defaultModel} (openclaw models set ${login.defaultModel} makes it the default)`);
  }
  for (const note of login.notes) cli.print(note);
}

/** What the configuration says of new logins; where an order is set, they come first in it. */
function declaration(added: ProviderLogin["profiles"], orders: Readonly<Record<string, readonly string[]>>): object {
  const order: Record<string, readonly string[]> = {};
  for (const { profileId, profile } of added.toReversed()) {
    const before = order[profile.provider] ?? orders[profile.provider];
    if (before) order[profile.provider] = [profileId, ...before.filter((id) => id !== profileId)];
  }
  return { profiles: Object.fromEntries(added.map(({ profileId, profile: { provider, type, email } }) => [profileId, { provider, mode: type, ...(email === undefined ? {} : { email }) }])), order };
}

/** On a machine without a browser the person opens the address elsewhere and pastes what it leads to. */
function vpsAwareHandlers({ isRemote, prompter, runtime, spin, openUrl, localBrowserMessage, manualPromptMessage }: VpsAwareOptions): OAuthHandlers {
  const required = (value: string): string | undefined => (value.trim() === "" ? "Required" : undefined);
  let pasted: Promise<string> | undefined;
  return {
    async onAuth({ url }) {
      if (!isRemote) {
        spin.update(localBrowserMessage);
        await openUrl(url);
        runtime.log(`Open: ${url}`);
        return;
      }
      spin.stop("The address for the login is ready.");
      runtime.log(`\nOpen this address in the browser of your own machine:\n\n${url}\n`);
      const answer = prompter.text({ message: manualPromptMessage ?? "Paste the address that the browser was led to", validate: required });
      answer.catch(() => undefined); // whoever asks for it in onPrompt is told
      pasted = answer;
    },
    onPrompt: async ({ message, placeholder }) => pasted ?? prompter.text({ message, ...(placeholder === undefined ? {} : { placeholder }), validate: required }),
  };
}
