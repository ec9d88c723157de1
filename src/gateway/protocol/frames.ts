import { z } from "zod";
import { formatIssues } from "./format-issues.ts";
import type { ConnectParams, RequestFrame } from "./types.ts";

export const CLIENT_IDS = [
  "webchat-ui",
  "openclaw-control-ui",
  "webchat",
  "cli",
  "gateway-client",
  "openclaw-macos",
  "openclaw-ios",
  "openclaw-android",
  "node-host",
  "test",
  "fingerprint",
  "openclaw-probe",
] as const;

export const CLIENT_MODES = ["webchat", "cli", "ui", "backend", "node", "probe", "test"] as const;

const text = z.string().min(1);

const requestFrame = z.strictObject({
  type: z.literal("req"),
  id: text,
  method: text,
  params: z.unknown().optional(),
});

/** Spec: gateway-protocol §2.1; strict at every level. */
const connectParams = z.strictObject({
  minProtocol: z.int().min(1),
  maxProtocol: z.int().min(1),
  client: z.strictObject({
    id: z.enum(CLIENT_IDS),
    displayName: text.optional(),
    version: text,
    platform: text,
    deviceFamily: text.optional(),
    modelIdentifier: text.optional(),
    mode: z.enum(CLIENT_MODES),
    instanceId: text.optional(),
  }),
  caps: z.array(text).optional(),
  commands: z.array(text).optional(),
  permissions: z.record(text, z.boolean()).optional(),
  pathEnv: z.string().optional(),
  role: text.optional(),
  scopes: z.array(text).optional(),
  device: z
    .strictObject({
      id: text,
      publicKey: text,
      signature: text,
      signedAt: z.int().min(0),
      // Blank is refused by the proof check with a reason of its own, so it must pass here.
      nonce: z.string(),
    })
    .optional(),
  auth: z
    .strictObject({
      token: z.string().optional(),
      deviceToken: z.string().optional(),
      password: z.string().optional(),
    })
    .optional(),
  locale: z.string().optional(),
  userAgent: z.string().optional(),
});

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly details: string };

/** Parses with `schema`; the failure text follows the wire's grammar. */
export function parseWith<T>(schema: z.ZodType<T>, input: unknown): Parsed<T> {
  const result = schema.safeParse(input);
  return result.success
    ? { ok: true, value: result.data }
    : { ok: false, details: formatIssues(result.error.issues, input) };
}

export const parseRequestFrame = (input: unknown): Parsed<RequestFrame> => parseWith(requestFrame, input);

export const parseConnectParams = (input: unknown): Parsed<ConnectParams> => parseWith(connectParams, input);
