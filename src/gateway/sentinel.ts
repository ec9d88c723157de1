import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile } from "../infra/atomic-file.ts";
import type { GatewayContext } from "./context.ts";

/** Tells the chat that asked for a restart that it is over. The file is written by the process before. Source: spec cli-and-ui §1.9. */
export async function announceRestart(ctx: Pick<GatewayContext, "paths" | "channels" | "outbox" | "systemEvents" | "sessions" | "log">): Promise<void> {
  const path = join(ctx.paths.stateDir, "restart-sentinel.json");
  const raw = await readJsonFile(path).catch(() => undefined);
  if (raw === undefined) return;
  await rm(path, { force: true });
  const payload = typeof raw === "object" && raw !== null && "payload" in raw ? (raw.payload as Record<string, unknown>) : {};
  const text = typeof payload["message"] === "string" && payload["message"] !== "" ? `✅ Restarted: ${payload["message"]}` : "✅ The gateway was restarted.";
  const sessionKey = typeof payload["sessionKey"] === "string" ? ctx.sessions.canonicalKey(payload["sessionKey"]) : undefined;
  if (sessionKey === undefined) return;
  ctx.systemEvents.push(sessionKey, text);
  const route = payload["deliveryContext"] as { channel?: unknown; to?: unknown; accountId?: unknown; threadId?: unknown } | undefined;
  const plugin = typeof route?.channel === "string" ? ctx.channels.find(route.channel) : undefined;
  if (!plugin?.outbound || typeof route?.to !== "string") return;
  ctx.outbox
    .deliver({
      id: `restart:${String(payload["ts"])}`, channel: plugin.id,
      message: { accountId: typeof route.accountId === "string" ? route.accountId : "default", to: route.to, text, ...(route.threadId === undefined ? {} : { threadId: String(route.threadId) }) },
    })
    .catch((err: unknown) => ctx.log.warn("restart not announced", { err }));
}
