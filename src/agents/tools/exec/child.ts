import { spawn } from "node:child_process";
import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";

export interface ChildSpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ChildEvents {
  onText(text: string): void;
  /** The process is gone; called once. */
  onExit(code: number | null, signal: NodeJS.Signals | null): void;
}

/** A process of its own group, behind pipes or a terminal. */
export interface Child {
  readonly pid: number | undefined;
  readonly isPty: boolean;
  /** False when its input cannot be written to. */
  write(data: string, eof: boolean): boolean;
  /** To the whole group. False when nothing of it is left. */
  signal(signal: NodeJS.Signals): boolean;
}

const PTY_SIZE = { cols: 120, rows: 30 };
const END_OF_INPUT = "\u0004";
/** A grandchild may hold the pipes open after the shell is gone. */
const PIPE_GRACE_MS = 250;

/** Behind pipes a command has no input: one that waits for it would wait for ever. */
export function spawnPipes(spec: ChildSpec, events: ChildEvents): Child {
  const [file = "", ...args] = spec.argv;
  const child = spawn(file, args, { cwd: spec.cwd, env: { ...spec.env }, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let ended = false;
  const end = (code: number | null, signal: NodeJS.Signals | null): void => {
    if (ended) return;
    ended = true;
    events.onExit(code, signal);
  };
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder("utf8");
    stream.on("data", (chunk: Buffer) => events.onText(decoder.write(chunk)));
  }
  child.once("error", (err) => {
    events.onText(err.message);
    end(127, null);
  });
  child.once("close", end);
  child.once("exit", (code, signal) => setTimeout(() => end(code, signal), PIPE_GRACE_MS).unref());
  return { pid: child.pid, isPty: false, write: () => false, signal: (signal) => signalGroup(child.pid, signal) };
}

/** undefined when the package or a terminal is not there. */
export async function spawnPty(spec: ChildSpec, events: ChildEvents): Promise<Child | undefined> {
  try {
    const pty = await import("@lydell/node-pty");
    const [file = "", ...args] = spec.argv;
    const child = pty.spawn(file, args, { name: "xterm", ...PTY_SIZE, cwd: spec.cwd, env: { ...spec.env, TERM: "xterm" } });
    let ended = false;
    child.onData((text) => events.onText(text));
    child.onExit(({ exitCode, signal }) => {
      ended = true;
      events.onExit(signal ? null : exitCode, signalName(signal));
    });
    return {
      pid: child.pid,
      isPty: true,
      write(data, eof) {
        if (ended) return false;
        child.write(eof ? data + END_OF_INPUT : data);
        return true;
      },
      signal: (signal) => signalGroup(child.pid, signal),
    };
  } catch {
    return undefined; // the caller says that pipes are used instead
  }
}

function signalName(number: number | undefined): NodeJS.Signals | null {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return number && found ? (found[0] as NodeJS.Signals) : null;
}

/** False when nothing of the group is left. Signal 0 only asks. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}
