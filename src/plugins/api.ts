import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { OpenClawConfig } from "../config/index.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { commandNameProblem } from "./commands.ts";
import { eventHook } from "./hooks.ts";
import { isRecord } from "./manifest.ts";
import type { ChannelOffer, CommandRegistration, PluginHost, PluginRegistry, PluginTool, PluginToolContext, ProviderRegistration } from "./registry.ts";
import { callPlugin, inPlugin, PluginTimeoutError } from "./scope.ts";
import type { PluginCandidate, PluginRecord } from "./types.ts";

export interface PluginLogger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface PluginApiDeps {
  readonly registry: PluginRegistry;
  readonly record: PluginRecord;
  readonly candidate: PluginCandidate;
  readonly config: OpenClawConfig;
  readonly runtime: object;
  readonly host: PluginHost | undefined;
  readonly log: Logger;
  /** Hears of what went wrong later, in a route or a method. */
  onFault(text: string): void;
  /** Whether a command may be registered now. */
  readonly isLocked: () => boolean;
}

type NodeHandler = (req: IncomingMessage, res: ServerResponse) => unknown;

/** ms that a handler of a plugin's HTTP route may take until its answer has begun. */
const HTTP_LIMIT_MS = 30_000;
const METHOD_LIMIT_MS = 120_000;

/** The object that `register(api)` gets; exactly the members of spec plugin-sdk §6. */
export function createPluginApi(deps: PluginApiDeps): object {
  const { registry, record, candidate, config, host } = deps;
  const { id } = record;
  const log = deps.log.child({ pluginId: id });
  const say = (level: "warn" | "error", message: string): void => {
    registry.diagnostics.push({ level, message, pluginId: id, source: candidate.entry });
    log[level](message);
  };
  const entry: { readonly config?: unknown } | undefined = config.plugins?.entries?.[id];
  const logger: PluginLogger = {
    debug: (message) => log.debug(String(message)), info: (message) => log.info(String(message)), warn: (message) => log.warn(String(message)), error: (message) => log.error(String(message)),
  };
  return {
    id, name: record.name, version: record.version, description: record.description, source: candidate.entry, config, pluginConfig: entry?.config, runtime: deps.runtime, logger,
    registerTool: (tool: unknown, options?: unknown) => registerTool(deps, tool, options, say),
    registerHook: (events: unknown, handler: unknown, options?: unknown) => registerEventHook(deps, events, handler, options, say),
    registerHttpHandler(handler: unknown) {
      if (typeof handler !== "function") return say("error", "http handler must be a function");
      record.httpHandlers++;
      host?.addHttpHandler(id, guarded(deps, "http handler", handler as NodeHandler));
    },
    registerHttpRoute: (route: unknown) => registerRoute(deps, route, say),
    registerChannel: (given: unknown) => registerChannel(deps, given, say),
    registerProvider(given: unknown) {
      const providerId = isRecord(given) && typeof given["id"] === "string" ? given["id"].trim() : "";
      if (!isRecord(given) || providerId === "") return say("error", "provider registration missing id");
      const other = registry.providers.find(({ provider }) => provider.id === providerId);
      if (other) return say("error", `provider already registered: ${providerId} (${other.pluginId})`);
      registry.providers.push({ pluginId: id, provider: { ...given, id: providerId } satisfies ProviderRegistration["provider"] });
      record.providerIds.push(providerId);
    },
    registerGatewayMethod: (name: unknown, handler: unknown) => registerMethod(deps, name, handler, say),
    registerCli(register: unknown, options?: unknown) {
      if (typeof register !== "function") return say("error", "cli registration must be a function");
      const commands = isRecord(options) && Array.isArray(options["commands"]) ? options["commands"].filter((name): name is string => typeof name === "string") : [];
      record.cliCommands.push(...commands);
      registry.cli.push({ pluginId: id, commands, register: register as (ctx: unknown) => unknown });
    },
    registerService(service: unknown) {
      if (!isRecord(service) || typeof service["id"] !== "string" || typeof service["start"] !== "function") return say("error", "service registration needs an id and a start function");
      const { start, stop } = service;
      record.services.push(service["id"]);
      registry.services.push({
        pluginId: id, id: service["id"], start: (ctx) => (start as (ctx: unknown) => unknown).call(service, ctx),
        stop: typeof stop === "function" ? (ctx) => (stop as (ctx: unknown) => unknown).call(service, ctx) : undefined,
      });
    },
    registerCommand: (command: unknown) => registerCommand(deps, command, say),
    resolvePath: (path: string) => (path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(path)),
    on(hook: unknown, handler: unknown, options?: unknown) {
      if (typeof hook !== "string" || typeof handler !== "function") return say("error", "a hook needs a name and a function");
      const priority = isRecord(options) && typeof options["priority"] === "number" ? options["priority"] : 0;
      registry.hooks.add(hook, { pluginId: id, priority, handler: handler as (event: unknown, ctx: unknown) => unknown });
      record.hookCount++;
      if (!record.hookNames.includes(hook)) record.hookNames.push(hook);
    },
  };
}

type Say = (level: "warn" | "error", message: string) => void;

