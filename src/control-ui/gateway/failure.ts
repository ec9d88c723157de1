import type { ErrorShape } from "../../gateway/protocol/types.ts";
import { isRecord } from "./storage.ts";

/** Why the gateway did not let this page in, in the terms of what a person does next. */
export type FailureKind =
  | "token-missing"
  | "token-mismatch"
  | "password"
  | "pairing"
  | "origin"
  | "insecure"
  | "protocol"
  | "rate-limited"
  | "clock"
  | "other";

export interface ConnectFailure {
  readonly kind: FailureKind;
  /** The gateway's own words. */
  readonly message: string;
  /** Of the pending request, when the kind is `pairing`. */
  readonly requestId?: string | undefined;
  readonly deviceToken: boolean;
}

export function toFailure(error: ErrorShape): ConnectFailure {
  const details = isRecord(error.details) ? error.details : {};
  const code = typeof details["code"] === "string" ? details["code"] : "";
  const requestId = typeof details["requestId"] === "string" ? details["requestId"] : undefined;
  return {
    kind: kindOf(code, details["reason"], error),
    message: error.message,
    requestId,
    deviceToken: code === "AUTH_DEVICE_TOKEN_MISMATCH",
  };
}

function kindOf(code: string, reason: unknown, error: ErrorShape): FailureKind {
  switch (code) {
    case "AUTH_TOKEN_MISSING":
    case "AUTH_REQUIRED":
      return "token-missing";
    case "AUTH_TOKEN_MISMATCH":
    case "AUTH_DEVICE_TOKEN_MISMATCH":
      return "token-mismatch";
    case "AUTH_PASSWORD_MISSING":
    case "AUTH_PASSWORD_MISMATCH":
      return "password";
    case "AUTH_RATE_LIMITED":
      return "rate-limited";
    case "PAIRING_REQUIRED":
      return "pairing";
    case "CONTROL_UI_DEVICE_IDENTITY_REQUIRED":
    case "DEVICE_IDENTITY_REQUIRED":
      return "insecure";
    case "DEVICE_AUTH_INVALID":
      return reason === "device-signature-stale" ? "clock" : "other";
  }
  if (error.message.startsWith("origin not allowed")) return "origin";
  if (error.message === "protocol mismatch") return "protocol";
  return "other";
}

/** Whether trying again by itself makes sense: a wrong token stays wrong, and each try counts against the limit. */
export const retriesItself = (kind: FailureKind): boolean => kind === "pairing" || kind === "rate-limited" || kind === "other";
