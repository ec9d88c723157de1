import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { connect } from "node:net";
import { sleep } from "./backoff.ts";
import { isErrno } from "./atomic-file.ts";
import { processStartTime } from "./file-lock.ts";

export interface PortOwner {
  readonly pid: number;
  readonly user?: string | undefined;
  /** The command line, without its environment. */
  readonly command?: string | undefined;
  /** e.g. `127.0.0.1:18789`. */
  readonly address: string;
}

const LISTEN_STATE = "0A";

/** Whether something accepts TCP connections there. */
export function isPortAnswering(port: number, host = "127.0.0.1", timeoutMs = 500): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const done = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => done(false));
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}

/** Who listens on the port: from /proc on Linux, else from `lsof`. Empty when nobody does or it may not be seen. */
export async function findPortOwners(port: number): Promise<readonly PortOwner[]> {
  const sockets = (await Promise.all([readListeners("/proc/net/tcp", port), readListeners("/proc/net/tcp6", port)])).flat();
  if (sockets.length === 0) return process.platform === "linux" ? [] : askLsof(port);
  const byInode = new Map(sockets.map((socket) => [`socket:[${socket.inode}]`, socket]));
  const users = await readUsers();
  const owners: PortOwner[] = [];
  for (const pid of await listPids()) {
    const held = (await openLinks(pid)).map((link) => byInode.get(link)).filter((socket) => socket !== undefined);
    const first = held[0];
    if (!first) continue;
    owners.push({ pid, user: users.get(first.uid), command: await commandOf(pid), address: first.address });
  }
  return owners;
}

interface Listener {
  readonly inode: string;
  readonly uid: string;
  readonly address: string;
}

async function readListeners(path: string, port: number): Promise<Listener[]> {
  const lines = (await readText(path)).split("\n").slice(1);
  const listeners: Listener[] = [];
  for (const line of lines) {
    const [, local = "", , state, , , , uid = "", , inode = ""] = line.trim().split(/\s+/);
    const [host = "", hexPort = ""] = local.split(":");
    if (state === LISTEN_STATE && Number.parseInt(hexPort, 16) === port) {
      listeners.push({ inode, uid, address: `${decodeHost(host)}:${port}` });
    }
  }
  return listeners;
}

/** /proc writes addresses as 32-bit words in host byte order. */
function decodeHost(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => (word.match(/../g) ?? []).reverse().map((b) => Number.parseInt(b, 16)));
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.every((b) => b === 0)) return "[::]";
  if (bytes.slice(0, 15).every((b) => b === 0) && bytes[15] === 1) return "[::1]";
  const groups = Array.from({ length: 8 }, (_, i) => (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16));
  return `[${groups.join(":")}]`;
}

async function listPids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

async function openLinks(pid: number): Promise<string[]> {
  try {
    const names = await readdir(`/proc/${pid}/fd`);
    return await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  } catch {
    return []; // another user's process, or one that just ended
  }
}

async function commandOf(pid: number): Promise<string | undefined> {
  const text = (await readText(`/proc/${pid}/cmdline`)).replaceAll("\0", " ").trim();
  return text === "" ? undefined : text.slice(0, 300);
}

async function readUsers(): Promise<Map<string, string>> {
  const rows = (await readText("/etc/passwd")).split("\n").map((line) => line.split(":"));
  return new Map(rows.flatMap(([name, , uid]) => (name && uid ? [[uid, name] as const] : [])));
}

/** "" when the file is not there: /proc differs between systems. */
async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

function askLsof(port: number): Promise<readonly PortOwner[]> {
  return new Promise((resolve) => {
    execFile("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-FpLcn"], { timeout: 3_000 }, (_err, stdout) => resolve(parseLsof(stdout)));
  });
}

/** The field output of lsof: `p` begins a process, `n` a socket. */
export function parseLsof(text: string): readonly PortOwner[] {
  const owners = new Map<number, PortOwner>();
  let current: { pid: number; user?: string; command?: string } | undefined;
  for (const line of text.split("\n")) {
    const value = line.slice(1);
    if (line.startsWith("p")) current = { pid: Number(value) };
    else if (!current) continue;
    else if (line.startsWith("c")) current.command = value;
    else if (line.startsWith("L")) current.user = value;
    else if (line.startsWith("n") && !owners.has(current.pid)) owners.set(current.pid, { ...current, address: value });
  }
  return [...owners.values()];
}

/** Lines for a person: who holds the port and how to stop them. */
export function describePortOwners(port: number, owners: readonly PortOwner[]): readonly string[] {
  if (owners.length === 0) return [`Port ${port} is in use, but the process is not visible to this user.`];
  return [
    `Port ${port} is in use by:`,
    ...owners.map((o) => `- pid ${o.pid}${o.user ? ` ${o.user}` : ""}: ${o.command ?? "(unknown command)"} (${o.address})`),
    "Stop it with `openclaw gateway stop` or `kill <pid>`, choose another --port, or use --force.",
  ];
}

export interface StopPortOwnersOptions {
  /** How long a process may take after SIGTERM before SIGKILL; default 3 s. */
  readonly graceMs?: number | undefined;
}

/**
 * `--force`: ends whoever listens on the port. A pid that was reused since the look is left alone.
 * @returns the processes that were ended @throws Error when one may not be ended
 */
export async function stopPortOwners(port: number, options: StopPortOwnersOptions = {}): Promise<readonly PortOwner[]> {
  const graceMs = options.graceMs ?? 3_000;
  const owners = (await findPortOwners(port)).filter((owner) => owner.pid !== process.pid);
  for (const owner of owners) {
    const started = await processStartTime(owner.pid);
    const isSame = async (): Promise<boolean> => isRunning(owner.pid) && (await processStartTime(owner.pid)) === started;
    if (!(await isSame())) continue;
    signal(owner, "SIGTERM");
    for (const end = Date.now() + graceMs; Date.now() < end && (await isSame()); ) await sleep(25);
    if (await isSame()) signal(owner, "SIGKILL");
    for (const end = Date.now() + 1_000; Date.now() < end && (await isSame()); ) await sleep(25);
  }
  return owners;
}

function signal(owner: PortOwner, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(owner.pid, name);
  } catch (err) {
    if (isErrno(err, "ESRCH")) return;
    throw new Error(`process ${owner.pid} on ${owner.address} cannot be stopped by this user; stop it yourself or choose another --port`, {
      cause: err,
    });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (err) {
    return isErrno(err, "EPERM");
  }
}
