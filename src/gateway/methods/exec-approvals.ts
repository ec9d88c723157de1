import { z } from "zod";
import { ApprovalRequestError, ApprovalsFileError, showCommand, type ApprovalOutcome, type ApprovalsStore, type Decision } from "../../agents/index.ts";
import type { GatewayExecApprovals } from "../exec-approvals/index.ts";
import { defineMethod, GatewayError, invalidRequest, type Caller, type GatewayMethod } from "../protocol/index.ts";
import { empty } from "./schemas.ts";

interface ExecApprovalMethodsContext {
  readonly execApprovals: GatewayExecApprovals;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const text = z.string().min(1);
const DECISIONS: ReadonlySet<string> = new Set<Decision>(["allow-once", "allow-always", "deny"]);
const isDecision = (value: string): value is Decision => DECISIONS.has(value);

/** What the room refuses, in the words of the wire. */
async function refusals<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (err) {
    if (err instanceof ApprovalRequestError) throw invalidRequest(err.message);
    if (err instanceof ApprovalsFileError) throw new GatewayError(err.code === "invalid" ? "UNAVAILABLE" : "INVALID_REQUEST", err.message);
    throw err;
  }
}

/** Without the socket's token. */
async function snapshot(store: ApprovalsStore): Promise<unknown> {
  const { path, exists, hash, file } = await store.read();
  return { path, exists, hash, file: { ...file, ...(file.socket ? { socket: { path: file.socket.path } } : {}) } };
}

const get = defineMethod({
  name: "exec.approvals.get",
  scope: "operator.admin",
  params: empty,
  handle: (_params, { execApprovals }: ExecApprovalMethodsContext) => refusals(() => snapshot(execApprovals.store)),
});

const set = defineMethod({
  name: "exec.approvals.set",
  scope: "operator.admin",
  params: z.strictObject({ file: z.looseObject({}), baseHash: z.string().optional() }),
  handle: ({ file, baseHash }, { execApprovals }: ExecApprovalMethodsContext) =>
    refusals(async () => {
      await execApprovals.store.replace(file, baseHash);
      return snapshot(execApprovals.store);
    }),
});

const nullableText = z.string().nullish();

const request = defineMethod({
  name: "exec.approval.request",
  scope: "operator.approvals",
  params: z.strictObject({
    command: text, id: text.max(128).optional(), commandArgv: z.array(z.string()).optional(), cwd: nullableText, nodeId: nullableText, host: nullableText, security: nullableText, ask: nullableText,
    agentId: nullableText, resolvedPath: nullableText, sessionKey: nullableText, timeoutMs: z.number().int().min(1).optional(), twoPhase: z.boolean().optional(),
  }),
  async handle(params, { execApprovals }: ExecApprovalMethodsContext, call) {
    if (params.host === "node" && !params.nodeId) throw invalidRequest("nodeId is required for host=node");
    const { pending, outcome } = await refusals(() => execApprovals.ask(toRequest(params), { id: params.id, timeoutMs: params.timeoutMs ?? DEFAULT_TIMEOUT_MS }));
    if (params.twoPhase) call.respond({ status: "accepted", id: pending.id, createdAtMs: pending.createdAtMs, expiresAtMs: pending.expiresAtMs });
    return outcome;
  },
});

function toRequest(params: {
  readonly command: string; readonly commandArgv?: readonly string[] | undefined; readonly cwd?: string | null | undefined; readonly nodeId?: string | null | undefined; readonly host?: string | null | undefined;
  readonly security?: string | null | undefined; readonly ask?: string | null | undefined; readonly agentId?: string | null | undefined; readonly resolvedPath?: string | null | undefined; readonly sessionKey?: string | null | undefined;
}): Parameters<GatewayExecApprovals["ask"]>[0] {
  return {
    command: showCommand(params.command), ...(params.commandArgv ? { commandArgv: params.commandArgv.map(showCommand) } : {}), cwd: params.cwd ?? null, nodeId: params.nodeId ?? null, host: params.host ?? null,
    security: params.security ?? null, ask: params.ask ?? null, agentId: params.agentId ?? null, resolvedPath: params.resolvedPath ?? null, sessionKey: params.sessionKey ?? null,
  };
}

const waitDecision = defineMethod({
  name: "exec.approval.waitDecision",
  scope: "operator.approvals",
  params: z.strictObject({ id: text }),
  handle: ({ id }, { execApprovals }: ExecApprovalMethodsContext): Promise<ApprovalOutcome> => refusals(() => execApprovals.wait(id)),
});

const resolve = defineMethod({
  name: "exec.approval.resolve",
  scope: "operator.approvals",
  params: z.strictObject({ id: text, decision: text }),
  async handle({ id, decision }, { execApprovals }: ExecApprovalMethodsContext, { caller }) {
    if (!isDecision(decision)) throw invalidRequest("invalid decision");
    await refusals(() => execApprovals.resolve(id, decision, nameOf(caller)));
    return { ok: true };
  },
});

const nameOf = ({ client, connId }: Caller): string => client.displayName ?? client.id ?? connId;

/** Spec: gateway-methods §4.9; those of nodes come with the node host. */
export const execApprovalMethods: readonly GatewayMethod<ExecApprovalMethodsContext>[] = [get, set, request, waitDecision, resolve];
