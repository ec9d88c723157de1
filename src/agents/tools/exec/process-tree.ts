import { readdirSync, readFileSync } from "node:fs";

/** A process that is the same one only while pid and start time both are. */
export interface ProcessId {
  readonly pid: number;
  readonly startTime: string;
}

/**
 * What descends from a process, also what has left its group (setsid). Read from procfs; empty where there is none.
 * Processes whose parent has ended already belong to nobody and are not found.
 */
export function descendantsOf(root: number): ProcessId[] {
  const children = new Map<number, ProcessId[]>();
  for (const name of listProcesses()) {
    const stat = readStat(name);
    if (stat) children.set(stat.parent, [...(children.get(stat.parent) ?? []), { pid: Number(name), startTime: stat.startTime }]);
  }
  const found: ProcessId[] = [];
  for (let open = children.get(root) ?? []; open.length > 0; open = open.flatMap(({ pid }) => children.get(pid) ?? [])) found.push(...open);
  return found;
}

export function signalProcesses(processes: readonly ProcessId[], signal: NodeJS.Signals): void {
  for (const { pid, startTime } of processes) {
    if (readStat(String(pid))?.startTime !== startTime) continue; // gone; another process may have its number
    try {
      process.kill(pid, signal);
    } catch {
      // it ended in between
    }
  }
}

function listProcesses(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // no procfs here
  }
}

/** Fields 4 and 22; the name before them may hold anything. */
function readStat(pid: string): { readonly parent: number; readonly startTime: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), startTime: fields[19] ?? "" };
  } catch {
    return undefined; // it ended in between
  }
}
