import {
  createApprovalRequests, createApprovalsStore, showOnOneLine, type ApprovalOutcome, type ApprovalRequest, type ApprovalRequests, type ApprovalsStore, type Decision, type ExecApprovalActions, type PendingApproval,
} from "../../agents/index.ts";
import type { SystemEvents } from "../../delivery/index.ts";
import type { Clock } from "../../infra/clock.ts";
import type { HeartbeatService } from "../../heartbeat/index.ts";
import type { SessionService } from "../../sessions/index.ts";
import { authorize } from "../../security/index.ts";
import type { Caller } from "../protocol/index.ts";
import type { WsServer } from "../ws/index.ts";
import { createApprovalForwarder, expiredText, resolvedText, type ApprovalForwardDeps, type ForwardTarget } from "./forward.ts";

export interface GatewayExecApprovalOptions extends Omit<ApprovalForwardDeps, "entry"> {
  readonly home: string;
  readonly clock: Clock;
  readonly sessions: SessionService;
  readonly systemEvents: SystemEvents;
  readonly heartbeats: () => HeartbeatService;
  readonly ws: () => WsServer;
}

export interface AskOptions {
  readonly id?: string | undefined;
  readonly timeoutMs: number;
}

/** Questions about commands, and who is asked: clients that may approve, and chats. */
export interface GatewayExecApprovals {
  readonly store: ApprovalsStore;
  readonly actions: ExecApprovalActions;
  /** @throws ApprovalRequestError */
  ask(request: ApprovalRequest, options: AskOptions): { readonly pending: PendingApproval; readonly outcome: Promise<ApprovalOutcome>; readonly isAnswerable: boolean };
  readonly wait: ApprovalRequests["wait"];
  readonly resolve: ApprovalRequests["resolve"];
  /** For people, who may give the start of an id. */
  decide(idOrStart: string, decision: Decision, by: string): "decided" | "unknown" | "ambiguous";
  /** Shows a client that has just connected what is waiting. */
  greet(conn: Caller): void;
  /** Tells the sessions that their questions ended without an answer. */
  close(): void;
}

export function createGatewayExecApprovals(options: GatewayExecApprovalOptions): GatewayExecApprovals {
  const { clock, sessions, systemEvents, ws } = options;
  const store = createApprovalsStore({ home: options.home, now: () => clock.now() });
  const forwarder = createApprovalForwarder({ ...options, entry: (sessionKey) => sessions.storeFor(sessions.agentIdOf(sessionKey)).get(sessionKey) });
  /** Chats that were asked, by request. */
  const asked = new Map<string, readonly ForwardTarget[]>();
  /** Requests of sessions here; what clients ask for is not told to the sessions that they name. */
  const own = new Set<string>();

  const takeAsked = (id: string): readonly ForwardTarget[] => {
    own.delete(id);
    const targets = asked.get(id) ?? [];
    asked.delete(id);
    return targets;
  };
  const requests = createApprovalRequests(() => clock.now(), {
    onRequested: (pending) => ws().broadcast("exec.approval.requested", pending),
    onResolved({ id, decision, resolvedBy, ts, request, ...rest }) {
      ws().broadcast("exec.approval.resolved", { id, decision, resolvedBy, ts, request });
      forwarder.tell(id, "resolved", resolvedText({ id, decision, resolvedBy, ts, request, ...rest }), takeAsked(id));
    },
    onExpired: ({ id }) => forwarder.tell(id, "expired", expiredText(id), takeAsked(id)),
  });

  const mayApprove = (conn: Caller): boolean => conn.role === "operator" && authorize({ kind: "event", event: "exec.approval.requested", requires: "operator.approvals", nodes: false }, conn).allowed;
  const hasApprover = (): boolean => ws().connections().some(mayApprove);

  const ask: GatewayExecApprovals["ask"] = (request, { id, timeoutMs }) => {
    const { pending, outcome } = requests.open(request, { id, timeoutMs });
    const targets = forwarder.targets(pending);
    const isAnswerable = targets.length > 0 || hasApprover();
    if (targets.length > 0) {
      asked.set(pending.id, targets);
      const unreachable = (): void => {
        if (!hasApprover()) requests.expire(pending.id);
      };
      void forwarder.ask(pending, targets, timeoutMs).then((reached) => (reached ? undefined : unreachable()), unreachable);
    }
    if (!isAnswerable) requests.expire(pending.id);
    return { pending, outcome, isAnswerable };
  };

  const push = (sessionKey: string, id: string, text: string): void => systemEvents.push(sessionKey, text, { contextKey: `exec:${id}` });
  return {
    store,
    ask,
    wait: requests.wait,
    resolve: requests.resolve,
    decide(idOrStart, decision, by) {
      const [pending, ...others] = requests.find(idOrStart);
      if (!pending) return "unknown";
      if (others.length > 0) return "ambiguous";
      requests.resolve(pending.id, decision, by);
      return "decided";
    },
    actions: {
      store,
      ask(request, timeoutMs) {
        const question = ask(request, { timeoutMs });
        if (question.isAnswerable) own.add(question.pending.id);
        return question;
      },
      notify(sessionKey, id, text) {
        push(sessionKey, id, text);
        options.heartbeats().wake({ reason: "exec-event", agentId: sessions.agentIdOf(sessionKey), sessionKey });
      },
    },
    greet(conn) {
      if (mayApprove(conn)) for (const pending of requests.pending()) ws().sendTo(conn.connId, "exec.approval.requested", pending);
    },
    close() {
      for (const { id, request } of requests.pending()) {
        if (own.has(id) && request.sessionKey !== null) push(request.sessionKey, id, `Exec denied (gateway id=${id}, gateway-stopped): ${showOnOneLine(request.command)}`);
      }
      requests.close();
    },
  };
}
