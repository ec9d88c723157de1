import { signalGroup, spawnPipes, spawnPty, type Child, type ChildEvents } from "./child.ts";
import { createOutputCleaner } from "./output.ts";
import { descendantsOf, signalProcesses, type ProcessId } from "./process-tree.ts";

const KILL_GRACE_MS = 3000;
const ADJECTIVES = ["amber", "brisk", "calm", "clear", "eager", "fresh", "gentle", "keen", "lucky", "mellow", "nimble", "quick", "quiet", "swift", "tidal", "vivid"];
const NOUNS = ["atlas", "bay", "brook", "cedar", "comet", "coral", "delta", "ember", "falcon", "harbor", "lagoon", "meadow", "orchid", "reef", "sable", "willow"];

export interface OutputLimits {
  readonly maxOutputChars: number;
  readonly maxUnreadChars: number;
}

export interface Job {
  readonly slug: string;
  readonly scope: string;
  readonly command: string;
  readonly pid: number | undefined;
  readonly startedAt: number;
  readonly cwd: string;
  readonly isPty: boolean;
  /** What the caller wanted and did not get. */
  readonly warning: string | undefined;
  /** Resolves when the process is gone. */
  readonly done: Promise<void>;
  output: string;
  unread: string;
  dropped: boolean;
  exitCode: number | null | undefined;
  exitSignal: NodeJS.Signals | null | undefined;
  endedAt: number | undefined;
  timedOut: boolean;
  backgrounded: boolean;
  /** Polls in a row that brought nothing new. */
  idlePolls: number;
  /** False when its input cannot be written to. */
  write(data: string, eof: boolean): boolean;
  /** Asks the whole process group to end, and makes it after a moment. */
  kill(): void;
}

export interface StartOptions {
  readonly scope: string;
  /** As it is shown. */
  readonly command: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The folder as the caller knows it, where that is another name. */
  readonly shownCwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Ends what a signal to the process does not reach; then the process ends by itself. */
  readonly stop?: ((signal: "SIGTERM" | "SIGKILL") => void) | undefined;
  readonly timeoutMs: number | undefined;
  readonly pty?: boolean | undefined;
  /** Told of the end instead of the general listener, background or not. */
  readonly onExit?: ((job: Job) => void) | undefined;
}

export interface ProcessJobs {
  start(options: StartOptions): Promise<Job>;
  find(scope: string, slug: string): Job | undefined;
  list(scope: string): Job[];
  remove(scope: string, slug: string): void;
  /** Ends every process group, also those that a finished command left behind; at gateway stop. Resolves when all are gone. */
  killAll(): Promise<void>;
}

export interface ProcessJobsOptions {
  readonly now: () => number;
  readonly keepMs: () => number;
  readonly limits: OutputLimits;
  /** A background job ended. */
  readonly onExit?: ((job: Job) => void) | undefined;
}

/** Children of the exec tool. Each runs in its own process group, so that a kill takes its whole family. */
export function createProcessJobs(options: ProcessJobsOptions): ProcessJobs {
  const jobs = new Map<string, Job>();
  /** Group ids of finished commands that left processes behind. */
  const left = new Set<number>();

  function newSlug(): string {
    for (let n = 0; ; n++) {
      const pick = (words: readonly string[]): string => words[Math.floor(Math.random() * words.length)] as string;
      const slug = `${pick(ADJECTIVES)}-${pick(NOUNS)}${n > 20 ? `-${n}` : ""}`;
      if (!jobs.has(slug)) return slug;
    }
  }

  function sweep(): void {
    const limit = options.now() - options.keepMs();
    for (const [slug, job] of jobs) if (job.endedAt !== undefined && job.endedAt < limit) jobs.delete(slug);
    for (const pid of left) if (!signalGroup(pid, 0)) left.delete(pid);
  }

  return {
    async start(start) {
      sweep();
      const job = await launch(start, newSlug(), options);
      jobs.set(job.slug, job);
      void job.done.then(() => {
        if (job.pid !== undefined && signalGroup(job.pid, 0)) left.add(job.pid);
      });
      return job;
    },
    find: (scope, slug) => {
      const job = jobs.get(slug);
      return job?.scope === scope ? job : undefined;
    },
    list: (scope) => {
      sweep();
      return [...jobs.values()].filter((job) => job.scope === scope && job.backgrounded);
    },
    remove(scope, slug) {
      if (jobs.get(slug)?.scope === scope) jobs.delete(slug);
    },
    async killAll() {
      const running = [...jobs.values()].filter((job) => job.endedAt === undefined);
      for (const job of running) job.kill();
      for (const pid of left) signalGroup(pid, "SIGKILL");
      left.clear();
      await Promise.all(running.map((job) => job.done));
    },
  };
}

