import { spawn, type ChildProcess } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

const MAX_OUTPUT_CHARS = 200_000;
const MAX_UNREAD_CHARS = 30_000;
const KILL_GRACE_MS = 3000;
const ADJECTIVES = ["amber", "brisk", "calm", "clear", "eager", "fresh", "gentle", "keen", "lucky", "mellow", "nimble", "quick", "quiet", "swift", "tidal", "vivid"];
const NOUNS = ["atlas", "bay", "brook", "cedar", "comet", "coral", "delta", "ember", "falcon", "harbor", "lagoon", "meadow", "orchid", "reef", "sable", "willow"];

export interface Job {
  readonly slug: string;
  readonly scope: string;
  readonly command: string;
  readonly pid: number | undefined;
  readonly startedAt: number;
  readonly cwd: string;
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
  write(data: string, eof: boolean): boolean;
  kill(): void;
}

export interface StartOptions {
  readonly scope: string;
  readonly command: string;
  readonly shell: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number | undefined;
}

export interface ProcessJobs {
  start(options: StartOptions): Job;
  find(scope: string, slug: string): Job | undefined;
  list(scope: string): Job[];
  remove(scope: string, slug: string): void;
  /** Kills every process group; at gateway stop. */
  killAll(): void;
}

/** Children of the exec tool. Each runs in its own process group, so that a kill takes its whole family. */
export function createProcessJobs(options: { readonly now: () => number; readonly keepMs: () => number; readonly onExit?: (job: Job) => void }): ProcessJobs {
  const jobs = new Map<string, Job>();

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
  }

  return {
    start(start) {
      sweep();
      const [file, ...args] = start.shell;
      const child = spawn(file as string, [...args, start.command], { cwd: start.cwd, env: { ...start.env }, detached: true, stdio: ["pipe", "pipe", "pipe"] });
      const job = track(child, start, newSlug(), options);
      jobs.set(job.slug, job);
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
    killAll() {
      for (const job of jobs.values()) if (job.endedAt === undefined) job.kill();
    },
  };
}

function track(child: ChildProcess, start: StartOptions, slug: string, options: { now: () => number; onExit?: (job: Job) => void }): Job {
  const { promise, resolve } = Promise.withResolvers<void>();
  let killTimer: NodeJS.Timeout | undefined;
  let timeoutTimer: NodeJS.Timeout | undefined;
  const job: Job = {
    slug, scope: start.scope, command: start.command, pid: child.pid, startedAt: options.now(), cwd: start.cwd, done: promise,
    output: "", unread: "", dropped: false, exitCode: undefined, exitSignal: undefined, endedAt: undefined, timedOut: false, backgrounded: false,
    write(data, eof) {
      const { stdin } = child;
      if (!stdin || stdin.destroyed || stdin.writableEnded) return false;
      stdin.write(data);
      if (eof) stdin.end();
      return true;
    },
    kill() {
      signalGroup(child, "SIGTERM");
      killTimer ??= setTimeout(() => signalGroup(child, "SIGKILL"), KILL_GRACE_MS);
    },
  };
  const append = (text: string): void => {
    const clean = cleanOutput(text);
    job.output = keepTail(job.output + clean, MAX_OUTPUT_CHARS, job);
    job.unread = keepTail(job.unread + clean, MAX_UNREAD_CHARS, job);
  };
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder("utf8");
    stream?.on("data", (chunk: Buffer) => append(decoder.write(chunk)));
  }
  child.stdin?.on("error", () => undefined); // the child may close its input early
  const finish = (code: number | null, signal: NodeJS.Signals | null): void => {
    if (job.endedAt !== undefined) return;
    job.exitCode = code;
    job.exitSignal = signal;
    job.endedAt = options.now();
    clearTimeout(timeoutTimer);
    if (killTimer !== undefined) signalGroup(child, "SIGKILL"); // what the group left behind
    clearTimeout(killTimer);
    resolve();
    if (job.backgrounded) options.onExit?.(job);
  };
  child.once("error", (err) => {
    append(err.message);
    finish(127, null);
  });
  child.once("close", finish);
  // A grandchild may hold the pipes open after the shell is gone.
  child.once("exit", (code, signal) => setTimeout(() => finish(code, signal), 250).unref());
  if (start.timeoutMs !== undefined) {
    timeoutTimer = setTimeout(() => {
      job.timedOut = true;
      job.kill();
    }, start.timeoutMs);
  }
  return job;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // the group is gone already
  }
}

function keepTail(text: string, max: number, job: Job): string {
  if (text.length <= max) return text;
  job.dropped = true;
  return text.slice(text.length - max).replace(/^[\uDC00-\uDFFF]/, "");
}

/** Control and format characters could repaint a terminal or hide text; tabs and line ends stay. */
export function cleanOutput(text: string): string {
  return text.replace(/\u001B\[[0-9;?]*[A-Za-z]/g, "").replace(/\r\n/g, "\n").replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/g, "").toWellFormed();
}
