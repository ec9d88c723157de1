import type { Logger } from "../../infra/log.ts";
import type { OpenClawConfig } from "../../config/index.ts";

type Config = NonNullable<NonNullable<OpenClawConfig["messages"]>["statusReactions"]>;

const EMOJIS = { thinking: "🤔", tool: "🔥", coding: "👨‍💻", web: "⚡", done: "👍", error: "😱", stallSoft: "🥱", stallHard: "😨" } as const;
const TIMING = { debounceMs: 700, stallSoftMs: 10_000, stallHardMs: 30_000, doneHoldMs: 1500, errorHoldMs: 2500 } as const;

const CODING = new Set(["exec", "process", "read", "write", "edit", "apply_patch", "session_status", "bash"]);
const WEB = new Set(["web_search", "web_fetch", "browser"]);

/** A reaction on the person's message that follows what becomes of it. */
export interface StatusReactions {
  /** The run begins, or something was heard of the model: from now on it may stall. */
  alive(): void;
  thinking(): void;
  tool(name: string): void;
  /** The last one of the message; taken away after a while when the config wants that. */
  end(outcome: "done" | "error"): void;
  /** The run goes on elsewhere or was stopped: nothing more is set. */
  clear(): void;
}

export interface StatusReactionOptions {
  readonly config: Config;
  /** Shown from the beginning. */
  readonly queuedEmoji: string;
  readonly removeAtEnd: boolean;
  /** Sets the one reaction of the bot; "" removes it. */
  readonly set: (emoji: string) => Promise<void>;
  readonly log: Logger;
}

/**
 * Fast changes are passed over: a state is shown when it has lasted for `debounceMs`. Silence of the model shows as two
 * steps of being stalled. Source: spec agent-pipeline-output §6.7 (messages.statusReactions).
 */
export function createStatusReactions(options: StatusReactionOptions): StatusReactions {
  const emojis = { ...EMOJIS, ...definedOf(options.config.emojis) };
  const timing = { ...TIMING, ...definedOf(options.config.timing) };
  const timers = new Set<NodeJS.Timeout>();
  let shown: string | undefined;
  let wanted = "";
  let isOver = false;
  let sending: Promise<void> = Promise.resolve();

  function later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, ms);
    timer.unref();
    timers.add(timer);
  }

  function cancelTimers(): void {
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  }

  /** One request at a time, and only the newest wish. */
  function show(emoji: string): void {
    wanted = emoji;
    sending = sending.then(async () => {
      if (wanted !== emoji || shown === emoji) return;
      shown = emoji;
      await options.set(emoji).catch((err: unknown) => options.log.debug("status reaction failed", { err }));
    });
  }

  let current: string = options.queuedEmoji;
  function alive(): void {
    if (isOver) return;
    cancelTimers();
    if (current !== wanted) later(timing.debounceMs, () => show(current));
    later(timing.stallSoftMs, () => show(emojis.stallSoft));
    later(timing.stallHardMs, () => show(emojis.stallHard));
  }

  function become(emoji: string): void {
    current = emoji;
    alive();
  }

  show(current);
  return {
    alive,
    thinking: () => become(emojis.thinking),
    tool: (name) => become(CODING.has(name) ? emojis.coding : WEB.has(name) ? emojis.web : emojis.tool),
    end(outcome) {
      if (isOver) return;
      isOver = true;
      cancelTimers();
      show(emojis[outcome]);
      if (options.removeAtEnd) later(outcome === "done" ? timing.doneHoldMs : timing.errorHoldMs, () => show(""));
    },
    clear() {
      isOver = true;
      cancelTimers();
    },
  };
}

/** Several as one; undefined for none. */
export function allOf(list: readonly StatusReactions[]): StatusReactions | undefined {
  if (list.length === 0) return undefined;
  const each = (tell: (status: StatusReactions) => void) => (): void => list.forEach(tell);
  return {
    alive: each((status) => status.alive()), thinking: each((status) => status.thinking()), clear: each((status) => status.clear()),
    tool: (name) => list.forEach((status) => status.tool(name)), end: (outcome) => list.forEach((status) => status.end(outcome)),
  };
}

function definedOf<T extends object>(value: T | undefined): { [Key in keyof T]?: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, item]) => item !== undefined && item !== "")) as { [Key in keyof T]?: NonNullable<T[Key]> };
}
