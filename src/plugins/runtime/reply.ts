import type { MsgContext } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { findAgentConfig } from "./agent-config.ts";
import {
  createReplyDispatcherWithTyping, type DispatchCounts, type HumanDelay, type ReplyDispatcher, type TypingDispatcherOptions, type TypingReplyOptions,
} from "./dispatcher.ts";
import type { SelectedModel } from "./reply-prefix.ts";

/** Runs the agent on a message of a channel plugin. Source: spec plugin-sdk §12–13, decisions §5.5. */

/** What a channel plugin may ask of one run. */
export interface ReplyDispatchOptions extends TypingReplyOptions {
  readonly abortSignal?: AbortSignal | undefined;
  readonly onModelSelected?: ((selected: SelectedModel) => void) | undefined;
  readonly disableBlockStreaming?: boolean | undefined;
  readonly skillFilter?: readonly string[] | undefined;
  readonly images?: readonly unknown[] | undefined;
  readonly onPartialReply?: ((payload: { readonly text?: string | undefined; readonly mediaUrls?: readonly string[] | undefined }) => Promise<void> | void) | undefined;
  readonly [extra: string]: unknown;
}

export interface DispatchResult {
  readonly queuedFinal: boolean;
  readonly counts: DispatchCounts;
}

/**
 * The gateway's part: gates, commands, queue and run; what people shall see goes to the dispatcher. Resolves when the turn
 * is over, before everything is delivered. A message that was dispatched before has no run and no counts.
 */
export type DispatchReply = (ctx: MsgContext, cfg: OpenClawConfig, dispatcher: ReplyDispatcher, options: ReplyDispatchOptions) => Promise<DispatchResult>;

export interface BufferedDispatchInput {
  readonly ctx: MsgContext;
  readonly cfg: OpenClawConfig;
  readonly dispatcherOptions: TypingDispatcherOptions;
  readonly replyOptions?: ReplyDispatchOptions | undefined;
}

export interface DispatchFromConfigInput {
  readonly ctx: MsgContext;
  readonly cfg: OpenClawConfig;
  readonly dispatcher: ReplyDispatcher;
  readonly replyOptions?: ReplyDispatchOptions | undefined;
}

export interface WithDispatcherInput<T> {
  readonly dispatcher: ReplyDispatcher;
  readonly run: () => Promise<T>;
  readonly onSettled?: (() => Promise<void> | void) | undefined;
}

export function createReplyAccess(dispatch: DispatchReply) {
  return {
    /** The agent's options of `humanDelay` over those for all. */
    resolveHumanDelayConfig(cfg: OpenClawConfig, agentId: string): HumanDelay | undefined {
      const own = findAgentConfig(cfg, agentId)?.humanDelay;
      const general = cfg.agents?.defaults?.humanDelay;
      return own || general ? { ...general, ...own } : undefined;
    },
    /** Resolves when the last piece is delivered. */
    async dispatchReplyWithBufferedBlockDispatcher({ ctx, cfg, dispatcherOptions, replyOptions }: BufferedDispatchInput): Promise<DispatchResult> {
      const { dispatcher, replyOptions: typing, markDispatchIdle } = createReplyDispatcherWithTyping(dispatcherOptions);
      try {
        const result = await dispatch(ctx, cfg, dispatcher, { ...replyOptions, ...typing });
        await dispatcher.waitForIdle();
        return result;
      } finally {
        dispatcher.markComplete();
        markDispatchIdle();
        typing.onTypingCleanup?.();
      }
    },
    dispatchReplyFromConfig: ({ ctx, cfg, dispatcher, replyOptions }: DispatchFromConfigInput): Promise<DispatchResult> => dispatch(ctx, cfg, dispatcher, replyOptions ?? {}),
    /** Runs, then waits for what is on its way, and only then settles; also when the run fails. */
    async withReplyDispatcher<T>({ dispatcher, run, onSettled }: WithDispatcherInput<T>): Promise<T> {
      try {
        return await run();
      } finally {
        dispatcher.markComplete();
        try {
          await dispatcher.waitForIdle();
        } finally {
          await onSettled?.();
        }
      }
    },
  };
}
