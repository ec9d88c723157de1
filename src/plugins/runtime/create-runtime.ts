import { homedir } from "node:os";
import type { AgentEvent } from "../../agents/index.ts";
import { resolveStatePaths, type OpenClawConfig } from "../../config/index.ts";
import type { SystemEvents } from "../../delivery/index.ts";
import type { Logger } from "../../infra/log.ts";
import type { ChannelPairingStore } from "../../pairing/index.ts";
import type { SessionService } from "../../sessions/index.ts";
import { createChannelActivity, type ActivityMark } from "./activity.ts";
import { createChannelDoors, type ChannelDoorDeps } from "./channel-doors.ts";
import { chunkByNewline, chunkMarkdownText, chunkMarkdownTextWithMode, chunkText, chunkTextWithMode, convertMarkdownTables, resolveChunkMode, resolveMarkdownTableMode, resolveTextChunkLimit } from "./channel-text.ts";
import { resolveCommandAuthorizedFromAuthorizers } from "./command-rights.ts";
import { createCommandTexts, type CommandTextDeps } from "./commands.ts";
import { createInboundDebouncer, resolveInboundDebounceMs } from "./debounce.ts";
import { createReplyDispatcherWithTyping } from "./dispatcher.ts";
import { resolveGroupPolicy, resolveRequireMention } from "./group-rules.ts";
import { finalizeInboundContext, formatAgentEnvelope, formatInboundEnvelope, resolveEnvelopeFormatOptions } from "./inbound.ts";
import { buildMentionRegexes, matchesMentionPatterns, matchesMentionWithExplicit } from "./mentions.ts";
import { detectMime, isVoiceCompatibleAudio, mediaKindFromMime } from "./mime-kind.ts";
import { createPairingAccess } from "./pairing.ts";
import { removeAckReactionAfterReply, shouldAckReaction } from "./reactions.ts";
import { createReplyAccess, type DispatchReply } from "./reply.ts";
import { resolveEffectiveMessagesConfig } from "./reply-prefix.ts";
import { buildAgentSessionKey, resolveAgentRoute } from "./routing.ts";
import { formatNativeDependencyHint, runCommand } from "./run-command.ts";
import { createSessionAccess } from "./session.ts";
import { createMediaAccess, type MediaDeps } from "./web-media.ts";

/** What the tree reaches of the gateway. */
export interface PluginRuntimeDeps extends ChannelDoorDeps, CommandTextDeps {
  /** Of the product. */
  readonly version: string;
  config(): OpenClawConfig;
  /** Validates, writes the file and applies it. @throws Error saying what is not valid */
  writeConfig(next: OpenClawConfig): Promise<void>;
  readonly stateDir: string;
  readonly sessions: SessionService;
  readonly pairing: ChannelPairingStore;
  readonly systemEvents: Pick<SystemEvents, "push">;
  readonly images: MediaDeps["images"];
  readonly fetchAllowOrigins?: MediaDeps["allowOrigins"];
  readonly log: Logger;
  isVerbose(): boolean;
  readonly dispatch: DispatchReply;
  /** Every event of every run. The result ends it. */
  onAgentEvent(listener: (event: AgentEvent) => void): () => void;
  /** A message of an account came or went. */
  onActivity?: ((mark: Required<ActivityMark>) => void) | undefined;
  now(): number;
}

export interface PluginLogger {
  debug(message: string, meta?: Readonly<Record<string, unknown>>): void;
  info(message: string, meta?: Readonly<Record<string, unknown>>): void;
  warn(message: string, meta?: Readonly<Record<string, unknown>>): void;
  error(message: string, meta?: Readonly<Record<string, unknown>>): void;
}

