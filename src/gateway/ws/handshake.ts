import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../infra/clock.ts";
import { meaningfulScopes } from "../../pairing/index.ts";
import type { DeviceClaim, DeviceStore, DeviceToken } from "../../pairing/index.ts";
import { coversScopes, isOriginAllowed, resolveClient } from "../../security/index.ts";
import type { AuthGate, AuthResult, ResolvedClient, SecurityConfig } from "../../security/index.ts";
import { authFailureCode, authFailureMessage } from "../auth/index.ts";
import { isWebchatClient, PROTOCOL_VERSION } from "../protocol/index.ts";
import type { ConnectParams, ConnectRole, ErrorShape } from "../protocol/index.ts";
import { checkDeviceProof } from "./device-proof.ts";

export type AcceptedAuth = Extract<AuthResult, { ok: true }>;

export interface HandshakeRequest {
  readonly params: ConnectParams;
  /** Of the challenge sent on this socket. */
  readonly nonce: string;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string | undefined;
}

export interface HandshakeDeps {
  readonly config: () => SecurityConfig;
  readonly auth: AuthGate;
  readonly devices: DeviceStore;
  readonly clock: Clock;
}

export interface Refusal {
  readonly kind: "refused";
  readonly error: ErrorShape;
  readonly closeCode: number;
}

export interface Acceptance {
  readonly kind: "accepted";
  readonly role: ConnectRole;
  /** Effective: what the client may really do. */
  readonly scopes: readonly string[];
  readonly deviceId: string | undefined;
  /** What a node may be asked for: declared and approved. */
  readonly commands: readonly string[];
  readonly auth: AcceptedAuth;
  readonly issued: DeviceToken | undefined;
  readonly client: ResolvedClient;
}

const refuse = (code: ErrorShape["code"], message: string, details?: unknown, closeCode = 1008): Refusal => ({
  kind: "refused",
  error: { code, message, ...(details === undefined ? {} : { details }) },
  closeCode,
});

const ORIGIN_REFUSED =
  "origin not allowed (open the Control UI from the gateway host or allow it in gateway.controlUi.allowedOrigins)";

/** Steps 5–12 of the handshake, in the order of spec gateway-protocol §2.2; nothing is granted before all passed. */
export async function runHandshake(req: HandshakeRequest, deps: HandshakeDeps): Promise<Refusal | Acceptance> {
  const { params } = req;
  if (params.minProtocol > PROTOCOL_VERSION || params.maxProtocol < PROTOCOL_VERSION) {
    return refuse("INVALID_REQUEST", "protocol mismatch", { expectedProtocol: PROTOCOL_VERSION }, 1002);
  }
  const role = params.role ?? "operator";
  if (role !== "operator" && role !== "node") return refuse("INVALID_REQUEST", "invalid role");

  const client = resolveClient(req, deps.config());
  const isControlUi = params.client.id === "openclaw-control-ui";
  const isBrowserClient = isControlUi || isWebchatClient(params.client);
  if ((isBrowserClient || client.origin !== undefined) && !isOriginAllowed(client.origin, req.headers.host, deps.config())) {
    return refuse("INVALID_REQUEST", ORIGIN_REFUSED);
  }

  // The only wait before the secrets are compared: from here on an attempt is judged and counted in one turn.
  const tailnet = await deps.auth.identifyTailscale(req.headers, client);
  const shared = tailnet ?? deps.auth.checkShared(params.auth ?? {}, req.headers, req.remoteAddress, client);
  const attempt: Attempt = { req, role, client, isControlUi, isBrowserClient, shared };
  return params.device ? withDevice(attempt, deps) : withoutDevice(attempt, deps);
}

interface Attempt {
  readonly req: HandshakeRequest;
  readonly role: ConnectRole;
  readonly client: ResolvedClient;
  readonly isControlUi: boolean;
  readonly isBrowserClient: boolean;
  readonly shared: AuthResult;
}

function refuseAuth(a: Attempt, reason: string, retryAfterMs: number | undefined): Refusal {
  const refusal = refuse("INVALID_REQUEST", authFailureMessage(reason, a.req.params.client), {
    code: authFailureCode(reason),
    authReason: reason,
  });
  return retryAfterMs === undefined ? refusal : { ...refusal, error: { ...refusal.error, retryAfterMs } };
}

/** Spec §2.3. Without a device no scope is granted, whatever the client calls itself (security record A1). */
function withoutDevice(a: Attempt, deps: HandshakeDeps): Refusal | Acceptance {
  const { shared, client, role } = a;
  const ui = deps.config().gateway?.controlUi;
  const credentials = a.req.params.auth;
  const suppliedSecret = Boolean(credentials?.token || credentials?.password || credentials?.deviceToken);
  if (shared.ok) deps.auth.succeed("shared-secret", client);
  else if (shared.reason !== "rate_limited") deps.auth.fail("shared-secret", client);

  const bySharedSecret = shared.ok && shared.method !== "none" && role === "operator";
  const accept = (auth: AcceptedAuth, scopes: readonly string[]): Acceptance => ({
    kind: "accepted",
    role,
    scopes,
    deviceId: undefined,
    commands: [],
    auth,
    issued: undefined,
    client,
  });
  if (a.isControlUi) {
    const viaProxy = shared.ok && shared.method === "trusted-proxy" && role === "operator";
    const bypass = ui?.dangerouslyDisableDeviceAuth === true || (ui?.allowInsecureAuth === true && client.isLocal);
    if (!viaProxy && !bypass) {
      return refuse("INVALID_REQUEST", "control ui requires device identity (use HTTPS or localhost secure context)", {
        code: "CONTROL_UI_DEVICE_IDENTITY_REQUIRED",
      });
    }
    if (shared.ok && ui?.dangerouslyDisableDeviceAuth === true && bySharedSecret) {
      return accept(shared, meaningfulScopes(role, a.req.params.scopes ?? []));
    }
  }
  if (bySharedSecret) return accept(shared, []);
  if (!shared.ok && (suppliedSecret || shared.reason === "rate_limited")) return refuseAuth(a, shared.reason, shared.retryAfterMs);
  return refuse("NOT_PAIRED", "device identity required", { code: "DEVICE_IDENTITY_REQUIRED" });
}

