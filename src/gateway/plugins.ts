import type { AgentTool, ExtraToolContext } from "../agents/index.ts";
import type { CommandDefinition, Conversation } from "../auto-reply/index.ts";
import type { ChannelPlugin, MsgContext } from "../channels/contract/index.ts";
import type { ChannelManager, ChannelRegistration } from "../channels/manager/index.ts";
import type { ConfigKnowledge, OpenClawConfig } from "../config/index.ts";
import type { Inbox, Outbox } from "../delivery/index.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import {
  createForeignDispatch, createLiveReceivers, createPluginService, openPluginCatalog, runPluginCommand, toAgentTool, toChannelPlugin,
  type DispatchReply, type HookRunner, type PluginHost, type PluginPlaces, type PluginService,
} from "../plugins/index.ts";
import { resolveAgent, resolveDefaultAgentId } from "../routing/index.ts";
import type { PluginRoutes } from "./http/index.ts";
import { GatewayError, type ErrorCode, type MethodRouter } from "./protocol/index.ts";

export interface GatewayPluginsDeps extends PluginPlaces {
  readonly config: () => OpenClawConfig;
  readonly log: Logger;
  readonly conversation: () => Conversation;
  readonly hooks: HookRunner;
  readonly inbox: Inbox;
  readonly outbox: () => Outbox;
  readonly channels: () => ChannelManager;
  readonly routes: PluginRoutes;
  readonly router: () => Pick<MethodRouter, "register">;
  readonly context: () => object;
  readonly isOwner: (channel: string, accountId: string, senderId: string) => boolean;
  readonly version: string;
  /** What plugins import, and `api.runtime`; asked for once. `dispatch` takes the messages of channels of the older shape. */
  open(dispatch: DispatchReply): Promise<{ readonly sdk: object; readonly runtime: object }>;
}

/** The plugins of one gateway: what they offer, put where it is used. */
export interface GatewayPlugins {
  readonly service: PluginService;
  knowledge(config: unknown): Promise<ConfigKnowledge>;
  /** Loads them and hands their channels over. Never rejects. */
  load(): Promise<void>;
  tools(run: ExtraToolContext, taken: ReadonlySet<string>): AgentTool[];
  commands(): readonly CommandDefinition[];
}

export function createGatewayPlugins(deps: GatewayPluginsDeps): GatewayPlugins {
  const { config, log } = deps;
  const catalog = openPluginCatalog(deps);
  const live = createLiveReceivers();
  const workspaceDir = (): string => resolveAgent(config(), resolveDefaultAgentId(config()), deps.roots).workspaceDir;
  const dispatch: DispatchReply = (...args) =>
    createForeignDispatch({ conversation: deps.conversation(), inbox: deps.inbox, outbox: deps.outbox(), live, clock: deps.clock, isOwner: deps.isOwner })(...args);
  let opened: ReturnType<GatewayPluginsDeps["open"]> | undefined;
  const doors = (): ReturnType<GatewayPluginsDeps["open"]> => (opened ??= deps.open(dispatch));
  const service = createPluginService({
    config, log, catalog, hooks: deps.hooks, workspaceDir, stateDir: deps.stateDir, loadSdk: async () => (await doors()).sdk, createRuntime: async () => (await doors()).runtime, host: createPluginHost(deps),
  });

  function channelRegistrations(): ChannelRegistration[] {
    return service.channels().flatMap((offer) => {
      try {
        return [{ plugin: toChannelPlugin(offer, log, live, (text) => service.report(offer.pluginId, text)), origin: offer.origin, provider: offer.pluginId }];
      } catch (err) {
        service.report(offer.pluginId, `channel ${offer.plugin.id} cannot be used: ${errorText(err)}`);
        return [];
      }
    });
  }

  return {
    service,
    knowledge: (given) => catalog.knowledge(given),
    async load() {
      await service.load();
      deps.channels().add(channelRegistrations());
    },
    tools: (run, taken) => [...service.tools({ config: config(), ...run }, taken), ...channelTools(deps.channels().plugins, config(), run, taken, log)],
    commands: () => [...service.registry.commands.values()].map((command): CommandDefinition => ({
      name: command.name, aliases: [], description: command.description, category: "plugins", acceptsArgs: command.acceptsArgs, argsHint: command.acceptsArgs ? "[args]" : undefined, native: true, openToAll: true,
      async run({ ctx, authority, args, cfg }) {
        const said = await runPluginCommand({ command, args }, toCommandContext(ctx, authority.commandAuthorized, cfg), (err) => service.report(command.pluginId, `command /${command.name}: ${errorText(err)}`));
        return said.text === "" && said.mediaUrls.length === 0 ? { kind: "silent" } : { kind: "reply", ...said };
      },
    })),
  };
}

