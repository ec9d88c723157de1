import { z } from "zod";
import type { HeartbeatService } from "../../heartbeat/index.ts";
import { defineMethod, invalidRequest, type GatewayMethod } from "../protocol/index.ts";
import { empty } from "./schemas.ts";

interface HeartbeatMethodsContext {
  readonly heartbeats: HeartbeatService;
  readonly enqueueSystemEvent: (text: string) => void;
}

const lastHeartbeat = defineMethod({
  name: "last-heartbeat",
  scope: "operator.read",
  params: empty,
  handle: (_params, ctx: HeartbeatMethodsContext) => ctx.heartbeats.last() ?? null,
});

const setHeartbeats = defineMethod({
  name: "set-heartbeats",
  scope: "operator.admin",
  params: z.strictObject({ enabled: z.boolean() }),
  handle({ enabled }, ctx: HeartbeatMethodsContext) {
    ctx.heartbeats.setEnabled(enabled);
    return { ok: true, enabled };
  },
});

/** Puts a line before the next prompt of the main session, and with `now` runs it at once. */
const wake = defineMethod({
  name: "wake",
  scope: "operator.write",
  params: z.strictObject({ mode: z.enum(["now", "next-heartbeat"]), text: z.string() }),
  handle({ mode, text }, ctx: HeartbeatMethodsContext) {
    if (text.trim() === "") throw invalidRequest("text required");
    ctx.enqueueSystemEvent(text);
    if (mode === "now") ctx.heartbeats.wake({ reason: "wake" });
    return { ok: true };
  },
});

export const heartbeatMethods: readonly GatewayMethod<HeartbeatMethodsContext>[] = [lastHeartbeat, setHeartbeats, wake];