async function withDevice(a: Attempt, deps: HandshakeDeps): Promise<Refusal | Acceptance> {
  const { params } = a.req;
  const device = params.device;
  if (!device) return withoutDevice(a, deps);
  const proof = checkDeviceProof(device, params, a.role, a.req.nonce, deps.clock.now());
  if (!proof.ok) {
    return refuse("INVALID_REQUEST", proof.message, { code: "DEVICE_AUTH_INVALID", reason: proof.reason });
  }
  const judged = judge(a, device.id, deps);
  if (!judged.ok) return refuseAuth(a, judged.reason, judged.retryAfterMs);

  const claim: DeviceClaim = {
    deviceId: device.id,
    publicKey: proof.publicKey,
    role: a.role,
    scopes: meaningfulScopes(a.role, params.scopes ?? []),
    commands: a.role === "node" ? (params.commands ?? []) : undefined,
    displayName: params.client.displayName,
    platform: params.client.platform,
    deviceFamily: params.client.deviceFamily,
    clientId: params.client.id,
    clientMode: params.client.mode,
    remoteIp: a.client.isLocal ? undefined : a.client.ip,
  };
  const base = { kind: "accepted", role: a.role, scopes: claim.scopes, deviceId: device.id, auth: judged.auth, client: a.client } as const;
  const viaProxyUi = a.isControlUi && a.role === "operator" && judged.auth.method === "trusted-proxy";
  const bypassUi =
    a.isControlUi && a.shared.ok && a.shared.method !== "none" && deps.config().gateway?.controlUi?.dangerouslyDisableDeviceAuth === true;
  if (viaProxyUi || (bypassUi && a.role === "operator")) return { ...base, commands: [], issued: undefined };

  const refused = await settlePairing(a, claim, judged, deps);
  if (refused) return refused;
  const issued = await deps.devices.ensureToken(claim);
  // Removed while we were at it.
  if (!issued) return refuse("NOT_PAIRED", "pairing required", { code: "PAIRING_REQUIRED", reason: "not-paired" });
  const approved = deps.devices.get(device.id)?.approvedCommands ?? [];
  return { ...base, commands: (claim.commands ?? []).filter((c) => approved.includes(c)), issued };
}

type Judgement =
  | { readonly ok: true; readonly auth: AcceptedAuth; readonly tokenScopes: readonly string[] | undefined }
  | { readonly ok: false; readonly reason: string; readonly retryAfterMs: number | undefined };

/** Step 11: the shared secret, else this device's own token for the role. */
function judge(a: Attempt, deviceId: string, deps: HandshakeDeps): Judgement {
  const { shared, client } = a;
  if (shared.ok) {
    deps.auth.succeed("shared-secret", client);
    return { ok: true, auth: shared, tokenScopes: undefined };
  }
  const credentials = a.req.params.auth;
  const token = credentials?.deviceToken ?? credentials?.token;
  const wait = deps.auth.retryAfterMs("device-token", client);
  if (token && wait > 0) return { ok: false, reason: "rate_limited", retryAfterMs: wait };
  const tokenScopes = token ? deps.devices.verifyToken({ deviceId, role: a.role, token }) : undefined;
  if (tokenScopes) {
    deps.auth.succeed("device-token", client);
    return { ok: true, auth: { ok: true, method: "device-token", fingerprint: "" }, tokenScopes };
  }
  // Both budgets pay: else a throw-away device would buy unlimited guesses at the shared secret (security record C4).
  if (token) deps.auth.fail("device-token", client);
  if (shared.reason !== "rate_limited" && (credentials?.token || credentials?.password || !token)) {
    deps.auth.fail("shared-secret", client);
  }
  const limited = shared.reason === "rate_limited";
  const reason = credentials?.deviceToken !== undefined && !limited ? "device_token_mismatch" : shared.reason;
  return { ok: false, reason, retryAfterMs: shared.retryAfterMs };
}

/** Step 12. Undefined when the claim is covered, be it by a silent approval. */
async function settlePairing(
  a: Attempt,
  claim: DeviceClaim,
  judged: Extract<Judgement, { ok: true }>,
  deps: HandshakeDeps,
): Promise<Refusal | undefined> {
  const { tokenScopes } = judged;
  const reason =
    deps.devices.reasonToPair(claim) ??
    (tokenScopes && !coversScopes(a.role, tokenScopes, claim.scopes) ? "scope-upgrade" : undefined);
  if (reason === undefined) return undefined;
  if (isSilent(a, judged.auth, reason)) {
    await deps.devices.approveSilently(claim);
    return undefined;
  }
  const { request } = await deps.devices.request(claim);
  if (reason === "command-upgrade") return undefined; // connects with what was approved; the rest waits
  return refuse("NOT_PAIRED", "pairing required", { code: "PAIRING_REQUIRED", requestId: request.requestId, reason });
}

/** Spec §2.7 with decisions §2.3: a wider scope is silent only with the shared secret itself on this connection. */
function isSilent(a: Attempt, auth: AcceptedAuth, reason: string): boolean {
  if (!a.client.isLocal || (a.client.origin !== undefined && !a.isBrowserClient)) return false;
  if (reason === "not-paired") return auth.method !== "device-token";
  return reason === "scope-upgrade" && (auth.method === "token" || auth.method === "password");
}
