import { assertNever } from "../infra/assert-never.ts";
import { coversScope } from "./scopes.ts";
import type { OperatorScope } from "./scopes.ts";

/**
 * What a gateway method asks of its caller: an operator scope, `none` (any connected client), or `node`
 * (role node only; operators are refused).
 */
export type MethodScope = OperatorScope | "none" | "node";

/** Who acts: a connection, an HTTP bearer, or a sender on a channel. Built by the server, never from a frame. */
export interface Authority {
  readonly role: "operator" | "node" | "channel";
  /** Effective scopes; for role `channel` what the ingress gate granted (usually none). */
  readonly scopes: readonly string[];
  readonly isOwner: boolean;
}

export type Action =
  | { readonly kind: "rpc"; readonly method: string; readonly requires: MethodScope }
  | { readonly kind: "http"; readonly surface: string; readonly requires: OperatorScope }
  | { readonly kind: "event"; readonly event: string; readonly requires: OperatorScope | "none"; readonly nodes: boolean }
  | { readonly kind: "command"; readonly name: string; readonly requires: OperatorScope | "owner" | "none" }
  | { readonly kind: "tool"; readonly name: string; readonly ownerOnly: boolean };

export type Verdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: "role" | "scope" | "owner"; readonly message: string };

const ALLOWED: Verdict = { allowed: true };

/** The one place where (action, scopes, owner) becomes yes or no; RPC, HTTP, events, chat commands and tools all ask here. */
export function authorize(action: Action, by: Authority): Verdict {
  switch (action.kind) {
    case "rpc":
      return authorizeMethod(action.requires, by);
    case "http":
      return by.role === "operator" ? needScope(action.requires, by) : refuseRole(by.role);
    case "event":
      if (action.requires === "none") return ALLOWED;
      if (by.role === "operator") return needScope(action.requires, by);
      return by.role === "node" && action.nodes ? ALLOWED : refuseRole(by.role);
    case "command":
      return authorizeCommand(action.name, action.requires, by);
    case "tool":
      return !action.ownerOnly || by.isOwner ? ALLOWED : refuseOwner(`tool ${action.name}`);
    default:
      return assertNever(action);
  }
}

function authorizeMethod(requires: MethodScope, by: Authority): Verdict {
  if (requires === "none") return ALLOWED;
  if (requires === "node") return by.role === "node" ? ALLOWED : refuseRole(by.role);
  return by.role === "operator" ? needScope(requires, by) : refuseRole(by.role);
}

/** A channel's owner holds every command right; gateway clients hold what their scopes say. */
function authorizeCommand(name: string, requires: OperatorScope | "owner" | "none", by: Authority): Verdict {
  if (requires === "none") return ALLOWED;
  if (by.role === "node") return refuseRole(by.role);
  if (requires === "owner") return by.isOwner ? ALLOWED : refuseOwner(`/${name}`);
  if (by.role === "channel" && by.isOwner) return ALLOWED;
  return needScope(requires, by);
}

const needScope = (scope: OperatorScope, by: Authority): Verdict =>
  coversScope(by.scopes, scope) ? ALLOWED : { allowed: false, reason: "scope", message: `missing scope: ${scope}` };

const refuseRole = (role: string): Verdict => ({ allowed: false, reason: "role", message: `unauthorized role: ${role}` });

const refuseOwner = (what: string): Verdict => ({ allowed: false, reason: "owner", message: `${what} is for the owner only` });