function registerTool({ registry, record }: PluginApiDeps, tool: unknown, options: unknown, say: Say): void {
  const given = isRecord(options) ? options : {};
  const names = [given["name"], ...(Array.isArray(given["names"]) ? (given["names"] as unknown[]) : [])].filter((name): name is string => typeof name === "string" && name.trim() !== "");
  if (typeof tool === "function") {
    registry.tools.push({ pluginId: record.id, optional: given["optional"] === true, names, make: (ctx: PluginToolContext) => (tool as (ctx: PluginToolContext) => unknown)(ctx) });
    record.toolNames.push(...names);
    return;
  }
  if (!isRecord(tool) || typeof tool["name"] !== "string" || typeof tool["execute"] !== "function") return say("error", "a tool needs a name and an execute function");
  const fixed = tool as unknown as PluginTool;
  registry.tools.push({ pluginId: record.id, optional: given["optional"] === true, names: [fixed.name], make: () => fixed });
  record.toolNames.push(...(names.length > 0 ? names : [fixed.name]));
}

function registerEventHook({ registry, record, config }: PluginApiDeps, events: unknown, handler: unknown, options: unknown, say: Say): void {
  const given = isRecord(options) ? options : {};
  const entry = isRecord(given["entry"]) && isRecord(given["entry"]["hook"]) ? given["entry"]["hook"] : {};
  const name = [given["name"], entry["name"]].find((value): value is string => typeof value === "string" && value.trim() !== "");
  if (name === undefined) return say("warn", "hook registration missing name");
  if (typeof handler !== "function") return say("error", `hook ${name} must be a function`);
  const list = (Array.isArray(events) ? events : [events]).filter((event): event is string => typeof event === "string");
  record.hookNames.push(name);
  record.hookCount++;
  if (given["register"] === false || config.hooks?.internal?.enabled !== true) return;
  for (const event of list) registry.hooks.add(eventHook(event.trim()), { pluginId: record.id, priority: 0, handler: handler as (event: unknown) => unknown });
}

function registerRoute(deps: PluginApiDeps, route: unknown, say: Say): void {
  const { record, host, registry } = deps;
  const given = isRecord(route) ? route : {};
  const raw = typeof given["path"] === "string" ? given["path"].trim() : "";
  if (raw === "") return say("warn", "http route registration missing path");
  if (typeof given["handler"] !== "function") return say("error", `http route ${raw} needs a handler`);
  const path = raw.startsWith("/") ? raw : `/${raw}`;
  record.httpHandlers++;
  const handler = given["handler"] as NodeHandler;
  try {
    host?.addRoute({
      pluginId: record.id, path, auth: given["auth"] === "gateway" ? "gateway" : "plugin", match: given["match"] === "prefix" ? "prefix" : "exact",
      replace: given["replaceExisting"] === true, handler: guarded(deps, `http route ${path}`, handler),
    });
  } catch (err) {
    record.httpHandlers--;
    registry.diagnostics.push({ level: "error", message: errorText(err), pluginId: record.id });
  }
}

/** An answer that never begins would hold the connection open for good. */
function guarded({ record, onFault }: PluginApiDeps, what: string, handler: NodeHandler): NodeHandler {
  return (req, res) =>
    callPlugin(record.id, what, HTTP_LIMIT_MS, async () => handler(req, res)).catch((err: unknown) => {
      if (res.headersSent && err instanceof PluginTimeoutError) return true; // a stream that goes on is no fault
      onFault(`${what}: ${errorText(err)}`);
      if (res.headersSent) return true;
      throw err;
    });
}

function registerMethod({ record, host, registry, onFault }: PluginApiDeps, name: unknown, handler: unknown, say: Say): void {
  const method = typeof name === "string" ? name.trim() : "";
  if (method === "" || typeof handler !== "function") return say("error", "a gateway method needs a name and a function");
  try {
    host?.addMethod(record.id, method, (request) => callPlugin(record.id, `gateway method ${method}`, METHOD_LIMIT_MS, () => (handler as (request: unknown) => unknown)(request)).catch((err: unknown) => {
      onFault(`gateway method ${method}: ${errorText(err)}`);
      throw err;
    }));
    record.gatewayMethods.push(method);
  } catch (err) {
    registry.diagnostics.push({ level: "error", message: errorText(err), pluginId: record.id });
  }
}

function registerChannel({ registry, record, candidate }: PluginApiDeps, given: unknown, say: Say): void {
  const wrapped = isRecord(given) && isRecord(given["plugin"]) ? given : { plugin: given };
  const plugin = wrapped["plugin"];
  const channelId = isRecord(plugin) && typeof plugin["id"] === "string" ? plugin["id"].trim() : "";
  if (!isRecord(plugin) || channelId === "") return say("error", "channel registration missing id");
  if (record.channelIds.includes(channelId)) return say("error", `channel already registered: ${channelId}`);
  record.channelIds.push(channelId);
  registry.channels.push({ pluginId: record.id, origin: candidate.origin, plugin: plugin as ChannelOffer["plugin"], dock: wrapped["dock"] });
}

function registerCommand({ registry, record, isLocked }: PluginApiDeps, command: unknown, say: Say): void {
  const given = isRecord(command) ? command : {};
  const name = typeof given["name"] === "string" ? given["name"].trim().toLowerCase() : "";
  const taken = registry.commands.get(name);
  const problem = isLocked() ? "Cannot register commands while processing is in progress"
    : typeof given["handler"] !== "function" ? "Command handler must be a function"
    : (commandNameProblem(name) ?? (taken ? `Command "${name}" already registered by plugin "${taken.pluginId}"` : undefined));
  if (problem !== undefined) return say("error", `command registration failed: ${problem}`);
  const handler = given["handler"] as CommandRegistration["handler"];
  registry.commands.set(name, {
    pluginId: record.id, name, description: typeof given["description"] === "string" ? given["description"] : "", acceptsArgs: given["acceptsArgs"] === true, requireAuth: given["requireAuth"] !== false,
    handler: (ctx) => inPlugin(record.id, () => handler(ctx)),
  });
  record.commands.push(name);
}