function toCommandContext(ctx: MsgContext, isAuthorizedSender: boolean, config: OpenClawConfig): Parameters<typeof runPluginCommand>[1] {
  const thread = Number(ctx.MessageThreadId);
  return {
    senderId: ctx.SenderId, channel: ctx.Provider ?? "webchat", channelId: ctx.Provider, isAuthorizedSender, commandBody: (ctx.BodyForCommands ?? "").trim(), config, from: ctx.From, to: ctx.To, accountId: ctx.AccountId,
    messageThreadId: ctx.MessageThreadId !== undefined && Number.isFinite(thread) ? thread : undefined,
  };
}

/** Tools that channels bring; a name that is taken is passed over. */
function channelTools(channels: readonly ChannelPlugin[], cfg: OpenClawConfig, run: ExtraToolContext, taken: ReadonlySet<string>, log: Logger): AgentTool[] {
  const origin = { channel: run.messageChannel, accountId: run.agentAccountId };
  return channels.flatMap((channel) => {
    try {
      return (channel.agentTools?.(cfg, origin) ?? []).filter(({ name }) => !taken.has(name.toLowerCase())).map((tool) => toAgentTool(tool, tool.name, { kind: "plugin", pluginId: channel.id }, false));
    } catch (err) {
      log.error("tools of a channel not made", { channel: channel.id, err });
      return [];
    }
  });
}

/** Routes and methods of plugins, next to the gateway's own. Source: spec plugin-sdk §10. */
function createPluginHost({ routes, router, context }: Pick<GatewayPluginsDeps, "routes" | "router" | "context">): PluginHost {
  return {
    addRoute({ pluginId, path, auth, match, replace, handler }) {
      if (!replace && routes.find(path, match)) throw new Error(`http route already registered: ${path}`);
      return routes.add({ path, auth, match, owner: pluginId, handler });
    },
    addHttpHandler: (pluginId, handler) => void routes.addHandler(pluginId, handler),
    addMethod(_pluginId, name, handler) {
      try {
        router().register({ name, scope: "operator.admin", advertised: true, invoke: (params, _ctx, call) => answerOf(params, call, name, handler, context()) }, {});
      } catch (err) {
        throw new Error(`gateway method already registered: ${name}`, { cause: err });
      }
    },
  };
}

type Invoke = Parameters<MethodRouter["register"]>[0]["invoke"];

const CODES: readonly ErrorCode[] = ["NOT_LINKED", "NOT_PAIRED", "AGENT_TIMEOUT", "INVALID_REQUEST", "UNAVAILABLE"];
/** ms until a request is given up whose handler has ended and not answered. */
const ANSWER_LIMIT_MS = 120_000;

/** The answer is what the handler gives `respond`, or, when it gives nothing, what it returns. */
function answerOf(params: unknown, call: Parameters<Invoke>[2], method: string, handler: (request: unknown) => unknown, context: object): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const late = setTimeout(() => reject(new GatewayError("UNAVAILABLE", `the plugin did not answer ${method} within ${ANSWER_LIMIT_MS / 1000} s`)), ANSWER_LIMIT_MS);
  late.unref();
  const respond = (ok: boolean, payload?: unknown, error?: { readonly code?: unknown; readonly message?: unknown }): void => {
    if (ok) return resolve(payload);
    reject(new GatewayError(CODES.find((code) => code === error?.code) ?? "UNAVAILABLE", typeof error?.message === "string" ? error.message : "the plugin refused the request", { details: error }));
  };
  const { caller, requestId } = call;
  const request = { req: { type: "req", id: requestId, method, params }, params, client: { connId: caller.connId, connect: { client: caller.client, role: caller.role, scopes: caller.scopes } }, isWebchatConnect: () => caller.client.mode === "webchat", respond, context };
  Promise.resolve(handler(request)).then((returned) => (returned === undefined ? undefined : resolve(returned)), reject);
  return promise.finally(() => clearTimeout(late));
}
