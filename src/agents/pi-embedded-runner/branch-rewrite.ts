import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { SessionEntry as PiEntry, SessionManager } from "@mariozechner/pi-coding-agent";
import { dropInjectedMessages } from "./history.ts";
import { repairStoredPairing } from "./tool-pairing.ts";

/**
 * Replaces the messages of the conversation by those that `rewrite` makes of them: from the first change on they are
 * appended again as a new branch, with the entries between them; what was there stays in the file as the old branch.
 * false when nothing changed. Messages that `rewrite` returns unchanged must be the same objects.
 */
export function rewriteBranch(manager: SessionManager, rewrite: (messages: AgentMessage[]) => AgentMessage[]): boolean {
  const entries = liveEntries(manager);
  const before = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const after = rewrite(before);
  const same = before.findIndex((message, i) => message !== after[i]);
  const firstChange = same < 0 ? before.length : same;
  if (same < 0 && after.length === before.length) return false;

  const indexOf = new Map<AgentMessage, number>();
  for (const [index, entry] of entries.entries()) if (entry.type === "message") indexOf.set(entry.message, index);
  const replaced = before[firstChange];
  const start = replaced === undefined ? entries.length : (indexOf.get(replaced) as number);
  if (replaced !== undefined) moveLeafBefore(manager, entries[start] as PiEntry);
  const copies = new Map<string, string>();
  let next = start;
  const copyOthersUpTo = (end: number): void => {
    for (; next < end; next++) copyEntry(manager, entries[next] as PiEntry, { entries, start, copies });
  };
  for (const message of after.slice(firstChange)) {
    const index = indexOf.get(message);
    if (index !== undefined && index >= next) copyOthersUpTo(index);
    const id = manager.appendMessage(message as Parameters<SessionManager["appendMessage"]>[0]);
    if (index === undefined) continue;
    copies.set((entries[index] as PiEntry).id, id);
    next = Math.max(next, index + 1);
  }
  copyOthersUpTo(entries.length);
  return true;
}

/** Calls without result and results without call are put in order in the file too, so that every later run finds it whole. */
export function repairPairingOnDisk(manager: SessionManager): boolean {
  return rewriteBranch(manager, (messages) => {
    // A command answered while a tool ran stands between call and result; that is no damage.
    const spoken = dropInjectedMessages(messages);
    const repaired = repairStoredPairing(spoken);
    const isWhole = repaired.length === spoken.length && repaired.every((message, i) => message === spoken[i]);
    return isWhole ? messages : repairStoredPairing(messages);
  });
}

/** What the last compaction left in context, and what came after it. Walked from the leaf: a long conversation is not gone through whole. */
function liveEntries(manager: SessionManager): PiEntry[] {
  const entries: PiEntry[] = [];
  let compaction: Extract<PiEntry, { type: "compaction" }> | undefined;
  for (let entry = manager.getLeafEntry(); entry; entry = entry.parentId === null ? undefined : manager.getEntry(entry.parentId)) {
    entries.push(entry);
    if (entry.type === "compaction") compaction ??= entry;
    if (entry.id === compaction?.firstKeptEntryId) return entries.reverse();
  }
  // What it kept is gone: it stands for all before it.
  return (compaction ? entries.slice(0, entries.indexOf(compaction) + 1) : entries).reverse();
}

function moveLeafBefore(manager: SessionManager, entry: PiEntry): void {
  if (entry.parentId === null || !manager.getEntry(entry.parentId)) manager.resetLeaf();
  else manager.branch(entry.parentId);
}

interface Copying {
  readonly entries: readonly PiEntry[];
  /** Index of the first entry that is not on the new branch. */
  readonly start: number;
  /** Id of an entry → id of its copy. */
  readonly copies: Map<string, string>;
}

/** Messages are appended by the caller; an entry of a kind that has no content for the model needs no copy. */
function copyEntry(manager: SessionManager, entry: PiEntry, copying: Copying): void {
  const { copies } = copying;
  switch (entry.type) {
    case "custom":
      copies.set(entry.id, manager.appendCustomEntry(entry.customType, entry.data));
      return;
    case "custom_message":
      copies.set(entry.id, manager.appendCustomMessageEntry(entry.customType, entry.content, entry.display, entry.details));
      return;
    case "compaction":
      copies.set(
        entry.id,
        manager.appendCompaction(entry.summary, firstKeptCopy(entry.firstKeptEntryId, copying), entry.tokensBefore, entry.details, entry.fromHook),
      );
      return;
    case "branch_summary":
      copies.set(entry.id, manager.branchWithSummary(manager.getLeafId(), entry.summary, entry.details, entry.fromHook));
      return;
    case "model_change":
      copies.set(entry.id, manager.appendModelChange(entry.provider, entry.modelId));
      return;
    case "thinking_level_change":
      copies.set(entry.id, manager.appendThinkingLevelChange(entry.thinkingLevel));
      return;
    case "message":
    case "label":
    case "session_info":
      return;
  }
}

/** Where the kept part begins on the new branch; its first entry may have been dropped. */
function firstKeptCopy(firstKeptId: string, { entries, start, copies }: Copying): string {
  const from = entries.findIndex((entry) => entry.id === firstKeptId);
  if (from < start) return firstKeptId;
  return entries.slice(from).map((entry) => copies.get(entry.id)).find((copy) => copy !== undefined) ?? firstKeptId;
}