/** `api.runtime`: what a plugin may ask of the gateway. Source: spec plugin-sdk §13. */
export function createPluginRuntime(deps: PluginRuntimeDeps) {
  const media = createMediaAccess({ stateDir: deps.stateDir, images: deps.images, allowOrigins: deps.fetchAllowOrigins });
  const commands = createCommandTexts(deps);
  return {
    version: deps.version,
    config: {
      loadConfig: (): OpenClawConfig => deps.config(),
      current: (): OpenClawConfig => deps.config(),
      writeConfigFile: (next: OpenClawConfig): Promise<void> => deps.writeConfig(next),
      replaceConfigFile: (next: OpenClawConfig | { readonly nextConfig: OpenClawConfig }): Promise<void> => deps.writeConfig("nextConfig" in next ? (next as { nextConfig: OpenClawConfig }).nextConfig : next),
    },
    system: {
      /** A line for the session's next turn; what comes from a plugin is not taken for the owner's word. @throws Error without a session key */
      enqueueSystemEvent(text: string, options: { readonly sessionKey: string; readonly contextKey?: string | null | undefined }): boolean {
        const sessionKey = options?.sessionKey?.trim();
        if (!sessionKey) throw new Error("system events require a sessionKey");
        if (text.trim() === "") return false;
        deps.systemEvents.push(deps.sessions.canonicalKey(sessionKey), text, { contextKey: options.contextKey ?? undefined, trusted: false });
        return true;
      },
      runCommandWithTimeout: runCommand, formatNativeDependencyHint,
    },
    media: { loadWebMedia: media.loadWebMedia, getImageMetadata: media.getImageMetadata, resizeToJpeg: media.resizeToJpeg, detectMime, mediaKindFromMime, isVoiceCompatibleAudio },
    tts: {
      textToSpeechTelephony: async (_request: { readonly text: string; readonly cfg?: OpenClawConfig | undefined; readonly prefsPath?: string | undefined }): Promise<never> => {
        throw new Error("this gateway has no speech synthesis yet: runtime.tts.textToSpeechTelephony cannot speak");
      },
    },
    tools: {
      /** null: there is no memory index; a tool is not offered then. */
      createMemoryGetTool: (_options?: unknown): null => null,
      createMemorySearchTool: (_options?: unknown): null => null,
      registerMemoryCli: (_program?: unknown): void => undefined,
    },
    channel: {
      text: {
        chunkByNewline, chunkText, chunkMarkdownText, chunkTextWithMode, chunkMarkdownTextWithMode, resolveChunkMode, resolveTextChunkLimit, resolveMarkdownTableMode, convertMarkdownTables,
        hasControlCommand: commands.hasControlCommand,
      },
      reply: {
        ...createReplyAccess(deps.dispatch), createReplyDispatcherWithTyping, finalizeInboundContext, formatAgentEnvelope, formatInboundEnvelope, resolveEnvelopeFormatOptions, resolveEffectiveMessagesConfig,
      },
      routing: { resolveAgentRoute, buildAgentSessionKey },
      pairing: createPairingAccess(deps.pairing),
      media: { fetchRemoteMedia: media.fetchRemoteMedia, saveMediaBuffer: media.saveMediaBuffer },
      activity: createChannelActivity(deps.now, deps.onActivity),
      session: createSessionAccess(deps.sessions),
      mentions: { buildMentionRegexes, matchesMentionPatterns, matchesMentionWithExplicit },
      reactions: { shouldAckReaction, removeAckReactionAfterReply },
      groups: { resolveGroupPolicy, resolveRequireMention },
      debounce: { createInboundDebouncer, resolveInboundDebounceMs },
      commands: {
        resolveCommandAuthorizedFromAuthorizers, isControlCommandMessage: commands.isControlCommandMessage, shouldComputeCommandAuthorized: commands.shouldComputeCommandAuthorized,
        shouldHandleTextCommands: commands.shouldHandleTextCommands,
      },
      ...createChannelDoors(deps),
    },
    logging: {
      shouldLogVerbose: (): boolean => deps.isVerbose(),
      getChildLogger(bindings: Readonly<Record<string, unknown>> = {}, _options: { readonly level?: string | undefined } = {}): PluginLogger {
        const log = deps.log.child(bindings);
        return { debug: (m, f) => log.debug(m, f), info: (m, f) => log.info(m, f), warn: (m, f) => log.warn(m, f), error: (m, f) => log.error(m, f) };
      },
    },
    state: {
      /** The gateway's own; that of another environment when one is given. */
      resolveStateDir: (env?: Readonly<Record<string, string | undefined>>, home: () => string = homedir): string =>
        env === undefined ? deps.stateDir : resolveStatePaths(env, { osHome: home() }).stateDir,
    },
    events: { onAgentEvent: (listener: (event: AgentEvent) => void): (() => void) => deps.onAgentEvent(listener) },
  };
}

export type PluginRuntime = ReturnType<typeof createPluginRuntime>;
