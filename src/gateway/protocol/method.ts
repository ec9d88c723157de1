import type { z } from "zod";
import type { Authority, MethodScope } from "../../security/index.ts";
import type { ClientInfo } from "./types.ts";
import { invalidRequest } from "./errors.ts";
import { parseWith } from "./frames.ts";
import { isAdvertised } from "./method-scopes.ts";

/** Who calls, as the server established it. In-process callers build one themselves, with the authority they carry. */
export interface Caller extends Authority {
  readonly connId: string;
  readonly client: ClientInfo;
  readonly deviceId?: string | undefined;
  readonly clientIp?: string | undefined;
  readonly caps: readonly string[];
}

/** One request while it is served. */
export interface MethodCall {
  readonly requestId: string;
  readonly caller: Caller;
  /** Aborts when the caller's connection is gone. */
  readonly signal: AbortSignal;
  /** Sends an early response under the same id (two-phase methods); the returned value is the last one. */
  respond(payload: unknown): void;
  /** Runs `effect` once the last response was handed to the socket. */
  afterResponse(effect: () => void): void;
}

/** Mode `webchat` or id `webchat-ui`, but never the Control UI (spec §2.1, §11). */
export const isWebchatClient = (client: Pick<ClientInfo, "id" | "mode">): boolean =>
  client.id !== "openclaw-control-ui" && (client.mode === "webchat" || client.id === "webchat-ui");

export interface GatewayMethod<Ctx> {
  readonly name: string;
  readonly scope: MethodScope;
  /** Whether hello-ok lists it. */
  readonly advertised: boolean;
  /** Validates `params` and runs. @throws GatewayError; anything else thrown becomes UNAVAILABLE */
  invoke(params: unknown, ctx: Ctx, call: MethodCall): Promise<unknown>;
}

export interface MethodDefinition<Ctx, Params> {
  readonly name: string;
  readonly scope: MethodScope;
  readonly params: z.ZodType<Params>;
  readonly advertised?: boolean;
  handle(params: Params, ctx: Ctx, call: MethodCall): unknown;
}

/** Adds validation to a handler; `ctx` may be any part of the gateway's context that the handler names. */
export function defineMethod<Ctx, Params>(definition: MethodDefinition<Ctx, Params>): GatewayMethod<Ctx> {
  return {
    name: definition.name,
    scope: definition.scope,
    advertised: definition.advertised ?? isAdvertised(definition.name),
    async invoke(params, ctx, call) {
      const parsed = parseWith(definition.params, params);
      if (!parsed.ok) throw invalidRequest(`invalid ${definition.name} params: ${parsed.details}`);
      return definition.handle(parsed.value, ctx, call);
    },
  };
}
