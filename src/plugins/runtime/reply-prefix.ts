import type { OpenClawConfig } from "../../config/index.ts";
import { fillPrefix, shortModelName } from "../../infra/text/index.ts";
import { findAgentConfig } from "./agent-config.ts";
import { channelFields, ownAccountFields, textOf } from "./section.ts";

/** What a prefix may name, e.g. `[{model}]`; filled when the model is known. Source: spec agent-pipeline-output §6.6. */
export interface ResponsePrefixContext {
  model?: string | undefined;
  modelFull?: string | undefined;
  provider?: string | undefined;
  thinkingLevel?: string | undefined;
  identityName?: string | undefined;
}

export interface MessagesConfigQuery {
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
}

export const identityNameOf = (cfg: OpenClawConfig, agentId: string): string | undefined => textOf(findAgentConfig(cfg, agentId)?.identity?.name);

/** Account, channel, `messages`; `auto` is the agent's name in brackets. Placeholders stay in it. */
export function resolveResponsePrefixText(cfg: OpenClawConfig, agentId: string, { channel, accountId }: MessagesConfigQuery = {}): string | undefined {
  const layers = channel === undefined ? [] : [ownAccountFields(cfg, channel, accountId)["responsePrefix"], channelFields(cfg, channel)["responsePrefix"]];
  const raw = layers.find((value): value is string => typeof value === "string") ?? cfg.messages?.responsePrefix;
  if (raw !== "auto") return raw === "" ? undefined : raw;
  const name = identityNameOf(cfg, agentId);
  return name === undefined ? undefined : `[${name}]`;
}

/** What stands before a person's text and before an answer. */
export function resolveEffectiveMessagesConfig(
  cfg: OpenClawConfig,
  agentId: string,
  options: MessagesConfigQuery & { readonly hasAllowFrom?: boolean | undefined; readonly fallbackMessagePrefix?: string | undefined } = {},
): { messagePrefix: string; responsePrefix?: string | undefined } {
  const name = identityNameOf(cfg, agentId);
  const derived = options.hasAllowFrom === true ? "" : name === undefined ? (options.fallbackMessagePrefix ?? "[openclaw]") : `[${name}]`;
  return { messagePrefix: cfg.messages?.messagePrefix ?? derived, responsePrefix: resolveResponsePrefixText(cfg, agentId, options) };
}

/** Names without a value stay as they are written. */
export function fillResponsePrefix(prefix: string | undefined, context: ResponsePrefixContext): string | undefined {
  if (prefix === undefined || prefix === "") return undefined;
  const full = context.modelFull?.slice((context.provider?.length ?? -1) + 1);
  return fillPrefix(prefix, { provider: context.provider, modelId: full ?? context.model, thinkingLevel: context.thinkingLevel, identityName: context.identityName });
}

export interface SelectedModel {
  readonly provider: string;
  readonly model: string;
  readonly thinkLevel?: string | undefined;
}

export interface ReplyPrefixOptions {
  readonly responsePrefix?: string | undefined;
  readonly responsePrefixContextProvider: () => ResponsePrefixContext;
  readonly onModelSelected: (selected: SelectedModel) => void;
}

export interface ReplyPrefixQuery {
  readonly cfg: OpenClawConfig;
  readonly agentId: string;
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
}

/** Options for a dispatcher whose prefix may name the model, and the hook that learns which one runs. */
export function createReplyPrefixContext(query: ReplyPrefixQuery): ReplyPrefixOptions & { readonly prefixContext: ResponsePrefixContext } {
  const prefixContext: ResponsePrefixContext = { identityName: identityNameOf(query.cfg, query.agentId) };
  return {
    prefixContext,
    responsePrefix: resolveResponsePrefixText(query.cfg, query.agentId, query),
    responsePrefixContextProvider: () => prefixContext,
    onModelSelected({ provider, model, thinkLevel }) {
      prefixContext.provider = provider;
      prefixContext.model = shortModelName(model);
      prefixContext.modelFull = `${provider}/${model}`;
      prefixContext.thinkingLevel = thinkLevel ?? "off";
    },
  };
}

export function createReplyPrefixOptions(query: ReplyPrefixQuery): ReplyPrefixOptions {
  const { prefixContext: _context, ...options } = createReplyPrefixContext(query);
  return options;
}

/** The reaction that says "seen": account, channel, `messages`, the agent's emoji, 👀. */
export function resolveAckReaction(cfg: OpenClawConfig, agentId: string, { channel, accountId }: MessagesConfigQuery = {}): string {
  const layers = channel === undefined ? [] : [ownAccountFields(cfg, channel, accountId)["ackReaction"], channelFields(cfg, channel)["ackReaction"]];
  const configured = layers.find((value): value is string => typeof value === "string") ?? cfg.messages?.ackReaction;
  if (configured !== undefined) return configured.trim();
  return textOf(findAgentConfig(cfg, agentId)?.identity?.emoji) ?? "👀";
}
