import type { OperatorScope } from "../../security/index.ts";

/** In the order the reference advertises them. */
export const EVENTS = [
  "connect.challenge",
  "agent",
  "chat",
  "presence",
  "tick",
  "talk.mode",
  "shutdown",
  "health",
  "heartbeat",
  "cron",
  "node.pair.requested",
  "node.pair.resolved",
  "node.invoke.request",
  "device.pair.requested",
  "device.pair.resolved",
  "voicewake.changed",
  "exec.approval.requested",
  "exec.approval.resolved",
  "update.available",
] as const;

export interface EventRule {
  /** What an operator must hold. */
  readonly scope: OperatorScope | "none";
  /** Whether nodes get the broadcast too. */
  readonly nodes: boolean;
}

const OPEN: EventRule = { scope: "none", nodes: true };
const APPROVALS: EventRule = { scope: "operator.approvals", nodes: false };
const PAIRING: EventRule = { scope: "operator.pairing", nodes: false };

const RULES: Readonly<Record<string, EventRule>> = {
  tick: OPEN,
  shutdown: OPEN,
  health: { scope: "operator.read", nodes: true },
  "voicewake.changed": { scope: "operator.read", nodes: true },
  "exec.approval.requested": APPROVALS,
  "exec.approval.resolved": APPROVALS,
  "device.pair.requested": PAIRING,
  "device.pair.resolved": PAIRING,
  "node.pair.requested": PAIRING,
  "node.pair.resolved": PAIRING,
};

/** Who hears a broadcast (spec §6.1 with the corrections of §11): readers, unless the event says otherwise. */
export const eventRule = (event: string): EventRule =>
  (Object.hasOwn(RULES, event) ? RULES[event] : undefined) ?? { scope: "operator.read", nodes: false };