async function launch(start: StartOptions, slug: string, options: ProcessJobsOptions): Promise<Job> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let killTimer: NodeJS.Timeout | undefined;
  let timeoutTimer: NodeJS.Timeout | undefined;
  let child: Child | undefined;
  let wantsKill = false;
  /** Descendants at the moment of the kill, some of which may have left the group. */
  let family: readonly ProcessId[] = [];
  const cleaner = createOutputCleaner((reply) => child?.isPty && child.write(reply, false));
  const signalAll = (signal: "SIGTERM" | "SIGKILL"): void => {
    start.stop?.(signal);
    child?.signal(signal);
    signalProcesses(family, signal);
  };
  const append = (text: string): void => {
    job.output = keepTail(job.output + text, options.limits.maxOutputChars, job);
    job.unread = keepTail(job.unread + text, options.limits.maxUnreadChars, job);
  };
  const events: ChildEvents = {
    onText: (text) => append(cleaner.push(text)),
    onExit(code, signal) {
      append(cleaner.flush());
      job.exitCode = code;
      job.exitSignal = signal;
      job.endedAt = options.now();
      clearTimeout(timeoutTimer);
      clearTimeout(killTimer);
      if (wantsKill) signalAll("SIGKILL"); // what the group left behind
      resolve();
      if (start.onExit) start.onExit(job);
      else if (job.backgrounded) options.onExit?.(job);
    },
  };
  const job = {
    slug, scope: start.scope, command: start.command, pid: undefined as number | undefined, startedAt: options.now(), cwd: start.shownCwd ?? start.cwd, isPty: false, warning: undefined as string | undefined, done: promise,
    output: "", unread: "", dropped: false, exitCode: undefined, exitSignal: undefined, endedAt: undefined, timedOut: false, backgrounded: false, idlePolls: 0,
    write: (data: string, eof: boolean) => job.endedAt === undefined && child?.write(data, eof) === true,
    kill() {
      if (!wantsKill && child?.pid !== undefined && !start.stop) family = descendantsOf(child.pid);
      wantsKill = true;
      if (start.stop) start.stop("SIGTERM");
      else signalAll("SIGTERM");
      killTimer ??= setTimeout(() => signalAll("SIGKILL"), KILL_GRACE_MS);
    },
  } as { -readonly [Key in keyof Job]: Job[Key] };
  child = start.pty ? await spawnPty(start, events) : undefined;
  if (start.pty && !child) job.warning = "Warning: no terminal is available (pty), the command runs without one.";
  child ??= spawnPipes(start, events);
  job.pid = child.pid;
  job.isPty = child.isPty;
  if (start.timeoutMs !== undefined) {
    timeoutTimer = setTimeout(() => {
      job.timedOut = true;
      job.kill();
    }, start.timeoutMs);
  }
  return job;
}

function keepTail(text: string, max: number, job: Job): string {
  if (text.length <= max) return text;
  job.dropped = true;
  return text.slice(text.length - max).replace(/^[\uDC00-\uDFFF]/, "");
}
