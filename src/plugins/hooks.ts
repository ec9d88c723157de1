import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { callPlugin, inPlugin, PluginTimeoutError } from "./scope.ts";

/** Hooks whose handlers answer; they run one after another. Source: spec plugin-sdk §7. */
export const MODIFYING_LIMIT_MS = 15_000;
export const VOID_LIMIT_MS = 30_000;

export interface HookHandler {
  readonly pluginId: string;
  readonly priority: number;
  readonly handler: (event: unknown, ctx: unknown) => unknown;
}

export interface HookRunner {
  has(hook: string): boolean;
  add(hook: string, handler: HookHandler): void;
  /** All at once; resolves when each has ended, failed or run out of time. Never rejects. */
  notify(hook: string, event: object, ctx: object): Promise<void>;
  /**
   * By priority, each with the original event; `take` merges what a handler gives back. `onTimeout` tells of one that ran out
   * of time. Never rejects.
   */
  ask<R extends object>(hook: string, event: object, ctx: object, take: (result: R, pluginId: string) => void, onTimeout?: (pluginId: string) => void): Promise<void>;
  /** As `ask` for hooks that must answer at once; a promise is passed over with a warning. */
  askSync<R extends object>(hook: string, event: object, ctx: object, take: (result: R) => object | undefined): void;
}

export function createHookRunner(log: Logger, onFault: (pluginId: string, text: string) => void, limits = { modifyingMs: MODIFYING_LIMIT_MS, voidMs: VOID_LIMIT_MS }): HookRunner {
  const handlers = new Map<string, readonly HookHandler[]>();
  const of = (hook: string): readonly HookHandler[] => handlers.get(hook) ?? [];
  const failed = (hook: string, pluginId: string, err: unknown): void => {
    log.error(`[hooks] ${hook} handler from ${pluginId} failed: ${errorText(err)}`, { pluginId });
    onFault(pluginId, `hook ${hook}: ${errorText(err)}`);
  };

  return {
    has: (hook) => of(hook).length > 0,
    add(hook, handler) {
      // A stable sort: among equal priorities the order of registration.
      handlers.set(hook, [...of(hook), handler].toSorted((a, b) => b.priority - a.priority));
    },
    async notify(hook, event, ctx) {
      await Promise.all(
        of(hook).map(({ pluginId, handler }) => callPlugin(pluginId, `hook ${hook}`, limits.voidMs, () => handler(event, ctx)).catch((err: unknown) => failed(hook, pluginId, err))),
      );
    },
    async ask(hook, event, ctx, take, onTimeout) {
      for (const { pluginId, handler } of of(hook)) {
        try {
          const result = await callPlugin(pluginId, `hook ${hook}`, limits.modifyingMs, () => handler(event, ctx));
          if (typeof result === "object" && result !== null) take(result as never, pluginId);
        } catch (err) {
          failed(hook, pluginId, err);
          if (err instanceof PluginTimeoutError) onTimeout?.(pluginId);
        }
      }
    },
    askSync(hook, event, ctx, take) {
      let current = event;
      for (const { pluginId, handler } of of(hook)) {
        try {
          const result = inPlugin(pluginId, () => handler(current, ctx));
          if (result instanceof Promise) {
            result.catch((err: unknown) => failed(hook, pluginId, err));
            log.warn(`[hooks] ${hook} handler from ${pluginId} returned a promise; this hook must answer at once, so it was passed over`);
          } else if (typeof result === "object" && result !== null) current = take(result as never) ?? current;
        } catch (err) {
          failed(hook, pluginId, err);
        }
      }
    },
  };
}

/** Name under which handlers of an internal event (`command`, `command:new`) are kept. */
export const eventHook = (event: string): string => `event:${event}`;

export interface InternalEvent {
  readonly type: string;
  readonly action: string;
  readonly sessionKey?: string | undefined;
  readonly context: object;
}

const asSeen = (event: InternalEvent): object => ({ ...event, sessionKey: event.sessionKey ?? "", timestamp: new Date(), messages: [] });

/** Names that have handlers: those of the type come first, then those of the type with action. */
const heardAs = (hooks: HookRunner, { type, action }: InternalEvent): string[] => [eventHook(type), eventHook(`${type}:${action}`)].filter((name) => hooks.has(name));

/** An internal event. Nobody waits for its handlers. Source: spec plugin-sdk §6 (registerHook). */
export function fireEvent(hooks: HookRunner, event: InternalEvent): void {
  const seen = asSeen(event);
  for (const name of heardAs(hooks, event)) void hooks.notify(name, seen, {});
}

/** An internal event whose handlers may change its `context`, one after another; false when there is none. Never rejects. */
export async function awaitEvent(hooks: HookRunner, event: InternalEvent): Promise<boolean> {
  const seen = asSeen(event);
  const names = heardAs(hooks, event);
  for (const name of names) await hooks.ask(name, seen, {}, () => undefined);
  return names.length > 0;
}
