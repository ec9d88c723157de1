import { randomUUID } from "node:crypto";
import type { Decision } from "./modes.ts";

/** What approvers see, as it goes over the wire. */
export interface ApprovalRequest {
  readonly command: string;
  readonly commandArgv?: readonly string[] | undefined;
  readonly cwd: string | null;
  readonly nodeId: string | null;
  readonly host: string | null;
  readonly security: string | null;
  readonly ask: string | null;
  readonly agentId: string | null;
  readonly resolvedPath: string | null;
  readonly sessionKey: string | null;
}

export interface PendingApproval {
  readonly id: string;
  readonly request: ApprovalRequest;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface ApprovalOutcome {
  readonly id: string;
  /** null: nobody decided in time, or nobody was there to. */
  readonly decision: Decision | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface ResolvedApproval extends PendingApproval {
  readonly decision: Decision;
  readonly resolvedBy: string | null;
  readonly ts: number;
}

export interface ApprovalRequests {
  /** @throws ApprovalRequestError "duplicate" for an id that is pending or was decided a moment ago */
  open(request: ApprovalRequest, options: { readonly id?: string | undefined; readonly timeoutMs: number }): { readonly pending: PendingApproval; readonly outcome: Promise<ApprovalOutcome> };
  /** The outcome of a request that is pending or was decided a moment ago. @throws ApprovalRequestError "unknown" */
  wait(id: string): Promise<ApprovalOutcome>;
  /** A decision counts once. @throws ApprovalRequestError "unknown", also for one that is decided */
  resolve(id: string, decision: Decision, resolvedBy: string | null): ResolvedApproval;
  /** Nobody can decide: it ends now, undecided. */
  expire(id: string): void;
  /** Pending ones whose id is this or begins with it. */
  find(idOrStart: string): readonly PendingApproval[];
  pending(): readonly PendingApproval[];
  /** Forgets all at gateway stop; what waits for an outcome is never told one, so that nothing runs any more. */
  close(): void;
}

export class ApprovalRequestError extends Error {
  override readonly name = "ApprovalRequestError";
  readonly code: "duplicate" | "unknown" | "full";
  constructor(code: ApprovalRequestError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export interface ApprovalRequestEvents {
  onRequested(pending: PendingApproval): void;
  onResolved(resolved: ResolvedApproval): void;
  onExpired(pending: PendingApproval): void;
}

/** How long a decision can still be asked for. Source: spec tools-and-automation §3.5. */
const KEEP_RESOLVED_MS = 15_000;
const MAX_PENDING = 200;
/** Node's longest timer. */
const MAX_TIMEOUT_MS = 2_147_483_647;

interface Record {
  readonly pending: PendingApproval;
  readonly outcome: Promise<ApprovalOutcome>;
  readonly settle: (decision: Decision | null) => void;
  isSettled: boolean;
  timer: NodeJS.Timeout;
}

/** Questions that wait for a person, in memory: they end with the gateway, undecided. */
export function createApprovalRequests(now: () => number, events: ApprovalRequestEvents): ApprovalRequests {
  const records = new Map<string, Record>();

  function settle(record: Record, decision: Decision | null): void {
    record.isSettled = true;
    clearTimeout(record.timer);
    const { id } = record.pending;
    record.timer = setTimeout(() => records.delete(id), KEEP_RESOLVED_MS);
    record.timer.unref();
    record.settle(decision);
  }

  function expire(id: string): void {
    const record = records.get(id);
    if (!record || record.isSettled) return;
    settle(record, null);
    events.onExpired(record.pending);
  }

  const openRecords = (): Record[] => [...records.values()].filter((record) => !record.isSettled);

  return {
    open(request, options) {
      const id = options.id ?? randomUUID();
      if (records.has(id)) throw new ApprovalRequestError("duplicate", "approval id already pending");
      if (openRecords().length >= MAX_PENDING) throw new ApprovalRequestError("full", `${MAX_PENDING} approvals are waiting already; decide some of them first`);
      const createdAtMs = now();
      const timeoutMs = Math.min(options.timeoutMs, MAX_TIMEOUT_MS);
      const pending: PendingApproval = { id, request, createdAtMs, expiresAtMs: createdAtMs + timeoutMs };
      const { promise, resolve } = Promise.withResolvers<ApprovalOutcome>();
      const timer = setTimeout(() => expire(id), timeoutMs);
      timer.unref();
      const record: Record = { pending, outcome: promise, isSettled: false, timer, settle: (decision) => resolve({ id, decision, createdAtMs, expiresAtMs: pending.expiresAtMs }) };
      records.set(id, record);
      events.onRequested(pending);
      return { pending, outcome: promise };
    },
    async wait(id) {
      const record = records.get(id);
      if (!record) throw new ApprovalRequestError("unknown", "approval expired or not found");
      return record.outcome;
    },
    resolve(id, decision, resolvedBy) {
      const record = records.get(id);
      if (!record || record.isSettled) throw new ApprovalRequestError("unknown", "unknown approval id");
      settle(record, decision);
      const resolved: ResolvedApproval = { ...record.pending, decision, resolvedBy, ts: now() };
      events.onResolved(resolved);
      return resolved;
    },
    expire,
    find: (idOrStart) => openRecords().map((record) => record.pending).filter(({ id }) => id === idOrStart || (idOrStart.length >= 8 && id.startsWith(idOrStart))),
    pending: () => openRecords().map((record) => record.pending),
    close() {
      for (const record of records.values()) clearTimeout(record.timer);
      records.clear();
    },
  };
}
