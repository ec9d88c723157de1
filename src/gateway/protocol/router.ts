import { authorize } from "../../security/index.ts";
import { GatewayError, invalidRequest } from "./errors.ts";
import { scopeOfMethod } from "./method-scopes.ts";
import type { GatewayMethod, MethodCall } from "./method.ts";

export interface MethodRouter {
  /**
   * Checks role and scope, then existence, then params (spec: gateway-protocol §1), and runs the method.
   * Missing params count as `{}`. @throws GatewayError or what the handler threw
   */
  call(method: string, params: unknown, call: MethodCall): Promise<unknown>;
  /** Names for hello-ok, in order of registration. */
  advertised(): readonly string[];
  has(method: string): boolean;
  /** Adds a method (plugins). The result removes it. @throws Error when the name is taken */
  register<Ctx>(method: GatewayMethod<Ctx>, ctx: Ctx): () => void;
}

export const ROLE_REFUSED_PREFIX = "unauthorized role:";

interface Entry {
  readonly advertised: boolean;
  readonly scope: GatewayMethod<never>["scope"];
  run(params: unknown, call: MethodCall): Promise<unknown>;
}

export function createMethodRouter<Ctx>(methods: readonly GatewayMethod<Ctx>[], ctx: Ctx): MethodRouter {
  const entries = new Map<string, Entry>();
  const register = <C>(method: GatewayMethod<C>, own: C): (() => void) => {
    if (method.name === "connect" || entries.has(method.name)) {
      throw new Error(`gateway method "${method.name}" is already registered; choose another name`);
    }
    const entry: Entry = {
      advertised: method.advertised,
      scope: method.scope,
      run: (params, call) => method.invoke(params, own, call),
    };
    entries.set(method.name, entry);
    return () => {
      if (entries.get(method.name) === entry) entries.delete(method.name);
    };
  };
  for (const method of methods) register(method, ctx);

  return {
    async call(name, params, call) {
      if (name === "connect") throw invalidRequest("connect is only valid as the first request");
      const entry = entries.get(name);
      const requires = entry?.scope ?? scopeOfMethod(name);
      const verdict = authorize({ kind: "rpc", method: name, requires }, call.caller);
      if (!verdict.allowed) throw new GatewayError("INVALID_REQUEST", verdict.message);
      if (!entry) throw invalidRequest(`unknown method: ${name.slice(0, 200)}`);
      return entry.run(params ?? {}, call);
    },
    advertised: () => [...entries].filter(([, entry]) => entry.advertised).map(([name]) => name),
    has: (name) => entries.has(name),
    register,
  };
}
